//! Writing down what happens, before it does.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use crate::{Event, Outcome, ToolContext, repetition};

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

    /// The last time that the same attempt came to an end before now. None if that is not known.
    fn last_end(&self, attempt: &Attempt<'_>) -> Option<LastEnd> {
        let _ = attempt;
        None
    }
}

/// A command of somebody.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Attempt<'a> {
    /// The command.
    pub command: &'a str,
    /// Where it ran.
    pub cwd: &'a Path,
    /// The agent that it belongs to.
    pub agent: Option<&'a str>,
    /// The session that it ran in.
    pub session: Option<&'a str>,
}

/// How and when an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastEnd {
    /// When.
    pub at: SystemTime,
    /// The name of its status.
    pub status: String,
    /// Its exit code.
    pub exit_code: Option<i32>,
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

    /// Adds a note if the same happened before and nothing has changed since.
    pub(crate) fn note_repetition(&self, outcome: &mut Outcome, context: &ToolContext, own: &Path) {
        let Some(ledger) = self.0.as_ref().filter(|_| context.notes_repetition()) else { return };
        let attempt = repetition::attempt(outcome, context);
        let Some(last) = attempt.and_then(|attempt| ledger.last_end(&attempt)) else { return };
        let mut roots = context.own_directories();
        if roots.is_empty() {
            roots.push(outcome.cwd.clone());
        }
        let note = repetition::note(outcome, &last, &roots, own);
        outcome.notes.extend(note);
    }
}
