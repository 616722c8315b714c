//! Commands that become background tasks: at once, or when they take longer than one wants to wait.

use std::io;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use bashtion::{Engine, Kill, Outcome, Output, Status, TaskId, TaskState, Tasks, Text, ToolContext};

use super::settings::Settings;
use crate::commands::interrupt::Interrupts;
use crate::commands::tasks::conclude;
use crate::error::CliError;
use crate::exit_code;
use crate::ui::{self, Face, Printer};

/// Starts it, and says what it is called.
pub(super) async fn start(
    engine: &Engine,
    settings: Settings,
    context: &ToolContext,
    face: Face,
) -> Result<ExitCode, CliError> {
    let outcome = engine.start(settings.request, context).await?;
    if outcome.status != Status::Running {
        return refused(&outcome, face);
    }
    ui::print_outcome(&outcome, face, || ui::task_started(&outcome))
}

/// Starts it, shows what it prints, and leaves it running when the time is over.
pub(super) async fn start_and_wait(
    engine: &Engine,
    settings: Settings,
    context: &ToolContext,
    face: Face,
    interrupts: &Interrupts,
) -> Result<ExitCode, CliError> {
    let (patience, most) = (settings.soft_wait, settings.max_output);
    let begun = engine.start(settings.request, context).await?;
    let Some(id) = begun.task_id.clone().filter(|_| begun.status == Status::Running) else {
        return refused(&begun, face);
    };
    let tasks = engine.tasks();
    let printed = follow(&tasks, &id, patience, face, interrupts).await?;
    if let Some(signal) = interrupts.first() {
        let _ = tasks.kill(&id, Kill::Gently);
        tasks.wait(&id).await?;
        return Ok(exit_code::signal(signal));
    }
    if printed == Seen::Nobody {
        return Ok(exit_code::signal(exit_code::SIGPIPE));
    }
    let task = tasks.get(&id)?;
    match &task.state {
        TaskState::Ended(outcome) => {
            ui::print_outcome(outcome, face, String::new)?;
            if face.is_for_people() {
                ui::report_sandbox(outcome);
            }
            Ok(exit_code::of(outcome, None))
        }
        TaskState::Over | TaskState::Lost { .. } => conclude(&task, !face.is_for_people()),
        TaskState::Running(_) => {
            let text = if face.is_for_people() { Text::default() } else { tasks.text(&id, most)? };
            let mut outcome = begun;
            (outcome.duration, outcome.output) = (patience, Output::Combined(text));
            ui::print_outcome(&outcome, face, String::new)?;
            if face.is_for_people() {
                let (time, id) = (humantime::format_duration(patience), &id);
                ui::note(&format!(
                    "it still runs after {time}, as the background task {id}: see it with `bashtion output {id}`, \
                     wait with `bashtion wait {id}`, end it with `bashtion kill {id}`"
                ));
            }
            Ok(ExitCode::from(exit_code::TIMED_OUT))
        }
    }
}

fn refused(outcome: &Outcome, face: Face) -> Result<ExitCode, CliError> {
    ui::print_outcome(outcome, face, String::new)?;
    if face.is_for_people() && outcome.status != Status::Cancelled {
        ui::report_refusal(outcome);
    }
    Ok(exit_code::of(outcome, None))
}

#[derive(Debug, PartialEq, Eq)]
enum Seen {
    All,
    /// Whoever read it has gone.
    Nobody,
}

/// Until it ends, the time is over, or somebody interrupts.
async fn follow(
    tasks: &Tasks,
    id: &TaskId,
    patience: Duration,
    face: Face,
    interrupts: &Interrupts,
) -> Result<Seen, CliError> {
    const PIECE: usize = 256 << 10;
    const PAUSE: Duration = Duration::from_millis(10);
    let until = Instant::now() + patience;
    let mut printer = Printer::new();
    let mut since = 0;
    loop {
        // In this order: what is there when it is over is all.
        let over = tasks.is_over(id)?;
        let mut is_empty = true;
        if face.shows_every_byte() {
            let chunk = tasks.read(id, since, PIECE)?;
            since = chunk.next;
            is_empty = chunk.bytes.is_empty();
            match printer.print(&chunk.bytes) {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(Seen::Nobody),
                result => result.map_err(|error| CliError::failed("cannot print", &error))?,
            }
        }
        if (over && is_empty) || Instant::now() >= until || interrupts.first().is_some() {
            printer.finish().map_err(|error| CliError::failed("cannot print", &error))?;
            return Ok(Seen::All);
        }
        if is_empty {
            tokio::select! {
                () = tokio::time::sleep(PAUSE) => {}
                () = interrupts.cancel.cancelled() => {}
            }
        }
    }
}
