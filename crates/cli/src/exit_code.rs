//! The exit codes of `bashtion`, each with its meaning.

use std::process::ExitCode;

use bashtion::{Outcome, Status};

/// Something else failed, such as printing.
pub(crate) const FAILURE: u8 = 1;
/// The command ran out of time.
pub(crate) const TIMED_OUT: u8 = 124;
/// Bashtion itself failed; nothing was run, or nothing is known about it.
pub(crate) const BASHTION_FAILED: u8 = 125;
/// To this the number of a signal is added.
const SIGNAL_BASE: i32 = 128;
const SIGINT: i32 = 2;

/// The command's own code where it ran to its end. `interrupted_by` is the signal that made us cancel it.
pub(crate) fn of(outcome: &Outcome, interrupted_by: Option<i32>) -> ExitCode {
    let code = match outcome.status {
        Status::Exited(code) => code,
        Status::Signaled(signal) => SIGNAL_BASE + signal.as_raw(),
        Status::TimedOut { .. } => TIMED_OUT.into(),
        Status::Cancelled => SIGNAL_BASE + interrupted_by.unwrap_or(SIGINT),
        _ => BASHTION_FAILED.into(),
    };
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}
