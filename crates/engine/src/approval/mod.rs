//! Asking somebody whether a command may run.
//!
//! Two ways. An [`Approver`] is asked while the call waits. The queue ([`Approvals`]) keeps a question for whoever looks
//! later: the call ends as [`crate::Status::NeedsApproval`] with the name of the question, and when the very same request is
//! made after somebody has agreed, it runs, once. Only what the guard wants asked is asked; what it denies nobody can
//! approve.

mod approver;
mod asking;
mod beforehand;
mod binding;
mod circumstances;
mod grant;
mod id;
mod kept;
mod queue;
mod record;
mod turn;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub(crate) use approver::Foregone;
pub use approver::{Answer, Answering, Approver, Question, approve_with};
pub(crate) use asking::{Asking, Reply};
pub(crate) use beforehand::{Beforehand, ask_beforehand};
pub(crate) use binding::{Binding, Place};
pub(crate) use circumstances::circumstances;
pub use grant::Grant;
pub(crate) use grant::foresee;
pub use id::{ApprovalId, InvalidApprovalId};
pub use kept::{Approval, ApprovalState};
pub use queue::{ApprovalError, ApprovalList, Approvals};

/// How long questions and answers hold, and how many there may be.
///
/// ```
/// use bashtion::{ApprovalLimits, Engine};
/// use std::time::Duration;
/// let limits = ApprovalLimits { use_within: Duration::from_secs(60), ..ApprovalLimits::default() };
/// let engine = Engine::builder().queue_approvals().approval_limits(limits).build();
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalLimits {
    /// How long a question waits for an answer, and a denial for the one who asked.
    pub answer_within: Duration,
    /// How long an approval can be used.
    pub use_within: Duration,
    /// How many questions and unused answers there may be.
    pub most: usize,
}

impl Default for ApprovalLimits {
    fn default() -> Self {
        Self {
            answer_within: Duration::from_secs(24 * 60 * 60),
            use_within: Duration::from_secs(15 * 60),
            most: 200,
        }
    }
}
