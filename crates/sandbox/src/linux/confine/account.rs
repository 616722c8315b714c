//! How far a command is held, and why not further.

use std::fmt::Write;
use std::path::PathBuf;

use super::confined::Confined;
use super::host::landlock;
use super::rules::Hold;
use crate::room::RoomFacts;
use crate::{Confinement, Enforced, Mode, Report, ResourceLimits};

impl Confined {
    /// How far a command is held.
    pub(in super::super) fn report(&self, hold: &Hold, tree: TreeHeld) -> Report {
        let gap = self.repositories().gap;
        report(self.confinement(), Layers::of(hold), Processes::OfHost, gap, tree)
    }
}

/// Reports how far a command of a room is held.
pub(in super::super) fn room_report(
    facts: &RoomFacts,
    limits: &ResourceLimits,
    tree: TreeHeld,
    unprotected: bool,
    name: &str,
) -> Report {
    const UNPROTECTED: &str = "a repository has appeared in the workspace while a command was running, and is protected when no command of the room is";
    let confinement = Confinement { limits: *limits, ..facts.confinement.clone() };
    let gap = facts.gap.as_deref().or(unprotected.then_some(UNPROTECTED));
    let mut told = report(&confinement, Layers { mounts: true, names: true }, Processes::OfRoom, gap, tree);
    if let (Some(most), Some(reason)) = (facts.processes, &mut told.reason) {
        let memory = if limits.memory.is_some() { "limited for each process" } else { "not limited" };
        let together =
            format!("all commands of the room may have {most} processes together, and memory is {memory}");
        *reason = reason.replace(without_groups(limits), &together);
    }
    Report { room: Some(name.to_owned()), ..told }
}

impl Report {
    /// Adds why something is less than it could be.
    pub(in super::super) fn add_reason(&mut self, why: &str) {
        let reasons = self.reason.iter().map(String::as_str).chain([why]);
        self.reason = Some(reasons.collect::<Vec<_>>().join("; "));
    }
}

/// The consequence of a filter around this program that has a listener already: the kernel allows one (seccomp(2), EBUSY).
pub(in super::super) const NO_LISTENER: &str = "another program answers for the system calls of this one, and the kernel allows only one that does, so commands can use no unix sockets";

/// The consequence of having no control groups. What nobody asked for is not limited then: a limit of address space would stop
/// programs that reserve more than they use, and one of processes would count all others of the user.
fn without_groups(limits: &ResourceLimits) -> &'static str {
    match (limits.memory, limits.processes) {
        (Some(_), Some(_)) => {
            "memory is limited for each process, and processes together with all others of this user"
        }
        (Some(_), None) => "memory is limited for each process, and processes are not limited",
        (None, Some(_)) => "memory is not limited, and processes together with all others of this user",
        (None, None) => "neither memory nor processes are limited",
    }
}

/// Whose processes a command can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Processes {
    OfHost,
    OfRoom,
}

/// The layers beside Landlock and the filter.
#[derive(Debug, Clone, Copy)]
struct Layers {
    /// True if the command has a file tree of its own.
    mounts: bool,
    /// True if the host makes names in workspaces in its place.
    names: bool,
}

impl Layers {
    fn of(hold: &Hold) -> Self {
        Self { mounts: hold.namespaces, names: hold.names }
    }
}

fn report(
    confinement: &Confinement,
    layers: Layers,
    processes: Processes,
    lack: Option<&str>,
    tree: TreeHeld,
) -> Report {
    let (mode, namespaces) = (confinement.mode, layers.mounts);
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
    let mut filesystem = if landlock.abi() > 0 || namespaces { Enforced::Full } else { Enforced::None };
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
        mode == Mode::Workspace && !namespaces,
        "without a mount namespace modes, owners and times of files outside the workspace are not protected",
    );
    gap(
        mode == Mode::Workspace && !namespaces && !layers.names,
        "git hooks and configuration are put back after the command instead of being kept, and repositories and settings can be made that others follow",
    );
    if let Some(problem) = lack {
        gap(true, problem);
    }
    gap(
        mode == Mode::Workspace
            && !namespaces
            && !layers.names
            && confinement
                .kept
                .iter()
                .any(|path| confinement.writable.iter().any(|root| path.starts_with(root))),
        "Bashtion's own configuration lies in a writable directory and cannot be kept without a mount namespace",
    );
    let hidden = |secret: &PathBuf| confinement.writable.iter().any(|root| secret.starts_with(root));
    gap(
        mode == Mode::Workspace && !namespaces && confinement.secrets.iter().any(hidden),
        "secrets inside a writable directory cannot be hidden without a mount namespace",
    );
    let signals = match landlock.abi() {
        // No other processes can be named.
        _ if processes == Processes::OfRoom => Enforced::Full,
        6.. => Enforced::Full,
        1.. => {
            because("signals to other processes need Linux 6.12 or newer to be held");
            Enforced::Partial
        }
        0 => Enforced::None,
    };
    let network = Enforced::Full;
    let reason = (!reasons.is_empty()).then_some(reasons);
    Report { mode, filesystem, network, signals, limits, reason, room: None }
}

/// Which limits hold for a whole tree.
#[derive(Debug, Clone, Copy, Default)]
pub(in super::super) struct TreeHeld {
    pub(in super::super) memory: bool,
    pub(in super::super) processes: bool,
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
            because(&format!("no control group can be made here, so {}", without_groups(limits)));
            return Enforced::Partial;
        }
        Enforced::Full
    }
}
