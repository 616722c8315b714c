//! What happens while a command runs, for anyone who wants to watch.
//!
//! Order for each call: one [`Event::Judged`]; if somebody has to agree, [`Event::Asked`] for whoever is asked and for the queue, and
//! [`Event::Answered`]; then if it runs one [`Event::Started`], any number of [`Event::Output`], and last [`Event::Ended`] or
//! [`Event::Lost`]; output of one stream in the order read. Several calls may share a channel, and
//! a call may have several.
//!
//! Two kinds of observers. One that must have everything ([`Events::channel`]): while more than a mebibyte waits for it, the
//! command's output is not read, so the command waits as it would for a slow pipe, and its deadline still holds; once the
//! command has ended, what is still in its pipes is delivered without waiting. It never loses a byte, and never holds more
//! than the window, one read and the two pipes' content. One that only watches ([`Events::watching`]): it never holds
//! anything up. While more than the window waits for it, output passes it by, and [`Event::Missed`] says how much before
//! anything else comes. One that has gone away is ignored.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Notify, mpsc};

use crate::admit::Job;
use crate::approval::{Answer, ApprovalId};
use crate::launch::Running;
use crate::ledger::Books;
use crate::output::StateDir;
use crate::{Outcome, ToolContext, Verdict};

/// How many bytes of output may wait for an observer before the command has to.
const WINDOW: usize = 1 << 20;

/// Something that happened to a command.
#[derive(Debug, Clone)]
pub enum Event {
    /// It was decided whether it may run.
    Judged {
        /// The call's name.
        operation_id: Arc<str>,
        /// What was asked for.
        command: String,
        /// What it is for.
        description: Option<String>,
        /// Where it would run.
        cwd: PathBuf,
        /// What was decided.
        verdict: Verdict,
    },
    /// Somebody was asked whether it may run, or the question was put into the queue.
    Asked {
        /// The call's name.
        operation_id: Arc<str>,
        /// The question in the queue, if it is there.
        approval_id: Option<ApprovalId>,
        /// What was asked for.
        command: String,
        /// What it is for.
        description: Option<String>,
        /// Where it would run.
        cwd: PathBuf,
        /// Why it is asked about.
        verdict: Verdict,
        /// What it would do, in words.
        effects: Vec<String>,
    },
    /// Somebody has answered.
    Answered {
        /// The call's name: of the one that asked when it is answered, and of the one that uses the answer later.
        operation_id: Arc<str>,
        /// The question in the queue, if it was there.
        approval_id: Option<ApprovalId>,
        /// Who said what.
        answer: Answer,
    },
    /// The shell is running.
    Started {
        /// The call's name.
        operation_id: Arc<str>,
        /// What was asked for.
        command: String,
        /// The same without a redundant `cd`.
        display: String,
        /// Where it runs.
        cwd: PathBuf,
        /// The shell's process id, which is also its process group.
        pid: i32,
    },
    /// It printed something.
    Output {
        /// The call's name.
        operation_id: Arc<str>,
        /// Where.
        stream: Stream,
        /// The bytes, as they are.
        bytes: Vec<u8>,
    },
    /// This observer was too slow: so many bytes of output passed it by.
    Missed {
        /// The call's name.
        operation_id: Arc<str>,
        /// How many.
        bytes: u64,
    },
    /// It is over.
    Ended {
        /// The call's name.
        operation_id: Arc<str>,
        /// The agent that it belongs to.
        agent: Option<String>,
        /// What [`crate::Engine::run`] returns.
        outcome: Box<Outcome>,
    },
    /// It has no result: it was allowed and could not be started, which is the caller's error, or its future was dropped, or the
    /// kernel stopped answering. What there is of it is being ended.
    Lost {
        /// The call's name.
        operation_id: Arc<str>,
    },
}

