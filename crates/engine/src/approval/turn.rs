//! One at a time: whoever changes the queue holds its lock.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bashtion_sandbox::OwnFile;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// The right to change what is in a folder, until it is dropped. The kernel takes it back from a process that dies.
#[derive(Debug)]
pub(super) struct Turn {
    folder: PathBuf,
    _lock: File,
}

/// It is held for milliseconds. Who holds it longer was stopped, or means harm.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(2);

impl Turn {
    /// Waits for it.
    pub(super) fn take(folder: PathBuf) -> io::Result<Self> {
        let attempt = Attempt::begin(&folder, PATIENCE)?;
        while !attempt.succeeds()? {
            std::thread::sleep(PAUSE);
        }
        Ok(Self { folder, _lock: attempt.lock })
    }

    /// The same without holding up the runtime.
    pub(super) async fn wait(folder: PathBuf) -> io::Result<Self> {
        let attempt = Attempt::begin(&folder, PATIENCE)?;
        while !attempt.succeeds()? {
            tokio::time::sleep(PAUSE).await;
        }
        Ok(Self { folder, _lock: attempt.lock })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }
}

struct Attempt {
    lock: File,
    until: Instant,
}

impl Attempt {
    fn begin(folder: &Path, patience: Duration) -> io::Result<Self> {
        let lock = OwnFile::Keeping.open(&folder.join("lock"))?;
        Ok(Self { lock, until: Instant::now() + patience })
    }

    fn succeeds(&self) -> io::Result<bool> {
        match flock(&self.lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(true),
            Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < self.until => Ok(false),
            Err(Errno::WOULDBLOCK) => {
                Err(io::Error::new(io::ErrorKind::TimedOut, "another process does not let go of the lock"))
            }
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_ever() {
        let temp = tempfile::tempdir().unwrap();
        let turn = Turn::take(temp.path().to_owned()).unwrap();
        let other = Attempt::begin(temp.path(), Duration::ZERO).unwrap();
        assert_eq!(other.succeeds().unwrap_err().kind(), io::ErrorKind::TimedOut);
        let patient = Attempt::begin(temp.path(), PATIENCE).unwrap();
        assert!(!patient.succeeds().unwrap());
        drop(turn);
        assert!(patient.succeeds().unwrap());
    }
}
