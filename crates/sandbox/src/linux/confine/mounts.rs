//! How the file tree of a confined command differs from the host's.

use std::cell::Cell;
use std::ffi::CString;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::repositories::Kept;

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
    pub(super) read_only: bool,
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
            read_only: false,
            fd: Cell::new(-1),
        })
    }

    fn read_only(self) -> Self {
        Self { read_only: true, ..self }
    }
}

/// Devices that programs expect to write.
pub(super) const DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

impl Mounts {
    /// What is kept writable, parents before children.
    pub(super) fn keep(&mut self, mut paths: Vec<&Path>) {
        paths.sort();
        self.kept.extend(paths.into_iter().filter_map(|path| Bind::new(path, path)));
    }

    pub(super) fn keep_devices(&mut self) {
        self.kept.extend(DEVICES.iter().map(Path::new).filter_map(|path| Bind::new(path, path)));
    }

    pub(super) fn own_proc(&mut self, own: bool) {
        self.own_proc = own;
    }

    /// Shows a directory of ours in place of one that all share.
    pub(super) fn replace(&mut self, target: &Path, source: &Path) {
        if target.is_dir() {
            self.kept.extend(Bind::new(source, target));
        }
    }

    /// Nothing can be seen where these are.
    pub(super) fn hide(&mut self, secret: &Path, empty_directory: &Path, empty_file: &Path) {
        let Ok(metadata) = secret.symlink_metadata() else { return };
        let cover = if metadata.is_dir() { empty_directory } else { empty_file };
        if !metadata.is_symlink() {
            self.laid_over.extend(Bind::new(cover, secret).map(Bind::read_only));
        }
    }

    /// None if one of them is gone by now.
    pub(super) fn protect(&mut self, kept: &[Kept]) -> Option<()> {
        for kept in kept {
            let bind = Bind::new(kept.path(), kept.path())?;
            self.laid_over.push(match kept {
                Kept::InPlace(_) => bind,
                Kept::Unchanged(_) => bind.read_only(),
            });
        }
        Some(())
    }
}

fn c_path(path: &Path) -> Option<CString> {
    CString::new(path.as_os_str().as_bytes()).ok()
}
