//! Asking for a command that another process will run: whoever can be asked is here.

use super::approver::Asker;
use super::queue::Known;
use super::{Answer, Approvals, Approver, Foregone, Place, Question, foresee};
use crate::admit::Job;
use crate::conclude::not_run;
use crate::engine::Settings;
use crate::judge::{analyze, judge, world};
use crate::session::{Session, Sessions};
use crate::{Decision, Error, Outcome, Request, Status, ToolContext};

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
    request: Request,
    context: &ToolContext,
    settings: &Settings,
) -> Result<Beforehand, Error> {
    let given = request.own_variables();
    let (request, session) = Sessions::new(settings.state_dir.as_deref()).enter(request, context)?;
    let mut job = Job::admit(request, context, settings)?;
    job.given = given;
    let world = world(&job, settings);
    let analysis = analyze(&job, &world);
    let verdict = judge(&analysis, &job, &world, &settings.policy);
    let verdict = foresee(&mut job, &analysis, verdict, &world, settings);
    if verdict.decision != Decision::Ask {
        return Ok(Beforehand::Nothing);
    }
    let session = session.as_ref().map(Session::name);
    let asker = Asker { context, settings, session, place: Place::Background };
    let mut question = Question::new(&job, &verdict, &analysis, asker);
    let binding = question.binding.clone();
    if settings.approvals.is_some() {
        match Approvals::new(settings.state_dir.as_deref()).peek(&binding) {
            Ok(Known::Answered(..)) => return Ok(Beforehand::Nothing),
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
    Ok(match answer {
        None => Beforehand::Cancelled(Box::new(not_run(job, verdict, Status::Cancelled))),
        Some(Answer::NoAnswer) => Beforehand::Nothing,
        Some(answer) => Beforehand::Answered(Foregone { binding, answer }),
    })
}
