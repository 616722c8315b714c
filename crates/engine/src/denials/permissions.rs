//! A file's own permissions: would they have been enough without the sandbox?

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{Access, StatVfsMountFlags};

/// The access to a file that was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deed {
    Read,
    /// Also making it, where it does not exist.
    Write,
}

/// Returns true if the user may do this by the permissions of the file, or of the directory that it would be made in.
///
/// Root is taken without its powers, which a confined command does not have.
pub(super) fn allow(path: &Path, deed: Deed) -> bool {
    let Some((existing, deed)) = concerned(path, deed) else { return false };
    if rustix::process::geteuid().is_root() {
        modes_allow(existing, deed) && on_the_way(existing).all(may_pass)
    } else {
        kernel_allows(existing, deed)
    }
}

/// Returns true if root may do this, but only by its powers.
pub(super) fn need_powers(path: &Path, deed: Deed) -> bool {
    rustix::process::geteuid().is_root()
        && !allow(path, deed)
        && concerned(path, deed).is_some_and(|(existing, deed)| kernel_allows(existing, deed))
}

/// Returns the file, or the directory that it would be made in.
fn concerned(path: &Path, deed: Deed) -> Option<(&Path, Deed)> {
    let existing = path.ancestors().find(|path| path.symlink_metadata().is_ok())?;
    match (existing == path, deed) {
        (true, deed) => Some((existing, deed)),
        (false, Deed::Write) => existing.is_dir().then_some((existing, Deed::Write)),
        (false, Deed::Read) => None,
    }
}

/// Returns true if the file system itself can only be read, for everybody.
pub(super) fn is_on_read_only(path: &Path) -> bool {
    let existing = path.ancestors().find(|path| path.exists());
    let flags = existing.and_then(|path| rustix::fs::statvfs(path).ok()).map(|found| found.f_flag);
    flags.is_some_and(|flags| flags.contains(StatVfsMountFlags::RDONLY))
}

/// Asks the kernel, with all the powers of this process.
fn kernel_allows(path: &Path, deed: Deed) -> bool {
    let may = |path: &Path, access| rustix::fs::access(path, access).is_ok();
    match deed {
        Deed::Read => may(path, Access::READ_OK),
        Deed::Write => {
            may(path, Access::WRITE_OK) || replaceable(path).is_some_and(|at| may(at, Access::WRITE_OK))
        }
    }
}

/// The directory, which is all that removing and renaming a file needs.
fn replaceable(path: &Path) -> Option<&Path> {
    path.parent().filter(|_| !path.is_dir())
}

fn on_the_way(path: &Path) -> impl Iterator<Item = &Path> {
    path.ancestors().skip(1)
}

fn may_pass(directory: &Path) -> bool {
    bits(directory).is_some_and(|bits| bits & 0b001 != 0)
}

fn modes_allow(path: &Path, deed: Deed) -> bool {
    let of = |path: &Path, bit: u32| bits(path).is_some_and(|bits| bits & bit != 0);
    match deed {
        Deed::Read => of(path, 0b100),
        Deed::Write => of(path, 0b010) || replaceable(path).is_some_and(|parent| of(parent, 0b010)),
    }
}

/// The part of the mode that is about root, as owner, by its group, or as anybody else.
fn bits(path: &Path) -> Option<u32> {
    let metadata = path.metadata().ok()?;
    let group = rustix::process::getegid().as_raw();
    let shift = match (metadata.uid(), metadata.gid()) {
        (0, _) => 6,
        (_, of) if of == group => 3,
        (_, _) => 0,
    };
    Some(metadata.mode() >> shift & 0b111)
}
