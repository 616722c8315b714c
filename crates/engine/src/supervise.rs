//! Watching one running command until nothing of it is left.

use std::future::pending;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bashtion_sandbox::{Confinement, Exit, Limit, Report, Restored, Signal, Usage};
use tokio::io::unix::AsyncFd;
use tokio::time::sleep_until;

use crate::launch::{Running, watched};
use crate::output::Captured;
use crate::plan::Facts;
use crate::session::{Answers, Epilogue, Session};
use crate::stop::{Stop, Stopping};
use crate::{Event, EventSender, Fate, Leftover, Leftovers, Stream, ToolContext};

/// A command of which nothing is left, unless it was asked for or cannot be killed.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) facts: Facts,
    pub(crate) pid: i32,
    pub(crate) room_pid: Option<i32>,
    /// TCP ports that its room listens on.
    pub(crate) ports: Vec<u16>,
    /// True if its room has ended, and the command with it.
    pub(crate) is_lost: bool,
    /// Why it was stopped, if it was.
    pub(crate) stopped: Option<Stopped>,
    /// How the shell ended; none if it could not be killed.
    pub(crate) exit: Option<Exit>,
    pub(crate) usage: Usage,
    pub(crate) duration: Duration,
    pub(crate) captured: Captured,
    pub(crate) report: Report,
    pub(crate) confinement: Option<Arc<Confinement>>,
    pub(crate) limits_reached: Vec<Limit>,
    pub(crate) refused_sockets: Vec<String>,
    /// What it changed of the repositories in the workspace, and was put back.
    pub(crate) restored: Vec<Restored>,
    /// Names that it was kept from making or changing.
    pub(crate) names: Vec<bashtion_sandbox::Stopped>,
    pub(crate) tracking: &'static str,
    pub(crate) stopping: Stopping,
    pub(crate) answers: Answers,
    pub(crate) session: Option<Session>,
}

/// Why a command did not end by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopped {
    TimedOut(Duration),
    Cancelled,
}

/// One select watches output, exit, deadline and cancellation; output keeps flowing in every phase.
pub(crate) async fn supervise(running: Running, context: &ToolContext) -> io::Result<Ended> {
    let mut watch = Watch::new(running);
    // Only what is written into it becomes real memory.
    let mut buffer = Vec::with_capacity(READ_SIZE);
    loop {
        let wake_at = match watch.advance(context)? {
            Next::Wait(until) => until,
            Next::Done => {
                watch.read_rest(&mut buffer, context)?;
                return watch.finish();
            }
        };
        let slow = context.slowest().filter(|_| watch.is_throttled());
        let shell_runs = watch.shell_ended.is_none();
        tokio::select! {
            biased;
            () = watch.orders.changed(context) => {}
            signals = context.signals_to_send() => watch.send(&signals),
            () = sleep_until(wake_at.into()) => {}
            ready = watch.running.shell.ended(), if shell_runs => {
                ready?;
                watch.look_at_shell()?;
            }
            does = asked(watch.asking.as_ref()) => watch.answer(does),
            () = room(slow), if slow.is_some() => {}
            read = watch.running.pipes.read(&mut buffer), if slow.is_none() => {
                let stream = read?;
                watch.absorb(stream, &buffer, context);
            }
        }
    }
}

const READ_SIZE: usize = 64 * 1024;

async fn room(observer: Option<&EventSender>) {
    match observer {
        Some(observer) => observer.room().await,
        None => pending().await,
    }
}

/// Waits until the command wants a connection about which somebody has to be asked: false if that will never be.
async fn asked(asking: Option<&AsyncFd<OwnedFd>>) -> bool {
    match asking {
        Some(asking) => asking.readable().await.is_ok_and(|ready| !ready.ready().is_read_closed()),
        None => pending().await,
    }
}

struct Watch {
    running: Running,
    /// Until a thread answers for its connections.
    asking: Option<AsyncFd<OwnedFd>>,
    orders: Orders,
    phase: Phase,
    deadline: Option<Instant>,
    tend_at: Instant,
    stopped: Option<Stopped>,
    shell_ended: Option<Instant>,
    last_output: Instant,
    stopping: Stopping,
}

/// What the caller has said so far, in the order of force.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Orders {
    GoOn,
    Cancel,
    Kill,
}

impl Orders {
    fn of(context: &ToolContext) -> Self {
        match (context.kill_token().is_cancelled(), context.token().is_cancelled()) {
            (true, _) => Self::Kill,
            (false, true) => Self::Cancel,
            (false, false) => Self::GoOn,
        }
    }

