//! How the file tree of a confined command differs from the host's.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::{CString, OsStr};
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Everything is read-only and without devices, but for what is kept; then some things are laid over others.
#[derive(Debug, Default)]
pub(in super::super) struct Mounts {
    /// Stays as it is on the host, at another place perhaps.
    pub(super) kept: Vec<Bind>,
    /// Whether the process table is to show the command's own processes only.
    pub(super) own_proc: bool,
    /// In this order, on top of it.
    pub(super) laid_over: Vec<Bind>,
    hidden: Vec<PathBuf>,
    /// Hidden files, and the copy that is shown of each.
    pub(super) copies: Vec<(PathBuf, PathBuf)>,
}

/// One file or directory shown at one place.
#[derive(Debug)]
pub(super) struct Bind {
    pub(super) source: CString,
    pub(super) target: CString,
    /// Which file it must be; none for one that is made on the spot.
    pub(super) file: Option<(u64, u64)>,
    pub(super) change: Option<Change>,
    /// Where the child keeps the copy until it is put in place.
    pub(super) fd: Cell<RawFd>,
    /// True if the source is out of reach by the time it is laid over something.
    pub(super) is_early: bool,
}

impl Bind {
    pub(super) fn new(source: &Path, target: &Path) -> Option<Self> {
        // Without following: what was checked is what will be taken.
        let metadata = source.symlink_metadata().ok().filter(|metadata| !metadata.is_symlink())?;
        Some(Self {
            source: c_path(source)?,
            target: c_path(target)?,
            file: Some((metadata.dev(), metadata.ino())),
            change: None,
            fd: Cell::new(-1),
            is_early: false,
        })
    }

    pub(super) fn target_path(&self) -> PathBuf {
        PathBuf::from(OsStr::from_bytes(self.target.as_bytes()))
    }

    /// Of what will be there when it is needed.
    pub(super) fn of_later(source: &Path, target: &Path) -> Option<Self> {
        let (source, target) = (c_path(source)?, c_path(target)?);
        Some(Self { source, target, file: None, change: None, fd: Cell::new(-1), is_early: false })
    }

    pub(super) fn with(self, change: Change) -> Self {
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
    /// Nothing in it can be changed, but what is mounted beneath it stays as it is.
    Scaffold,
    /// Changes are possible in it, though not in what it is taken from. Otherwise harmless.
    Open,
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

    /// What lies over the rest, outer things first. None if one of them is gone by now.
    pub(super) fn lay(&mut self, layers: &Layers, cover: Cover<'_>) -> Option<()> {
        let mut closed: Option<&Path> = None;
        for (path, layer) in &layers.over {
            // What is in a directory that is hidden or kept as a whole is so too.
            let counts = matches!(layer, Layer::Hidden | Layer::Open);
            if closed.is_some_and(|closed| path.starts_with(closed) && !counts) {
                continue;
            }
            let metadata = path.symlink_metadata().ok()?;
            let bind = match layer {
                Layer::InPlace => Bind::new(path, path)?,
                Layer::Unchanged => Bind::new(path, path)?.with(Change::ReadOnly),
                Layer::Open if self.hides(path) => continue,
                Layer::Open => Bind::new(path, path)?.with(Change::Open),
                Layer::Hidden if self.hides(path) => continue,
                // A device on a mount without devices cannot be opened.
                Layer::Hidden if !metadata.is_dir() => {
                    let copy = self.copies.iter().find(|(secret, _)| secret == path);
                    let source = copy.map_or(Path::new(DEVICES[0]), |(_, copy)| copy);
                    let bind = Bind::new(source, path)?.with(Change::Closed);
                    Bind { is_early: copy.is_some(), ..bind }
                }
                Layer::Hidden => cover.over(path)?.with(Change::Closed),
            };
            match layer {
                Layer::InPlace | Layer::Open => {}
                Layer::Unchanged => closed = Some(path),
                Layer::Hidden => {
                    closed = Some(path);
                    self.hidden.push(path.clone());
                }
            }
            self.laid_over.push(bind);
        }
        Some(())
    }

    /// One directory that is changed so, if it is the one of that device and number.
    pub(super) fn of_one(path: &Path, file: (u64, u64), change: Change) -> Option<Self> {
        let bind = Bind { file: Some(file), ..Bind::of_later(path, path)? };
        Some(Self { laid_over: vec![bind.with(change)], ..Self::default() })
    }

    /// Lists the secrets of which a copy is shown, and which file each copy is.
    pub(super) fn copied(&self) -> impl Iterator<Item = (&Path, (u64, u64))> {
        self.copies.iter().filter_map(|(secret, copy)| {
            let laid = self.laid_over.iter().find(|bind| bind.target_path() == *secret)?;
            let is_copy = laid.is_early && laid.source.as_bytes() == copy.as_os_str().as_bytes();
            Some((secret.as_path(), laid.file.filter(|_| is_copy)?))
        })
    }

    fn hides(&self, path: &Path) -> bool {
        self.hidden.iter().any(|hidden| path.starts_with(hidden))
    }
}

/// A directory that nobody can enter, to lay over secrets.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cover<'a> {
    /// That exists.
    Directory(&'a Path),
    /// That is mounted here first of all.
    Mounted(&'a Path),
}

impl Cover<'_> {
    fn over(self, path: &Path) -> Option<Bind> {
        match self {
            Self::Directory(cover) => Bind::new(cover, path),
            Self::Mounted(cover) => Bind::of_later(cover, path),
        }
    }
}

/// What lies over what the command may write.
#[derive(Debug, Default)]
pub(super) struct Layers {
    over: BTreeMap<PathBuf, Layer>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Layer {
    /// May be written into, not moved away.
    InPlace,
    /// May be written into, though what is around it may not be changed.
    Open,
    /// May not be changed.
    Unchanged,
    /// Cannot be seen.
    Hidden,
}

impl Layers {
    /// Adds it, with the directories on the way to it, which could be moved away with it otherwise.
    pub(super) fn add(&mut self, path: &Path, layer: Layer, writable: &[PathBuf]) {
        let roots = writable.iter().filter(|root| path.starts_with(root) && path != *root);
        if let Some(root) = roots.min_by_key(|root| root.as_os_str().len()) {
            let on_the_way = path.ancestors().skip(1).take_while(|ancestor| ancestor != root);
            for ancestor in on_the_way.filter(|ancestor| !writable.iter().any(|root| root == ancestor)) {
                self.over.entry(ancestor.to_owned()).or_insert(Layer::InPlace);
            }
        }
        let known = self.over.entry(path.to_owned()).or_insert(layer);
        *known = (*known).max(layer);
    }
}

fn c_path(path: &Path) -> Option<CString> {
    CString::new(path.as_os_str().as_bytes()).ok()
}
