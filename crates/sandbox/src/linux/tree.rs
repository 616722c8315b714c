//! The shell and all that descends from it, however it tried to get away.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::Timespec;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};

use super::apart::apart;
use super::confine::Snapshot;
use super::exhaustion::is_exhaustion;
use super::limits::TreeLimits;
use super::mark::Mark;
use super::orphans::Orphans;
use super::processes::{self, Stat};
use super::sockets::{self, Watch};
use super::tag::{self, Tag};
use crate::{Limit, Process, Restored, Stopped};

/// Every process of one command.
///
/// With a control group, those in it. Without one, or if the shell has left it, those that carry the command's tag, those
/// in the shell's session or process group, and the children of all of these.
#[derive(Debug)]
pub struct Tree {
    shell: Pid,
    born: u64,
    started: Instant,
    mark: Mark,
    orphans: Option<Orphans>,
    limits: TreeLimits,
    snapshot: Snapshot,
    restored: AtomicBool,
    sockets: Option<Arc<Watch>>,
    /// The shell's process, if it is not a child of ours.
    leader: Option<OwnedFd>,
    /// True if whoever started the shell has found nothing else of it after its end.
    is_known_clear: AtomicBool,
}

impl Tree {
    pub(super) fn new(
        shell: Pid,
        mark: Mark,
        orphans: Option<Orphans>,
        limits: TreeLimits,
        snapshot: Snapshot,
        sockets: Option<Arc<Watch>>,
    ) -> Self {
        let born = match mark {
            // Membership needs no look at ages.
            Mark::Cgroup(_) => 0,
            Mark::Tag(_) | Mark::Kinship => born(raw(shell)),
        };
        let restored = AtomicBool::new(false);
        let started = Instant::now();
        let is_known_clear = AtomicBool::new(false);
        let leader = None;
        Self {
            shell,
            born,
            started,
            mark,
            orphans,
            limits,
            snapshot,
            restored,
            sockets,
            leader,
            is_known_clear,
        }
    }

    /// The same for a shell that another process has started.
    pub(super) fn with_leader(self, process: OwnedFd) -> Self {
        Self { leader: Some(process), ..self }
    }

    /// Nothing can come of it any more.
    pub(crate) fn note_clear(&self) {
        self.is_known_clear.store(true, Ordering::Release);
    }

    /// Returns true if its group can serve another command.
    pub(crate) fn leaves_group_clean(&self) -> bool {
        match &self.mark {
            Mark::Cgroup(cgroup) => cgroup.is_as_new(),
            Mark::Tag(_) | Mark::Kinship => self.is_clear().unwrap_or(false),
        }
    }

