//! Making the kernel hold a command to a [`Confinement`].

mod bpf;
mod child;
mod filter;
mod host;
mod mounts;
mod readable;
mod remove;
mod repositories;
mod ruleset;
mod scratch;
mod snapshot;

use std::fmt::Write;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{ConfineError, Confinement, Enforced, Mode, Namespaces, Network, Report, Requirement};
pub(super) use child::{Identity, Orders, identity_of};
use filter::{Needs, filter};
pub(super) use host::may_mount;
pub use host::{has_seccomp, landlock};
pub(super) use mounts::Mounts;
use mounts::{Layer, Layers};
use readable::Around;
use repositories::Repositories;
use ruleset::{Grants, ruleset};
use scratch::Scratch;
pub use scratch::Temporary;
pub(super) use snapshot::Snapshot;

/// One command's confinement, ready to be applied.
#[derive(Debug)]
pub struct Confined {
    rules: Arc<Rules>,
    repositories: Mutex<Repositories>,
}

/// What the kernel needs for a confinement. One serves any number of commands.
#[derive(Debug)]
pub(super) struct Rules {
    confinement: Confinement,
    scratch: Option<Arc<Scratch>>,
    with_namespaces: Mutex<Option<Arc<Hold>>>,
    without: Mutex<Option<Arc<Hold>>>,
}

/// The rules that hold each command, in the form that the kernel takes.
#[derive(Debug)]
pub(super) struct Hold {
    ruleset: Option<OwnedFd>,
    filter: Vec<libc::sock_filter>,
    around: Option<Around>,
    pub(super) namespaces: bool,
    pub(super) own_network: bool,
    /// Each child adds its own process table to the rules, so they are made anew now and then.
    uses: AtomicU32,
}

/// The rules of confinements that were used lately.
#[derive(Debug, Default)]
pub(super) struct Known {
    rules: Mutex<Vec<Arc<Rules>>>,
}

