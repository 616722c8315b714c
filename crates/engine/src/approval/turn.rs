//! One at a time: whoever changes the queue holds its lock.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::record::private;

/// The right to change what is in a folder, until it is dropped. The kernel takes it back from a process that dies.
#[derive(Debug)]
pub(super) struct Turn {
    folder: PathBuf,
    _lock: File,
}

impl Turn {
    /// Waits for it.
    pub(super) fn take(folder: PathBuf) -> io::Result<Self> {
        let lock = open(&folder)?;
        rustix::io::retry_on_intr(|| flock(&lock, FlockOperation::LockExclusive))?;
        Ok(Self { folder, _lock: lock })
    }

    /// The same without holding up the runtime.
    pub(super) async fn wait(folder: PathBuf) -> io::Result<Self> {
        const PAUSE: Duration = Duration::from_millis(2);
        let lock = open(&folder)?;
        loop {
            match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self { folder, _lock: lock }),
                Err(Errno::WOULDBLOCK | Errno::INTR) => tokio::time::sleep(PAUSE).await,
                Err(error) => return Err(error.into()),
            }
        }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }
}

fn open(folder: &Path) -> io::Result<File> {
    private().create(true).truncate(false).open(folder.join("lock"))
}
