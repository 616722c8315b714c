//! From what was observed to what it means.

use std::path::Path;
use std::time::{Duration, SystemTime};

use bashtion_sandbox::{Exit, Report, Usage};

use crate::admit::Job;
use crate::denials::{End, Reader};
use crate::launch::Running;
use crate::output::Output;
use crate::session::{Answers, Session};
use crate::settle::Refusal;
use crate::stop::Stopping;
use crate::supervise::{Ended, Stopped, report};
use crate::tasks::{Log, TaskId};
use crate::{Outcome, Status, Verdict};

pub(crate) fn conclude(ended: Ended, reader: Reader) -> (Outcome, Option<Log>) {
    let denials = denials(&ended, reader);
    let mut notes = notes(&ended);
    let Ended {
        facts,
        answers,
        session,
        pid,
        room_pid,
        ports,
        stopped,
        exit,
        usage,
        duration,
        captured,
        report,
        tracking,
        stopping: Stopping { killed, leftovers, .. },
        ..
    } = ended;
    let (output_file, output_file_bytes) = captured.file.unzip();
    let status = match (stopped, exit) {
        (Some(Stopped::TimedOut(after)), _) => Status::TimedOut { after, killed: killed > 0 },
        // Without an exit it was being stopped, and could not be.
        (Some(Stopped::Cancelled), _) | (None, None) => Status::Cancelled,
        (None, Some(Exit::Code(code))) => Status::Exited(code),
        (None, Some(Exit::Signal(signal))) => Status::Signaled(signal),
    };
    let session = session.map(|session| {
        let name = session.name().to_owned();
        if captured.log.is_none() {
            notes.extend(left(session, &answers));
        }
        name
    });
    let outcome = Outcome {
        status,
        command: facts.command,
        display: facts.display,
        description: facts.description,
        cwd: facts.cwd,
        cwd_after: answers.cwd,
        session,
        exit,
        duration,
        output: captured.output,
        output_file,
        output_file_bytes,
        task_id: None,
        approval_id: facts.approval.and_then(|approval| approval.id),
        pid: Some(pid),
        room_pid,
        ports,
        verdict: facts.verdict,
        sandbox: report,
        denials,
        notes,
        text: None,
        pipe_status: answers.pipeline,
        usage,
        tracking: Some(tracking),
        killed,
        leftovers,
    };
    (outcome, captured.log)
}

/// What its reader may miss.
fn notes(ended: &Ended) -> Vec<String> {
    /// What a stage gets whose reader has seen enough: `yes | head`.
    const BROKEN_PIPE: i32 = 128 + 13;
    let mut notes: Vec<String> = ended.facts.approved_by().into_iter().collect();
    let stages = &ended.facts.stages;
    if ended.exit == Some(Exit::Code(0))
        && let Some(codes) = ended.answers.pipeline.as_ref().filter(|codes| codes.len() == stages.len())
    {
        let failed = codes.iter().zip(stages).enumerate();
        for (index, (code, stage)) in failed.filter(|(_, (code, _))| ![0, BROKEN_PIPE].contains(code)) {
            let shown: String = stage.chars().take(80).collect();
            notes.push(format!(
                "stage {} of {} of the last pipeline, `{shown}`, failed with exit code {code}; the whole says 0, because \
                 a pipeline has the exit code of its last stage",
                index + 1,
                codes.len()
            ));
        }
    }
    if ended.is_lost {
        notes.push("the room of this command has ended, and the command with it: its keeper was killed or does not answer, or somebody ended the room".to_owned());
    }
    let blind =
        |error| format!("its processes could not be looked for ({error}): some of them may still run");
    notes.extend(ended.stopping.blind.as_ref().map(blind));
    notes
}

/// Brings the session up to date; why not, if it is not.
fn left(session: Session, answers: &Answers) -> Option<String> {
    if answers.cwd.is_none() || answers.changes.is_none() {
        return Some(format!(
            "the session {} stays as it was: the shell did not come to its own end (exec, a signal, or a trap for DEBUG)",
            session.name()
        ));
    }
    let name = session.name().to_owned();
    session.leave(answers).err().map(|error| {
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
        format!("the session {name} stays as it was: {error}{cause}")
    })
}

impl Running {
    /// What can be said while it runs.
    pub(crate) fn so_far(&self, task_id: Option<TaskId>) -> Outcome {
        let facts = &self.facts;
        let child = self.shell.child();
        Outcome {
            status: Status::Running,
            command: facts.command.clone(),
            display: facts.display.clone(),
            description: facts.description.clone(),
            cwd: facts.cwd.clone(),
            cwd_after: None,
            session: self.session.as_ref().map(|session| session.name().to_owned()),
            exit: None,
            duration: self.started.elapsed(),
            output: Output::empty(self.capture.streams()),
            output_file: self.capture.log_path().map(Path::to_owned),
            output_file_bytes: None,
            task_id,
            approval_id: facts.approval.as_ref().and_then(|approval| approval.id.clone()),
            pid: Some(child.pid()),
            room_pid: child.room_pid(),
            ports: vec![],
            verdict: facts.verdict.clone(),
            sandbox: report(child.report(), &self.notes),
            denials: vec![],
            notes: facts.approved_by().into_iter().collect(),
            text: None,
            pipe_status: None,
            usage: Usage::default(),
            tracking: Some(child.tree().method()),
            killed: 0,
            leftovers: vec![],
        }
    }

    /// How long it may take.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.supervision.timeout
    }
}

fn denials(ended: &Ended, reader: Reader) -> Vec<String> {
    let Some(confinement) = &ended.confinement else { return vec![] };
    let end = End {
        command: &ended.facts.command,
        confinement,
        enforced: &ended.report,
        home: ended.facts.home.as_deref(),
        wishes: &ended.facts.wishes,
        cwd: &ended.facts.cwd,
        exit: ended.exit,
        stages: ended.answers.pipeline.as_deref().unwrap_or_default(),
        started: SystemTime::now().checked_sub(ended.duration).unwrap_or(SystemTime::UNIX_EPOCH),
        output: &ended.captured.output,
        limits_reached: &ended.limits_reached,
        refused_sockets: &ended.refused_sockets,
        restored: &ended.restored,
        names: &ended.names,
    };
    end.denials(reader)
}

/// The outcome of a command that may not run, or not yet.
pub(crate) fn not_permitted(refusal: Refusal) -> Outcome {
    let Refusal { job, verdict, status, approval_id, note } = refusal;
    let mut outcome = not_run(job, verdict, status);
    outcome.approval_id = approval_id;
    outcome.notes.extend(note);
    outcome
}

/// The outcome of a command that was judged and not run.
pub(crate) fn not_run(job: Job, verdict: Verdict, status: Status) -> Outcome {
    Outcome {
        status,
        command: job.command,
        display: job.display,
        description: job.description,
        cwd: job.cwd,
        cwd_after: None,
        session: None,
        exit: None,
        duration: Duration::ZERO,
        output: Output::empty(job.output.streams),
        output_file: None,
        output_file_bytes: None,
        task_id: None,
        approval_id: None,
        pid: None,
        room_pid: None,
        ports: vec![],
        verdict,
        sandbox: Report { reason: Some("nothing was run".to_owned()), ..Report::unconfined() },
        denials: vec![],
        notes: vec![],
        text: None,
        pipe_status: None,
        usage: Usage::default(),
        tracking: None,
        killed: 0,
        leftovers: vec![],
    }
}
