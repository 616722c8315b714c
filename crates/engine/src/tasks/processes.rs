//! What the processes of tasks use, and which of them outlived their supervisor.

use std::cell::OnceCell;
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
    children: BTreeMap<i32, Vec<i32>>,
    /// Those that carry the name of a task, by that name. Read when first asked for.
    carriers: OnceCell<BTreeMap<String, Vec<i32>>>,
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
        Self::of(pids.filter_map(|pid| Some((pid, stat(pid)?))).collect())
    }

    fn of(processes: BTreeMap<i32, Stat>) -> Self {
        let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
        for (pid, stat) in &processes {
            children.entry(stat.parent).or_default().push(*pid);
        }
        Self { processes, children, carriers: OnceCell::new() }
    }

    /// Sums up a task's processes, and says which they are.
    pub(super) fn beneath(&self, root: Root) -> (Live, Vec<i32>) {
        let mut live = Live::default();
        let (mut ticks, mut pages, mut pids) = (0, 0, vec![]);
        let (Root::Above(supervisor) | Root::Itself(supervisor)) = root;
        let mut parents = vec![supervisor];
        if let (Root::Itself(pid), Some(stat)) = (root, self.processes.get(&supervisor)) {
            live.processes += 1;
            (ticks, pages) = (stat.ticks, stat.pages);
            pids.push(pid);
        }
        while let Some(parent) = parents.pop() {
            // Ids are used again while the table is read, so a process may seem to descend from itself. Each has one
            // parent, so such a circle is met only where it leads through the supervisor.
            let found = self.children.get(&parent).into_iter().flatten().filter(|pid| **pid != supervisor);
            for (pid, stat) in found.filter_map(|pid| Some((pid, self.processes.get(pid)?))) {
                live.processes += 1;
                ticks += stat.ticks;
                pages += stat.pages;
                parents.push(*pid);
                pids.push(*pid);
            }
        }
        let per_second = rustix::param::clock_ticks_per_second().max(1);
        live.cpu = Duration::from_millis(ticks.saturating_mul(1000) / per_second);
        live.rss_kib = pages.saturating_mul(rustix::param::page_size() as u64) / 1024;
        (live, pids)
    }

    /// Finds the processes that carry a task's name.
    pub(super) fn of_task(&self, id: &TaskId) -> Vec<Process> {
        let carriers = self.carriers.get_or_init(|| self.read_names());
        carriers.get(id.as_str()).into_iter().flatten().copied().map(named).collect()
    }

    fn read_names(&self) -> BTreeMap<String, Vec<i32>> {
        let mut carriers: BTreeMap<String, Vec<i32>> = BTreeMap::new();
        for pid in self.processes.keys() {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            for variable in environment.split(|byte| *byte == 0) {
                let value =
                    variable.strip_prefix(VARIABLE.as_bytes()).and_then(|rest| rest.strip_prefix(b"="));
                let Some(name) = value.and_then(|name| std::str::from_utf8(name).ok()) else { continue };
                let pids = carriers.entry(name.to_owned()).or_default();
                if pids.last() != Some(pid) {
                    pids.push(*pid);
                }
            }
        }
        carriers
    }
}

/// The process that a task's processes descend from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Root {
    /// Its supervisor, to which orphans come back.
    Above(i32),
    /// Its shell.
    Itself(i32),
}

/// The TCP ports that these processes listen on, lowest first.
pub(super) fn listening(pids: &[i32]) -> Vec<u16> {
    const LISTEN: &str = "0A";
    let Some(first) = pids.first() else { return vec![] };
    // By the number of the socket.
    let mut open: BTreeMap<String, u16> = BTreeMap::new();
    for table in ["tcp", "tcp6"] {
        let text = fs::read_to_string(format!("/proc/{first}/net/{table}")).unwrap_or_default();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            let port =
                fields.get(1).and_then(|local| u16::from_str_radix(local.rsplit_once(':')?.1, 16).ok());
            if let (Some(port), Some(&LISTEN), Some(number)) = (port, fields.get(3), fields.get(9)) {
                open.insert(format!("socket:[{number}]"), port);
            }
        }
    }
    let mut ports = vec![];
    for pid in pids.iter().filter(|_| !open.is_empty()) {
        let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        let links = descriptors.filter_map(|descriptor| fs::read_link(descriptor.path()).ok());
        ports.extend(links.filter_map(|link| open.get(link.to_str()?).copied()));
    }
    ports.sort_unstable();
    ports.dedup();
    ports
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

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[(i32, i32)]) -> Snapshot {
        let stat = |parent| Stat { parent, ticks: 0, pages: 1 };
        Snapshot::of(rows.iter().map(|(pid, parent)| (*pid, stat(*parent))).collect())
    }

    #[test]
    fn everything_beneath_is_counted_and_nothing_else() {
        // 10 and 20 are supervisors, and 10 has adopted 30, a supervisor in itself.
        let rows = [(10, 1), (11, 10), (12, 11), (30, 10), (31, 30), (20, 1), (21, 20), (40, 1), (41, 40)];
        let processes = |supervisor| table(&rows).beneath(Root::Above(supervisor)).0.processes;
        assert_eq!([10, 20, 30, 12, 99].map(processes), [4, 1, 1, 0, 0]);
        let page = rustix::param::page_size() as u64;
        assert_eq!(table(&rows).beneath(Root::Above(10)).0.rss_kib, 4 * page / 1024);
    }

    #[test]
    fn a_circle_of_reused_ids_ends() {
        let circle = table(&[(10, 12), (11, 10), (12, 11), (20, 20)]);
        assert_eq!(circle.beneath(Root::Above(10)).0.processes, 2);
        assert_eq!(circle.beneath(Root::Above(20)).0.processes, 0);
    }

    #[test]
    fn survivors_are_told_apart_by_their_tasks() {
        let spawn =
            |name: &str| std::process::Command::new("sleep").arg("60").env(VARIABLE, name).spawn().unwrap();
        let names = ["bash-aaaaa2", "bash-aaaaa3"];
        let mut sleepers = names.map(spawn);
        let carries = |pid: u32| fs::read(format!("/proc/{pid}/environ")).is_ok_and(|text| !text.is_empty());
        while !sleepers.iter().all(|sleeper| carries(sleeper.id())) {
            std::thread::yield_now();
        }
        let snapshot = Snapshot::take();
        for (sleeper, name) in sleepers.iter().zip(names) {
            let found = snapshot.of_task(&name.parse().unwrap());
            let pids: Vec<i32> = found.iter().map(|process| process.pid).collect();
            assert_eq!(pids, [i32::try_from(sleeper.id()).unwrap()]);
            assert_eq!(found[0].command, "sleep 60");
        }
        assert_eq!(snapshot.of_task(&"bash-aaaaa4".parse().unwrap()).len(), 0);
        for sleeper in &mut sleepers {
            sleeper.kill().unwrap();
            sleeper.wait().unwrap();
        }
    }
}
