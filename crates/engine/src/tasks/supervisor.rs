//! A task's own process: it runs one command, writes down what happens, and ends.

use std::error::Error as _;
use std::io::{self, Read};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::control::{Order, Orders};
use super::ending::{Ending, Reserved};
use super::folder::{Claim, Folder, Record, VERSION, milliseconds_since_1970};
use super::log::Log;
use super::order::{Answer, Assignment};
use super::processes::VARIABLE;
use super::start::{ARGUMENT, CAN_SUPERVISE};
use crate::engine::{Adopting, Begun};
use crate::ledger::{Books, Ledger, LedgerError};
use crate::output::StateDir;
use crate::seal::Seals;
use crate::servant;
use crate::{Approver, Engine, Error, Outcome, Status, ToolContext};

/// Makes this program able to start background tasks: each is watched by a process of its own, which is this program
/// again. Call it first of all in `main`, before there is a second thread.
///
/// Returns none in the ordinary case. In a supervisor it does all the work, and returns the exit code.
///
/// ```no_run
/// use std::process::ExitCode;
///
/// fn main() -> ExitCode {
///     if let Some(code) = bashtion::supervise_if_asked() {
///         return code;
///     }
///     // … the program itself
///     ExitCode::SUCCESS
/// }
/// ```
#[must_use]
pub fn supervise_if_asked() -> Option<ExitCode> {
    supervise_if_asked_with(|_| Ok(None))
}

