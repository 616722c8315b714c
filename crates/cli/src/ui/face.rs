//! Which of the ways to show a run, and the thread that does it.

use std::io::{self, ErrorKind, IsTerminal};

use bashtion::{CancellationToken, Event, Events, Outcome, ToolContext};
use tokio::task::{JoinHandle, spawn_blocking};

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
}

/// Shows a run from a thread of its own: a reader that does not read must not hold up the deadline.
pub(crate) struct Screen {
    face: Face,
    printer: Option<JoinHandle<io::Result<()>>>,
}

const SIGPIPE: i32 = 13;

impl Face {
    pub(crate) fn choose(format: Format, wants_cut: bool) -> Self {
        let is_terminal = io::stdout().is_terminal() && io::stderr().is_terminal();
        match format {
            Format::Json => Self::Json,
            Format::JsonEvent => Self::Stream,
            Format::Text if wants_cut => Self::Cut,
            Format::Text if is_terminal => Self::Terminal,
            Format::Text => Self::Raw,
        }
    }

    pub(crate) fn shows_both_streams_in_one_place(self) -> bool {
        self == Self::Terminal
    }

    pub(crate) fn shows_every_byte(self) -> bool {
        matches!(self, Self::Raw | Self::Terminal)
    }

    /// Begins to show what happens. If nobody can be shown anything any more, the command is cancelled.
    pub(crate) fn attach(self, context: ToolContext, cancel: CancellationToken) -> (ToolContext, Screen) {
        let (sender, mut events) = Events::channel();
        let printer = match self {
            Self::Json | Self::Cut => return (context, Screen { face: self, printer: None }),
            Self::Stream => spawn_blocking(move || json::show(events).inspect_err(|_| cancel.cancel())),
            Self::Terminal => spawn_blocking(move || terminal::show(events).inspect_err(|_| cancel.cancel())),
            Self::Raw => tokio::spawn(async move {
                // Many commands print nothing, and then need no thread.
                let Some(first) = first_output(&mut events).await else { return Ok(()) };
                spawn_blocking(move || plain::show(first, events).inspect_err(|_| cancel.cancel())).await?
            }),
        };
        (context.events(sender), Screen { face: self, printer: Some(printer) })
    }
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
    /// Shows the rest. Returns the number of SIGPIPE if our reader went away.
    pub(crate) async fn finish(self, outcome: Option<&Outcome>) -> Result<Option<i32>, CliError> {
        let shown = match (self.printer, self.face, outcome) {
            (Some(printer), _, _) => printer.await.map_err(io::Error::other)?,
            (None, Face::Json, Some(outcome)) => json::print_line(outcome),
            (None, Face::Cut, Some(outcome)) => plain::print_cut(outcome),
            (None, _, _) => Ok(()),
        };
        match shown {
            Ok(()) => Ok(None),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Some(SIGPIPE)),
            Err(error) => Err(error.into()),
        }
    }
}
