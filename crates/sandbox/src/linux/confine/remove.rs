//! Removing what a command has left, which may be made to hurt whoever removes it.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, chmod, fchmod, fstat, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;

/// Removes a directory with all that is in it. Links are not followed, closed directories are opened, and depth does not
/// matter: what lies deeper is lifted up to the top first, so neither the stack nor descriptors run out.
pub fn remove_tree(root: &Path) -> io::Result<()> {
    let name = CString::new(root.as_os_str().as_bytes())?;
    remove_at(CWD, &name)
}

/// Removes whatever is there, if anything is.
pub(super) fn remove_at(parent: BorrowedFd<'_>, root: &CStr) -> io::Result<()> {
    match unlinkat(parent, root, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        Err(Errno::ISDIR | Errno::PERM) => {}
        Err(error) => return Err(error.into()),
    }
    empty_directory(open_up(parent, root)?.as_fd())?;
    unlinkat(parent, root, AtFlags::REMOVEDIR)?;
    Ok(())
}

/// Removes everything in a directory.
pub(crate) fn empty_directory(top: BorrowedFd<'_>) -> io::Result<()> {
    let mut lifted = 0_u64;
    loop {
        let directories = remove_files(top)?;
        if directories.is_empty() {
            return Ok(());
        }
        for name in directories {
            let inner = open_up(top, &name)?;
            for deeper in remove_files(inner.as_fd())? {
                lifted += 1;
                // To be moved, a directory must be writable itself.
                drop(open_up(inner.as_fd(), &deeper)?);
                renameat(&inner, &deeper, top, free_name(top, lifted))?;
            }
            unlinkat(top, &name, AtFlags::REMOVEDIR)?;
        }
    }
}

/// Opens a directory, and lets its owner do everything in it: by descriptor, because a name may be a link by now.
pub(super) fn open_up(parent: BorrowedFd<'_>, name: &CStr) -> io::Result<OwnedFd> {
    let open = |flags| {
        let flags = flags | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(parent, name, flags, Mode::empty())
    };
    let directory = match open(OFlags::RDONLY) {
        Err(Errno::ACCESS) => {
            let closed = open(OFlags::PATH)?;
            // The thread's: it may have a table of its own.
            chmod(format!("/proc/thread-self/fd/{}", closed.as_raw_fd()), Mode::RWXU)?;
            open(OFlags::RDONLY)?
        }
        opened => opened?,
    };
    if Mode::from_raw_mode(fstat(&directory)?.st_mode) & Mode::RWXU != Mode::RWXU {
        fchmod(&directory, Mode::RWXU)?;
    }
    Ok(directory)
}

/// Removes what is no directory, and lists the others.
fn remove_files(directory: BorrowedFd<'_>) -> io::Result<Vec<CString>> {
    let mut directories = vec![];
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        if is_directory(directory, name, entry.file_type()) {
            directories.push(name.to_owned());
        } else {
            unlinkat(directory, name, AtFlags::empty())?;
        }
    }
    Ok(directories)
}

fn is_directory(directory: BorrowedFd<'_>, name: &CStr, kind: FileType) -> bool {
    match kind {
        FileType::Unknown => statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory),
        kind => kind == FileType::Directory,
    }
}

fn free_name(top: BorrowedFd<'_>, number: u64) -> String {
    let mut name = format!(".{number}");
    while statat(top, &name, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
        name.push('-');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, DirBuilder, Permissions};
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};

    #[test]
    fn trees_that_are_too_deep_for_a_stack() {
        let root = tempfile::tempdir().unwrap();
        let tree = root.path().join("tree");
        fs::create_dir(&tree).unwrap();
        let mut at = openat(CWD, &tree, OFlags::RDONLY, Mode::empty()).unwrap();
        for _ in 0..20_000 {
            rustix::fs::mkdirat(&at, "d", Mode::RWXU).unwrap();
            at = openat(&at, "d", OFlags::RDONLY, Mode::empty()).unwrap();
        }
        drop(at);
        remove_tree(&tree).unwrap();
        assert!(!tree.exists());
    }

    #[test]
    fn closed_directories_odd_names_and_links() {
        let root = tempfile::tempdir().unwrap();
        let (tree, other) = (root.path().join("tree"), root.path().join("other"));
        fs::create_dir_all(tree.join("a/b/.1")).unwrap();
        fs::create_dir_all(tree.join(".1/x/y")).unwrap();
        fs::create_dir(&other).unwrap();
        fs::write(other.join("kept"), "").unwrap();
        symlink(&other, tree.join("a/link")).unwrap();
        symlink(&other, tree.join("link")).unwrap();
        DirBuilder::new().mode(0o000).create(tree.join("closed")).unwrap();
        fs::write(tree.join("a/file"), "").unwrap();
        fs::set_permissions(tree.join("a"), Permissions::from_mode(0o000)).unwrap();
        remove_tree(&tree).unwrap();
        assert!(!tree.exists() && other.join("kept").exists());
    }
}
