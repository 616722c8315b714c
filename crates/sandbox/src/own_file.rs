//! OwnFile files of our own: locks, state, records.
//!
//! Somebody may have put something else in the place of one. OwnFile a named pipe waits for its other end, a link leads to
//! another file, a device does whatever it does. So nothing is waited for or followed, and only a plain file is accepted.

use std::fs::{File, FileType};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

/// The purpose for which a file of our own is opened.
///
/// ```
/// use bashtion_sandbox::OwnFile;
/// let error = OwnFile::Reading.open("/dev/null".as_ref()).unwrap_err();
/// assert_eq!(error.to_string(), "there is a device in the place of this file; move it away");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnFile {
    /// To read it, if it is there.
    Reading,
    /// To lock, read or write it. Made if it is not there, private to the user; what is in it stays.
    Keeping,
    /// To write it anew. Made if it is not there, private to the user.
    Replacing,
    /// To add to its end, and read it. Made if it is not there, private to the user.
    Appending,
}

impl OwnFile {
    /// Opens a file, or says what is there instead.
    pub fn open(self, path: &Path) -> io::Result<File> {
        let mut options = File::options();
        match self {
            Self::Reading => options.read(true),
            Self::Keeping => options.read(true).write(true).create(true).truncate(false),
            Self::Replacing => options.write(true).create(true).truncate(true),
            Self::Appending => options.read(true).append(true).create(true),
        };
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
        let opened = options.mode(0o600).custom_flags(flags).open(path);
        let file = opened.map_err(|error| error_about(path, error))?;
        let kind = file.metadata()?.file_type();
        if kind.is_file() { Ok(file) } else { Err(error_of(kind)) }
    }
}

/// Refuses what is there if it is no plain file, for files that somebody else opens.
pub fn check_own_file(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_file() => Ok(()),
        Ok(metadata) => Err(error_of(metadata.file_type())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// The kernel's own words about a pipe or a link do not name it.
fn error_about(path: &Path, error: io::Error) -> io::Error {
    match path.symlink_metadata() {
        Ok(metadata) if !metadata.is_file() => error_of(metadata.file_type()),
        Ok(_) | Err(_) => error,
    }
}

fn error_of(kind: FileType) -> io::Error {
    let found = match kind {
        _ if kind.is_fifo() => "a named pipe",
        _ if kind.is_symlink() => "a link",
        _ if kind.is_dir() => "a directory",
        _ if kind.is_socket() => "a socket",
        _ => "a device",
    };
    let text = format!("there is {found} in the place of this file; move it away");
    io::Error::new(ErrorKind::InvalidInput, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    #[test]
    fn only_a_plain_file_is_opened_and_nothing_is_waited_for() {
        let temp = tempfile::tempdir().unwrap();
        let at = |name: &str| temp.path().join(name);
        let mode = rustix::fs::Mode::RWXU;
        rustix::fs::mknodat(rustix::fs::CWD, at("fifo"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
        symlink(at("file"), at("link")).unwrap();
        std::fs::create_dir(at("directory")).unwrap();
        let _socket = UnixListener::bind(at("socket")).unwrap();
        let cases = [
            ("fifo", "a named pipe"),
            ("link", "a link"),
            ("directory", "a directory"),
            ("socket", "a socket"),
        ];
        for (name, found) in cases {
            for opening in [OwnFile::Reading, OwnFile::Keeping, OwnFile::Replacing, OwnFile::Appending] {
                let told = opening.open(&at(name)).unwrap_err().to_string();
                assert!(told.contains(found), "{opening:?} {name}: {told}");
            }
            check_own_file(&at(name)).unwrap_err();
        }
        assert!(!at("file").exists(), "the link was not followed");
        assert_eq!(OwnFile::Reading.open(&at("none")).unwrap_err().kind(), ErrorKind::NotFound);
        OwnFile::Replacing.open(&at("file")).unwrap();
        check_own_file(&at("file")).unwrap();
    }
}
