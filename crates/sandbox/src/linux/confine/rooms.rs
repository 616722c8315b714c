//! The file tree and the rules of a room, which all its commands share.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, mkdirat, openat, unlinkat};
use rustix::io::Errno;

use super::confined::exhausted;
use super::host::may_listen;
use super::mounting::COVER;
use super::mounts::{Bind, Change, Cover, Layer, Layers, Mounts};
use super::readable::Around;
use super::repositories::Repositories;
use super::ruleset::{Grants, answered, ruleset};
use super::snapshot::Snapshot;
use crate::imp::git::Fence;
use crate::room::{KnownRepository, RoomFacts, RoomPlan, Stamp};
use crate::{ConfineError, Confinement};

/// The file tree of a room.
#[derive(Debug)]
pub(in super::super) struct RoomTree {
    pub(in super::super) mounts: Mounts,
    pub(in super::super) repositories: Protected,
    /// Writable paths, beside the temporary directories.
    writable: Vec<PathBuf>,
}

/// The repositories of a room, as they were found.
#[derive(Debug)]
pub(in super::super) struct Protected {
    pub(in super::super) known: Vec<KnownRepository>,
    /// Which file each of them is.
    identities: BTreeSet<(PathBuf, u64, u64)>,
    pub(in super::super) searched: Vec<PathBuf>,
    pub(in super::super) gap: Option<&'static str>,
    layers: Vec<(PathBuf, Layer)>,
}

/// The rules of a room.
#[derive(Debug)]
pub(in super::super) struct RoomRules {
    /// None where the kernel has no Landlock.
    pub(in super::super) ruleset: Option<OwnedFd>,
    /// The directories that were listed for it, as they were.
    pub(in super::super) listed: Vec<(PathBuf, Stamp)>,
}

/// The host's directories that everybody writes into. Each room has its own.
const TEMPORARIES: [&str; 2] = ["/tmp", "/var/tmp"];

impl RoomTree {
    /// Looks at everything now. Mountpoints are made where they are needed.
    pub(in super::super) fn new(plan: &RoomPlan) -> Result<Self, ConfineError> {
        let confinement = &plan.confinement;
        let (repositories, mut elsewhere) = Protected::find(confinement).map_err(exhausted)?;
        let mut writable = confinement.writable.clone();
        writable.append(&mut elsewhere);
        let own: Vec<(&Path, &Path)> = TEMPORARIES
            .iter()
            .map(Path::new)
            .zip([plan.temporary.as_path(), plan.var_temporary.as_path()])
            .filter(|(target, _)| is_replaced(target, &writable))
            .collect();
        let failed = |source| ConfineError::Temporary { path: plan.temporary.clone(), source };
        let mut tree = Self { mounts: Mounts::default(), repositories, writable };
        let copies = plan.settings.iter().filter_map(|known| Some((known.path.clone(), known.copy.clone()?)));
        tree.mounts.copies = copies.collect();
        let pins = tree.keep(plan, &own).map_err(failed)?;
        tree.mounts.keep_devices();
        let layers = tree.layers(confinement, &own);
        let cover = Path::new(COVER.to_str().expect("a constant"));
        tree.mounts.lay(&layers, Cover::Mounted(cover)).ok_or(ConfineError::Changing)?;
        for (inner, outer) in pins {
            // As the room sees it, that is another directory than the host's of that name.
            let metadata = outer.symlink_metadata().map_err(failed)?;
            if let Some(bind) = Bind::of_later(&inner, &inner) {
                let file = Some((metadata.dev(), metadata.ino()));
                // Like its model on the host: what lies around a workspace cannot be changed.
                tree.mounts.laid_over.insert(0, Bind { file, ..bind }.with(Change::Scaffold));
            }
        }
        Ok(tree)
    }

