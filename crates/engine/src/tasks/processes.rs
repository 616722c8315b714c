//! What the processes of tasks use, and which of them outlived their supervisor.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use bashtion_sandbox::Process;
use rustix::process::{Pid, Signal, kill_process};

use super::TaskId;

/// The variable that names the task in the environment of its processes.
pub(crate) const VARIABLE: &str = "BASHTION_TASK_ID";

/// What the processes of a running task use right now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Live {
    /// How many there are.
    pub processes: usize,
    /// Processor time of those that live.
    pub cpu: Duration,
    /// Their memory together, in KiB. What they share is counted for each.
    pub rss_kib: u64,
}

/// All processes at one moment.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    processes: BTreeMap<i32, Stat>,
}

#[derive(Debug, Clone, Copy)]
struct Stat {
    parent: i32,
    ticks: u64,
    pages: u64,
}

impl Snapshot {
    pub(super) fn take() -> Self {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        Self { processes: pids.filter_map(|pid| Some((pid, stat(pid)?))).collect() }
    }

    /// Everything beneath a supervisor: orphans come back to it.
    pub(super) fn beneath(&self, supervisor: i32) -> Live {
        let mut live = Live::default();
        let (mut ticks, mut pages) = (0, 0);
        for stat in self.processes.iter().filter(|(pid, _)| self.descends(**pid, supervisor)).map(|(_, s)| s)
        {
            live.processes += 1;
            ticks += stat.ticks;
            pages += stat.pages;
        }
        let per_second = rustix::param::clock_ticks_per_second().max(1);
        live.cpu = Duration::from_millis(ticks.saturating_mul(1000) / per_second);
        live.rss_kib = pages.saturating_mul(rustix::param::page_size() as u64) / 1024;
        live
    }

    fn descends(&self, pid: i32, ancestor: i32) -> bool {
        const DEEPEST: usize = 1000;
        let mut at = pid;
        for _ in 0..DEEPEST {
            match self.processes.get(&at) {
                Some(stat) if stat.parent == ancestor => return true,
                Some(stat) => at = stat.parent,
                None => return false,
            }
        }
        false
    }

    /// Those that carry a task's name.
    pub(super) fn of_task(&self, id: &TaskId) -> Vec<Process> {
        let entry = format!("{VARIABLE}={id}");
        let carries = |pid: &i32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == entry.as_bytes())
        };
        self.processes.keys().copied().filter(carries).map(named).collect()
    }
}

/// Ends what a lost task has left. False if there was nothing.
pub(super) fn kill_survivors(id: &TaskId) -> bool {
    const ROUNDS: usize = 100;
    const PAUSE: Duration = Duration::from_millis(10);
    for round in 0..ROUNDS {
        let survivors = Snapshot::take().of_task(id);
        if survivors.is_empty() {
            return round > 0;
        }
        for pid in survivors.iter().filter_map(|process| Pid::from_raw(process.pid)) {
            // It may have gone by itself.
            let _ = kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(PAUSE);
    }
    true
}

fn named(pid: i32) -> Process {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<_> = line.split(|byte| *byte == 0).filter(|word| !word.is_empty()).collect();
    Process { pid, command: String::from_utf8_lossy(&words.join(b" ".as_slice())).into_owned() }
}

fn stat(pid: i32) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may contain anything, also parentheses.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
    Some(Stat {
        parent: fields.get(1)?.parse().ok()?,
        // With the children that were waited for.
        ticks: number(11)? + number(12)? + number(13)? + number(14)?,
        pages: number(21)?,
    })
}

/// Which run of the machine this is; empty where that cannot be told.
pub(super) fn boot() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}
