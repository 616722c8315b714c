//! How the file tree of a confined command differs from the host's.

use std::cell::Cell;
use std::ffi::CString;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::repositories::{Kept, Repositories};

/// Everything is read-only and without devices, but for what is kept; then some things are laid over others.
#[derive(Debug, Default)]
pub(in super::super) struct Mounts {
    /// Stays as it is on the host, at another place perhaps.
    pub(super) kept: Vec<Bind>,
    /// Whether the process table is to show the command's own processes only.
    pub(super) own_proc: bool,
    /// In this order, on top of it.
    pub(super) laid_over: Vec<Bind>,
}

/// One file or directory shown at one place.
#[derive(Debug)]
pub(super) struct Bind {
    pub(super) source: CString,
    pub(super) target: CString,
    /// Which file it must be.
    pub(super) file: (u64, u64),
    pub(super) change: Option<Change>,
    /// Where the child keeps the copy until it is put in place.
    pub(super) fd: Cell<RawFd>,
}

impl Bind {
    fn new(source: &Path, target: &Path) -> Option<Self> {
        // Without following: what was checked is what will be taken.
        let metadata = source.symlink_metadata().ok().filter(|metadata| !metadata.is_symlink())?;
        Some(Self {
            source: c_path(source)?,
            target: c_path(target)?,
            file: (metadata.dev(), metadata.ino()),
            change: None,
            fd: Cell::new(-1),
        })
    }

    fn with(self, change: Change) -> Self {
        Self { change: Some(change), ..self }
    }
}

/// How a copy differs from what it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// Nothing in it can be changed. Devices can still be written: the file system is not asked about that.
    ReadOnly,
    /// Devices and set-user-id programs in it do not work.
    Harmless,
    /// Both.
    Closed,
}

/// Devices that programs expect to write.
pub(super) const DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

impl Mounts {
    /// What is kept writable, parents before children.
    pub(super) fn keep(&mut self, mut paths: Vec<&Path>) {
        paths.sort();
        let binds = paths.into_iter().filter_map(|path| Bind::new(path, path));
        self.kept.extend(binds.map(|bind| bind.with(Change::Harmless)));
    }

    pub(super) fn keep_devices(&mut self) {
        let binds = DEVICES.iter().map(Path::new).filter_map(|path| Bind::new(path, path));
        // So that nobody changes their modes.
        self.kept.extend(binds.map(|bind| bind.with(Change::ReadOnly)));
    }

    pub(super) fn own_proc(&mut self, own: bool) {
        self.own_proc = own;
    }

    /// Shows a directory of ours in place of one that all share.
    pub(super) fn replace(&mut self, target: &Path, source: &Path) {
        if target.is_dir() {
            self.kept.extend(Bind::new(source, target).map(|bind| bind.with(Change::Harmless)));
        }
    }

    /// None if one of them is gone by now.
    pub(super) fn protect(&mut self, repositories: &Repositories) -> Option<()> {
        for (path, kept) in &repositories.kept {
            let bind = Bind::new(path, path)?;
            self.laid_over.push(match kept {
                Kept::InPlace => bind,
                Kept::Unchanged => bind.with(Change::ReadOnly),
            });
        }
        Some(())
    }

    /// Nothing can be seen where these are, nor can they be moved to where they can be seen.
    pub(super) fn hide(&mut self, secret: &Path, roots: &[PathBuf], cover: &Path) {
        let Ok(metadata) = secret.symlink_metadata() else { return };
        if let Some(root) = roots.iter().find(|root| secret.starts_with(root)) {
            let on_the_way = secret.ancestors().skip(1).take_while(|ancestor| ancestor != root);
            let pins: Vec<_> = on_the_way.filter_map(|ancestor| Bind::new(ancestor, ancestor)).collect();
            self.laid_over.extend(pins.into_iter().rev());
        }
        if !metadata.is_symlink() {
            // A device on a mount without devices cannot be opened.
            let cover = if metadata.is_dir() { cover } else { Path::new(DEVICES[0]) };
            self.laid_over.extend(Bind::new(cover, secret).map(|bind| bind.with(Change::Closed)));
        }
    }
}

fn c_path(path: &Path) -> Option<CString> {
    CString::new(path.as_os_str().as_bytes()).ok()
}
