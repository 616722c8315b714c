//! May it run? The only place that can say yes.

use crate::admit::Job;

/// Leave to run one command. Nothing is launched without one, and only [`settle`] makes them.
#[derive(Debug)]
pub(crate) struct Permit {
    verdict: Verdict,
}

impl Permit {
    pub(crate) fn into_verdict(self) -> Verdict {
        self.verdict
    }
}

/// What was decided about a command.
///
/// ```
/// use bashtion::{Decision, Engine, Request, ToolContext};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), bashtion::Error> {
/// let outcome = Engine::new().run(Request::new("true"), &ToolContext::from_host("/tmp")).await?;
/// assert_eq!(outcome.verdict.decision, Decision::Allow);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict {
    /// The decision.
    pub decision: Decision,
}

/// Whether a command may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It may.
    Allow,
}

/// Nothing judges commands yet, so whoever may call the engine may run anything.
pub(crate) fn settle(_job: &Job) -> Permit {
    Permit { verdict: Verdict { decision: Decision::Allow } }
}