impl Known {
    /// Finds or makes the rules. What is in the workspaces is looked at anew for every command.
    pub(super) fn confine(&self, confinement: &Confinement) -> Result<Confined, ConfineError> {
        const MOST: usize = 16;
        let mut confinement = confinement.clone();
        let mut repositories = Repositories::default();
        if confinement.mode == Mode::Workspace {
            repositories = Repositories::find(&confinement.workspaces);
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
    pub(super) fn wants_namespaces(&self) -> bool {
        let confinement = self.confinement();
        confinement.mode == Mode::Workspace && confinement.namespaces == Namespaces::WherePossible
    }

    pub(super) fn confinement(&self) -> &Confinement {
        &self.rules.confinement
    }

    pub(super) fn hold(&self, namespaces: bool) -> Result<Arc<Hold>, ConfineError> {
        self.rules.hold(namespaces)
    }

    /// Root gives up all, but where the workspace belongs to somebody else it could not work there at all then.
    pub(super) fn capabilities(&self, namespaces: bool) -> u32 {
        const CHOWN: u32 = 1 << 0;
        const DAC_OVERRIDE: u32 = 1 << 1;
        const FOWNER: u32 = 1 << 3;
        const FSETID: u32 = 1 << 4;
        let is_foreign = |path: &PathBuf| path.metadata().is_ok_and(|metadata| metadata.uid() != 0);
        let confinement = self.confinement();
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

    /// Looks at the workspaces anew.
    pub(super) fn look_again(&self) {
        *self.repositories() = Repositories::find(&self.confinement().workspaces);
    }

    fn repositories(&self) -> MutexGuard<'_, Repositories> {
        self.repositories.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file tree of one command, as it is to be right now.
    pub(super) fn surroundings(&self, namespaces: bool) -> Result<Surroundings, ConfineError> {
        let mut surroundings = Surroundings::default();
        let (confinement, repositories) = (self.confinement(), self.repositories());
        let Some(scratch) = self.rules.scratch.as_ref().filter(|_| confinement.mode == Mode::Workspace)
        else {
            return Ok(surroundings);
        };
        if !namespaces {
            surroundings.snapshot = Snapshot::of_all(&repositories);
            return Ok(surroundings);
        }
        surroundings.snapshot = Snapshot::of_absent(&repositories);
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
        repositories.kept.iter().for_each(|(path, layer)| layers.add(path, *layer, writable));
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
        mounts.lay(&layers, &cover).ok_or(ConfineError::Changing)?;
        surroundings.mounts = Some(mounts);
        Ok(surroundings)
    }

    /// How far a command is held.
    pub(super) fn report(&self, hold: &Hold, tree: TreeHeld) -> Report {
        let confinement = self.confinement();
        let mode = confinement.mode;
        let mut reasons = String::new();
        let mut because = |text: &str| {
            let _ = write!(reasons, "{}{text}", if reasons.is_empty() { "" } else { "; " });
        };
        let limits = tree.enforced(confinement, &mut because);
        if mode == Mode::Off {
            let reason = "the sandbox is off".to_owned();
            return Report { limits, reason: Some(reason), ..Report::unconfined() };
        }
        let landlock = landlock();
        let mut filesystem =
            if landlock.abi() > 0 || hold.namespaces { Enforced::Full } else { Enforced::None };
        let mut gap = |is_gap: bool, text: &str| {
            if is_gap {
                filesystem = filesystem.min(Enforced::Partial);
                because(text);
            }
        };
        if let Some(problem) = landlock.problem() {
            gap(true, problem);
        }
        gap(
            mode == Mode::Workspace && !hold.namespaces,
            "without a mount namespace modes, owners and times of files outside the workspace are not protected, \
             and git hooks and configuration are put back after the command instead of being kept",
        );
        if let Some(problem) = self.repositories().gap {
            gap(true, problem);
        }
        gap(
            mode == Mode::Workspace
                && !hold.namespaces
                && confinement
                    .kept
                    .iter()
                    .any(|path| confinement.writable.iter().any(|root| path.starts_with(root))),
            "Bashtion's own configuration lies in a writable directory and cannot be kept without a mount namespace",
        );
        let hidden = |secret: &PathBuf| confinement.writable.iter().any(|root| secret.starts_with(root));
        gap(
            mode == Mode::Workspace && !hold.namespaces && confinement.secrets.iter().any(hidden),
            "secrets inside a writable directory cannot be hidden without a mount namespace",
        );
        let signals = match landlock.abi() {
            6.. => Enforced::Full,
            1.. => {
                because("signals to other processes need Linux 6.12 or newer to be held");
                Enforced::Partial
            }
            0 => Enforced::None,
        };
        let network = Enforced::Full;
        let reason = (!reasons.is_empty()).then_some(reasons);
        Report { mode, filesystem, network, signals, limits, reason }
    }
}

impl Rules {
    fn new(confinement: Confinement) -> Result<Self, ConfineError> {
        let mut scratch = None;
        if confinement.mode != Mode::Off {
            let is_needed =
                confinement.mode == Mode::ReadOnly || confinement.requirement == Requirement::Required;
            if let Some(why) = landlock().problem().filter(|_| is_needed) {
                return Err(ConfineError::Unavailable { mode: confinement.mode, why: why.to_owned() });
            }
            let failed = |source| ConfineError::Temporary { path: confinement.temporary.clone(), source };
            scratch = Some(Arc::new(Scratch::create(&confinement.temporary).map_err(failed)?));
        }
        Ok(Self { confinement, scratch, with_namespaces: Mutex::default(), without: Mutex::default() })
    }

    /// The rules, made when first needed and again when a directory around a secret has changed.
    fn hold(&self, namespaces: bool) -> Result<Arc<Hold>, ConfineError> {
        let place = if namespaces { &self.with_namespaces } else { &self.without };
        let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(hold) = place.as_ref().filter(|hold| hold.is_current()) {
            return Ok(Arc::clone(hold));
        }
        Ok(Arc::clone(place.insert(Arc::new(self.build(namespaces)?))))
    }

    fn build(&self, namespaces: bool) -> Result<Hold, ConfineError> {
        let Confinement { mode, network, .. } = self.confinement;
        if mode == Mode::Off {
            return Ok(Hold {
                ruleset: None,
                filter: vec![],
                around: None,
                namespaces: false,
                own_network: false,
                uses: AtomicU32::new(0),
            });
        }
        let own_network = namespaces && network == Network::Off;
        // Also where mounts hide secrets: a mount goes when the host replaces the file beneath it, a rule does not come.
        let holes = self.confinement.secrets.iter().map(PathBuf::as_path).chain([Path::new("/dev")]);
        let around = Around::new(&holes.collect::<Vec<_>>());
        let temporaries = self.scratch.as_ref().map(|scratch| scratch.temporaries());
        let mut writable: Vec<&Path> = temporaries.as_deref().into_iter().collect();
        let shared_memory = match &self.scratch {
            Some(scratch) if namespaces => scratch.shared_memory().ok(),
            Some(_) | None => Some("/dev/shm".into()),
        };
        if mode == Mode::Workspace {
            writable.extend(self.confinement.writable.iter().map(PathBuf::as_path));
            writable.extend(shared_memory.as_deref());
        }
        let readable = around.granted.iter().map(PathBuf::as_path).collect();
        let no_tcp = network == Network::Off && !own_network;
        let ruleset = ruleset(&Grants { writable, readable, no_tcp })
            .map_err(|error| ConfineError::Rules { what: error.to_string() })?;
        let filter = filter(Needs {
            mode,
            network,
            own_network,
            own_ipc: namespaces,
            no_truncation: landlock().abi() < 3 && !namespaces,
        });
        Ok(Hold { ruleset, filter, around: Some(around), namespaces, own_network, uses: AtomicU32::new(0) })
    }
}

/// What differs from one command to the next.
#[derive(Debug, Default)]
pub(super) struct Surroundings {
    pub(super) mounts: Option<Mounts>,
    pub(super) snapshot: Snapshot,
}

/// Which limits hold for a whole tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct TreeHeld {
    pub(super) memory: bool,
    pub(super) processes: bool,
}

impl TreeHeld {
    fn enforced(self, confinement: &Confinement, because: &mut impl FnMut(&str)) -> Enforced {
        let limits = &confinement.limits;
        if confinement.mode == Mode::Off && limits.is_empty() {
            return Enforced::None;
        }
        let missing =
            |limit: Option<u64>, held: bool| !held && (limit.is_some() || confinement.mode != Mode::Off);
        if missing(limits.memory, self.memory) || missing(limits.processes, self.processes) {
            because(
                "no control group can be made here, so memory and processes are limited for each process at most, not together",
            );
            return Enforced::Partial;
        }
        Enforced::Full
    }
}

impl Hold {
    fn is_current(&self) -> bool {
        const MOST_USES: u32 = 64;
        let is_fresh = !self.namespaces || self.uses.fetch_add(1, Ordering::Relaxed) < MOST_USES;
        is_fresh && self.around.as_ref().is_none_or(Around::is_current)
    }

    pub(super) fn ruleset(&self) -> Option<std::os::fd::RawFd> {
        self.ruleset.as_ref().map(AsRawFd::as_raw_fd)
    }

    pub(super) fn filter(&self) -> &[libc::sock_filter] {
        &self.filter
    }

    /// The namespaces to be born in.
    pub(super) fn clone_flags(&self) -> u64 {
        if !self.namespaces {
            return 0;
        }
        let mut flags = libc::CLONE_NEWNS | libc::CLONE_NEWIPC;
        if self.own_network {
            flags |= libc::CLONE_NEWNET;
        }
        if !may_mount() {
            flags |= libc::CLONE_NEWUSER;
        }
        u64::from(flags.cast_unsigned())
    }
}
