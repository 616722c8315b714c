//! A question as others see it.

use std::path::PathBuf;
use std::time::SystemTime;

use super::record::{Record, time};
use super::{Answer, ApprovalId, Grant};
use crate::Verdict;

/// One question, and what became of it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Approval {
    /// Its name.
    pub id: ApprovalId,
    /// The call that asked.
    pub operation_id: String,
    /// What would run, in full.
    pub command: String,
    /// The same without a redundant `cd`.
    pub display: String,
    /// What it is for.
    pub description: Option<String>,
    /// Where it would run.
    pub cwd: PathBuf,
    /// Why it is asked about.
    pub verdict: Verdict,
    /// What it would do, in words.
    pub effects: Vec<String>,
    /// Under what circumstances.
    pub circumstances: Vec<String>,
    /// What it gets for that one run, beside what every command has.
    pub grant: Grant,
    /// When it was asked.
    pub asked: SystemTime,
    /// What became of it.
    pub state: ApprovalState,
    /// The one who had approved it before it was denied.
    pub revoked: Option<String>,
}

/// What became of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalState {
    /// Nobody has answered yet.
    Waiting {
        /// How long it still can be.
        until: SystemTime,
    },
    /// The very same request runs when it is made again.
    Approved {
        /// By whom.
        by: String,
        /// How long.
        until: SystemTime,
    },
    /// The same request is refused, once.
    Denied {
        /// By whom.
        by: String,
        /// Why.
        reason: String,
        /// How long.
        until: SystemTime,
    },
    /// Nobody answered, or nobody used the answer in time.
    Expired,
    /// The answer was used.
    Used,
}

impl From<Record> for Approval {
    fn from(record: Record) -> Self {
        let state = match (&record.given, record.used, record.is_live()) {
            (_, true, _) => ApprovalState::Used,
            (_, false, false) => ApprovalState::Expired,
            (Some(given), false, true) => {
                let until = time(given.expires);
                match given.answer.clone() {
                    Answer::Approved { by } | Answer::Waived { by } => ApprovalState::Approved { by, until },
                    Answer::Denied { by, reason } => ApprovalState::Denied { by, reason, until },
                    Answer::NoAnswer => ApprovalState::Expired,
                }
            }
            (None, false, true) => ApprovalState::Waiting { until: time(record.expires) },
        };
        Self {
            id: record.id,
            operation_id: record.operation_id,
            command: record.command,
            display: record.display,
            description: record.description,
            cwd: record.cwd.into(),
            verdict: record.verdict,
            effects: record.effects,
            circumstances: record.circumstances,
            grant: record.grant,
            asked: time(record.asked),
            state,
            revoked: record.given.and_then(|given| given.revoked),
        }
    }
}
