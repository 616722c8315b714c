//! One command's confinement: what equal ones share, and what is looked at anew.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::host::{landlock, may_mount};
use super::mounts::{Cover, Layer, Layers, Mounts};
use super::repositories::{Repositories, keeps_closed};
use super::rules::{Hold, Rules};
use super::scratch::{Scratch, Temporary};
use super::snapshot::Snapshot;
use crate::{ConfineError, Confinement, Mode, Namespaces};

/// One command's confinement, ready to be applied.
#[derive(Debug)]
pub struct Confined {
    rules: Arc<Rules>,
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
        Ok(Confined { rules, repositories: Mutex::new(repositories) })
    }
}

impl Confined {
    /// A temporary directory for this command; none where it needs no private one.
    pub fn temporary(&self) -> io::Result<Option<Temporary>> {
        let scratch = self.rules.scratch.as_ref();
        scratch.map(Scratch::temporary).transpose()
    }

    /// Whether namespaces are worth trying.
    pub(in super::super) fn wants_namespaces(&self) -> bool {
        let confinement = self.confinement();
        confinement.mode == Mode::Workspace && confinement.namespaces == Namespaces::WherePossible
    }

    pub(in super::super) fn confinement(&self) -> &Confinement {
        &self.rules.confinement
    }

    pub(in super::super) fn hold(&self, namespaces: bool) -> Result<Arc<Hold>, ConfineError> {
        self.rules.hold(namespaces)
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
        let Some(scratch) = self.rules.scratch.as_ref().filter(|_| confinement.mode == Mode::Workspace)
        else {
            return Ok(surroundings);
        };
        if !namespaces {
            surroundings.snapshot = Snapshot::of_all(&repositories).map_err(exhausted)?;
            return Ok(surroundings);
        }
        if !keeps_closed(confinement) {
            surroundings.snapshot = Snapshot::of_absent(&repositories).map_err(exhausted)?;
        }
        let mut mounts = Mounts::default();
        let temporaries = scratch.temporaries();
        let writable = confinement.writable.iter().chain([&temporaries]);
        mounts.keep(writable.map(PathBuf::as_path).collect());
        mounts.keep_devices();
        let failed = |source| ConfineError::Temporary { path: confinement.temporary.clone(), source };
        mounts.replace(Path::new("/dev/shm"), &scratch.shared_memory().map_err(failed)?);
        mounts.own_proc(may_mount() && landlock().abi() > 0);
        let mut layers = Layers::default();
        let writable = &confinement.writable;
        let pinned = if keeps_closed(confinement) { &[] } else { writable.as_slice() };
        repositories.kept.iter().for_each(|(path, layer)| layers.add(path, *layer, pinned));
        let own = confinement.kept.iter().filter(|path| path.exists());
        own.for_each(|path| layers.add(path, Layer::Unchanged, writable));
        confinement.secrets.iter().for_each(|path| layers.add(path, Layer::Hidden, writable));
        // A directory in another that is writable could be exchanged for a link, and the next command be given its target.
        for inner in writable
            .iter()
            .filter(|inner| writable.iter().any(|root| inner.starts_with(root) && *inner != root))
        {
            layers.add(inner, Layer::InPlace, writable);
        }
        let cover = scratch.cover().map_err(failed)?;
        mounts.lay(&layers, Cover::Directory(&cover)).ok_or(ConfineError::Changing)?;
        surroundings.mounts = Some(mounts);
        Ok(surroundings)
    }
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
    match (needed, namespaces) {
        (false, _) => 0,
        // Without mounts of its own it could give away what lies outside.
        (true, false) => DAC_OVERRIDE,
        (true, true) => CHOWN | DAC_OVERRIDE | FOWNER | FSETID,
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