    /// Adds what is writable and what is shown. Returns the directories on the way to it in the room's own temporary ones: as
    /// they are called inside, and on the host.
    fn keep(&mut self, plan: &RoomPlan, own: &[(&Path, &Path)]) -> io::Result<Vec<(PathBuf, PathBuf)>> {
        let writable = self.writable.iter().map(|path| (path.as_path(), Change::Harmless));
        let is_writable = |path: &PathBuf| self.writable.iter().any(|root| path.starts_with(root));
        let is_covered = |path: &PathBuf| own.iter().any(|(target, _)| path.starts_with(target));
        let shown = plan.shown.iter().filter(|path| is_covered(path) && !is_writable(path));
        let shown = shown.map(|path| (path.as_path(), Change::Closed));
        let mut binds = vec![];
        for (target, source) in own {
            binds.extend(Bind::new(source, target).map(|bind| bind.with(Change::Harmless)));
        }
        let mut pins = vec![];
        for (path, change) in writable.chain(shown) {
            let Some(bind) = Bind::new(path, path) else { continue };
            if let Some((target, source)) = own.iter().find(|(target, _)| path.starts_with(target)) {
                let inner = path.strip_prefix(target).unwrap_or(path);
                make_mountpoint(source, inner, path.is_dir())?;
                let on_the_way = inner.ancestors().skip(1).filter(|part| !part.as_os_str().is_empty());
                pins.extend(on_the_way.map(|part| (target.join(part), source.join(part))));
            }
            binds.push(bind.with(change));
        }
        // Parents before children, so that none is hidden by another.
        binds.sort_by(|one, other| one.target.cmp(&other.target));
        self.mounts.kept = binds;
        // Outer ones last: each is put in front of the others.
        pins.sort();
        pins.dedup();
        // What lies in something that is itself shown is not of the room's own.
        let targets: Vec<PathBuf> = self.mounts.kept.iter().map(Bind::target_path).collect();
        pins.retain(|(inner, _)| {
            let nearest = targets.iter().filter(|target| inner.starts_with(target));
            nearest
                .max_by_key(|target| target.as_os_str().len())
                .is_some_and(|target| own.iter().any(|(temporary, _)| target == temporary))
        });
        pins.reverse();
        Ok(pins)
    }

    fn layers(&self, confinement: &Confinement, own: &[(&Path, &Path)]) -> Layers {
        let mut layers = Layers::default();
        let writable = &self.writable;
        let targets: Vec<PathBuf> = self.mounts.kept.iter().map(Bind::target_path).collect();
        // What lies in the host's temporary directories and is not shown is not there.
        let is_seen = |path: &&PathBuf| {
            let nearest = targets.iter().filter(|target| path.starts_with(target));
            let nearest = nearest.max_by_key(|target| target.as_os_str().len());
            nearest.is_none_or(|target| !own.iter().any(|(temporary, _)| target == temporary))
        };
        add_kept(self.repositories.layers.iter(), &mut layers, writable);
        let kept = confinement.kept.iter().filter(|path| path.exists());
        kept.filter(is_seen).for_each(|path| layers.add(path, Layer::Unchanged, writable));
        let secrets = confinement.secrets.iter().filter(is_seen);
        secrets.for_each(|path| layers.add(path, Layer::Hidden, writable));
        // A directory in another that is writable could be exchanged for a link.
        let inner = |inner: &&PathBuf| writable.iter().any(|root| inner.starts_with(root) && *inner != root);
        writable.iter().filter(inner).for_each(|path| layers.add(path, Layer::InPlace, writable));
        layers
    }

    /// Lists the secrets in whose place a copy is shown.
    pub(in super::super) fn copied(&self) -> Vec<PathBuf> {
        self.mounts.copied().map(|(secret, _)| secret.to_owned()).collect()
    }

    pub(in super::super) fn writable(&self) -> &[PathBuf] {
        &self.writable
    }

    /// Makes the mounts that protect new repositories. None: they have changed meanwhile.
    pub(in super::super) fn over_new(&self, found: &Protected) -> Option<Mounts> {
        let mut layers = Layers::default();
        let is_new = |path: &Path| {
            let repository = found.known.iter().find(|known| path.starts_with(&known.git));
            repository.is_none_or(|known| !self.repositories.has(found, known))
        };
        add_kept(found.layers.iter().filter(|(path, _)| is_new(path)), &mut layers, &self.writable);
        let mut mounts = Mounts::default();
        mounts.lay(&layers, Cover::Mounted(Path::new("/")))?;
        Some(mounts)
    }

    /// The rules, to be made inside when all is in its place; and the directories that were listed for them.
    pub(in super::super) fn rules(&self, plan: &RoomPlan) -> Result<RoomRules, ConfineError> {
        const OWN: [&str; 5] = ["/tmp", "/var/tmp", "/dev/shm", "/dev/pts", "/dev/ptmx"];
        let ruled = plan.confinement.secrets.iter().filter(|secret| !plan.covered.contains(secret));
        let secrets = ruled.chain(&plan.possible_secrets);
        let holes: Vec<&Path> = secrets.map(PathBuf::as_path).chain([Path::new("/dev")]).collect();
        let around = Around::new(&holes).map_err(exhausted)?;
        let writable = self.writable.iter().map(PathBuf::as_path).chain(OWN.map(Path::new)).collect();
        let readable = around.granted.iter().map(PathBuf::as_path).collect();
        // The file itself stays closed, also when another is put in its place and the mount goes with it.
        let copies = self.mounts.copied().collect();
        let answered = if may_listen() { answered(&plan.confinement, Fence::Mounts) } else { vec![] };
        let rules = ruleset(&Grants {
            writable,
            answered: &answered,
            fence: Fence::Mounts,
            readable,
            copies,
            no_tcp: false,
        })?;
        let targets: Vec<PathBuf> = self.mounts.kept.iter().map(Bind::target_path).collect();
        // The room's own directories are not the host's of the same name, so they tell nothing about those.
        let is_the_hosts = |(path, _): &(PathBuf, Stamp)| {
            let nearest = targets.iter().filter(|target| path.starts_with(target));
            let nearest = nearest.max_by_key(|target| target.as_os_str().len());
            let temporary = |target: &&PathBuf| TEMPORARIES.iter().any(|own| *target == Path::new(own));
            nearest.is_none_or(|target| !temporary(&target) || self.writable.contains(target))
        };
        Ok(RoomRules { ruleset: rules, listed: around.listed.into_iter().filter(is_the_hosts).collect() })
    }
}