    /// Waits for a stronger one.
    async fn changed(self, context: &ToolContext) {
        match self {
            Self::GoOn => tokio::select! {
                () = context.token().cancelled() => {}
                () = context.kill_token().cancelled() => {}
            },
            Self::Cancel => context.kill_token().cancelled().await,
            Self::Kill => pending().await,
        }
    }
}

enum Phase {
    /// The shell is running.
    Running,
    /// It has ended by itself; what it started may still print or be about to end.
    Settling,
    /// The tree is being ended.
    Stopping(Stop),
    /// Nothing is alive; the pipes still have to be read to their end.
    Draining { until: Instant },
}

enum Next {
    Wait(Instant),
    Done,
}

/// Dead processes close their pipes at once; one that could not be killed holds them for ever.
const DRAIN: Duration = Duration::from_millis(500);
/// How often to look after orphans, in a program that adopts them.
const TEND: Duration = Duration::from_secs(1);
/// How often to look whether leftovers that print nothing have ended by themselves.
const SETTLE_POLL: Duration = Duration::from_millis(5);

impl Watch {
    fn new(mut running: Running) -> Self {
        let deadline = running.supervision.timeout.map(|timeout| running.started + timeout);
        let tree = running.shell.child_mut().tree_mut();
        let asks = tree.asks().map(watched);
        if let Some(Err(_)) = &asks {
            tree.answer();
        }
        Self {
            asking: asks.and_then(Result::ok),
            orders: Orders::GoOn,
            phase: Phase::Running,
            deadline,
            tend_at: running.started + TEND,
            stopped: None,
            shell_ended: None,
            last_output: running.started,
            stopping: Stopping::default(),
            running,
        }
    }

    /// Has a thread answer for its connections from now on, if it asks.
    fn answer(&mut self, asks: bool) {
        self.asking = None;
        if asks {
            self.running.shell.child_mut().tree_mut().answer();
        }
    }

    /// Moves on as far as the facts allow, and says when to look again.
    fn advance(&mut self, context: &ToolContext) -> io::Result<Next> {
        self.orders = Orders::of(context);
        let cancelled = self.orders >= Orders::Cancel;
        loop {
            let now = Instant::now();
            match &mut self.phase {
                Phase::Running if self.shell_ended.is_some() => self.phase = Phase::Settling,
                Phase::Running if cancelled => self.stop(Some(Stopped::Cancelled)),
                Phase::Running if self.deadline.is_some_and(|deadline| now >= deadline) => {
                    // It may have made it just in time, and we may be late to notice.
                    self.look_at_shell()?;
                    if self.shell_ended.is_none() {
                        let after = self.running.supervision.timeout.unwrap_or_default();
                        self.stop(Some(Stopped::TimedOut(after)));
                    }
                }
                Phase::Running => {
                    if now >= self.tend_at {
                        self.running.shell.child().tree().reap_orphans();
                        self.tend_at = now + TEND;
                    }
                    let wake_at = self.deadline.map_or(self.tend_at, |deadline| deadline.min(self.tend_at));
                    return Ok(Next::Wait(wake_at));
                }

                Phase::Settling => {
                    let silent = self.running.pipes.are_closed();
                    if silent && self.tree_is_clear() {
                        return Ok(Next::Done);
                    }
                    let settled = self.settled_at();
                    match self.running.supervision.leftovers {
                        Leftovers::Keep if silent || now >= settled || cancelled => {
                            self.stopping.leftovers = self.kept();
                            return Ok(Next::Done);
                        }
                        Leftovers::End if now >= settled || cancelled => self.stop(None),
                        Leftovers::Keep | Leftovers::End if silent => {
                            return Ok(Next::Wait(settled.min(now + SETTLE_POLL)));
                        }
                        Leftovers::Keep | Leftovers::End => return Ok(Next::Wait(settled)),
                    }
                }

                Phase::Stopping(stop) => {
                    if self.orders == Orders::Kill {
                        stop.hurry();
                    }
                    let wait = stop.step(self.running.shell.child());
                    match wait {
                        Some(wait) => return Ok(Next::Wait(now + wait)),
                        None => self.drain(now + DRAIN)?,
                    }
                }

                Phase::Draining { until } => {
                    let until = *until;
                    if self.running.pipes.are_closed() || now >= until {
                        return Ok(Next::Done);
                    }
                    return Ok(Next::Wait(until));
                }
            }
        }
    }

