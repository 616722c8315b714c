//! `bashtion wait`

use std::process::ExitCode;
use std::time::Duration;

use bashtion::TaskId;

use super::{block_on, conclude, parse_id, tasks};
use crate::error::CliError;
use crate::ui::Format;
use bashtion::quantities::parse_duration;

/// Wait for a background task to end, say how it did, and pass its exit code through.
///
/// The exit code is the task's own; 124 if it ran out of time, or if it still runs when --timeout is over; 128 + n if
/// signal n ended it; 125 if it is lost.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task, as `bashtion tasks` shows it.
    #[arg(value_parser = parse_id)]
    id: TaskId,

    /// Wait no longer than this: 30s, 5m, 500ms. The task runs on.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    timeout: Option<Duration>,

    /// Print the whole result as JSON.
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(crate) fn error_format(&self) -> Format {
        if self.json { Format::Json } else { Format::Text }
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    let tasks = tasks();
    let task = block_on(async {
        match args.timeout {
            None => tasks.wait(&args.id).await,
            Some(time) => match tokio::time::timeout(time, tasks.wait(&args.id)).await {
                Ok(task) => task,
                Err(_) => tasks.get(&args.id),
            },
        }
    })?;
    conclude(&task, args.json)
}
