//! What the kernel needs for a confinement, made once for all commands that have an equal one.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::cells::{Cell, Cells};
use super::filter::{Needs, filter};
use super::host::landlock;
use super::readable::Around;
use super::repositories::answers_for_names;
use super::ruleset::{Grants, answered, ruleset_with};
use crate::imp::git::{Fence, Ground};
use crate::imp::sockets::{Datagrams, Reach};
use crate::{ConfineError, Confinement, Mode, Network, Requirement};

/// What the kernel needs for a confinement. One serves any number of commands.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) confinement: Confinement,
    pub(super) cells: Cells,
    /// Everything but the secrets, as it was listed last.
    around: Mutex<Option<Arc<Around>>>,
}

/// The rules that hold each command, in the form that the kernel takes.
#[derive(Debug)]
pub(in super::super) struct Hold {
    ruleset: Option<OwnedFd>,
    filter: Vec<libc::sock_filter>,
    asking: Option<Asking>,
    around: Option<Arc<Around>>,
    pub(in super::super) namespaces: bool,
    /// True if the host makes names in workspaces in the command's place.
    pub(super) names: bool,
    pub(in super::super) own_network: bool,
    /// Each child adds its own process table to the rules, so they are made anew now and then.
    uses: AtomicU32,
}

/// For commands that may have unix sockets: a filter that asks, and what is answered.
#[derive(Debug)]
struct Asking {
    filter: Vec<libc::sock_filter>,
    reach: Arc<Reach>,
}

impl Rules {
    pub(super) fn new(confinement: Confinement) -> Result<Self, ConfineError> {
        let is_needed =
            confinement.mode == Mode::ReadOnly || confinement.requirement == Requirement::Required;
        if confinement.mode != Mode::Off
            && let Some(why) = landlock().problem().filter(|_| is_needed)
        {
            return Err(ConfineError::Unavailable { mode: confinement.mode, why: why.to_owned() });
        }
        let cells = Cells::new(&confinement)?;
        Ok(Self { confinement, cells, around: Mutex::default() })
    }

    /// Makes the rules of one command: they grant it its own cell, and nobody else's.
    pub(super) fn build(&self, cell: &Cell, namespaces: bool) -> Result<Hold, ConfineError> {
        let Confinement { mode, network, .. } = self.confinement;
        if mode == Mode::Off {
            return Ok(Hold {
                ruleset: None,
                filter: vec![],
                asking: None,
                around: None,
                namespaces: false,
                names: false,
                own_network: false,
                uses: AtomicU32::new(0),
            });
        }
        let own_network = namespaces && network == Network::Off;
        let around = self.around().map_err(|source| ConfineError::Exhausted { source })?;
        let mut writable: Vec<&Path> = vec![];
        let mut own: Vec<BorrowedFd<'_>> = cell.temporary().into_iter().map(AsFd::as_fd).collect();
        if mode == Mode::Workspace {
            writable.extend(self.confinement.writable.iter().map(PathBuf::as_path));
            if namespaces {
                own.extend(self.cells.shared_memory(cell)?.map(AsFd::as_fd));
            } else {
                writable.push(Path::new("/dev/shm"));
            }
        }
        let readable = around.granted.iter().map(PathBuf::as_path).collect();
        let no_tcp = network == Network::Off && !own_network;
        let names = answers_for_names(&self.confinement, namespaces);
        let fence = if namespaces { Fence::Mounts } else { Fence::Landlock };
        let answered = if names { answered(&self.confinement, fence) } else { vec![] };
        let grants = Grants { writable, answered: &answered, fence, readable, copies: vec![], no_tcp };
        let ruleset = ruleset_with(&grants, &own)?;
        let needs = Needs {
            mode,
            network,
            own_network,
            own_ipc: namespaces,
            no_truncation: landlock().abi() < 3 && !namespaces,
            asks: false,
            own_processes: false,
            datagrams: false,
            names: false,
            removals: false,
        };
        // Bash itself asks when it looks up its user. Beside namespaces that is little; without them a command has no
        // loopback either, and pays for sockets only if some were named.
        let asks = self.confinement.attended && (namespaces || !self.confinement.sockets.is_empty());
        let asking = (mode == Mode::Workspace && (asks || names)).then(|| Asking {
            filter: filter(Needs { asks, names, removals: names && !namespaces, ..needs }),
            reach: Arc::new(self.reach(cell, own_network, fence)),
        });
        Ok(Hold {
            ruleset,
            filter: filter(needs),
            asking,
            around: Some(around),
            namespaces,
            names,
            own_network,
            uses: AtomicU32::new(0),
        })
    }

    /// Lists what may be read. It is shared until a directory around a secret changes.
    fn around(&self) -> io::Result<Arc<Around>> {
        let mut known = self.around.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(around) = known.as_ref().filter(|around| around.is_current()) {
            return Ok(Arc::clone(around));
        }
        // Also where mounts hide secrets: a mount goes when the host replaces the file beneath it, a rule does not come.
        let holes = self.confinement.secrets.iter().map(PathBuf::as_path).chain([Path::new("/dev")]);
        Ok(Arc::clone(known.insert(Arc::new(Around::new(&holes.collect::<Vec<_>>())?))))
    }

    fn reach(&self, cell: &Cell, own_network: bool, fence: Fence) -> Reach {
        let Confinement { workspaces, secrets, sockets, network, writable, .. } = &self.confinement;
        // A temporary directory that is shared lies in what is hidden.
        let shared = writable.iter().filter(|path| secrets.iter().any(|secret| path.starts_with(secret)));
        let temporary = cell.temporary().map(|own| own.path().to_owned());
        Reach {
            open: workspaces.iter().chain(shared).cloned().chain(temporary).collect(),
            closed: secrets.clone(),
            named: sockets.clone(),
            own_network,
            network: None,
            internet: own_network || *network == Network::On,
            datagrams: Datagrams::Refused,
            shared: if own_network { workspaces.clone() } else { vec![] },
            ground: Ground::of(&self.confinement, &[], fence),
        }
    }
}

impl Hold {
    pub(super) fn is_current(&self) -> bool {
        const MOST_USES: u32 = 64;
        let is_fresh = !self.namespaces || self.uses.fetch_add(1, Ordering::Relaxed) < MOST_USES;
        is_fresh && self.around.as_ref().is_none_or(|around| around.is_current())
    }

    pub(in super::super) fn ruleset(&self) -> Option<RawFd> {
        self.ruleset.as_ref().map(AsRawFd::as_raw_fd)
    }

    pub(in super::super) fn filter(&self) -> &[libc::sock_filter] {
        &self.filter
    }

    /// The filter of a command that may have unix sockets, and which.
    pub(in super::super) fn asking(&self) -> Option<(&[libc::sock_filter], &Arc<Reach>)> {
        self.asking.as_ref().map(|asking| (asking.filter.as_slice(), &asking.reach))
    }

    /// The namespaces to be born in, beside one for users.
    pub(in super::super) fn clone_flags(&self) -> u64 {
        if !self.namespaces {
            return 0;
        }
        let mut flags = libc::CLONE_NEWNS | libc::CLONE_NEWIPC;
        if self.own_network {
            flags |= libc::CLONE_NEWNET;
        }
        u64::from(flags.cast_unsigned())
    }
}