/// The same for programs whose engines have a ledger: it is made anew from the text of [`crate::Builder::hand_down`].
#[must_use]
pub fn supervise_if_asked_with(
    ledger: impl FnOnce(Option<&str>) -> Result<Option<Arc<dyn Ledger>>, LedgerError>,
) -> Option<ExitCode> {
    CAN_SUPERVISE.store(true, Ordering::Relaxed);
    if let Some(code) = crate::rooms::keep_if_asked() {
        return Some(code);
    }
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_none_or(|first| first != ARGUMENT) || arguments.next().is_some() {
        return None;
    }
    if bashtion_sandbox::detach().is_err() {
        return Some(ExitCode::FAILURE);
    }
    let result = supervise(ledger);
    Some(if result.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn supervise(
    ledger: impl FnOnce(Option<&str>) -> Result<Option<Arc<dyn Ledger>>, LedgerError>,
) -> io::Result<()> {
    let mut text = vec![];
    io::stdin().lock().read_to_end(&mut text)?;
    let assignment: Assignment = serde_json::from_slice(&text)?;
    drop(text);
    let folder = Folder::assigned(PathBuf::from(&assignment.folder), PathBuf::from(&assignment.output));
    let claim = folder.claim()?;
    let books = match ledger(assignment.settings.hand_down.as_deref()) {
        Ok(ledger) => Books(ledger),
        Err(error) => return servant::answer(&failure(&error.into())),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(Supervisor { folder, claim }.run(assignment, books));
    runtime.shutdown_background();
    crate::wait_for_stopping();
    done
}

struct Supervisor {
    folder: Folder,
    /// Dropped last: whoever sees it go finds the result.
    claim: Claim,
}

impl Supervisor {
    async fn run(self, assignment: Assignment, books: Books) -> io::Result<()> {
        let Assignment { id, sizes, settings, caller, request, foregone, .. } = assignment;
        let grace = settings.limits.grace;
        let seals = Seals::new(&StateDir::new(settings.state_dir.clone()));
        let approver = foregone.map(|answer| Arc::new(answer) as Arc<dyn Approver>);
        let engine = Engine::from_settings(settings, Adopting::Orphans, books, approver);
        let (cancel, kill) = (CancellationToken::new(), CancellationToken::new());
        let context = ToolContext::from_caller(caller).cancel(cancel.clone()).kill(kill.clone());
        let request = request.env(VARIABLE, id.as_str());
        // The output last: it would stay if the folder has been taken for one that was never started, and removed.
        let prepared = Reserved::in_folder(&self.folder).and_then(|reserved| {
            let orders = Orders::listen(&self.folder.control())?;
            Ok((Log::create(self.folder.output(), sizes)?, reserved, orders))
        });
        let (log, reserved, orders) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => {
                let message = format!("cannot write to {}", self.folder.path().display());
                return servant::answer(&Answer::Failed { message, causes: vec![error.to_string()] });
            }
        };
        let running = match engine.begin(request, &context, Some(log)).await {
            Ok(Begun::Running(running)) => running,
            Ok(Begun::NotRun(outcome)) => return servant::answer(&Answer::Begun(outcome)),
            Err(error) => return servant::answer(&failure(&error)),
        };
        let mut outcome = running.so_far(Some(id.clone()));
        outcome.text = engine.in_words(&outcome);
        let record = Record::of(id, &outcome, running.timeout(), &context, sizes.head);
        if let Err(error) = self.folder.write_sealed_record(&record, &seals) {
            // Nobody would know of it: better not to run it. Dropping it ends it.
            let message = format!("cannot write to {}", self.folder.path().display());
            return servant::answer(&Answer::Failed { message, causes: vec![error.to_string()] });
        }
        servant::answer(&Answer::Begun(Box::new(outcome)))?;
        let signals = context.clone();
        tokio::spawn(obey(orders, signals, cancel, kill, grace));
        let (outcome, log) = match engine.finish(running, &context).await {
            Ok((outcome, Some(log))) => (outcome, log),
            Ok((_, None)) => return Err(io::Error::other("a task has a log")),
            Err(error) => return Err(io::Error::other(error)),
        };
        self.conclude(outcome, log, reserved, &record)
    }

    /// First the file, then the result that describes it, then what is no longer needed.
    fn conclude(
        self,
        mut outcome: Outcome,
        mut log: Log,
        reserved: Reserved,
        record: &Record,
    ) -> io::Result<()> {
        let (layout, problem) = log.finish();
        let last_line = last_line(&outcome, record, log.ends_with_newline());
        outcome.task_id = Some(record.id.clone());
        outcome.output_file = Some(log.path().to_owned());
        outcome.output_file_bytes = Some(layout.head + layout.tail);
        if let Some(problem) = problem {
            outcome.notes.push(format!("the output file is not complete: {problem}"));
        }
        reserved.write(Ending { version: VERSION, ended: milliseconds_since_1970(), layout, outcome })?;
        log.close(layout, &last_line);
        drop(self.claim);
        Ok(())
    }
}

/// What is appended to the output when a task has ended.
fn last_line(outcome: &Outcome, record: &Record, ends_with_newline: bool) -> String {
    let how = match outcome.status {
        Status::Exited(code) => format!("exited with code {code}"),
        Status::Signaled(signal) => format!("was ended by {signal}"),
        Status::TimedOut { .. } => "ran out of time and was ended".to_owned(),
        Status::Cancelled | Status::Refused | Status::NeedsApproval | Status::Invalid | Status::Running => {
            "was stopped".to_owned()
        }
    };
    let seconds = outcome.duration.as_secs_f64();
    let line_end = if ends_with_newline { "" } else { "\n" };
    format!("{line_end}[{} {how} after {seconds:.3} s]\n", record.id)
}

fn failure(error: &Error) -> Answer {
    let mut causes = vec![];
    let mut next = error.source();
    while let Some(cause) = next {
        causes.push(cause.to_string());
        next = cause.source();
    }
    Answer::Failed { message: error.to_string(), causes }
}

/// Does as it is told, until nobody can tell it anything any more.
pub(super) async fn obey(
    mut orders: Orders,
    context: ToolContext,
    cancel: CancellationToken,
    kill: CancellationToken,
    grace: Duration,
) {
    while let Ok(order) = orders.next().await {
        match order {
            Order::Stop => cancel.cancel(),
            Order::Kill => {
                cancel.cancel();
                kill.cancel();
            }
            Order::Signal(signal) => context.send_signal(signal),
            Order::End(signal) => {
                context.send_signal(signal);
                let cancel = cancel.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(grace).await;
                    cancel.cancel();
                });
            }
        }
    }
}
