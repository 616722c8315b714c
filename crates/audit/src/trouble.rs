//! The kinds of trouble with the files of a log: most of them are no damage.

use std::io::{self, ErrorKind};
use std::path::Path;

use rusqlite::ErrorCode;
use rustix::io::Errno;

use crate::AuditError;

/// The reason that files of the log cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// There is no space left, or none that this user may use.
    Full,
    /// The file system is read-only.
    ReadOnly,
    /// The disk reports errors.
    Failing,
    /// Something else is in the place of a file, or the user may not use it.
    NotUsable,
    /// The content of the database is not as it was written.
    Damaged,
}

impl AuditError {
    /// The trouble with the files. None if there is none, and the log itself is the reason.
    #[must_use]
    pub fn trouble(&self) -> Option<Trouble> {
        match self {
            Self::File { source, .. } => Some(of_file(source)),
            Self::Database { path, source } => Some(of_database(source, path)),
            Self::Newer { .. } | Self::Tail { .. } | Self::None { .. } => None,
        }
    }
}

fn of_file(error: &io::Error) -> Trouble {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => Trouble::Full,
        ErrorKind::ReadOnlyFilesystem => Trouble::ReadOnly,
        _ if error.raw_os_error() == Some(Errno::IO.raw_os_error()) => Trouble::Failing,
        _ => Trouble::NotUsable,
    }
}

fn of_database(error: &rusqlite::Error, path: &Path) -> Trouble {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => Trouble::Full,
        // SQLite says no more than that reading or writing failed: https://www.sqlite.org/rescode.html#ioerr
        Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) if is_full(path) => Trouble::Full,
        Some(ErrorCode::SystemIoFailure) => Trouble::Failing,
        Some(ErrorCode::ReadOnly) => Trouble::ReadOnly,
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::DatabaseBusy) => {
            Trouble::NotUsable
        }
        Some(_) | None => Trouble::Damaged,
    }
}

/// Returns true if there is less space than SQLite needs for its index of a few rows.
fn is_full(path: &Path) -> bool {
    const LEAST: u64 = 64 << 10;
    let space = path.parent().and_then(|directory| rustix::fs::statvfs(directory).ok());
    space.is_some_and(|space| space.f_bavail.saturating_mul(space.f_frsize) < LEAST)
}
