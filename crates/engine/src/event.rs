//! What happens while a command runs, for anyone who wants to watch.
//!
//! Order for each call: one [`Event::Started`], any number of [`Event::Output`], then [`Event::Ended`] or [`Event::Lost`];
//! output of one stream in the order read. Several calls may share a channel, and a call may have several. Back-pressure: while an observer has more than [`WINDOW`] bytes waiting, the command's
//! output is not read, so the command waits as it would for a slow pipe, and its deadline still holds. Once the
//! command has ended, what is still in its pipes is delivered without waiting. An observer never loses a byte,
//! and never holds more than the window, one read and the two pipes' content. One that has gone away is ignored.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Notify, mpsc};

use crate::launch::Running;
use crate::{Outcome, ToolContext};

/// How many bytes of output may wait for an observer before the command has to.
const WINDOW: usize = 1 << 20;

/// Something that happened to a command.
#[derive(Debug, Clone)]
pub enum Event {
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
    /// It is over.
    Ended {
        /// The call's name.
        operation_id: Arc<str>,
        /// What [`crate::Engine::run`] returns.
        outcome: Box<Outcome>,
    },
    /// Nobody will know how it ends: its future was dropped, or the kernel stopped answering. It is being ended.
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

    fn weight(&self) -> usize {
        match self {
            Self::Output { bytes, .. } => bytes.len() + size_of::<Self>(),
            Self::Started { .. } | Self::Ended { .. } | Self::Lost { .. } => 0,
        }
    }
}

/// The engine's end of an event channel; give it to a [`ToolContext`].
#[derive(Debug, Clone)]
pub struct EventSender {
    sender: mpsc::UnboundedSender<Event>,
    waiting: Arc<Waiting>,
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
///             Event::Started { .. } => {}
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
    taken: Notify,
}

impl Events {
    /// Both ends of a channel for events.
    #[must_use]
    pub fn channel() -> (EventSender, Self) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let waiting = Arc::<Waiting>::default();
        (EventSender { sender, waiting: Arc::clone(&waiting) }, Self { receiver, waiting })
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
        self.waiting.bytes.fetch_add(event.weight(), Ordering::AcqRel);
        // An observer that has gone away is no reason to stop the command.
        let _ = self.sender.send(event);
    }

    pub(crate) fn has_room(&self) -> bool {
        self.waiting.bytes.load(Ordering::Acquire) < WINDOW || self.sender.is_closed()
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
    told: bool,
}

impl<'a> EndTeller<'a> {
    pub(crate) fn new(context: &'a ToolContext) -> Self {
        Self { context, told: false }
    }

    pub(crate) fn tell(mut self, outcome: &Outcome) {
        self.told = true;
        let operation_id = self.context.shared_id();
        self.context.notify(|| Event::Ended {
            operation_id: Arc::clone(&operation_id),
            outcome: Box::new(outcome.clone()),
        });
    }
}

impl Drop for EndTeller<'_> {
    fn drop(&mut self) {
        if !self.told {
            self.context.notify(|| Event::Lost { operation_id: self.context.shared_id() });
        }
    }
}