    /// How descendants are told apart on this host, for logs and reports.
    #[must_use]
    pub fn method(&self) -> &'static str {
        match self.mark {
            Mark::Cgroup(_) => "cgroup",
            Mark::Tag(_) => "limit tag",
            Mark::Kinship => "kinship",
        }
    }

    /// Which limits for all of them together they have run into.
    #[must_use]
    pub fn limits_reached(&self) -> Vec<Limit> {
        self.limits.reached()
    }

    /// Lists connections that the sandbox prevented: paths and `@name` of unix sockets; internet
    /// addresses with their ports, where they have a network of their own. Of its loopback those are told that nobody
    /// answers at.
    #[must_use]
    pub fn refused_sockets(&self) -> Vec<String> {
        self.sockets.as_ref().map_or_else(Vec::new, |watch| watch.refused())
    }

    /// Lists names that they were kept from making or changing, because somebody would run or follow them outside.
    #[must_use]
    pub fn stopped(&self) -> Vec<Stopped> {
        self.sockets.as_ref().map_or_else(Vec::new, |watch| watch.stopped())
    }

    /// A descriptor that can be read when they want a connection and nobody answers yet: see [`Tree::answer`].
    #[must_use]
    pub fn asks(&self) -> Option<OwnedFd> {
        self.sockets.as_ref()?.unanswered()?.try_clone_to_owned().ok()
    }

    /// Answers from now on, in a thread of its own. Where there can be none, connections fail.
    pub fn answer(&mut self) {
        self.sockets = self.sockets.take().filter(sockets::answer);
    }

    /// Puts back what they have changed and may not, and says what that was. Call it when nothing is alive. Once: what is
    /// changed later is somebody else's.
    #[must_use]
    pub fn restore(&self) -> Vec<Restored> {
        if self.restored.swap(true, Ordering::AcqRel) { vec![] } else { self.snapshot.restore() }
    }

    /// Whether nothing is alive. Cheap enough to ask after every command.
    pub fn is_clear(&self) -> io::Result<bool> {
        if self.is_known_clear.load(Ordering::Acquire) {
            return Ok(true);
        }
        if !self.living_orphans()?.is_empty() {
            return Ok(false);
        }
        match &self.mark {
            Mark::Cgroup(cgroup) => Ok(!cgroup.is_populated()?),
            Mark::Tag(_) | Mark::Kinship => match self.born_since() {
                Some(last) if newcomers(raw(self.shell), last, |pid| self.is_suspect(pid)).is_empty() => {
                    Ok(true)
                }
                Some(_) | None => Ok(self.living()?.is_empty()),
            },
        }
    }

    /// Reaps orphans that have come to us. Call it now and then while the command runs.
    pub fn reap_orphans(&self) {
        let _ = self.living_orphans();
    }

    /// The processes that are alive, the shell included.
    pub fn members(&self) -> io::Result<Vec<Process>> {
        let living = self.living()?;
        Ok(living.into_keys().map(|pid| Process { pid, command: processes::command(pid) }).collect())
    }

    /// Asks all of them to end. Stopped ones are continued so that they can.
    pub fn terminate(&self) -> io::Result<()> {
        self.send(&[Signal::TERM, Signal::CONT])
    }

    /// Sends a signal to all of them.
    pub fn signal(&self, signal: crate::Signal) -> io::Result<()> {
        match Signal::from_named_raw(signal.as_raw()) {
            Some(signal) => self.send(&[signal]),
            None => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    fn send(&self, signals: &[Signal]) -> io::Result<()> {
        let living = self.living();
        for &signal in signals {
            // The group at one stroke, so that no child is born between; then those that are not in it. Looked at now:
            // one that has just called `setsid` was in it when it was listed, and is not reached by the stroke.
            signal_group(self.shell, signal);
            for &pid in living.iter().flatten().map(|(pid, _)| pid) {
                let now = processes::stat(pid);
                if now.map_or(true, |now| now.is_some_and(|now| now.group != raw(self.shell))) {
                    signal_one(pid, signal);
                }
            }
        }
        living.map(drop)
    }

    /// Kills all that are alive now. Call it until [`Tree::members`] is empty: the dying take a moment.
    pub fn kill(&self) -> io::Result<()> {
        /// Each round finds what was born in the one before; a process that forks faster is caught by the next call.
        const ROUNDS: usize = 50;
        signal_group(self.shell, Signal::KILL);
        if let Mark::Cgroup(cgroup) = &self.mark {
            cgroup.kill()?;
        }
        // Stopped processes cannot fork, so the set only shrinks: stop until nothing new is found, then kill.
        let (mut stopped, mut looked) = (BTreeSet::new(), Ok(()));
        for _ in 0..ROUNDS {
            let living = match self.living() {
                Ok(living) => living,
                Err(error) => {
                    looked = Err(error);
                    break;
                }
            };
            let new: Vec<i32> = living.into_keys().filter(|pid| !stopped.contains(pid)).collect();
            if new.is_empty() {
                break;
            }
            for pid in new {
                signal_one(pid, Signal::STOP);
                stopped.insert(pid);
            }
        }
        for pid in stopped {
            signal_one(pid, Signal::KILL);
        }
        if let Mark::Tag(tag) = &self.mark {
            chase(*tag);
        }
        self.chase_orphans();
        looked
    }

    fn living(&self) -> io::Result<BTreeMap<i32, Stat>> {
        match self.look() {
            Err(error) if is_exhaustion(&error) => apart(&self.mark.descriptors(), || self.look()),
            found => found,
        }
    }

    fn look(&self) -> io::Result<BTreeMap<i32, Stat>> {
        let mut members = match &self.mark {
            Mark::Cgroup(cgroup) => {
                if !cgroup.is_populated()? && self.shell_is_over() {
                    let orphans = self.living_orphans()?.into_iter();
                    return Ok(orphans.map(|pid| (pid, Stat::SEEN_ALIVE)).collect());
                }
                let mut members = with_stat(cgroup.pids()?.into_iter())?;
                if self.shell_has_left(&members)? {
                    members.extend(self.kin_among(with_stat(processes::pids()?.into_iter())?));
                }
                members
            }
            Mark::Tag(_) => {
                // Ours have a lower limit than we have, also when they lowered it further: few need a closer look.
                let listed_until = processes::last_pid().unwrap_or(i32::MAX);
                let lowered = processes::pids()?.into_iter().filter(|pid| is_lowered(*pid));
                let mut members = self.kin_among(with_stat(lowered)?);
                let now = processes::last_pid().unwrap_or(listed_until);
                for pid in newcomers(listed_until, now, |pid| self.is_tagged(pid) && self.may_live(pid)) {
                    members.insert(pid, Stat::SEEN_ALIVE);
                }
                members
            }
            Mark::Kinship => self.kin_among(with_stat(processes::pids()?.into_iter())?),
        };
        for pid in self.living_orphans()? {
            members.insert(pid, processes::stat(pid)?.filter(|stat| stat.alive).unwrap_or(Stat::SEEN_ALIVE));
        }
        members.retain(|_, stat| stat.alive);
        Ok(members)
    }

    /// Waits until the shell is over, if it is not a child of ours.
    pub(crate) fn wait_for_shell(&self) -> io::Result<()> {
        if let Some(process) = &self.leader {
            rustix::io::retry_on_intr(|| poll(&mut [PollFd::new(process, PollFlags::IN)], None))?;
        }
        Ok(())
    }

    pub(crate) fn shell_is_over(&self) -> bool {
        if let Some(process) = &self.leader {
            let mut ready = [PollFd::new(process, PollFlags::IN)];
            return !matches!(poll(&mut ready, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })), Ok(0));
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(self.shell), options), Ok(None))
    }

    /// A privileged shell can move itself to another control group, and what it starts from then on is there too.
    fn shell_has_left(&self, members: &BTreeMap<i32, Stat>) -> io::Result<bool> {
        let shell = raw(self.shell);
        Ok(!members.contains_key(&shell) && processes::stat(shell)?.is_some_and(|stat| stat.alive))
    }

    fn kin_among(&self, candidates: BTreeMap<i32, Stat>) -> BTreeMap<i32, Stat> {
        let shell = raw(self.shell);
        let (mut found, mut rest): (BTreeMap<_, _>, BTreeMap<_, _>) =
            candidates.into_iter().partition(|(pid, stat)| {
                // Older than the shell: its id was another's before, or a tag fits by chance.
                stat.born >= self.born
                    && (stat.session == shell || stat.group == shell || self.is_tagged(*pid))
            });
        // Children of members, until no more are found: ids are not in the order of birth once they wrap.
        loop {
            let children: Vec<i32> = rest
                .iter()
                .filter(|(_, stat)| found.contains_key(&stat.parent))
                .map(|(pid, _)| *pid)
                .collect();
            if children.is_empty() {
                return found;
            }
            found.extend(children.iter().filter_map(|pid| rest.remove_entry(pid)));
        }
    }

    fn living_orphans(&self) -> io::Result<Vec<i32>> {
        self.orphans.map_or(Ok(vec![]), |orphans| orphans.living(self.shell))
    }

    /// The same chase among orphans, for one that carries no mark any more.
    fn chase_orphans(&self) {
        const STEPS: usize = 2000;
        for _ in 0..STEPS {
            let alive = self.living_orphans().unwrap_or_default();
            if alive.is_empty() {
                break;
            }
            for pid in alive {
                signal_one(pid, Signal::KILL);
            }
        }
    }

    /// Perhaps alive and ours: a closer look will tell.
    fn is_suspect(&self, pid: i32) -> bool {
        is_lowered(pid) && self.may_live(pid)
    }

    /// Not of one that is certainly dead, or older than the shell. Gone just now is alive: it may have forked.
    fn may_live(&self, pid: i32) -> bool {
        let stat = processes::stat(pid).ok().flatten();
        stat.is_none_or(|stat| stat.alive && stat.born >= self.born)
    }

    fn is_tagged(&self, pid: i32) -> bool {
        match &self.mark {
            Mark::Tag(tag) => has_tag(pid, *tag),
            Mark::Cgroup(_) | Mark::Kinship => false,
        }
    }

    /// The id given out last, if tags tell ours, few were given since the shell's and they certainly did not go round.
    fn born_since(&self) -> Option<i32> {
        const BRIEF: Duration = Duration::from_secs(1);
        let last = processes::last_pid()?;
        let few = usize::try_from(last - raw(self.shell)).is_ok_and(|count| count < FEW);
        (matches!(self.mark, Mark::Tag(_)) && few && self.started.elapsed() < BRIEF).then_some(last)
    }
}

