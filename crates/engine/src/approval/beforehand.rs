//! Asking for a command that another process will run: whoever can be asked is here.

use super::approver::Asker;
use super::queue::Known;
use super::{Answer, Approvals, Approver, Foregone, Place, Question};
use crate::conclude::not_run;
use crate::engine::Settings;
use crate::judge::Case;
use crate::session::Session;
use crate::{Decision, Outcome, Status, ToolContext};

/// What to tell the process that will run it.
#[derive(Debug)]
pub(crate) enum Beforehand {
    /// Nothing: it decides, or asks the queue.
    Nothing,
    /// What was answered.
    Answered(Foregone),
    /// The call was cancelled meanwhile.
    Cancelled(Box<Outcome>),
}

/// The other process judges again, and uses the answer only for what this was about. It also writes everything down.
pub(crate) async fn ask_beforehand(
    approver: &dyn Approver,
    case: Case,
    context: &ToolContext,
    settings: &Settings,
) -> Beforehand {
    let Case { job, session, analysis, verdict, .. } = case;
    if verdict.decision != Decision::Ask {
        return Beforehand::Nothing;
    }
    let session = session.as_ref().map(Session::name);
    let asker = Asker { context, settings, session, place: Place::Background };
    let mut question = Question::new(&job, &verdict, &analysis, asker);
    let binding = question.binding.clone();
    if settings.approvals.is_some() {
        match Approvals::new(settings.state_dir.as_deref()).peek(&binding) {
            Ok(Known::Answered(..)) => return Beforehand::Nothing,
            Ok(Known::Waiting(id)) => question.approval_id = Some(id),
            Ok(Known::Nothing) | Err(_) => {}
        }
    }
    let answer = tokio::select! {
        biased;
        () = context.token().cancelled() => None,
        () = context.kill_token().cancelled() => None,
        answer = approver.ask(&question) => Some(answer),
    };
    match answer {
        None => Beforehand::Cancelled(Box::new(not_run(job, verdict, Status::Cancelled))),
        Some(Answer::NoAnswer) => Beforehand::Nothing,
        Some(answer) => Beforehand::Answered(Foregone { binding, answer }),
    }
}
