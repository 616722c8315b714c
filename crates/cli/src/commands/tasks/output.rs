//! `bashtion output`

use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use bashtion::{Chunk, Decoder, Passage, TaskError, TaskId, Tasks};
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
        Some(lines) => tasks.offset_of_last(&args.id, lines)?,
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
    let show = |passage: Passage| -> Result<(), Stop> {
        let value = json!({
            "task_id": args.id,
            "running": !passage.over,
            "offset": passage.offset,
            "next_offset": passage.next,
            "dropped": passage.dropped,
            "output": passage.text,
        });
        ui::print_json(&value).map(drop).map_err(Stop::Failed)
    };
    if !args.follow {
        return show(tasks.passage(&args.id, since, PIECE)?);
    }
    let mut decoder = Decoder::default();
    follow(tasks, &args.id, since, true, |chunk, over| {
        let Chunk { dropped, offset, next, .. } = *chunk;
        let mut text = String::new();
        decoder.push(&chunk.bytes, |decoded| text.push_str(decoded));
        if over {
            decoder.finish(|decoded| text.push_str(decoded));
        }
        show(Passage { dropped, offset, text, next, over })
    })
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
