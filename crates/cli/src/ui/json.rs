//! For programs: JSON, one value per line.

use std::borrow::Cow;
use std::io;

use bashtion::{Answer, ApprovalId, Decoder, Event, Events, Outcome, Status, Stream, Verdict};
use serde::Serialize;

use super::outlet::Target;

/// One line for each event.
pub(super) fn show(mut events: Events) -> io::Result<()> {
    let mut decoders = Decoders::default();
    while let Some(event) = events.blocking_recv() {
        match event {
            Event::Asked { operation_id, approval_id, command, cwd, verdict, effects, .. } => {
                print_line(&Line::Asked {
                    operation_id: &operation_id,
                    approval_id: approval_id.as_ref(),
                    command: &command,
                    cwd: cwd.to_string_lossy(),
                    verdict: &verdict,
                    effects: &effects,
                })?;
            }
            Event::Answered { operation_id, approval_id, answer } => print_line(&Line::Answered {
                operation_id: &operation_id,
                approval_id: approval_id.as_ref(),
                answer: &answer,
            })?,
            Event::Started { operation_id, command, display, cwd, pid } => print_line(&Line::Started {
                operation_id: &operation_id,
                command: &command,
                display: &display,
                cwd: cwd.to_string_lossy(),
                pid,
                pgid: pid,
            })?,
            Event::Output { stream, bytes, .. } => {
                let mut text = String::new();
                decoders.of(stream).push(&bytes, |decoded| text.push_str(decoded));
                print_line(&Line::Output { stream, text: &text, bytes: bytes.len() })?;
            }
            Event::Ended { outcome, .. } => {
                decoders.finish()?;
                print_line(&Line::Ended { outcome: &outcome })?;
            }
            // The verdict is in the result, nothing is missed here, and the error that follows a loss says more.
            Event::Judged { .. } | Event::Missed { .. } | Event::Lost { .. } => {}
        }
    }
    Ok(())
}

/// The result alone, as the event that it would have been: `ended`, or `background` if it goes on.
pub(super) fn print_result(outcome: &Outcome) -> io::Result<()> {
    match outcome.status {
        Status::Running => print_line(&Line::Background { outcome }),
        _ => print_line(&Line::Ended { outcome }),
    }
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Line<'a> {
    Asked {
        operation_id: &'a str,
        approval_id: Option<&'a ApprovalId>,
        command: &'a str,
        cwd: Cow<'a, str>,
        verdict: &'a Verdict,
        effects: &'a [String],
    },
    Answered {
        operation_id: &'a str,
        approval_id: Option<&'a ApprovalId>,
        #[serde(flatten)]
        answer: &'a Answer,
    },
    Started {
        operation_id: &'a str,
        command: &'a str,
        display: &'a str,
        cwd: Cow<'a, str>,
        pid: i32,
        pgid: i32,
    },
    /// `text` is decoded across events: a character split by a read is in the later one.
    Output { stream: Stream, text: &'a str, bytes: usize },
    Ended {
        #[serde(flatten)]
        outcome: &'a Outcome,
    },
    Background {
        #[serde(flatten)]
        outcome: &'a Outcome,
    },
}

#[derive(Default)]
struct Decoders {
    stdout: Decoder,
    stderr: Decoder,
    output: Decoder,
}

impl Decoders {
    fn of(&mut self, stream: Stream) -> &mut Decoder {
        match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
            Stream::Output => &mut self.output,
        }
    }

    /// Half a character at the very end is output too.
    fn finish(&mut self) -> io::Result<()> {
        for stream in [Stream::Stdout, Stream::Stderr, Stream::Output] {
            let mut rest = String::new();
            self.of(stream).finish(|decoded| rest.push_str(decoded));
            if !rest.is_empty() {
                print_line(&Line::Output { stream, text: &rest, bytes: 0 })?;
            }
        }
        Ok(())
    }
}

pub(super) fn print_line(value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value).map_err(io::Error::other)?;
    line.push(b'\n');
    Target::Stdout.write(&line)
}
