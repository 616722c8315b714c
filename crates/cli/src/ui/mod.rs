//! Everything that is printed.

mod approvals;
mod ask;
mod audit;
mod face;
mod frame;
mod highlight;
mod json;
mod outlet;
mod plain;
mod sanitize;
mod tasks;
mod terminal;
mod verdict;

use std::process::ExitCode;

use bashtion::{Enforced, SandboxMode};
use serde::Serialize;

use crate::error::CliError;
pub(crate) use approvals::{approval_answered, approval_as_json, approval_table};
pub(crate) use ask::{Choice, approval_in_full, ask, can_ask, confirm};
pub(crate) use audit::{audit_details, audit_line};
pub(crate) use face::{Face, Own};
use outlet::{Outlet, Target};
pub(crate) use tasks::{room_table, task_details, task_line, task_started, task_table};
pub(crate) use terminal::Words;
pub(crate) use verdict::{explained, shown};

/// How to speak to whoever called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    Json,
    JsonEvent,
}

pub(crate) fn print(bytes: &[u8]) -> Result<ExitCode, CliError> {
    Target::Stdout.write(bytes).map_err(|error| CliError::new("cannot print").caused_by(&error))?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn print_json(value: &impl Serialize) -> Result<ExitCode, CliError> {
    json::print_line(value).map_err(|error| CliError::new("cannot print").caused_by(&error))?;
    Ok(ExitCode::SUCCESS)
}

/// A command's output, as it comes, fit for a terminal if it goes to one.
pub(crate) struct Printer(Outlet);

impl Printer {
    pub(crate) fn new() -> Self {
        Self(Outlet::new(Target::Stdout))
    }

    pub(crate) fn print(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.0.write(bytes)
    }

    pub(crate) fn finish(mut self) -> std::io::Result<()> {
        self.0.finish()
    }
}

/// A result for programs; for people the text.
pub(crate) fn print_outcome(
    outcome: &bashtion::Outcome,
    face: Face,
    text: impl FnOnce() -> String,
) -> Result<ExitCode, CliError> {
    let printed = match face {
        Face::Json => json::print_line(outcome),
        Face::Stream => json::print_result(outcome),
        Face::Cut if outcome.status != bashtion::Status::Running => plain::print_cut(outcome),
        Face::Raw | Face::Cut | Face::Terminal | Face::OwnScreen => match &outcome.text {
            Some(_) => plain::print_cut(outcome),
            None => Target::Stdout.write(text().as_bytes()),
        },
    };
    printed.map_err(|error| CliError::new("cannot print").caused_by(&error))?;
    Ok(ExitCode::SUCCESS)
}

/// Control characters made visible.
pub(crate) fn visible(text: &str) -> String {
    sanitize::text(text)
}

/// What another program is told on standard error, as it is.
pub(crate) fn print_error(text: &str) {
    let _ = Target::Stderr.write(text.as_bytes());
}

/// Something that is not part of what was asked for.
pub(crate) fn note(text: &str) {
    let _ = Target::Stderr.write(format!("note: {}\n", sanitize::text(text)).as_bytes());
}

/// Tells an error on standard error, and to programs as JSON on standard output too.
pub(crate) fn report(error: &CliError, format: Format) -> ExitCode {
    let mut text = format!("error: {}\n", sanitize::text(&error.message));
    for cause in &error.causes {
        text += &format!("  cause: {}\n", sanitize::text(cause));
    }
    if let Some(help) = &error.help {
        text += &format!("help: {}\n", sanitize::text(help));
    }
    // If even this cannot be printed, the exit code is all there is.
    let _ = Target::Stderr.write(text.as_bytes());
    let told = serde_json::json!({ "message": error.message, "causes": error.causes, "help": error.help });
    let _ = match format {
        Format::Text => Ok(ExitCode::SUCCESS),
        Format::Json => print_json(&serde_json::json!({ "error": told })),
        Format::JsonEvent => print_json(&serde_json::json!({ "event": "error", "error": told })),
    };
    ExitCode::from(error.exit_code)
}

/// Tells why a command was not run.
pub(crate) fn report_refusal(outcome: &bashtion::Outcome) {
    let mut text = shown(&outcome.command, &outcome.verdict, Target::Stderr.is_coloured());
    match (outcome.status, &outcome.approval_id) {
        (bashtion::Status::NeedsApproval, Some(id)) => {
            text += &format!(
                "waiting: {id}\nhelp: the user can agree with `bashtion approve {id}`, which runs nothing by itself; run the command again after that\n"
            );
        }
        (bashtion::Status::NeedsApproval, None) => {
            text.extend(outcome.notes.iter().map(|note| format!("note: {}\n", sanitize::text(note))));
        }
        (_, _) => {}
    }
    let _ = Target::Stderr.write(text.as_bytes());
}

/// Tells what the sandbox stopped, and what it could not hold.
pub(crate) fn report_sandbox(outcome: &bashtion::Outcome) {
    let mut text = String::new();
    let sandbox = &outcome.sandbox;
    if sandbox.mode != SandboxMode::Off && sandbox.signals == Enforced::None {
        let reason = sandbox.reason.as_deref().unwrap_or("nothing is known");
        text += &format!("warning: this command was not fully confined: {}\n", sanitize::text(reason));
    }
    for note in &outcome.notes {
        text += &format!("note: {}\n", sanitize::text(note));
    }
    for denial in &outcome.denials {
        text += &format!("sandbox: {}\n", sanitize::text(denial));
    }
    let _ = Target::Stderr.write(text.as_bytes());
}

/// Ends a line on standard error that nobody else will.
pub(crate) fn end_line() {
    let _ = Target::Stderr.write(b"\n");
}

/// Whether what is printed may be coloured.
pub(crate) fn is_coloured() -> bool {
    Target::Stdout.is_coloured()
}

/// Tells what was typed wrong, which may itself be hostile to a terminal.
pub(crate) fn report_usage(message: &str, format: Format) {
    let _ = Target::Stderr.write(sanitize::text(message).as_bytes());
    if format != Format::Text {
        let first = message.split("\n\n").next().unwrap_or_default();
        let told = serde_json::json!({ "message": first.trim_start_matches("error: ") });
        let _ = print_json(&serde_json::json!({ "error": told }));
    }
}
