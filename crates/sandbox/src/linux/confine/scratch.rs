//! A place of this process for the private directories of confined commands, gone when it is.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, Dir, FlockOperation, Mode, OFlags, flock, mkdirat, open, statat, unlinkat};
use rustix::io::Errno;

use super::remove::{empty_directory, open_up};
use crate::OwnDirectory;
use crate::own_directory::is_directory;

/// A place for private directories. No command can change it, only what it was given in it.
#[derive(Debug)]
pub(super) struct Scratch {
    root: OwnDirectory,
}

const PREFIX: &str = "bashtion-";
const COVER: &str = "hidden";

impl Scratch {
    pub(super) fn create(parent: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = Arc::new(open(parent, flags, Mode::empty())?);
        remove_those_of_dead_hosts(&opened);
        let root = OwnDirectory::create(opened, parent, &format!("{PREFIX}{}-", std::process::id()))?;
        // Says that we live, also to those who do not see our process.
        let _ = flock(&root, FlockOperation::NonBlockingLockShared);
        Ok(Self { root })
    }

    /// Makes a directory for one command.
    pub(super) fn directory(&self, prefix: &str) -> io::Result<OwnDirectory> {
        OwnDirectory::create(Arc::clone(self.root.descriptor()), self.root.path(), prefix)
    }

    /// A directory that nobody can enter, to lay over secrets.
    pub(super) fn cover(&self) -> io::Result<PathBuf> {
        match mkdirat(&self.root, COVER, Mode::empty()) {
            Ok(()) | Err(Errno::EXIST) => Ok(self.root.path().join(COVER)),
            Err(error) => Err(error.into()),
        }
    }
}

/// A host that was killed could not remove its directory.
fn remove_those_of_dead_hosts(parent: &OwnedFd) {
    /// It takes time that a short command notices, so most hosts leave it to another.
    const ONE_IN: u32 = 16;
    if !std::process::id().is_multiple_of(ONE_IN) {
        return;
    }
    for entry in Dir::read_from(parent).into_iter().flatten().flatten() {
        if host_of(entry.file_name()).is_some_and(is_dead) {
            let _ = remove_one(parent, entry.file_name());
        }
    }
}

/// The process that a directory was made by, if its name is that of a scratch.
fn host_of(name: &CStr) -> Option<u32> {
    let (host, _) = name.to_str().ok()?.strip_prefix(PREFIX)?.split_once('-')?;
    host.parse().ok()
}

fn is_dead(process: u32) -> bool {
    !Path::new("/proc").join(process.to_string()).exists()
}

/// Removes a directory of ours that nobody uses. Somebody may put something else there meanwhile: what is emptied is what was
/// looked at, and of anything else only an empty directory would go.
fn remove_one(parent: &OwnedFd, name: &CStr) -> io::Result<()> {
    let found = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if !is_directory(&found) || found.st_uid != rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    let opened = open_up(parent.as_fd(), name)?;
    flock(&opened, FlockOperation::NonBlockingLockExclusive)?;
    empty_directory(opened.as_fd())?;
    Ok(unlinkat(parent, name, AtFlags::REMOVEDIR)?)
}
