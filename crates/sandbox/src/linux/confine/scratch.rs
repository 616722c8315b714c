//! Private directories of confined commands, gone when they are.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::remove::remove_tree;

/// What commands under one confinement share: a place for their temporary directories, and things to lay over others.
#[derive(Debug)]
pub(super) struct Scratch {
    root: PathBuf,
    next: AtomicU64,
    /// Of commands that left them empty.
    idle: Mutex<Vec<PathBuf>>,
}

const PREFIX: &str = "bashtion-";
const TEMPORARIES: &str = "tmp";

impl Scratch {
    pub(super) fn create(parent: &Path) -> io::Result<Self> {
        remove_those_of_dead_hosts(parent);
        let prefix = format!("{PREFIX}{}-", std::process::id());
        let root = tempfile::Builder::new()
            .prefix(&prefix)
            .rand_bytes(6)
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(parent)?
            .keep();
        let scratch = Self { root, next: AtomicU64::new(1), idle: Mutex::default() };
        scratch.directory(TEMPORARIES, 0o700)?;
        Ok(scratch)
    }

    /// What every command may write. The others are beside it, where nobody can move them away.
    pub(super) fn temporaries(&self) -> PathBuf {
        self.root.join(TEMPORARIES)
    }

    /// Shared memory of these commands, in place of everybody's.
    pub(super) fn shared_memory(&self) -> io::Result<PathBuf> {
        self.directory("shm", 0o700)
    }

    /// A directory that nobody can enter, to lay over secrets.
    pub(super) fn cover(&self) -> io::Result<PathBuf> {
        self.directory("hidden", 0o000)
    }

    fn directory(&self, name: &str, mode: u32) -> io::Result<PathBuf> {
        let path = self.root.join(name);
        match DirBuilder::new().mode(mode).create(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            Ok(()) | Err(_) => Ok(path),
        }
    }

    /// A directory for one command.
    pub(super) fn temporary(self: &Arc<Self>) -> io::Result<Temporary> {
        let idle = self.idle().pop();
        let path = match idle {
            Some(path) => path,
            None => {
                let path = self.temporaries().join(self.next.fetch_add(1, Ordering::Relaxed).to_string());
                DirBuilder::new().mode(0o700).create(&path)?;
                path
            }
        };
        Ok(Temporary { path, home: Arc::clone(self) })
    }

    fn idle(&self) -> MutexGuard<'_, Vec<PathBuf>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The temporary directory of one command. What is in it goes when this is dropped.
#[derive(Debug)]
pub struct Temporary {
    path: PathBuf,
    home: Arc<Scratch>,
}

impl Temporary {
    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        const MOST_IDLE: usize = 16;
        if is_as_new(&self.path) && self.home.idle().len() < MOST_IDLE {
            self.home.idle().push(std::mem::take(&mut self.path));
        } else {
            remove(&self.path);
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove(&self.root);
    }
}

fn remove(path: &Path) {
    if let Err(error) = remove_tree(path)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(path = %path.display(), %error, "cannot remove a temporary directory");
    }
}

/// Most commands leave nothing; then it serves the next.
fn is_as_new(path: &Path) -> bool {
    let own =
        path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir() && metadata.mode() & 0o7777 == 0o700);
    own && fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

/// A host that was killed could not remove its directory.
fn remove_those_of_dead_hosts(parent: &Path) {
    /// It takes time that a short command notices, so most hosts leave it to another.
    const ONE_IN: u32 = 16;
    if !std::process::id().is_multiple_of(ONE_IN) {
        return;
    }
    let own = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some((host, _)) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split_once('-'))
        else {
            continue;
        };
        let is_dead = host.parse::<u32>().is_ok_and(|pid| !Path::new("/proc").join(pid.to_string()).exists());
        let is_ours = entry.metadata().is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == own);
        if is_dead && is_ours {
            let _ = remove_tree(&entry.path());
        }
    }
}
