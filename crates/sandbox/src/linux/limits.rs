//! Memory and processes of a whole tree, held by control groups; the rest, process by process.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::cgroup::Cgroups;
use super::cgroup::PREFIX;
use super::confine::TreeHeld;
use super::exhaustion::{is_exhaustion, unless_exhausted};
use super::hierarchies::Hierarchies;
use crate::{Limit, Mode, ResourceLimits};

/// Groups of version 1 that nobody is in: making and removing one costs a tenth of a shell.
#[derive(Debug, Default)]
pub(super) struct Limiters {
    idle: Mutex<Vec<Group>>,
}

/// The groups that hold one command's memory and processes.
#[derive(Debug, Default)]
pub(super) struct TreeLimits {
    pub(super) memory: Option<Held>,
    pub(super) processes: Option<Held>,
}

/// One limit, and where the kernel counts how often it was reached.
#[derive(Debug)]
pub(super) struct Held {
    counter: Counter,
    /// What it was before the command.
    before: u64,
    /// Taken only by drop.
    group: Option<Group>,
    /// Where the group goes when it is no longer needed.
    home: Option<Arc<Limiters>>,
}

/// A group of version 1. Removed when dropped, if its processes have all ended.
#[derive(Debug)]
struct Group {
    kind: &'static str,
    limit: u64,
    path: PathBuf,
    /// Lists who is in it; the child writes itself here.
    tasks: File,
    counter: File,
}

#[derive(Debug)]
struct Counter {
    file: File,
    key: &'static str,
}

impl Limiters {
    /// What can be held here. The command's own group of version 2 is used where its controllers are on, else groups
    /// of version 1.
    pub(super) fn hold(
        self: &Arc<Self>,
        limits: &ResourceLimits,
        mode: Mode,
        own: Option<&Path>,
        cgroups: &Cgroups,
    ) -> io::Result<TreeLimits> {
        match self.try_hold(limits, mode, own, cgroups) {
            Err(error) if is_exhaustion(&error) && self.give_up_idle() => {
                self.try_hold(limits, mode, own, cgroups)
            }
            held => held,
        }
    }

    /// Removes the groups that nobody is in: each has two descriptors. Returns true if there were any.
    pub(super) fn give_up_idle(&self) -> bool {
        let idle = std::mem::take(&mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner));
        !idle.is_empty()
    }

    fn try_hold(
        self: &Arc<Self>,
        limits: &ResourceLimits,
        mode: Mode,
        own: Option<&Path>,
        cgroups: &Cgroups,
    ) -> io::Result<TreeLimits> {
        let hold = |limit: Option<u64>,
                    v2: &Knob,
                    v1: &'static Knob,
                    parent: fn(&Hierarchies) -> &Option<PathBuf>| {
            let Some(limit) = limit else { return Ok(None) };
            if let Some(own) = own
                && let Some(held) = unless_exhausted(v2.hold(own, limit))?
            {
                return Ok(Some(held));
            }
            let Some(parent) = parent(cgroups.hierarchies()?) else { return Ok(None) };
            unless_exhausted(self.by_group(v1, limit, mode, parent))
        };
        Ok(TreeLimits {
            memory: hold(limits.memory, &MEMORY_2, &MEMORY_1, |found| &found.memory)?,
            processes: hold(limits.processes, &PIDS_2, &PIDS_1, |found| &found.pids)?,
        })
    }

    fn by_group(
        self: &Arc<Self>,
        knob: &'static Knob,
        limit: u64,
        mode: Mode,
        parent: &Path,
    ) -> io::Result<Held> {
        let group = self.reuse(knob, limit).map_or_else(|| Group::create(parent, knob, limit), Ok)?;
        let counter = Counter { file: group.counter.try_clone()?, key: knob.key };
        // An unconfined command may have changed what is in it.
        let home = (mode != Mode::Off).then(|| Arc::clone(self));
        Ok(Held { before: counter.read(), counter, group: Some(group), home })
    }

    fn reuse(&self, knob: &Knob, limit: u64) -> Option<Group> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let at = idle
            .iter()
            .position(|group| group.kind == knob.limit && group.limit == limit && group.is_empty())?;
        Some(idle.swap_remove(at))
    }
}

impl TreeLimits {
    /// The limits of a command that another process has started, by where the kernel counts.
    pub(super) fn of_another(memory: Option<File>, processes: Option<File>) -> Self {
        let held = |file: Option<File>, knob: &Knob| {
            let counter = file.map(|file| Counter { file, key: knob.key });
            counter.map(|counter| Held { before: counter.read(), counter, group: None, home: None })
        };
        Self { memory: held(memory, &MEMORY_2), processes: held(processes, &PIDS_2) }
    }

    /// Returns the kernel's counters of memory and of processes.
    pub(super) fn counters(&self) -> [Option<BorrowedFd<'_>>; 2] {
        [&self.memory, &self.processes].map(|held| held.as_ref().map(|held| held.counter.file.as_fd()))
    }

    /// Which of them hold.
    pub(super) fn held(&self) -> TreeHeld {
        TreeHeld { memory: self.memory.is_some(), processes: self.processes.is_some() }
    }

    /// What the child writes itself into.
    pub(super) fn to_join(&self) -> Vec<RawFd> {
        let held = self.memory.iter().chain(&self.processes);
        held.filter_map(|held| Some(held.group.as_ref()?.tasks.as_raw_fd())).collect()
    }

