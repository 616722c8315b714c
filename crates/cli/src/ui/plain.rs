//! The command's output and nothing else.

use std::io;

use bashtion::{Event, Events, Outcome, Stream};

use super::outlet::{Outlet, Target};

/// Each byte to where the command wrote it, as it comes.
pub(super) fn show(first: Event, mut events: Events) -> io::Result<()> {
    let mut outlets = Outlets::new();
    outlets.print(first)?;
    while let Some(event) = events.blocking_recv() {
        outlets.print(event)?;
    }
    outlets.finish()
}

/// The same on the runtime's own thread, for hosts that allow no other.
pub(super) async fn show_here(first: Event, mut events: Events) -> io::Result<()> {
    let mut outlets = Outlets::new();
    outlets.print(first)?;
    while let Some(event) = events.recv().await {
        outlets.print(event)?;
    }
    outlets.finish()
}

/// The words of the profile, if it has some, else the readable text, cut.
pub(super) fn print_cut(outcome: &Outcome) -> io::Result<()> {
    let mut outlets = Outlets::new();
    if let Some(text) = &outcome.text {
        outlets.stdout.write(text.as_bytes())?;
        if !text.is_empty() && !text.ends_with('\n') {
            outlets.stdout.write(b"\n")?;
        }
        return outlets.finish();
    }
    outlets.stdout.write(outcome.output.stdout().as_bytes())?;
    outlets.stderr.write(outcome.output.stderr().as_bytes())?;
    outlets.finish()
}

struct Outlets {
    stdout: Outlet,
    stderr: Outlet,
}

impl Outlets {
    fn new() -> Self {
        Self { stdout: Outlet::new(Target::Stdout), stderr: Outlet::new(Target::Stderr) }
    }

    fn print(&mut self, event: Event) -> io::Result<()> {
        match event {
            Event::Output { stream: Stream::Stdout | Stream::Output, bytes, .. } => self.stdout.write(&bytes),
            Event::Output { stream: Stream::Stderr, bytes, .. } => self.stderr.write(&bytes),
            Event::Judged { .. }
            | Event::Asked { .. }
            | Event::Answered { .. }
            | Event::Started { .. }
            | Event::Missed { .. }
            | Event::Ended { .. }
            | Event::Lost { .. } => Ok(()),
        }
    }

    fn finish(mut self) -> io::Result<()> {
        self.stdout.finish()?;
        self.stderr.finish()
    }
}
