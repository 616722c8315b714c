//! Writing down what happens, before it does.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::{Event, Outcome, Status};

/// Somebody who writes down what happens to commands. Unlike an [`crate::EventSender`] it is waited for.
///
/// It is told of [`Event::Judged`], [`Event::Asked`] and [`Event::Answered`] before anything runs, of [`Event::Started`], and of
/// [`Event::Ended`] or [`Event::Lost`]; never of output. If it is required and cannot write down the first three, the command does
/// not run.
/// What it cannot write down later is told in the result.
pub trait Ledger: fmt::Debug + Send + Sync {
    /// Writes one event down.
    fn record(&self, event: &Event) -> Result<(), LedgerError>;

    /// Whether a command that cannot be written down must not run.
    fn is_required(&self) -> bool;

    /// How often in a row this very command has been refused or failed in this directory before now.
    fn failures_in_a_row(&self, command: &str, cwd: &Path) -> u32;
}

/// It could not be written down.
#[derive(Debug, thiserror::Error)]
#[error("cannot write down what was asked for")]
pub struct LedgerError {
    /// Why.
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

/// The ledger of an engine, if it has one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Books(pub(crate) Option<Arc<dyn Ledger>>);

impl Books {
    /// Before the command runs.
    pub(crate) fn record(&self, event: impl FnOnce() -> Event) -> Result<(), LedgerError> {
        let Some(ledger) = &self.0 else { return Ok(()) };
        ledger.record(&event()).or_else(|error| if ledger.is_required() { Err(error) } else { Ok(()) })
    }

    /// After the command has run it is too late to refuse it. What went wrong, if something did.
    pub(crate) fn record_afterwards(&self, event: impl FnOnce() -> Event) -> Option<String> {
        let error = self.0.as_ref()?.record(&event()).err()?;
        let cause = std::iter::successors(std::error::Error::source(&error), |error| error.source());
        let causes: Vec<_> = cause.map(ToString::to_string).collect();
        tracing::warn!(%error, "cannot write down what happened");
        Some(format!("what happened could not be written down: {}", causes.join(": ")))
    }

    /// Says it if this is not the first time, so that whoever asks again and again stops.
    pub(crate) fn note_repetition(&self, outcome: &mut Outcome) {
        let failed = match outcome.status {
            Status::Exited(0) | Status::Running | Status::Cancelled | Status::Invalid => return,
            // Asking again after somebody has agreed is what helps.
            Status::NeedsApproval if outcome.approval_id.is_some() => return,
            Status::Refused | Status::NeedsApproval => "refused",
            Status::Exited(_) | Status::Signaled(_) | Status::TimedOut { .. } => "failed",
        };
        let before =
            self.0.as_ref().map_or(0, |ledger| ledger.failures_in_a_row(&outcome.command, &outcome.cwd));
        if before > 0 {
            let times = if before == 1 { "once".to_owned() } else { format!("{before} times") };
            outcome.notes.push(format!(
                "this very command was {failed} here {times} before, in a row: running it again will not help, change something first"
            ).replace("was failed", "has failed"));
        }
    }
}
