//! For a person at a terminal: output as it comes, a spinner in silence, a closing line. Or, if the profile has a screen of its own,
//! the spinner and then that.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use anstyle::{AnsiColor, Style};
use bashtion::{Decoder, Event, Events, Fate, Outcome, Status, Wording};
use tokio::time::timeout;

use super::highlight::highlighted;
use super::outlet::{Target, is_dumb};
use super::sanitize::{self, Sanitizer};

/// What the profile has to say.
#[derive(Debug)]
pub(crate) struct Words {
    pub(crate) wording: Wording,
    /// How long the command may take.
    pub(crate) limit: Duration,
}

pub(super) fn show(events: Events, words: Words) -> io::Result<()> {
    // A runtime of its own on this thread, only to wait for an event or a tick.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    runtime.block_on(Screen::new(words).watch(events))
}

struct Screen {
    decoder: Decoder,
    sanitizer: Sanitizer,
    spinner: Spinner,
    at_line_start: bool,
    coloured: bool,
    words: Words,
    /// What the command is for.
    description: Option<String>,
}

impl Screen {
    fn new(words: Words) -> Self {
        Self {
            decoder: Decoder::default(),
            sanitizer: Sanitizer::default(),
            spinner: Spinner { started: None, shown: false, possible: !is_dumb() },
            at_line_start: true,
            coloured: Target::Stderr.is_coloured(),
            words,
            description: None,
        }
    }

    async fn watch(mut self, mut events: Events) -> io::Result<()> {
        loop {
            let Ok(event) = timeout(Spinner::TICK, events.recv()).await else {
                // Never into the middle of a line that the command has begun.
                if self.at_line_start {
                    self.spinner.turn()?;
                }
                continue;
            };
            match event {
                Some(Event::Output { .. }) if self.words.wording.has_screen() => {}
                Some(Event::Output { bytes, .. }) => {
                    let mut text = String::new();
                    self.decoder.push(&bytes, |decoded| text.push_str(decoded));
                    let safe = self.sanitizer.push(&text);
                    self.print(&safe)?;
                }
                Some(Event::Ended { outcome, .. }) => self.close(&outcome)?,
                Some(Event::Judged { description, .. }) => self.description = description,
                Some(Event::Started { command, display, cwd, .. }) => {
                    self.open(&command, &display, &cwd)?;
                    self.spinner.started = Some(Instant::now());
                }
                Some(Event::Asked { .. } | Event::Answered { .. } | Event::Missed { .. }) => {}
                Some(Event::Lost { .. }) | None => return self.spinner.clear(),
            }
        }
    }

    fn open(&mut self, command: &str, display: &str, cwd: &Path) -> io::Result<()> {
        let description = self.description.as_deref().unwrap_or_default();
        let opening = self.words.wording.opening(&|name| match name {
            "command" => sanitize::visible(command),
            "cwd" => sanitize::visible(&cwd.to_string_lossy()),
            "description" => sanitize::visible(description),
            "title" if !description.is_empty() => sanitize::visible(description),
            _ => sanitize::visible(display),
        });
        match opening {
            Some(text) => self.print(&format!("{text}\n")),
            None => Ok(()),
        }
    }

    fn print(&mut self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.spinner.clear()?;
        self.at_line_start = text.ends_with('\n');
        Target::Stdout.write(text.as_bytes())
    }

    fn close(&mut self, outcome: &Outcome) -> io::Result<()> {
        let mut rest = String::new();
        self.decoder.finish(|decoded| rest.push_str(decoded));
        rest = self.sanitizer.push(&rest) + &self.sanitizer.finish();
        self.print(&rest)?;
        self.spinner.clear()?;
        let mut closing = String::new();
        if !self.at_line_start {
            closing.push('\n');
        }
        // The command may have left a colour on.
        let reset = if self.coloured { "\x1b[0m" } else { "" };
        let own = if outcome.pid.is_some() { self.own_closing(outcome) } else { None };
        let words = own.unwrap_or_else(|| self.coloured(colour(outcome), &closing_line(outcome)));
        closing += &format!("{reset}{words}\n");
        for leftover in &outcome.leftovers {
            let what = match leftover.fate {
                Fate::Terminated => "ended",
                Fate::Killed => "killed",
                Fate::Kept => "still running",
                Fate::Alive => "could not be killed",
            };
            closing += &format!("  {what}: {} {}\n", leftover.pid, sanitize::text(&leftover.command));
        }
        Target::Stderr.write(closing.as_bytes())
    }
}

impl Screen {
    /// As the profile has it: its values made harmless, and red or green where they say how it went.
    fn own_closing(&self, outcome: &Outcome) -> Option<String> {
        self.words.wording.closing(outcome, Some(self.words.limit), &|name, value| match name {
            "output" | "stdout" if self.coloured => highlighted(&sanitize::text(&value)),
            "output" | "stdout" => sanitize::text(&value),
            "stderr" => self.coloured(AnsiColor::Red, &sanitize::text(&value)),
            "short_status" | "status" => self.coloured(colour(outcome), &value),
            _ => sanitize::visible(&value),
        })
    }

    fn coloured(&self, colour: AnsiColor, text: &str) -> String {
        if !self.coloured || text.is_empty() {
            return text.to_owned();
        }
        painted(colour, text)
    }
}

pub(super) fn painted(colour: AnsiColor, text: &str) -> String {
    let style = Style::new().fg_color(Some(colour.into()));
    format!("{style}{text}{style:#}")
}

fn colour(outcome: &Outcome) -> AnsiColor {
    if outcome.success() { AnsiColor::Green } else { AnsiColor::Red }
}

fn closing_line(outcome: &Outcome) -> String {
    let took = seconds(outcome.duration);
    match outcome.status {
        Status::Exited(0) => format!("✓ {took}"),
        Status::Exited(code) => format!("exit {code} ({took})"),
        Status::TimedOut { .. } => outcome.status.to_string(),
        Status::Signaled(_) | Status::Cancelled | Status::Running => format!("{} ({took})", outcome.status),
        Status::Refused | Status::NeedsApproval | Status::Invalid => "nothing was run".to_owned(),
    }
}

fn seconds(duration: Duration) -> String {
    format!("{:.1}s", duration.as_secs_f64())
}

/// A sign of life with the elapsed time, on the line where the next output will come.
struct Spinner {
    /// Not while somebody is asked.
    started: Option<Instant>,
    shown: bool,
    possible: bool,
}

impl Spinner {
    const TICK: Duration = Duration::from_millis(100);
    const PATIENCE: Duration = Duration::from_millis(500);

    fn turn(&mut self) -> io::Result<()> {
        const FRAMES: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
        let elapsed = self.started.map(|started| started.elapsed()).unwrap_or_default();
        if !self.possible || elapsed < Self::PATIENCE {
            return Ok(());
        }
        let turns = usize::try_from(elapsed.as_millis() / Self::TICK.as_millis()).unwrap_or(0);
        self.shown = true;
        let frame = format!("\r{} {}s\x1b[K", FRAMES[turns % FRAMES.len()], elapsed.as_secs());
        Target::Stderr.write(frame.as_bytes())
    }

    fn clear(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.shown) {
            return Ok(());
        }
        Target::Stderr.write(b"\r\x1b[K")
    }
}