    fn stop(&mut self, why: Option<Stopped>) {
        let limits = &self.running.supervision.limits;
        let grace = if why.is_some() { limits.grace } else { limits.leftover_grace };
        self.stopped = why;
        self.phase = Phase::Stopping(Stop::begin(self.running.shell.child(), grace));
    }

    fn send(&self, signals: &[Signal]) {
        for signal in signals {
            if let Err(error) = self.running.shell.child().tree().signal(*signal) {
                tracing::debug!(%error, %signal, "cannot send a signal");
            }
        }
    }

    fn drain(&mut self, until: Instant) -> io::Result<()> {
        self.look_at_shell()?;
        if let Phase::Stopping(stop) = std::mem::replace(&mut self.phase, Phase::Draining { until }) {
            self.stopping = stop.into_report();
        }
        Ok(())
    }

    /// An observer may hold the command back, but not the end of it.
    fn is_throttled(&self) -> bool {
        match self.phase {
            Phase::Running | Phase::Settling | Phase::Stopping(_) => true,
            Phase::Draining { .. } => false,
        }
    }

    fn look_at_shell(&mut self) -> io::Result<()> {
        if self.shell_ended.is_none() && self.running.shell.child().has_ended()? {
            self.shell_ended = Some(Instant::now());
        }
        Ok(())
    }

    fn absorb(&mut self, stream: Stream, bytes: &[u8], context: &ToolContext) {
        if !bytes.is_empty() {
            self.last_output = Instant::now();
            self.running.capture.absorb(stream, bytes);
            context.notify(|| Event::Output {
                operation_id: context.shared_id(),
                stream,
                bytes: bytes.to_vec(),
            });
        }
    }

    /// What is in the pipes already, when nobody waits any longer for more: a kept or unkillable process holds them.
    fn read_rest(&mut self, buffer: &mut Vec<u8>, context: &ToolContext) -> io::Result<()> {
        const MOST: usize = 4 << 20;
        let mut total = 0;
        while total < MOST
            && let Some(stream) = self.running.pipes.read_now(buffer)?
        {
            self.absorb(stream, buffer, context);
            total += buffer.len();
        }
        Ok(())
    }

    /// A moment of silence, or the longest time with output still coming.
    fn settled_at(&self) -> Instant {
        let limits = &self.running.supervision.limits;
        let ended = self.shell_ended.unwrap_or_else(Instant::now);
        (self.last_output.max(ended) + limits.settle).min(ended + limits.settle_longest)
    }

    /// If it cannot be told now, it is told later: descriptors may be short for a moment.
    fn tree_is_clear(&self) -> bool {
        self.running.shell.child().tree().is_clear().unwrap_or(false)
    }

    fn kept(&self) -> Vec<Leftover> {
        let members = self.running.shell.child().tree().members().unwrap_or_default();
        members.into_iter().map(|p| Leftover { pid: p.pid, command: p.command, fate: Fate::Kept }).collect()
    }

    fn finish(self) -> io::Result<Ended> {
        let Running { facts, confinement, notes, mut shell, capture, started, epilogue, session, .. } =
            self.running;
        let (exit, usage) = match self.shell_ended {
            Some(_) => shell.child_mut().wait().map(|(exit, usage)| (Some(exit), usage))?,
            None => (None, Usage::default()),
        };
        let duration = self.shell_ended.unwrap_or_else(Instant::now) - started;
        Ok(Ended {
            // While its temporary directory is still there. A shell that was ended in the middle says it too.
            answers: match (self.stopped, exit) {
                (None, Some(Exit::Code(_))) => epilogue.as_ref().map(Epilogue::answers).unwrap_or_default(),
                _ => Answers::default(),
            },
            session,
            facts,
            pid: shell.child().pid(),
            room_pid: shell.child().room_pid(),
            ports: shell.child().ports(),
            is_lost: shell.child().is_lost(),
            stopped: self.stopped,
            exit,
            usage,
            duration,
            captured: capture.finish(),
            limits_reached: shell.child().tree().limits_reached(),
            refused_sockets: shell.child().tree().refused_sockets(),
            restored: shell.child().tree().restore(),
            names: shell.child().tree().stopped(),
            report: report(shell.child().report(), &notes),
            confinement,
            tracking: shell.child().tree().method(),
            stopping: self.stopping,
        })
    }
}

/// What was enforced, with what its user should know.
pub(crate) fn report(enforced: &Report, notes: &[String]) -> Report {
    let reasons = enforced.reason.iter().chain(notes).map(String::as_str).collect::<Vec<_>>().join("; ");
    Report { reason: (!reasons.is_empty()).then_some(reasons), ..enforced.clone() }
}