/// So many ids can be looked at one by one.
const FEW: usize = 2048;

/// Runs after one that forks and exits faster than lists can be made, and kills it at its next id.
fn chase(tag: Tag) {
    const STEPS: usize = 2000;
    let mut last = processes::last_pid().unwrap_or(i32::MAX);
    for _ in 0..STEPS {
        let now = processes::last_pid().unwrap_or(last);
        if now == last {
            break;
        }
        for pid in after(last, now).filter(|pid| has_tag(*pid, tag)) {
            signal_one(pid, Signal::KILL);
        }
        last = now;
    }
}

fn has_tag(pid: i32, tag: Tag) -> bool {
    processes::tag_limit(pid).is_some_and(|limit| tag.covers(limit))
}

/// Returns true if none of those born after this process carries the tag and is alive. None if they are too many to look at,
/// or their ids have gone round.
pub(super) fn nobody_since(pid: i32, tag: Tag) -> Option<bool> {
    let last = processes::last_pid()?;
    usize::try_from(last - pid).ok().filter(|count| *count < FEW)?;
    let is_one =
        |pid: i32| has_tag(pid, tag) && processes::stat(pid).ok().flatten().is_none_or(|stat| stat.alive);
    Some(newcomers(pid, last, is_one).is_empty())
}

/// The ids after `last` and up to `now`; none when they have gone round.
fn after(last: i32, now: i32) -> impl Iterator<Item = i32> {
    (last.saturating_add(1)..=now).take(FEW)
}

