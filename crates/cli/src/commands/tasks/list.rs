//! `bashtion tasks`, also called `status`

use std::process::ExitCode;

use bashtion::{TaskId, TaskList};

use super::{parse_id, tasks};
use crate::error::CliError;
use crate::ui::{self, Format};

/// Show background tasks, running and finished.
///
/// Finished ones are remembered for a week. A task is lost when its supervisor was killed or the machine was restarted:
/// what it had printed is still there.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Show only this one.
    #[arg(value_parser = parse_id)]
    id: Option<TaskId>,

    /// Show only those that run.
    #[arg(long, conflicts_with = "id")]
    running: bool,

    /// Print them as a JSON array; with an id, as one object.
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
    if let Some(id) = &args.id {
        let task = tasks.get(id)?;
        return if args.json {
            ui::print_json(&ui::task_as_json(&task))
        } else {
            ui::print(ui::task_details(&task).as_bytes())
        };
    }
    let TaskList { tasks: mut found, problems } = tasks.list()?;
    if args.running {
        found.retain(|task| matches!(task.state, bashtion::TaskState::Running(_)));
    }
    for problem in problems {
        ui::note(&problem.to_string());
    }
    if args.json {
        ui::print_json(&found.iter().map(ui::task_as_json).collect::<Vec<_>>())
    } else {
        ui::print(ui::task_table(&found).as_bytes())
    }
}
