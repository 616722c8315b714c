//! Who is asked about a command of `bashtion run`.

use std::sync::Arc;
use std::thread;

use bashtion::{Answer, Answering, Approver, Builder, Profile, Question, Suggestion, approve_with};
use tokio::sync::oneshot;

use super::Approve;
use crate::commands::approvals::user;
use crate::config;
use crate::ui::{self, Choice};

/// An engine that asks as the flag says.
pub(super) fn asking(engine: Builder, approve: Approve, profile: &Profile) -> Builder {
    let limits = &profile.approvals;
    match approve {
        Approve::Never => engine,
        Approve::Ask if ui::can_ask() => engine
            .approval_limits(limits.clone())
            .approver(Arc::new(AtTerminal { allowed: profile.policy.permission_settings().allow.clone() })),
        Approve::Ask => engine.approval_limits(limits.clone()),
        Approve::Always => {
            engine.approver(approve_with(|_| async { Answer::Waived { by: "--approve always".to_owned() } }))
        }
    }
}

/// The person who has typed the command.
#[derive(Debug)]
struct AtTerminal {
    /// What is permitted already.
    allowed: Vec<String>,
}

impl Approver for AtTerminal {
    fn ask<'a>(&'a self, question: &'a Question) -> Answering<'a> {
        Box::pin(async move {
            let (send, heard) = oneshot::channel();
            let (asked, suggestion) = (question.clone(), question.suggestion.clone());
            // Never waited for: it may sit in front of the terminal for ever.
            let thread =
                thread::Builder::new().spawn(move || send.send(ui::ask(&asked, asked.suggestion.as_ref())));
            if thread.is_err() {
                return Answer::NoAnswer;
            }
            let line = OpenLine;
            let heard = heard.await;
            std::mem::forget(line);
            match heard {
                Ok(Ok(choice)) => answer(choice, suggestion, &self.allowed),
                // It could not be shown, or the terminal is gone.
                Ok(Err(_)) | Err(_) => Answer::NoAnswer,
            }
        })
    }
}

fn answer(choice: Choice, suggestion: Option<Suggestion>, allowed: &[String]) -> Answer {
    let by = format!("{} at the terminal", user());
    let entry = match choice {
        Choice::Yes => None,
        Choice::No { reason } => return Answer::Denied { by, reason },
        Choice::AlwaysExactly => suggestion.map(|suggestion| suggestion.exact),
        Choice::AlwaysPattern => suggestion.and_then(|suggestion| suggestion.pattern),
    };
    // It was agreed to either way; what could not be remembered is asked about again.
    match entry.map(|entry| config::remember(&entry, allowed)) {
        Some(Ok(path)) => ui::note(&format!("remembered in {}", path.display())),
        Some(Err(error)) => ui::note(&format!("{}: {}", error.message, error.causes.join(": "))),
        None => {}
    }
    Answer::Approved { by }
}

/// The line with the prompt, which is ended when nobody answers.
struct OpenLine;

impl Drop for OpenLine {
    fn drop(&mut self) {
        ui::end_line();
    }
}