/// Which stream output came from.
///
/// ```
/// use bashtion::{Engine, Event, Events, Request, Stream, ToolContext};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), bashtion::Error> {
/// let (sender, mut events) = Events::channel();
/// let context = ToolContext::from_host("/tmp").events(sender);
/// Engine::new().run(Request::new("echo oops >&2"), &context).await?;
/// assert!(matches!(events.recv().await, Some(Event::Judged { .. })));
/// assert!(matches!(events.recv().await, Some(Event::Started { .. })));
/// assert!(matches!(events.recv().await, Some(Event::Output { stream: Stream::Stderr, .. })));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// Both, in the order written.
    Output,
}

impl Event {
    pub(crate) fn judged(job: &Job, verdict: &Verdict, context: &ToolContext) -> Self {
        Self::Judged {
            operation_id: context.shared_id(),
            command: job.command.clone(),
            description: job.description.clone(),
            cwd: job.cwd.clone(),
            verdict: verdict.clone(),
        }
    }

    pub(crate) fn started(running: &Running, context: &ToolContext) -> Self {
        let facts = &running.facts;
        Self::Started {
            operation_id: context.shared_id(),
            command: facts.command.clone(),
            display: facts.display.clone(),
            cwd: facts.cwd.clone(),
            pid: running.shell.child().pid(),
        }
    }

    fn ended(outcome: &Outcome, context: &ToolContext) -> Self {
        Self::Ended {
            operation_id: context.shared_id(),
            agent: context.agent_name().map(str::to_owned),
            outcome: Box::new(outcome.clone()),
        }
    }

    fn weight(&self) -> usize {
        match self {
            Self::Output { bytes, .. } => bytes.len() + size_of::<Self>(),
            Self::Judged { .. }
            | Self::Asked { .. }
            | Self::Answered { .. }
            | Self::Started { .. }
            | Self::Missed { .. }
            | Self::Ended { .. }
            | Self::Lost { .. } => 0,
        }
    }
}

/// The engine's end of an event channel; give it to a [`ToolContext`].
#[derive(Debug, Clone)]
pub struct EventSender {
    sender: mpsc::UnboundedSender<Event>,
    waiting: Arc<Waiting>,
    patience: Patience,
}

/// Whether the command waits for an observer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Patience {
    Waits,
    GoesOn,
}

/// The observer's end.
///
/// ```
/// use bashtion::{Engine, Event, Events, Request, ToolContext};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), bashtion::Error> {
/// let (sender, mut events) = Events::channel();
/// let context = ToolContext::from_host("/tmp").events(sender);
/// let engine = Engine::new();
/// let watch = tokio::spawn(async move {
///     let mut live = vec![];
///     while let Some(event) = events.recv().await {
///         match event {
///             Event::Judged { .. } | Event::Asked { .. } | Event::Answered { .. } => {}
///             Event::Started { .. } | Event::Missed { .. } => {}
///             Event::Output { bytes, .. } => live.extend(bytes),
///             Event::Ended { outcome, .. } => return (live, outcome.success()),
///             Event::Lost { .. } => break,
///         }
///     }
///     (live, false)
/// });
/// engine.run(Request::new("echo live"), &context).await?;
/// assert_eq!(watch.await.unwrap(), (b"live\n".to_vec(), true));
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Events {
    receiver: mpsc::UnboundedReceiver<Event>,
    waiting: Arc<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    bytes: AtomicUsize,
    /// What has passed by since the last event that was sent, of each call.
    missed: Mutex<Vec<(Arc<str>, u64)>>,
    taken: Notify,
}

impl Events {
    /// Both ends of a channel for events.
    #[must_use]
    pub fn channel() -> (EventSender, Self) {
        Self::made(Patience::Waits)
    }

