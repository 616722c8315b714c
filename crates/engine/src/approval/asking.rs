//! Finding somebody who answers: the queue may know already, then whoever is at hand, then the queue keeps it.

use bashtion_guard::Analysis;

use super::approver::Asker;
use super::queue::{ApprovalError, Known};
use super::{Answer, ApprovalId, ApprovalLimits, Approvals, Approver, Place, Question};
use crate::admit::Job;
use crate::engine::Settings;
use crate::ledger::{Books, LedgerError};
use crate::{Event, ToolContext, Verdict};

/// Everybody who can be asked about one command.
#[derive(Debug)]
pub(crate) struct Asking<'a> {
    pub(crate) approver: Option<&'a dyn Approver>,
    pub(crate) queue: Option<(Approvals, &'a ApprovalLimits)>,
    pub(crate) analysis: &'a Analysis,
    pub(crate) settings: &'a Settings,
    pub(crate) session: Option<&'a str>,
    pub(crate) place: Place,
    pub(crate) context: &'a ToolContext,
    pub(crate) books: &'a Books,
}

/// What came of it.
#[derive(Debug)]
pub(crate) enum Reply {
    Approved {
        by: String,
        id: Option<ApprovalId>,
        /// True if it gets what the question names.
        grants: bool,
    },
    Denied {
        by: String,
        reason: String,
        id: Option<ApprovalId>,
    },
    /// It waits under this name, or was not kept for this reason.
    Nobody {
        id: Option<ApprovalId>,
        note: Option<String>,
    },
    Cancelled,
}

impl Asking<'_> {
    /// Until somebody has answered or the call is cancelled.
    pub(crate) async fn ask(self, job: &Job, verdict: &Verdict) -> Result<Reply, LedgerError> {
        let (cancel, kill) = (self.context.token().clone(), self.context.kill_token().clone());
        tokio::select! {
            biased;
            () = cancel.cancelled() => Ok(Reply::Cancelled),
            () = kill.cancelled() => Ok(Reply::Cancelled),
            reply = self.reply(job, verdict) => reply,
        }
    }

    async fn reply(self, job: &Job, verdict: &Verdict) -> Result<Reply, LedgerError> {
        let asker = Asker {
            context: self.context,
            settings: self.settings,
            session: self.session,
            place: self.place,
        };
        let mut question = Question::new(job, verdict, self.analysis, asker);
        if let Some((queue, _)) = &self.queue {
            match queue.consult(&question.binding).await {
                Ok(Known::Answered(id, answer)) => return self.answered(Some(id), answer),
                Ok(Known::Waiting(id)) => question.approval_id = Some(id),
                // If it cannot be used, filing will tell.
                Ok(Known::Nothing) | Err(_) => {}
            }
        }
        if let Some(approver) = self.approver {
            self.tell(|| asked(&question))?;
            let answer = approver.ask(&question).await;
            if answer != Answer::NoAnswer {
                if let (Some((queue, _)), Some(id)) = (&self.queue, &question.approval_id) {
                    // What is left in it expires by itself.
                    let _ = queue.close(id, &answer).await;
                }
                return self.answered(question.approval_id, answer);
            }
        }
        let Some((queue, limits)) = &self.queue else { return Ok(Reply::Nobody { id: None, note: None }) };
        match queue.file(&question, limits).await {
            Ok(Known::Answered(id, answer)) => self.answered(Some(id), answer),
            Ok(Known::Waiting(id)) => {
                question.approval_id = Some(id.clone());
                self.tell(|| asked(&question))?;
                let notes: Vec<String> = queue.untrusted().into_iter().chain([waits(&id)]).collect();
                Ok(Reply::Nobody { note: Some(notes.join("; ")), id: Some(id) })
            }
            Ok(Known::Nothing) => Ok(Reply::Nobody { id: None, note: None }),
            Err(error) => Ok(Reply::Nobody { id: None, note: Some(not_kept(&error)) }),
        }
    }

    fn answered(&self, id: Option<ApprovalId>, answer: Answer) -> Result<Reply, LedgerError> {
        self.tell(|| Event::Answered {
            operation_id: self.context.shared_id(),
            approval_id: id.clone(),
            answer: answer.clone(),
        })?;
        Ok(match answer {
            Answer::Approved { by } => Reply::Approved { by, id, grants: true },
            Answer::Waived { by } => Reply::Approved { by, id, grants: false },
            Answer::Denied { by, reason } => Reply::Denied { by, reason, id },
            Answer::NoAnswer => Reply::Nobody { id, note: None },
        })
    }

    /// No record, no run.
    fn tell(&self, event: impl Fn() -> Event) -> Result<(), LedgerError> {
        self.books.record(&event)?;
        self.context.notify(event);
        Ok(())
    }
}

fn asked(question: &Question) -> Event {
    Event::Asked {
        operation_id: question.operation_id.clone(),
        approval_id: question.approval_id.clone(),
        command: question.command.clone(),
        description: question.description.clone(),
        cwd: question.cwd.clone(),
        verdict: question.verdict.clone(),
        effects: question.effects.clone(),
    }
}

fn waits(id: &ApprovalId) -> String {
    format!(
        "this waits for the user's approval as {id}, which they give with `bashtion approve {id}` in a terminal of their own, \
         not with a command of yours; make the very same request again when they have agreed"
    )
}

fn not_kept(error: &ApprovalError) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
    format!("the question could not be kept for the user: {error}{cause}")
}
