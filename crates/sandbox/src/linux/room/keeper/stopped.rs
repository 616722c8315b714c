//! Processes that were stopped before they became their programs.
//!
//! A spawner waits for a new process until it has become its program. Another command of the room can stop it before that: it
//! is like any other of the room by then. So the keeper, which is not held up, lets it go on.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::super::shared::Shared;
use crate::imp::processes;

/// Lets go on what is stopped, if a spawner has waited for long. The first is the room's first process.
pub(super) fn let_go_on(shared: Shared, first: i32) {
    const LONG: Duration = Duration::from_secs(1);
    if shared.longest_start() < LONG {
        return;
    }
    let all: Vec<Seen> = processes::pids().unwrap_or_default().into_iter().filter_map(Seen::of).collect();
    let Some(name) = all.iter().find(|seen| seen.pid == first).map(|seen| seen.name.clone()) else { return };
    let is_spawner =
        |pid: i32| pid == first || all.iter().any(|seen| seen.pid == pid && seen.parent == first);
    // It has the name of its spawner until it is another program.
    let stopped = all.iter().filter(|seen| seen.is_stopped && seen.name == name && is_spawner(seen.parent));
    for pid in stopped.filter_map(|seen| Pid::from_raw(seen.pid)) {
        let _ = kill_process(pid, Signal::CONT);
    }
}

/// A process, as `/proc/PID/stat` has it.
struct Seen {
    pid: i32,
    parent: i32,
    name: String,
    is_stopped: bool,
}

impl Seen {
    fn of(pid: i32) -> Option<Self> {
        let text = processes::read(format!("/proc/{pid}/stat")).ok()?;
        let (before, after) = text.rsplit_once(')')?;
        let (_, name) = before.split_once('(')?;
        let mut fields = after.split_ascii_whitespace();
        let is_stopped = matches!(fields.next()?, "T" | "t");
        Some(Self { pid, parent: fields.next()?.parse().ok()?, name: name.to_owned(), is_stopped })
    }
}
