//! Ending a whole tree: SIGTERM, grace, SIGKILL, and then making sure.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::{Duration, Instant};

use bashtion_sandbox::{Child, Process};

use crate::{Fate, Leftover};

/// How long to keep killing what does not die, such as a process that hangs in the kernel.
const GIVE_UP_AFTER: Duration = Duration::from_secs(5);
/// How often to look.
const SOON: Duration = Duration::from_millis(2);
const LATER: Duration = Duration::from_millis(20);

/// A tree that is being ended. Ask it again after the time it names, until it names none.
#[derive(Debug)]
pub(crate) struct Stop {
    begun: Instant,
    grace: Duration,
    /// What each was called when it was first seen: the dying have no command line any more.
    names: BTreeMap<i32, String>,
    seen: BTreeMap<i32, Leftover>,
    killed: BTreeSet<i32>,
}

impl Stop {
    /// Sends SIGTERM.
    pub(crate) fn begin(child: &Child, grace: Duration) -> Self {
        let mut stop = Self {
            begun: Instant::now(),
            grace,
            names: BTreeMap::new(),
            seen: BTreeMap::new(),
            killed: BTreeSet::new(),
        };
        stop.look(child);
        if let Err(error) = child.tree().terminate() {
            tracing::debug!(%error, "cannot look for processes to terminate");
        }
        stop
    }

    /// Looks, and kills when it is time. None: nothing is alive, or it cannot be killed and is reported as such.
    pub(crate) fn step(&mut self, child: &Child) -> Option<Duration> {
        let alive = self.look(child);
        if alive == Some(0) {
            return None;
        }
        let elapsed = self.begun.elapsed();
        if let Some(left) = self.grace.checked_sub(elapsed).filter(|left| !left.is_zero()) {
            let next = if elapsed < LATER { SOON } else { LATER };
            return Some(next.min(left));
        }
        if elapsed > self.grace + GIVE_UP_AFTER {
            self.give_up(child);
            return None;
        }
        if let Err(error) = child.tree().kill() {
            tracing::debug!(%error, "cannot look for processes to kill");
        }
        Some(SOON)
    }

    /// SIGKILL from now on.
    pub(crate) fn hurry(&mut self) {
        self.grace = Duration::ZERO;
    }

    /// How many had to be killed, and those that outlived the shell.
    pub(crate) fn into_report(self) -> (usize, Vec<Leftover>) {
        (self.killed.len(), self.seen.into_values().collect())
    }

    /// Notes who is alive; how many, if that can be told now.
    fn look(&mut self, child: &Child) -> Option<usize> {
        let alive = child.tree().members().ok()?;
        let count = alive.len();
        let killing = self.begun.elapsed() >= self.grace;
        let outlived = killing || child.has_ended().unwrap_or(true);
        for Process { pid, command } in alive {
            let command = self.names.entry(pid).or_insert(command).clone();
            if killing {
                self.killed.insert(pid);
            }
            if outlived && pid != child.pid() {
                let fate = if killing { Fate::Killed } else { Fate::Terminated };
                let known = self.seen.entry(pid).or_insert(Leftover { pid, command, fate });
                known.fate = fate;
            }
        }
        Some(count)
    }

    fn give_up(&mut self, child: &Child) {
        let mut alive: Vec<i32> = child.tree().members().into_iter().flatten().map(|p| p.pid).collect();
        if !child.has_ended().unwrap_or(true) {
            alive.push(child.pid());
        }
        for pid in alive {
            let command = self.names.get(&pid).cloned().unwrap_or_default();
            self.seen.insert(pid, Leftover { pid, command, fate: Fate::Alive });
        }
    }
}

/// Ends a tree that nobody waits for any more, and reaps the shell.
pub(crate) fn in_background(child: Child, grace: Duration) {
    let mut doomed = Doomed { child };
    let end = move || doomed.end(grace);
    if let Err(error) = thread::Builder::new().name("bashtion-stop".to_owned()).spawn(end) {
        tracing::warn!(%error, "no thread to end a dropped command; it was killed without a grace period");
    }
}

/// A child that is ended even if the thread that shall do it cannot be started.
struct Doomed {
    child: Child,
}

impl Doomed {
    fn end(&mut self, grace: Duration) {
        let mut stop = Stop::begin(&self.child, grace);
        while let Some(wait) = stop.step(&self.child) {
            thread::sleep(wait);
        }
        if self.child.has_ended().unwrap_or(false) {
            let _ = self.child.wait();
        }
    }
}

impl Drop for Doomed {
    fn drop(&mut self) {
        if !self.child.is_reaped() {
            self.end(Duration::ZERO);
        }
    }
}