    /// The same for an observer that only watches: nothing waits for it, and it is told what it has missed.
    ///
    /// ```
    /// use bashtion::{Engine, Event, Events, Request, ToolContext};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), bashtion::Error> {
    /// let (sender, mut events) = Events::watching();
    /// let context = ToolContext::from_host("/tmp").events(sender);
    /// Engine::new().run(Request::new("head -c 5000000 /dev/zero"), &context).await?;
    /// drop(context);
    /// let (mut seen, mut missed) = (0, 0);
    /// while let Some(event) = events.recv().await {
    ///     match event {
    ///         Event::Output { bytes, .. } => seen += bytes.len() as u64,
    ///         Event::Missed { bytes, .. } => missed += bytes,
    ///         _ => {}
    ///     }
    /// }
    /// assert!(seen < 2_000_000 && seen + missed == 5_000_000);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn watching() -> (EventSender, Self) {
        Self::made(Patience::GoesOn)
    }

    fn made(patience: Patience) -> (EventSender, Self) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let waiting = Arc::<Waiting>::default();
        (EventSender { sender, waiting: Arc::clone(&waiting), patience }, Self { receiver, waiting })
    }

    /// The next event; none when every sender is gone.
    pub async fn recv(&mut self) -> Option<Event> {
        let event = self.receiver.recv().await?;
        self.take(&event);
        Some(event)
    }

    /// The same for a thread outside the runtime.
    #[must_use]
    pub fn blocking_recv(&mut self) -> Option<Event> {
        let event = self.receiver.blocking_recv()?;
        self.take(&event);
        Some(event)
    }

    fn take(&self, event: &Event) {
        self.waiting.bytes.fetch_sub(event.weight(), Ordering::AcqRel);
        self.waiting.taken.notify_waiters();
    }
}

impl EventSender {
    pub(crate) fn send(&self, event: Event) {
        if self.patience == Patience::GoesOn && !self.keeps_up(&event) {
            return;
        }
        self.waiting.bytes.fetch_add(event.weight(), Ordering::AcqRel);
        // An observer that has gone away is no reason to stop the command.
        let _ = self.sender.send(event);
    }

    /// Whether an observer that nobody waits for can take this. It is told what it has missed, then.
    fn keeps_up(&self, event: &Event) -> bool {
        let mut missed = self.waiting.missed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Event::Output { operation_id, bytes, .. } = event
            && self.waiting.bytes.load(Ordering::Acquire) >= WINDOW
        {
            let bytes = bytes.len() as u64;
            match missed.iter_mut().find(|(id, _)| id == operation_id) {
                Some((_, count)) => *count += bytes,
                None => missed.push((Arc::clone(operation_id), bytes)),
            }
            return false;
        }
        for (operation_id, bytes) in missed.drain(..) {
            let _ = self.sender.send(Event::Missed { operation_id, bytes });
        }
        true
    }

    pub(crate) fn has_room(&self) -> bool {
        self.patience == Patience::GoesOn
            || self.waiting.bytes.load(Ordering::Acquire) < WINDOW
            || self.sender.is_closed()
    }

    /// Waits until the observer has caught up or gone away.
    pub(crate) async fn room(&self) {
        loop {
            let taken = self.waiting.taken.notified();
            if self.has_room() {
                return;
            }
            tokio::select! {
                () = taken => {}
                () = self.sender.closed() => {}
            }
        }
    }
}

/// Tells the observers of a call that it is lost, unless it is told how it ended.
pub(crate) struct EndTeller<'a> {
    context: &'a ToolContext,
    books: &'a Books,
    told: bool,
}

impl<'a> EndTeller<'a> {
    pub(crate) fn new(context: &'a ToolContext, books: &'a Books) -> Self {
        Self { context, books, told: false }
    }

    /// It runs now, and somebody else will tell.
    pub(crate) fn goes_on(mut self) {
        self.told = true;
    }

    pub(crate) fn tell(mut self, outcome: &mut Outcome, state: &StateDir) {
        self.told = true;
        self.books.note_repetition(outcome, self.context, state.path());
        let problem = self.books.record_afterwards(|| Event::ended(outcome, self.context));
        outcome.notes.extend(problem);
        self.context.notify(|| Event::ended(outcome, self.context));
    }
}

impl Drop for EndTeller<'_> {
    fn drop(&mut self) {
        if !self.told {
            let event = || Event::Lost { operation_id: self.context.shared_id() };
            let _ = self.books.record_afterwards(event);
            self.context.notify(event);
        }
    }
}
