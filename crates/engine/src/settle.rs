//! May it run? The only place that can say yes.

use bashtion_guard::{Decision, Finding, Span, Verdict};

use crate::Status;
use crate::admit::Job;
use crate::approval::{ApprovalId, Asking, Grant, Reply};
use crate::ledger::LedgerError;

/// Leave to run one command, which is in it. Nothing is launched without one, and only [`settle`] makes them.
#[derive(Debug)]
pub(crate) struct Permit {
    job: Job,
    verdict: Verdict,
    approval: Option<Approved>,
}

/// Who agreed.
#[derive(Debug, Clone)]
pub(crate) struct Approved {
    pub(crate) by: String,
    /// The question in the queue, if it was answered there.
    pub(crate) id: Option<ApprovalId>,
}

impl Permit {
    pub(crate) fn into_parts(self) -> (Job, Verdict, Option<Approved>) {
        (self.job, self.verdict, self.approval)
    }
}

/// What came of a verdict.
#[derive(Debug)]
pub(crate) enum Settled {
    Permitted(Box<Permit>),
    NotPermitted(Box<Refusal>),
}

/// A command that does not run.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) job: Job,
    pub(crate) verdict: Verdict,
    pub(crate) status: Status,
    pub(crate) approval_id: Option<ApprovalId>,
    pub(crate) note: Option<String>,
}

/// Asks whoever can be asked, if the verdict says so, and about nothing else.
pub(crate) async fn settle(job: Job, verdict: Verdict, asking: Asking<'_>) -> Result<Settled, LedgerError> {
    let reply = match verdict.decision {
        Decision::Allow => return Ok(permitted(job, verdict, None)),
        Decision::Deny => return Ok(refused(job, verdict, Status::Refused, None, None)),
        // Boxed: most commands are never asked about.
        Decision::Ask => Box::pin(asking.ask(&job, &verdict)).await?,
    };
    Ok(match reply {
        Reply::Approved { by, id, grants: true } => permitted(job, verdict, Some(Approved { by, id })),
        Reply::Approved { by, id, grants: false } => {
            let job = Job { grant: Grant::default(), ..job };
            permitted(job, verdict, Some(Approved { by, id }))
        }
        Reply::Denied { by, reason, id } => {
            let verdict = denied(verdict, &job.command, &by, &reason);
            refused(job, verdict, Status::Refused, id, None)
        }
        Reply::Nobody { id, note } => refused(job, verdict, Status::NeedsApproval, id, note),
        Reply::Cancelled => refused(job, verdict, Status::Cancelled, None, None),
    })
}

/// What bash cannot read is not run, and nobody is asked about it.
pub(crate) fn unreadable(job: Job, verdict: Verdict) -> Settled {
    refused(job, verdict, Status::Invalid, None, None)
}

fn permitted(job: Job, verdict: Verdict, approval: Option<Approved>) -> Settled {
    Settled::Permitted(Box::new(Permit { job, verdict, approval }))
}

fn refused(
    job: Job,
    verdict: Verdict,
    status: Status,
    approval_id: Option<ApprovalId>,
    note: Option<String>,
) -> Settled {
    Settled::NotPermitted(Box::new(Refusal { job, verdict, status, approval_id, note }))
}

/// The verdict with the answer first, and why it was asked about after it.
fn denied(mut verdict: Verdict, command: &str, by: &str, reason: &str) -> Verdict {
    let why = if reason.is_empty() { "no reason was given" } else { reason };
    verdict.decision = Decision::Deny;
    verdict.findings.insert(
        0,
        Finding {
            rule: "approval".to_owned(),
            severity: Decision::Deny,
            message: format!("{by} has refused it: {why}"),
            span: Span { start: 0, end: command.len() },
            help: "do not try it again, nor the same in another way; go on without it, or ask the user what to do".to_owned(),
        },
    );
    verdict
}
