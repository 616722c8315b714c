//! Life and death, proved by pids.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// What the kernel says of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    /// It runs, sleeps or is stopped.
    Alive,
    /// It has ended and its parent has not taken note.
    Zombie,
    /// There is no such process.
    Gone,
}

/// Whether a process is alive.
#[must_use]
pub fn state_of(pid: i32) -> Life {
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Err(_) => Life::Gone,
        Ok(stat) => match stat.rsplit(") ").next().and_then(|rest| rest.chars().next()) {
            Some('Z' | 'X') | None => Life::Zombie,
            Some(_) => Life::Alive,
        },
    }
}

/// The living processes whose command line contains `text`.
#[must_use]
pub fn living_with(text: &str) -> Vec<i32> {
    let pids = fs::read_dir("/proc").expect("proc is mounted").flatten();
    pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).replace('\0', " ").contains(text)
        })
        .filter(|pid| state_of(*pid) == Life::Alive && *pid != i32::try_from(std::process::id()).unwrap_or(0))
        .collect()
}

/// Our own children that have ended and were not reaped.
#[must_use]
pub fn zombie_children() -> Vec<i32> {
    let own = std::process::id().to_string();
    let pids = fs::read_dir("/proc").expect("proc is mounted").flatten();
    pids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let mut fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
            fields.next() == Some("Z") && fields.next() == Some(own.as_str())
        })
        .collect()
}

/// How many descriptors this process has open.
#[must_use]
pub fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").expect("proc is mounted").count()
}

/// This process's resident memory now.
#[must_use]
pub fn resident_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("proc is mounted");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it has a line for it");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// Waits until something is true.
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    const PATIENCE: Duration = Duration::from_secs(10);
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A bash that waits in this directory for its command.
#[must_use]
pub fn waiting_shell(directory: &Path) -> Option<i32> {
    let is_one = |pid: &i32| {
        let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        arguments.starts_with(b"bash\0-c\0--\0    ")
            && environment.split(|byte| *byte == 0).any(|entry| entry == b"BASH_ENV=/proc/self/fd/0")
            && fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == directory)
    };
    let entries = fs::read_dir("/proc").ok()?.flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.into_iter().find(is_one)
}
