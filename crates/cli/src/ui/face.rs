//! Which of the ways to show a run, and the thread that does it.

use std::io::{self, ErrorKind, IsTerminal};
use std::thread::{self, JoinHandle};

use bashtion::{CancellationToken, Events, Outcome, ToolContext};

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
    thread: Option<JoinHandle<io::Result<()>>>,
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
        let show: fn(Events) -> io::Result<()> = match self {
            Self::Json | Self::Cut => return (context, Screen { face: self, thread: None }),
            Self::Stream => json::show,
            Self::Raw => plain::show,
            Self::Terminal => terminal::show,
        };
        let (sender, events) = Events::channel();
        let thread = thread::spawn(move || show(events).inspect_err(|_| cancel.cancel()));
        (context.events(sender), Screen { face: self, thread: Some(thread) })
    }
}

impl Screen {
    /// Shows the rest. Returns the number of SIGPIPE if our reader went away.
    pub(crate) fn finish(self, outcome: Option<&Outcome>) -> Result<Option<i32>, CliError> {
        let shown = match (self.thread, self.face, outcome) {
            (Some(thread), _, _) => {
                thread.join().map_err(|_| CliError::new("the thread that prints panicked"))?
            }
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
