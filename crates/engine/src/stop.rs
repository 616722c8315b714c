//! Ending a whole tree: SIGTERM, grace, SIGKILL, and then making sure.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use bashtion_sandbox::{Child, Process, Restored};

use crate::{Fate, Leftover};

/// How long to keep killing what does not die, such as a process that hangs in the kernel.
const GIVE_UP_AFTER: Duration = Duration::from_secs(5);
/// How often in a row nobody must be found: one that forks and exits all the time can be missed once.
const CERTAIN: u32 = 3;
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
    empty_looks: u32,
    /// Why those that may be left could not be looked for.
    blind: Option<io::Error>,
}

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Stopping {
    /// How many had to be killed.
    pub(crate) killed: usize,
    /// Those that outlived the shell.
    pub(crate) leftovers: Vec<Leftover>,
    /// Why there may be more.
    pub(crate) blind: Option<io::Error>,
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
            empty_looks: 0,
            blind: None,
        };
        stop.look(child, Duration::ZERO);
        if let Err(error) = child.tree().terminate() {
            tracing::debug!(%error, "cannot look for processes to terminate");
        }
        stop
    }

    /// Looks, and kills when it is time. None: nothing is alive, or it cannot be killed and is reported as such.
    pub(crate) fn step(&mut self, child: &Child) -> Option<Duration> {
        // One time for all that is decided here: who is killed below was noted as such.
        let elapsed = self.begun.elapsed();
        match self.look(child, elapsed) {
            Some(0) if self.empty_looks + 1 >= CERTAIN => return None,
            Some(0) => {
                self.empty_looks += 1;
                return Some(SOON);
            }
            Some(_) | None => self.empty_looks = 0,
        }
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

    pub(crate) fn into_report(self) -> Stopping {
        let leftovers = self.seen.into_values().collect();
        Stopping { killed: self.killed.len(), leftovers, blind: self.blind }
    }

    /// Notes who is alive; how many, if that can be told now.
    fn look(&mut self, child: &Child, elapsed: Duration) -> Option<usize> {
        let alive = child.tree().members().ok()?;
        let count = alive.len();
        let killing = elapsed >= self.grace;
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
        let members = child.tree().members();
        let mut alive: Vec<i32> = members.iter().flatten().map(|process| process.pid).collect();
        let is_clear = child.tree().is_clear().unwrap_or(false);
        self.blind = members.err().filter(|_| !is_clear);
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
    let mut doomed = Doomed::new(child);
    let end = move || doomed.end(grace);
    if let Err(error) = thread::Builder::new().name("bashtion-stop".to_owned()).spawn(end) {
        tracing::warn!(%error, "no thread to end a dropped command; it was killed without a grace period");
    }
}

/// A child that is ended even if the thread that shall do it cannot be started.
struct Doomed {
    child: Child,
}

/// How many there are.
static DOOMED: (Mutex<usize>, Condvar) = (Mutex::new(0), Condvar::new());

/// Waits until every command whose future was dropped has been ended. For a program that is about to exit: the threads
/// that end them would end with it.
///
/// ```
/// use bashtion::{Engine, Request, ToolContext, wait_for_stopping};
/// use std::time::Duration;
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let (engine, context) = (Engine::new(), ToolContext::from_host("/tmp"));
/// let run = engine.run(Request::new("sleep 60"), &context);
/// assert!(tokio::time::timeout(Duration::from_millis(50), run).await.is_err());
/// wait_for_stopping();
/// # }
/// ```
pub fn wait_for_stopping() {
    let (count, changed) = &DOOMED;
    let count = count.lock().unwrap_or_else(PoisonError::into_inner);
    drop(changed.wait_while(count, |count| *count > 0));
}

impl Doomed {
    fn new(child: Child) -> Self {
        *DOOMED.0.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        Self { child }
    }

    fn end(&mut self, grace: Duration) {
        let mut stop = Stop::begin(&self.child, grace);
        while let Some(wait) = stop.step(&self.child) {
            thread::sleep(wait);
        }
        for Restored { path, how } in self.child.tree().restore() {
            tracing::warn!(path = %path.display(), ?how, "a dropped command had changed what it may not");
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
        *DOOMED.0.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        DOOMED.1.notify_all();
    }
}
