//! The exit codes of `bashtion`, each with its meaning.

use std::process::ExitCode;

use bashtion::{Outcome, Status};

/// Something else failed, such as printing.
pub(crate) const FAILURE: u8 = 1;
/// What was typed cannot be meant.
pub(crate) const USAGE: u8 = 2;
/// Bash itself cannot read the command: nothing was run.
pub(crate) const UNREADABLE: u8 = 2;
/// The command ran out of time.
pub(crate) const TIMED_OUT: u8 = 124;
/// Bashtion itself failed; nothing was run, or nothing is known about it.
pub(crate) const BASHTION_FAILED: u8 = 125;
/// The command was refused, or waits for approval: nothing was run.
pub(crate) const NOT_RUN: u8 = 126;
/// `check`: the command would run only if somebody agrees.
pub(crate) const ASK: u8 = 3;
/// `check`: the command would be refused.
pub(crate) const DENY: u8 = 4;
/// To this the number of a signal is added.
const SIGNAL_BASE: i32 = 128;
const SIGINT: i32 = 2;
/// What a writer gets whose reader has gone away.
pub(crate) const SIGPIPE: i32 = 13;

/// The command's own code where it ran to its end. `interrupted_by` is the signal that made us cancel it.
pub(crate) fn of(outcome: &Outcome, interrupted_by: Option<i32>) -> ExitCode {
    match outcome.status {
        Status::Exited(code) => exit(code),
        Status::Signaled(ended_by) => signal(ended_by.as_raw()),
        Status::TimedOut { .. } => ExitCode::from(TIMED_OUT),
        Status::Refused | Status::NeedsApproval => ExitCode::from(NOT_RUN),
        Status::Invalid => ExitCode::from(UNREADABLE),
        Status::Running => ExitCode::SUCCESS,
        Status::Cancelled => signal(interrupted_by.unwrap_or(SIGINT)),
    }
}

/// The code of a signal.
pub(crate) fn signal(number: i32) -> ExitCode {
    exit(SIGNAL_BASE + number)
}

fn exit(code: i32) -> ExitCode {
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}