    /// The same, for another process that starts it.
    pub(super) fn to_join_files(&self) -> Vec<BorrowedFd<'_>> {
        let held = self.memory.iter().chain(&self.processes);
        held.filter_map(|held| Some(held.group.as_ref()?.tasks.as_fd())).collect()
    }

    /// Which of them the command has run into.
    pub(super) fn reached(&self) -> Vec<Limit> {
        let mut reached = vec![];
        reached.extend(self.memory.as_ref().filter(|held| held.was_reached()).map(|_| Limit::Memory));
        reached.extend(self.processes.as_ref().filter(|held| held.was_reached()).map(|_| Limit::Processes));
        reached
    }
}

/// Where a limit is set, where it is counted, and what else has to be said.
struct Knob {
    limit: &'static str,
    and_zero: Option<&'static str>,
    counter: &'static str,
    key: &'static str,
}

const MEMORY_2: Knob = Knob {
    limit: "memory.max",
    and_zero: Some("memory.swap.max"),
    counter: "memory.events",
    key: "oom_kill",
};
const MEMORY_1: Knob =
    Knob { limit: "memory.limit_in_bytes", and_zero: None, counter: "memory.oom_control", key: "oom_kill" };
const PIDS_2: Knob = Knob { limit: "pids.max", and_zero: None, counter: "pids.events", key: "max" };
const PIDS_1: Knob = PIDS_2;

impl Knob {
    fn hold(&self, group: &Path, limit: u64) -> io::Result<Held> {
        let file = self.set(group, limit)?;
        let counter = Counter { file, key: self.key };
        Ok(Held { before: counter.read(), counter, group: None, home: None })
    }

    /// The counter. No file is created: in a directory that is no control group it would be.
    fn set(&self, group: &Path, limit: u64) -> io::Result<File> {
        let write = |name: &str, text: &str| {
            File::options().write(true).open(group.join(name))?.write_at(text.as_bytes(), 0)
        };
        match self.and_zero.map(|name| write(name, "0")) {
            // Absent where there is no swap.
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Some(_) | None => {}
        }
        write(self.limit, &limit.to_string())?;
        File::open(group.join(self.counter))
    }
}

impl Counter {
    fn read(&self) -> u64 {
        let mut text = [0; 256];
        let count = self.file.read_at(&mut text, 0).unwrap_or(0);
        let text = String::from_utf8_lossy(&text[..count]);
        let value =
            text.lines().find_map(|line| line.strip_prefix(self.key)?.strip_prefix(' ')?.parse().ok());
        value.unwrap_or(0)
    }
}

impl Held {
    fn was_reached(&self) -> bool {
        self.counter.read() > self.before
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        const MOST_IDLE: usize = 32;
        if let (Some(home), Some(group)) = (&self.home, self.group.take()) {
            let mut idle = home.idle.lock().unwrap_or_else(PoisonError::into_inner);
            if idle.len() < MOST_IDLE {
                idle.push(group);
            }
        }
    }
}

impl Group {
    fn create(parent: &Path, knob: &'static Knob, limit: u64) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("{PREFIX}{}-limit-{number}", std::process::id()));
        fs::create_dir(&path).map_err(io::Error::other)?;
        // Not `cgroup.procs`: moving a process waits for every processor, moving the calling thread does not.
        let tasks = File::options().read(true).write(true).open(path.join("tasks"));
        match tasks.and_then(|tasks| Ok((tasks, knob.set(&path, limit)?))) {
            Ok((tasks, counter)) => Ok(Self { kind: knob.limit, limit, path, tasks, counter }),
            Err(error) => {
                let _ = fs::remove_dir(&path);
                Err(error)
            }
        }
    }

    fn is_empty(&self) -> bool {
        matches!(self.tasks.read_at(&mut [0], 0), Ok(0))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.path);
    }
}

/// The limits that each process carries. What could not be held for the tree is held at least for each.
pub(super) fn of_each_process(
    limits: &ResourceLimits,
    tree: TreeHeld,
    no_core: bool,
) -> Vec<(u32, libc::rlimit)> {
    let same = |value: u64| libc::rlimit { rlim_cur: value, rlim_max: value };
    let alone = |limit: Option<u64>, is_held: bool| limit.filter(|_| !is_held);
    let mut all = vec![];
    all.extend(limits.cpu.map(|time| {
        // A second more, so that SIGXCPU says why before SIGKILL does not.
        let seconds = time.as_secs().max(1);
        (libc::RLIMIT_CPU, libc::rlimit { rlim_cur: seconds, rlim_max: seconds + 1 })
    }));
    all.extend(limits.open_files.map(|files| (libc::RLIMIT_NOFILE, same(files))));
    all.extend(limits.file_size.map(|bytes| (libc::RLIMIT_FSIZE, same(bytes))));
    all.extend(alone(limits.memory, tree.memory).map(|bytes| (libc::RLIMIT_AS, same(bytes))));
    all.extend(alone(limits.processes, tree.processes).map(|count| (libc::RLIMIT_NPROC, same(count))));
    all.extend(no_core.then(|| (libc::RLIMIT_CORE, same(0))));
    // A limit can only be lowered by those without privilege; a higher wish changes nothing.
    for (resource, limit) in &mut all {
        let ceiling = hard_limit(*resource);
        limit.rlim_max = limit.rlim_max.min(ceiling);
        limit.rlim_cur = limit.rlim_cur.min(limit.rlim_max);
    }
    all
}

fn hard_limit(resource: u32) -> u64 {
    limit_of(resource).map_or(libc::RLIM_INFINITY, |(_, most)| most)
}

/// Returns the soft and the hard limit of this process.
#[expect(unsafe_code, reason = "the safe interface has its own names for resources")]
pub(super) fn limit_of(resource: u32) -> Option<(u64, u64)> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: no new limit is given, and the old one is written to a live value of its type.
    let result = unsafe { libc::syscall(libc::SYS_prlimit64, 0, resource, 0_usize, &raw mut limit) };
    (result == 0).then_some((limit.rlim_cur, limit.rlim_max))
}
