//! `bashtion output`

use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use bashtion::{Chunk, Decoder, TaskError, TaskId, Tasks};
use serde_json::json;

use super::{parse_id, tasks};
use crate::error::CliError;
use crate::exit_code;
use crate::ui::{self, Format, Printer};

/// Show what a background task has printed.
///
/// Standard output and standard error together, byte for byte in the order they were read. Of very long output the
/// beginning and the end are kept; what is missing is said on standard error.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task, as `bashtion tasks` shows it.
    #[arg(value_parser = parse_id)]
    id: TaskId,

    /// Go on showing what comes, until the task ends.
    #[arg(long, short)]
    follow: bool,

    /// Begin at this byte. With --json the next one to ask for is `next_offset`.
    #[arg(long, value_name = "OFFSET", default_value_t, conflicts_with = "tail")]
    since: u64,

    /// Show only the last lines, so many.
    #[arg(long, value_name = "LINES")]
    tail: Option<usize>,

    /// Print one JSON object with at most a mebibyte of it; with --follow one for each piece.
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(crate) fn error_format(&self) -> Format {
        if self.json { Format::Json } else { Format::Text }
    }
}

const PIECE: usize = 1 << 20;

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    let tasks = tasks();
    let since = match args.tail {
        Some(lines) => beginning_of_last(&tasks, &args.id, lines)?,
        None => args.since,
    };
    let shown = if args.json { as_json(&tasks, args, since) } else { as_it_is(&tasks, args, since) };
    match shown {
        Err(Stop::Gone) => Ok(exit_code::signal(exit_code::SIGPIPE)),
        Err(Stop::Failed(error)) => Err(error),
        Ok(()) => Ok(ExitCode::SUCCESS),
    }
}

enum Stop {
    /// Nobody reads any more.
    Gone,
    Failed(CliError),
}

impl From<TaskError> for Stop {
    fn from(error: TaskError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::Gone,
            _ => Self::Failed(CliError::new("cannot print").caused_by(&error)),
        }
    }
}

fn as_it_is(tasks: &Tasks, args: &Args, since: u64) -> Result<(), Stop> {
    let mut printer = Printer::new();
    follow(tasks, &args.id, since, args.follow, |chunk, _| {
        if chunk.dropped > 0 {
            ui::note(&format!("{} bytes before offset {} were dropped", chunk.dropped, chunk.offset));
        }
        Ok(printer.print(&chunk.bytes)?)
    })?;
    Ok(printer.finish()?)
}

fn as_json(tasks: &Tasks, args: &Args, since: u64) -> Result<(), Stop> {
    let mut decoder = Decoder::default();
    let mut object = |chunk: &Chunk, over: bool| -> Result<(), Stop> {
        let mut text = String::new();
        decoder.push(&chunk.bytes, |decoded| text.push_str(decoded));
        if over {
            decoder.finish(|decoded| text.push_str(decoded));
        }
        let value = json!({
            "task_id": args.id,
            "running": !over,
            "offset": chunk.offset,
            "next_offset": chunk.next,
            "dropped": chunk.dropped,
            "output": text,
        });
        ui::print_json(&value).map(drop).map_err(Stop::Failed)
    };
    if args.follow {
        return follow(tasks, &args.id, since, true, object);
    }
    let over = tasks.is_over(&args.id)?;
    let mut chunk = tasks.read(&args.id, since, PIECE)?;
    let is_cut = chunk.bytes.len() == PIECE || !over;
    if let Err(error) = std::str::from_utf8(&chunk.bytes)
        && is_cut
        && error.error_len().is_none()
        && error.valid_up_to() > 0
    {
        // A character that is not all there yet comes with the next piece.
        chunk.next -= (chunk.bytes.len() - error.valid_up_to()) as u64;
        chunk.bytes.truncate(error.valid_up_to());
    }
    object(&chunk, over)
}

/// Each piece there is, and if asked for each that comes. The last call may have nothing in it.
fn follow(
    tasks: &Tasks,
    id: &TaskId,
    mut since: u64,
    until_it_ends: bool,
    mut show: impl FnMut(&Chunk, bool) -> Result<(), Stop>,
) -> Result<(), Stop> {
    const PAUSE: Duration = Duration::from_millis(50);
    loop {
        // In this order: what is there when it is over is all.
        let over = tasks.is_over(id)?;
        let chunk = tasks.read(id, since, PIECE)?;
        let is_last = chunk.bytes.is_empty() && (over || !until_it_ends);
        if !chunk.bytes.is_empty() || chunk.dropped > 0 || is_last {
            show(&chunk, is_last && over)?;
        }
        since = chunk.next;
        if is_last {
            return Ok(());
        }
        if chunk.bytes.is_empty() {
            thread::sleep(PAUSE);
        }
    }
}

/// The offset at which the last lines begin.
fn beginning_of_last(tasks: &Tasks, id: &TaskId, lines: usize) -> Result<u64, CliError> {
    let end = tasks.output_bytes(id)?;
    let mut window = 64 * 1024;
    loop {
        let from = end.saturating_sub(window);
        let (mut since, mut bytes, mut first) = (from, vec![], from);
        while since < end {
            let chunk = tasks.read(id, since, PIECE)?;
            if chunk.bytes.is_empty() {
                break;
            }
            if chunk.dropped > 0 || bytes.is_empty() {
                // Only what is in one piece can be shown as one.
                first = chunk.offset;
                bytes.clear();
            }
            bytes.extend(chunk.bytes);
            since = chunk.next;
        }
        let text = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        let ends = text.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
        if lines == 0 {
            return Ok(end);
        }
        match ends.clone().nth(lines - 1) {
            Some(at) => return Ok(first + at as u64 + 1),
            None if from == 0 => return Ok(first),
            None => window = window.saturating_mul(4),
        }
    }
}
