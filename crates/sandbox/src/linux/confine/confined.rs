//! One command's confinement: what equal ones share, and what is looked at anew.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::cells::{Lease, Temporary};
use super::host::{effective_capabilities, landlock, may_mount};
use super::mounts::{Cover, Layer, Layers, Mounts};
use super::repositories::{Repositories, answers_for_names, keeps_closed};
use super::rules::{Hold, Rules};
use super::snapshot::Snapshot;
use crate::{ConfineError, Confinement, Mode, Namespaces, OwnDirectory};

/// One command's confinement, ready to be applied.
#[derive(Debug)]
pub struct Confined {
    lease: Arc<Lease>,
    repositories: Mutex<Repositories>,
}

/// The rules of confinements that were used lately.
#[derive(Debug, Default)]
pub(in super::super) struct Known {
    rules: Mutex<Vec<Arc<Rules>>>,
}

impl Known {
    /// Finds or makes the rules. What is in the workspaces is looked at anew for every command.
    pub(in super::super) fn confine(&self, confinement: &Confinement) -> Result<Confined, ConfineError> {
        const MOST: usize = 16;
        let mut confinement = confinement.clone();
        let mut repositories = Repositories::default();
        if confinement.mode == Mode::Workspace {
            repositories = Repositories::find(&confinement, keeps_closed(&confinement)).map_err(exhausted)?;
            confinement.writable.append(&mut repositories.elsewhere);
        }
        let mut known = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        let rules = match known.iter().position(|rules| rules.confinement == confinement) {
            Some(at) => known.remove(at),
            None => Arc::new(Rules::new(confinement)?),
        };
        // The latest is last.
        known.push(Arc::clone(&rules));
        if known.len() > MOST {
            known.remove(0);
        }
        drop(known);
        Ok(Confined { lease: Arc::new(Lease::take(rules)?), repositories: Mutex::new(repositories) })
    }
}

impl Confined {
    /// The temporary directory of this command, which is nobody else's until this and what is returned are dropped. None where
    /// it needs no private one.
    #[must_use]
    pub fn temporary(&self) -> Option<Temporary> {
        Temporary::of(&self.lease)
    }

    /// Whether namespaces are worth trying.
    pub(in super::super) fn wants_namespaces(&self) -> bool {
        let confinement = self.confinement();
        confinement.mode == Mode::Workspace && confinement.namespaces == Namespaces::WherePossible
    }

    pub(in super::super) fn confinement(&self) -> &Confinement {
        &self.lease.rules().confinement
    }

    pub(in super::super) fn hold(&self, namespaces: bool) -> Result<Arc<Hold>, ConfineError> {
        self.lease.hold(namespaces)
    }

    /// Looks at the workspaces anew.
    pub(in super::super) fn look_again(&self) -> Result<(), ConfineError> {
        let confinement = self.confinement();
        *self.repositories() =
            Repositories::find(confinement, keeps_closed(confinement)).map_err(exhausted)?;
        Ok(())
    }

    pub(super) fn repositories(&self) -> MutexGuard<'_, Repositories> {
        self.repositories.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file tree of one command, as it is to be right now.
    pub(in super::super) fn surroundings(&self, namespaces: bool) -> Result<Surroundings, ConfineError> {
        let mut surroundings = Surroundings::default();
        let (confinement, repositories) = (self.confinement(), self.repositories());
        let cell = self.lease.cell();
        let Some(temporary) = cell.temporary().filter(|_| confinement.mode == Mode::Workspace) else {
            return Ok(surroundings);
        };
        if !namespaces {
            if !answers_for_names(confinement, false) {
                surroundings.snapshot = Snapshot::of_all(&repositories).map_err(exhausted)?;
            }
            return Ok(surroundings);
        }
        if !keeps_closed(confinement) {
            surroundings.snapshot = Snapshot::of_absent(&repositories).map_err(exhausted)?;
        }
        let mut mounts = Mounts::default();
        let writable = confinement.writable.iter().map(PathBuf::as_path).chain([temporary.path()]);
        mounts.keep(writable.collect());
        mounts.keep_devices();
        let cells = &self.lease.rules().cells;
        let shared_memory = cells.shared_memory(cell)?;
        shared_memory.iter().for_each(|own| mounts.replace(Path::new("/dev/shm"), own.path()));
        // Something else may have its name by now.
        if !shared_memory.into_iter().chain([temporary]).all(|own| shows(&mounts, own)) {
            return Err(ConfineError::Changing);
        }
        mounts.own_proc(may_mount() && landlock().abi() > 0);
        let mut layers = Layers::default();
        let writable = &confinement.writable;
        let pinned = if keeps_closed(confinement) { &[] } else { writable.as_slice() };
        repositories.kept.iter().for_each(|(path, layer)| layers.add(path, *layer, pinned));
        // What lies elsewhere is read-only as all the rest is, and scratch may be in our own state directory.
        let is_writable = |path: &Path| writable.iter().any(|root| path.starts_with(root));
        let own = confinement.kept.iter().filter(|path| is_writable(path) && path.exists());
        own.for_each(|path| layers.add(path, Layer::Unchanged, writable));
        confinement.secrets.iter().for_each(|path| layers.add(path, Layer::Hidden, writable));
        // A directory in another that is writable could be exchanged for a link, and the next command be given its target.
        for inner in writable
            .iter()
            .filter(|inner| writable.iter().any(|root| inner.starts_with(root) && *inner != root))
        {
            layers.add(inner, Layer::InPlace, writable);
        }
        mounts.lay(&layers, Cover::Directory(&cells.cover()?)).ok_or(ConfineError::Changing)?;
        surroundings.mounts = Some(mounts);
        Ok(surroundings)
    }
}

/// Returns true if what is mounted from the path of a directory of ours is that directory.
fn shows(mounts: &Mounts, own: &OwnDirectory) -> bool {
    let path = own.path().as_os_str().as_bytes();
    let mut binds = mounts.kept.iter().filter(|bind| bind.source.as_bytes() == path);
    own.identity().is_ok_and(|identity| binds.all(|bind| bind.file == Some(identity)))
}

/// The capabilities that a command keeps. Root gives up all, but where the workspace belongs to somebody else it could not
/// work there at all then.
pub(in super::super) fn capabilities(confinement: &Confinement, namespaces: bool) -> u32 {
    const CHOWN: u32 = 1 << 0;
    const DAC_OVERRIDE: u32 = 1 << 1;
    const FOWNER: u32 = 1 << 3;
    const FSETID: u32 = 1 << 4;
    let is_foreign = |path: &PathBuf| path.metadata().is_ok_and(|metadata| metadata.uid() != 0);
    let needed = rustix::process::geteuid().is_root()
        && confinement.mode == Mode::Workspace
        && confinement.workspaces.iter().any(is_foreign);
    let wanted = match (needed, namespaces) {
        (false, _) => return 0,
        // Without mounts of its own it could give away what lies outside.
        (true, false) => DAC_OVERRIDE,
        (true, true) => CHOWN | DAC_OVERRIDE | FOWNER | FSETID,
    };
    // In a user namespace of its own it has all of them.
    if namespaces && !may_mount() {
        wanted
    } else {
        u32::try_from(u64::from(wanted) & effective_capabilities()).unwrap_or(0)
    }
}

pub(super) fn exhausted(source: io::Error) -> ConfineError {
    ConfineError::Exhausted { source }
}

/// What differs from one command to the next.
#[derive(Debug, Default)]
pub(in super::super) struct Surroundings {
    pub(in super::super) mounts: Option<Mounts>,
    pub(in super::super) snapshot: Snapshot,
}
