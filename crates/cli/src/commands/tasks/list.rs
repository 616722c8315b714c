//! `bashtion tasks`, also called `status`

use std::process::ExitCode;

use bashtion::{Kill, Placed, Task, TaskError, TaskId, TaskList, TaskState, Tasks};

use super::{block_on, parse_agent, parse_id, tasks};
use crate::error::CliError;
use crate::state_dir::state_dir;
use crate::ui::{self, Format};

/// Show background tasks, running and finished, and the commands of agents that run now.
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

    /// Show only those of this agent: what was started with `run --agent NAME`.
    #[arg(long, value_name = "NAME", value_parser = parse_agent, conflicts_with = "id")]
    agent: Option<String>,

    /// End everything of the agent that runs, in the foreground and in the background, and show what that was.
    #[arg(long, requires = "agent")]
    kill_all: bool,

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
    if let Some(id) = &args.id {
        let task = tasks().get(id)?;
        return if args.json { ui::print_json(&task) } else { ui::print(ui::task_details(&task).as_bytes()) };
    }
    let mut found = all()?;
    if let Some(agent) = &args.agent {
        found.retain(|task| task.agent.as_ref() == Some(agent));
    }
    if args.running || args.kill_all {
        found.retain(|task| matches!(task.state, TaskState::Running(_)));
    }
    if args.kill_all {
        found = block_on(end(found))?;
    }
    if args.json {
        ui::print_json(&found)
    } else if found.is_empty() && args.agent.is_some() {
        ui::print(b"nothing of this agent\n")
    } else {
        ui::print(ui::task_table(&found).as_bytes())
    }
}

/// The background tasks and what agents have running in the foreground, the latest first.
fn all() -> Result<Vec<Task>, CliError> {
    let TaskList { tasks: mut found, problems } = tasks().list()?;
    let TaskList { tasks: foreground, problems: more } = in_foreground().list()?;
    for problem in problems.into_iter().chain(more) {
        ui::note(&problem.to_string());
    }
    found.extend(foreground);
    found.sort_by_key(|task| std::cmp::Reverse(task.started));
    Ok(found)
}

fn in_foreground() -> Tasks {
    Tasks::in_foreground(state_dir().as_deref())
}

/// All at once, then each is waited for. What somebody waits for is forgotten when it ends.
async fn end(running: Vec<Task>) -> Result<Vec<Task>, TaskError> {
    let (background, foreground) = (tasks(), in_foreground());
    let known = |task: &Task| match task.placed {
        Placed::Background => &background,
        Placed::Foreground => &foreground,
    };
    for task in &running {
        match known(task).kill(&task.id, Kill::Gently) {
            Ok(()) | Err(TaskError::NotRunning { .. } | TaskError::Unknown { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    let mut ended = vec![];
    for mut task in running {
        match known(&task).wait(&task.id).await {
            Ok(task) => ended.push(task),
            Err(TaskError::Unknown { .. }) => {
                task.state = TaskState::Over;
                ended.push(task);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(ended)
}
