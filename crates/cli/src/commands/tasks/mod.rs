//! The verbs about background tasks.

pub(crate) mod kill;
pub(crate) mod list;
pub(crate) mod output;
pub(crate) mod wait;

use std::future::Future;
use std::process::ExitCode;

use bashtion::{Task, TaskError, TaskId, TaskState, Tasks};

use crate::error::CliError;
use crate::exit_code::{self, BASHTION_FAILED};
use crate::state_dir::state_dir;
use crate::ui;

/// The tasks of this user.
fn tasks() -> Tasks {
    Tasks::new(state_dir().as_deref())
}

fn parse_id(text: &str) -> Result<TaskId, String> {
    text.parse().map_err(|error: bashtion::InvalidTaskId| error.to_string())
}

pub(crate) fn parse_agent(text: &str) -> Result<String, String> {
    let is_letter = |c: char| c.is_alphanumeric() || "._-@:/ ".contains(c);
    let fits = (1..=100).contains(&text.len()) && text.chars().all(is_letter);
    let expected = "use up to 100 letters, digits, blanks and . _ - @ : /";
    if fits { Ok(text.to_owned()) } else { Err(expected.to_owned()) }
}

/// A runtime for the few things that wait.
fn block_on<T>(work: impl Future<Output = Result<T, TaskError>>) -> Result<T, CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.map_err(|error| CliError::failed("cannot start", &error))?;
    Ok(runtime.block_on(work)?)
}

/// Tells how a task ended, and passes its exit code through.
pub(crate) fn conclude(task: &Task, json: bool) -> Result<ExitCode, CliError> {
    tell(task, json)?;
    Ok(match &task.state {
        TaskState::Ended(outcome) => exit_code::of(outcome, None),
        TaskState::Running(_) => ExitCode::from(exit_code::TIMED_OUT),
        TaskState::Over => ExitCode::SUCCESS,
        TaskState::Lost { .. } => ExitCode::from(BASHTION_FAILED),
    })
}

/// The whole result where there is one, else what is known.
fn tell(task: &Task, json: bool) -> Result<ExitCode, CliError> {
    match &task.state {
        TaskState::Ended(outcome) if json => ui::print_json(outcome.as_ref()),
        TaskState::Running(_) | TaskState::Over | TaskState::Lost { .. } if json => ui::print_json(task),
        _ => ui::print(ui::task_line(task).as_bytes()),
    }
}