/// Those that `wanted` picks among the ids given out after `last` and up to `now`, and on as long as more are given: one
/// that forks and exits all the time is never where one has just looked.
fn newcomers(mut last: i32, mut now: i32, wanted: impl Fn(i32) -> bool) -> Vec<i32> {
    const LOOKS: usize = 100;
    for _ in 0..LOOKS {
        let found: Vec<i32> = after(last, now).filter(|pid| wanted(*pid)).collect();
        last = now;
        now = processes::last_pid().unwrap_or(last);
        if !found.is_empty() || now <= last {
            return found;
        }
    }
    vec![]
}

/// Whether it has a lower limit than we have, as all that carry a tag do.
fn is_lowered(pid: i32) -> bool {
    processes::tag_limit(pid).is_some_and(|limit| limit < tag::own_limit())
}

fn raw(pid: Pid) -> i32 {
    pid.as_raw_nonzero().get()
}

/// When it began. Of one of which that cannot be told just now everybody may be a child.
fn born(pid: i32) -> u64 {
    processes::stat(pid).ok().flatten().map_or(0, |stat| stat.born)
}

fn with_stat(pids: impl Iterator<Item = i32>) -> io::Result<BTreeMap<i32, Stat>> {
    pids.filter_map(|pid| Some(processes::stat(pid).transpose()?.map(|stat| (pid, stat)))).collect()
}

/// A process that has ended meanwhile, or that another user owns, is not an error: the next look tells.
fn signal_one(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = kill_process(pid, signal);
    }
}

fn signal_group(group: Pid, signal: Signal) {
    let _ = kill_process_group(group, signal);
}
