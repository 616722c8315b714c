//! Which of the ways to show a run, and the thread that does it.

use std::io;
use std::thread;

use bashtion::{CancellationToken, Event, Events, Outcome, ToolContext};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::outlet::Target;
use super::terminal::Words;
use super::{Format, json, plain, terminal};
use crate::error::CliError;

/// A way to show a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Face {
    /// One JSON object at the end.
    Json,
    /// One JSON event per line.
    Stream,
    /// The output as it comes, byte for byte, and nothing else.
    Raw,
    /// The readable, cut output at the end, and nothing else.
    Cut,
    /// For a person: output as it comes, a spinner, a closing line.
    Terminal,
    /// For a person: a spinner, and at the end what the profile has for a screen.
    OwnScreen,
}

/// What a profile has of its own to show a run with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Own {
    Nothing,
    /// Words at the end.
    Words,
    /// A screen for people, and words for everybody else.
    Screen,
}

/// Shows a run from a thread of its own: a reader that does not read must not hold up the deadline.
pub(crate) struct Screen {
    face: Face,
    printer: Option<JoinHandle<io::Result<()>>>,
}

impl Face {
    /// On a terminal output is shown as it comes, unless the profile has a screen for the end.
    pub(crate) fn choose(format: Format, wants_cut: bool, own: Own) -> Self {
        let is_terminal = Target::Stdout.is_terminal() && Target::Stderr.is_terminal();
        match format {
            Format::Json => Self::Json,
            Format::JsonEvent => Self::Stream,
            Format::Text if wants_cut => Self::Cut,
            Format::Text if is_terminal && own == Own::Screen => Self::OwnScreen,
            Format::Text if is_terminal => Self::Terminal,
            Format::Text if own != Own::Nothing => Self::Cut,
            Format::Text => Self::Raw,
        }
    }

    pub(crate) fn shows_both_streams_in_one_place(self) -> bool {
        self == Self::Terminal
    }

    /// Returns true if a person sits in front of it.
    pub(crate) fn is_terminal(self) -> bool {
        matches!(self, Self::Terminal | Self::OwnScreen)
    }

    pub(crate) fn is_for_people(self) -> bool {
        matches!(self, Self::Raw | Self::Cut | Self::Terminal | Self::OwnScreen)
    }

    pub(crate) fn shows_every_byte(self) -> bool {
        matches!(self, Self::Raw | Self::Terminal)
    }

    /// Begins to show what happens. If nobody can be shown anything any more, the command is cancelled.
    pub(crate) fn attach(
        self,
        context: ToolContext,
        cancel: CancellationToken,
        words: Words,
    ) -> Result<(ToolContext, Screen), CliError> {
        let (sender, mut events) = Events::channel();
        let cancelling = move |shown: io::Result<()>| shown.inspect_err(|_| cancel.cancel());
        let printer = match self {
            Self::Json | Self::Cut => return Ok((context, Screen { face: self, printer: None })),
            Self::Stream => on_thread(move || cancelling(json::show(events)))?,
            Self::Terminal | Self::OwnScreen => on_thread(move || cancelling(terminal::show(events, words)))?,
            Self::Raw => tokio::spawn(async move {
                // Many commands print nothing, and then need no thread.
                let Some(first) = first_output(&mut events).await else { return Ok(()) };
                let (send, shown) = oneshot::channel();
                let (give, work) = oneshot::channel();
                let thread = thread::Builder::new().spawn(move || {
                    if let Ok((first, events)) = work.blocking_recv() {
                        let _ = send.send(plain::show(first, events));
                    }
                });
                match thread {
                    Ok(_) => {
                        let _ = give.send((first, events));
                        cancelling(shown.await.unwrap_or_else(|gone| Err(io::Error::other(gone))))
                    }
                    Err(_) => cancelling(plain::show_here(first, events).await),
                }
            }),
        };
        Ok((context.events(sender), Screen { face: self, printer: Some(printer) }))
    }
}

/// Runs something that may block. It is never waited for when the program ends.
fn on_thread(
    work: impl FnOnce() -> io::Result<()> + Send + 'static,
) -> Result<JoinHandle<io::Result<()>>, CliError> {
    let (send, done) = oneshot::channel();
    thread::Builder::new().spawn(move || send.send(work())).map_err(|error| {
        CliError::failed("cannot start a thread to print from", &error)
            .help("raise the limit of processes: `ulimit -u`")
    })?;
    Ok(tokio::spawn(async { done.await.unwrap_or_else(|gone| Err(io::Error::other(gone))) }))
}

async fn first_output(events: &mut Events) -> Option<Event> {
    loop {
        let event = events.recv().await?;
        if matches!(event, Event::Output { .. }) {
            return Some(event);
        }
    }
}

impl Screen {
    /// Shows the rest.
    pub(crate) async fn finish(self, outcome: Option<Outcome>) -> Result<io::Result<()>, CliError> {
        let printer = match (self.printer, self.face, outcome) {
            (Some(printer), _, _) => printer,
            (None, Face::Json, Some(outcome)) => on_thread(move || json::print_line(&outcome))?,
            (None, Face::Cut, Some(outcome)) => on_thread(move || plain::print_cut(&outcome))?,
            (None, _, _) => return Ok(Ok(())),
        };
        Ok(printer.await.unwrap_or_else(|panicked| Err(io::Error::other(panicked))))
    }
}
