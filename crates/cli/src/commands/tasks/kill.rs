//! `bashtion kill`

use std::process::ExitCode;
use std::time::Duration;

use bashtion::{Kill, Signal, TaskId};

use super::{block_on, parse_id, tasks, tell};
use crate::error::CliError;
use crate::ui::Format;

/// End a background task with everything it started.
///
/// All its processes get SIGTERM and, two seconds later, SIGKILL. Returns when nothing of it is left.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task, as `bashtion tasks` shows it.
    #[arg(value_parser = parse_id)]
    id: TaskId,

    /// Send this signal to all its processes instead: TERM, KILL, INT, HUP, USR1 …
    ///
    /// HUP, INT, QUIT and ABRT are followed by SIGTERM and SIGKILL if it does not end; others but TERM and KILL are just
    /// sent.
    #[arg(long, value_name = "NAME", value_parser = parse_signal)]
    signal: Option<Signal>,

    /// Print the whole result as JSON.
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(crate) fn error_format(&self) -> Format {
        if self.json { Format::Json } else { Format::Text }
    }
}

fn parse_signal(text: &str) -> Result<Signal, String> {
    text.parse().map_err(|error: bashtion::UnknownSignal| error.to_string())
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    let tasks = tasks();
    let how = args.signal.map_or(Kill::Gently, Kill::With);
    tasks.kill(&args.id, how)?;
    let task = if how.ends() {
        block_on(tasks.wait(&args.id))?
    } else {
        // It may end by it, and then the answer should say so.
        block_on(async {
            let soon = Duration::from_millis(100);
            let _ = tokio::time::timeout(soon, tasks.wait(&args.id)).await;
            tasks.get(&args.id)
        })?
    };
    tell(&task, args.json)
}
