//! Starting a task: a supervisor of its own, told what to run.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::folder::Folder;
use super::index::Turn;
use super::log::{Outputs, Sizes};
use super::order::{Answer, Assignment};
use super::{Placed, TaskError, Tasks};
use crate::approval::Foregone;
use crate::context::Caller;
use crate::engine::Settings;
use crate::servant;
use crate::{Outcome, Request, Status};

/// The first argument of a supervisor. Nobody types it.
pub(super) const ARGUMENT: &str = "__supervise";

/// Whether this program can be its own supervisor: it looks for that argument.
pub(super) static CAN_SUPERVISE: AtomicBool = AtomicBool::new(false);

/// Starts a task, and returns when it runs, or when it is known that it does not.
pub(crate) fn start(
    settings: &Settings,
    request: Request,
    caller: Caller,
    foregone: Option<Foregone>,
) -> Result<Outcome, TaskError> {
    let program = supervisor(settings)?;
    let tasks = Tasks::of(settings, Placed::Background);
    let turn = Turn::take(&tasks, &settings.tasks)?;
    let live = turn.live();
    if live.len() >= settings.tasks.most {
        return Err(TaskError::TooMany { most: settings.tasks.most, live });
    }
    let (id, place) = turn.create_folder()?;
    let assignment = Assignment {
        id,
        folder: place.path().as_os_str().to_owned(),
        output: place.output().into_os_string(),
        sizes: Sizes::of(settings.tasks.output_size),
        settings: settings.clone(),
        caller,
        request,
        foregone,
    };
    let begun = assign(&program, &assignment);
    let is_running = matches!(&begun, Ok(outcome) if outcome.status == Status::Running || has_record(&place));
    if !is_running {
        let _ = place.remove(&Outputs::default());
    }
    begun
}

fn has_record(place: &Folder) -> bool {
    matches!(place.record(), Ok(Some(_)))
}

/// The program that can watch tasks and keep rooms.
pub(crate) fn supervisor(settings: &Settings) -> Result<PathBuf, TaskError> {
    if let Some(program) = &settings.supervisor {
        return Ok(program.clone());
    }
    if !CAN_SUPERVISE.load(Ordering::Relaxed) {
        return Err(TaskError::NoSupervisor);
    }
    // The very program that runs, also when its file has been replaced.
    let this = Path::new("/proc/self/exe");
    if this.exists() {
        return Ok(this.to_owned());
    }
    std::env::current_exe().map_err(|source| TaskError::Supervisor { program: "this program".into(), source })
}

fn assign(program: &Path, assignment: &Assignment) -> Result<Outcome, TaskError> {
    let failed = |source| TaskError::Supervisor { program: program.display().to_string(), source };
    let text = serde_json::to_vec(assignment).map_err(|error| failed(error.into()))?;
    let answer = servant::start(program, ARGUMENT, &text).map_err(failed)?;
    match serde_json::from_slice(&answer) {
        Ok(Answer::Begun(outcome)) => Ok(*outcome),
        Ok(Answer::Failed { message, causes }) => Err(TaskError::Start { message, causes }),
        Err(_) => Err(failed(servant::nonsense("supervisor"))),
    }
}
