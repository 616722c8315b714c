//! Directories that Bashtion makes where commands may write.
//!
//! A command may move one away and leave a link or another directory under its name. So everything in it is made, read and
//! removed by descriptor, and the name is used once more only: to remove it when it is empty.

use std::ffi::OsString;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, fchmod, fstat, mkdirat, open, openat, statat, unlinkat};
use rustix::io::Errno;

use crate::imp::empty_directory;

/// A directory that Bashtion has made. It goes, with all that is in it, when this is dropped.
///
/// ```
/// use bashtion_sandbox::OwnDirectory;
/// let made = OwnDirectory::create_in("/tmp".as_ref(), "example-")?;
/// let path = made.path().to_owned();
/// assert!(path.is_dir());
/// drop(made);
/// assert!(!path.exists());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct OwnDirectory {
    parent: Arc<OwnedFd>,
    name: OsString,
    directory: Arc<OwnedFd>,
    path: PathBuf,
}

impl OwnDirectory {
    /// Makes one in a directory that no command can exchange for a link, under a name that nobody can foresee.
    pub fn create_in(parent: &Path, prefix: &str) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Self::create(Arc::new(open(parent, flags, Mode::empty())?), parent, prefix)
    }

    /// Makes one in a directory that is open already, and has that path.
    pub fn create(parent: Arc<OwnedFd>, path: &Path, prefix: &str) -> io::Result<Self> {
        const TRIES: usize = 16;
        for _ in 0..TRIES {
            let name = OsString::from(format!("{prefix}{:016x}", random()));
            match mkdirat(&parent, &name, Mode::RWXU) {
                Err(Errno::EXIST) => continue,
                made => made?,
            }
            let opened = openat(&parent, &name, LISTED, Mode::empty()).inspect_err(|_| {
                let _ = unlinkat(&parent, &name, AtFlags::REMOVEDIR);
            });
            let (directory, path) = (Arc::new(opened?), path.join(&name));
            return Ok(Self { parent, name, directory, path });
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// The path under which it was made.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its name in the directory that it is in.
    #[must_use]
    pub fn name(&self) -> &Path {
        Path::new(&self.name)
    }

    /// The directory itself, whatever its path leads to.
    #[must_use]
    pub fn descriptor(&self) -> &Arc<OwnedFd> {
        &self.directory
    }

    /// Device and number, by which it is told from another under its name.
    pub fn identity(&self) -> io::Result<(u64, u64)> {
        Ok(identity(&fstat(&self.directory)?))
    }

    /// Returns true if its path still leads to it.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        let found = statat(&self.parent, &self.name, AtFlags::SYMLINK_NOFOLLOW);
        let is_this = |own| found.is_ok_and(|found| identity(&found) == own);
        self.identity().is_ok_and(is_this)
    }

    /// Removes everything in it, and makes it private again.
    pub fn empty(&self) -> io::Result<()> {
        if Mode::from_raw_mode(fstat(&self.directory)?.st_mode) != Mode::RWXU {
            fchmod(&self.directory, Mode::RWXU)?;
        }
        empty_directory(self.directory.as_fd())
    }

    fn remove(&self) -> io::Result<()> {
        self.empty()?;
        // Something else may have its name by now. Between this look and the removal, too; but only an empty directory goes.
        if self.is_in_place() {
            unlinkat(&self.parent, &self.name, AtFlags::REMOVEDIR)?;
        }
        Ok(())
    }
}

impl AsFd for OwnDirectory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }
}

impl Drop for OwnDirectory {
    fn drop(&mut self) {
        if let Err(error) = self.remove() {
            tracing::warn!(path = %self.path.display(), %error, "cannot remove a temporary directory");
        }
    }
}

/// Opens a directory for listing, and no link to one.
pub(crate) const LISTED: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Device and number of a file.
pub(crate) fn identity(stat: &rustix::fs::Stat) -> (u64, u64) {
    #[cfg(target_os = "macos")]
    let device = u64::from(stat.st_dev.cast_unsigned());
    #[cfg(not(target_os = "macos"))]
    let device = stat.st_dev;
    (device, stat.st_ino)
}

/// Returns true if the mode is that of a directory.
pub(crate) fn is_directory(stat: &rustix::fs::Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
}

/// A number that nobody can foresee: the keys of this hash are random, and secret.
fn random() -> u64 {
    RandomState::new().hash_one(std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn something_else_under_its_name_stays() {
        let root = tempfile::tempdir().unwrap();
        let victim = root.path().join("victim");
        fs::create_dir(&victim).unwrap();
        fs::write(victim.join("kept"), "").unwrap();
        let moved = root.path().join("moved");

        let made = OwnDirectory::create_in(root.path(), "own-").unwrap();
        fs::write(made.path().join("file"), "").unwrap();
        fs::rename(made.path(), &moved).unwrap();
        symlink(&victim, made.path()).unwrap();
        assert!(!made.is_in_place());
        let path = made.path().to_owned();
        drop(made);
        assert!(victim.join("kept").exists() && path.is_symlink());
        assert_eq!(fs::read_dir(&moved).unwrap().count(), 0, "its own content is gone wherever it is");

        let made = OwnDirectory::create_in(root.path(), "own-").unwrap();
        fs::rename(made.path(), root.path().join("elsewhere")).unwrap();
        fs::rename(&victim, made.path()).unwrap();
        let path = made.path().to_owned();
        drop(made);
        assert!(path.join("kept").exists());
    }
}