/// Not where a workspace is the directory itself, and not where it is a link to another.
fn is_replaced(target: &Path, writable: &[PathBuf]) -> bool {
    let is_directory = target.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
    is_directory && !writable.iter().any(|root| target.starts_with(root))
}

impl Protected {
    /// Looks for them now; and for git directories elsewhere that belong to a worktree in a workspace.
    pub(in super::super) fn find(confinement: &Confinement) -> io::Result<(Self, Vec<PathBuf>)> {
        let mut found = Repositories::find(confinement, may_listen())?;
        let identity = |git: &super::repositories::GitDirectory| {
            let stat = rustix::fs::fstat(&git.fd)?;
            Ok((git.path.clone(), stat.st_dev, stat.st_ino))
        };
        let identities = found.git.iter().map(identity).collect::<io::Result<_>>()?;
        let elsewhere = std::mem::take(&mut found.elsewhere);
        let protected = Self {
            known: found.to_known(),
            identities,
            searched: std::mem::take(&mut found.searched),
            gap: found.gap,
            layers: std::mem::take(&mut found.kept),
        };
        Ok((protected, elsewhere))
    }

    /// Returns true if some are not the workspaces' own.
    pub(in super::super) fn has_nested(&self) -> bool {
        self.known.iter().any(|known| known.git != known.root.join(".git") && known.git != known.root)
    }

    /// Returns true if a repository of the other list is in this one, and is the same directory.
    fn has(&self, others: &Self, known: &KnownRepository) -> bool {
        let identity = others.identities.iter().find(|(path, ..)| *path == known.git);
        identity.is_some_and(|identity| self.identities.contains(identity))
    }

    /// Returns true if the other list has a repository that this one has not.
    pub(in super::super) fn lacks_some_of(&self, others: &Self) -> bool {
        !others.identities.is_subset(&self.identities)
    }
}

fn add_kept<'a>(kept: impl Iterator<Item = &'a (PathBuf, Layer)>, layers: &mut Layers, writable: &[PathBuf]) {
    // Where each name is asked about, nobody can put another directory in the place of one that was moved away.
    let pinned = if may_listen() { &[] } else { writable };
    kept.for_each(|(path, layer)| layers.add(path, *layer, pinned));
}

/// Takes a snapshot of the room's repositories before a command.
pub(in super::super) fn snapshot_of(facts: &RoomFacts) -> io::Result<Snapshot> {
    if facts.are_closed {
        return Ok(Snapshot::default());
    }
    Snapshot::of_absent(&Repositories::known(&facts.repositories)?)
}

/// Makes a file or a directory in a directory that commands write into, without following a link that one has put there.
fn make_mountpoint(root: &Path, inner: &Path, is_directory: bool) -> io::Result<()> {
    let directory = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
    let mut at = openat(CWD, root, directory, Mode::empty())?;
    let last = inner.components().count().saturating_sub(1);
    for (index, part) in inner.iter().enumerate() {
        if index == last && !is_directory {
            let flags =
                OFlags::CREATE | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
            if openat(&at, part, flags, Mode::from_raw_mode(0o644)).is_err() {
                unlinkat(&at, part, AtFlags::empty())?;
                openat(&at, part, flags | OFlags::EXCL, Mode::from_raw_mode(0o644))?;
            }
            return Ok(());
        }
        at = enter(&at, part, directory)?;
    }
    Ok(())
}

fn enter(at: &OwnedFd, part: &std::ffi::OsStr, flags: OFlags) -> io::Result<OwnedFd> {
    let made = |at: &OwnedFd| match mkdirat(at.as_fd(), part, Mode::from_raw_mode(0o755)) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error),
    };
    made(at)?;
    match openat(at, part, flags, Mode::empty()) {
        Err(Errno::NOTDIR | Errno::LOOP) => {
            // A command has put something else there. It is in the way of what must be there.
            unlinkat(at, part, AtFlags::empty())?;
            made(at)?;
            Ok(openat(at, part, flags, Mode::empty())?)
        }
        opened => Ok(opened?),
    }
}
