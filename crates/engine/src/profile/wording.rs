//! Results in words: templates, filled in with what happened.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::layer::{Hint, WordingLayer};
use super::template::filled;
use crate::output::separated;
use crate::{Cut, Decision, Outcome, Output, Status};

/// How results are put into words for a model or a person.
///
/// ```
/// use bashtion::{Engine, Profile, Request, ToolContext};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let profile = Profile::built_in("tunacode")?;
/// let engine = Engine::builder().profile(&profile).build();
/// let outcome = engine.run(Request::new("exit 3"), &ToolContext::from_host("/tmp")).await?;
/// assert!(profile.wording.words(&outcome).starts_with("Command: exit 3\nExit Code: 3\n"));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wording {
    succeeded: Option<String>,
    truncated: Option<String>,
    failed: Option<String>,
    timed_out: Option<String>,
    cancelled: Option<String>,
    refused: Option<String>,
    needs_approval: Option<String>,
    background: Option<String>,
    opening: Option<String>,
    closing: Option<String>,
    screen: Option<String>,
    /// Where the whole is cut.
    cut: Option<Cut>,
    hints: Vec<Hint>,
}

/// What is said where a profile has no words of its own.
const SUCCEEDED: &str = "{output|(no output)}[[\n\nstandard error:\n{stderr}]][[\n\n{notes}]]";
const FAILED: &str = "{output|(no output)}[[\n\nstandard error:\n{stderr}]]\n\n{status}[[\n{denials}]][[\n{hint}]][[\n{notes}]]";
const REFUSED: &str = "refused, nothing was run: {reasons}[[\nhelp: {help}]][[\n{notes}]]";
const NEEDS_APPROVAL: &str = "nothing was run: somebody has to agree first[[ ({approval_id})]]: {reasons}[[\nhelp: {help}]][[\n{notes}]]";
const INVALID: &str = "invalid, nothing was run: {reasons}[[\nhelp: {help}]][[\n{notes}]]";
const BACKGROUND: &str =
    "It runs in the background as the task {task_id}, process {pid}; its output is in {output_file}.";

/// Everything that can stand in a template about a result.
const FIELDS: [&str; 34] = [
    "approval_id", "command", "cut", "cwd", "denials", "description", "display", "duration", "duration_ms",
    "exit_code", "help", "hint", "limit", "matched", "notes", "output", "output_file", "pgid", "pid",
    "reason", "reasons", "rule", "short_command", "short_status", "status", "stderr", "stderr_lines",
    "stdout", "stdout_lines", "task_id", "timeout", "title", "truncated", "why",
];

/// What is known when it starts.
const FIRST_FIELDS: [&str; 5] = ["command", "cwd", "description", "display", "title"];

/// A value as the screen shall have it, from its name and what it is.
type Shown<'a> = &'a dyn Fn(&str, String) -> String;

impl Wording {
    pub(super) fn from_layer(layer: WordingLayer, output: &Cut) -> Result<Self, String> {
        let checked = |name: &str, template: Option<String>| {
            let template = template.filter(|template| !template.is_empty());
            let fields = if name == "opening" { &FIRST_FIELDS[..] } else { &FIELDS[..] };
            template.iter().try_for_each(|template| check(name, template, fields))?;
            Ok::<_, String>(template)
        };
        Ok(Self {
            succeeded: checked("succeeded", layer.succeeded)?,
            truncated: checked("truncated", layer.truncated)?,
            failed: checked("failed", layer.failed)?,
            timed_out: checked("timed-out", layer.timed_out)?,
            cancelled: checked("cancelled", layer.cancelled)?,
            refused: checked("refused", layer.refused)?,
            needs_approval: checked("needs-approval", layer.needs_approval)?,
            background: checked("background", layer.background)?,
            opening: checked("opening", layer.opening)?,
            closing: checked("closing", layer.closing)?,
            screen: checked("screen", layer.screen)?,
            cut: layer.max.filter(|max| *max > 0).map(|max| Cut { max, ..output.clone() }),
            hints: layer.hints.unwrap_or_default(),
        })
    }

    /// Whether a terminal is to show all of it at the end, and nothing before.
    #[must_use]
    pub fn has_screen(&self) -> bool {
        self.screen.is_some()
    }

    /// What a terminal shows before output that comes as it is printed, filled in from the [`Outcome`]'s fields of these names:
    /// command, cwd, description, display, title.
    #[must_use]
    pub fn opening(&self, field: &dyn Fn(&str) -> String) -> Option<String> {
        self.opening.as_deref().map(|template| filled(template, field))
    }

    /// What a terminal shows at the end: after output that it has shown as it came, or with all of it.
    ///
    /// `limit` is how long the command might have taken, and `shown` makes each value fit to be shown.
    #[must_use]
    pub fn closing(&self, outcome: &Outcome, limit: Option<Duration>, shown: Shown<'_>) -> Option<String> {
        let limit = limit.map(|limit| format!("{}s", limit.as_secs_f64())).unwrap_or_default();
        let field = |name: &str| {
            let value = if name == "limit" { limit.clone() } else { self.field(name, outcome) };
            shown(name, value)
        };
        self.screen.as_ref().or(self.closing.as_ref()).map(|template| filled(template, &field))
    }

    /// The result in words.
    #[must_use]
    pub fn words(&self, outcome: &Outcome) -> String {
        let usual = match outcome.status {
            Status::Exited(0) => SUCCEEDED,
            Status::Exited(_) | Status::Signaled(_) | Status::TimedOut { .. } | Status::Cancelled => FAILED,
            Status::Refused => REFUSED,
            Status::NeedsApproval => NEEDS_APPROVAL,
            Status::Invalid => INVALID,
            Status::Running => BACKGROUND,
        };
        let template = self.own(outcome).unwrap_or(usual);
        let text = filled(template, &|name| self.field(name, outcome));
        match &self.cut {
            Some(cut) => cut.applied(&text),
            None => text,
        }
    }

    /// The same, if the profile has words of its own.
    pub(crate) fn own_words(&self, outcome: &Outcome) -> Option<String> {
        self.own(outcome).map(|_| self.words(outcome))
    }

    fn own(&self, outcome: &Outcome) -> Option<&str> {
        let own = match outcome.status {
            Status::Exited(0) if self.truncated.is_some() && outcome.output.is_truncated() => &self.truncated,
            Status::Exited(0) => &self.succeeded,
            Status::Exited(_) | Status::Signaled(_) => &self.failed,
            Status::TimedOut { .. } => &self.timed_out,
            Status::Cancelled => &self.cancelled,
            Status::Refused => &self.refused,
            Status::NeedsApproval => &self.needs_approval,
            // Bash's own words are nobody else's.
            Status::Invalid => &None,
            Status::Running => &self.background,
        };
        own.as_deref()
    }

    fn field(&self, name: &str, outcome: &Outcome) -> String {
        let path = |path: &std::path::Path| path.to_string_lossy().into_owned();
        let worst = outcome.verdict.findings.first();
        match name {
            "approval_id" => outcome.approval_id.as_ref().map(ToString::to_string).unwrap_or_default(),
            "command" => outcome.command.clone(),
            "cut" => match &outcome.output {
                Output::Separate { stdout, stderr } => counted(stdout.cut + stderr.cut),
                Output::Combined(output) => counted(output.cut),
            },
            "cwd" => path(&outcome.cwd),
            "denials" => outcome.denials.join("\n"),
            "description" => outcome.description.clone().unwrap_or_default(),
            "display" => outcome.display.clone(),
            "duration" => format!("{:.1}s", outcome.duration.as_secs_f64()),
            "duration_ms" => outcome.duration.as_millis().to_string(),
            "exit_code" => exit_code(outcome),
            "help" => worst.map(|finding| finding.help.clone()).unwrap_or_default(),
            "hint" => self.hint(outcome).unwrap_or_default(),
            "notes" => outcome.notes.join("\n"),
            "matched" => worst
                .and_then(|finding| outcome.command.get(finding.span.start..finding.span.end))
                .map(|text| text.trim().to_owned())
                .unwrap_or_default(),
            "output" | "stdout" => without_last_newline(outcome.output.stdout()),
            "output_file" => outcome.output_file.as_deref().map(path).unwrap_or_default(),
            "pgid" | "pid" => outcome.pid_to_kill().map(|pid| pid.to_string()).unwrap_or_default(),
            "reason" => worst.map(|finding| finding.message.clone()).unwrap_or_default(),
            "reasons" => {
                let stops =
                    outcome.verdict.findings.iter().filter(|finding| finding.severity != Decision::Allow);
                stops.map(|finding| finding.message.clone()).collect::<Vec<_>>().join("; ")
            }
            "rule" => worst.map(|finding| finding.rule.clone()).unwrap_or_default(),
            "short_command" => shortened(&outcome.command),
            "short_status" => match outcome.status {
                Status::Exited(0) => "ok".to_owned(),
                status => status.to_string(),
            },
            "status" => match outcome.status {
                Status::Exited(code) => format!("exit code {code}"),
                status => status.to_string(),
            },
            "stderr" => without_last_newline(outcome.output.stderr()),
            "stderr_lines" => outcome.output.stderr().lines().count().to_string(),
            "stdout_lines" => outcome.output.stdout().lines().count().to_string(),
            "task_id" => outcome.task_id.as_ref().map(ToString::to_string).unwrap_or_default(),
            "timeout" => match outcome.status {
                Status::TimedOut { after, .. } => humantime::format_duration(after).to_string(),
                _ => String::new(),
            },
            "title" => outcome.description.clone().unwrap_or_else(|| outcome.display.clone()),
            "why" => {
                // That a text is blocked is the least that can be said about it.
                let findings = &outcome.verdict.findings;
                let better = findings.iter().find(|finding| finding.rule != "block");
                better.or(worst).map(|finding| finding.message.clone()).unwrap_or_default()
            }
            "truncated" if outcome.output.is_truncated() => "truncated".to_owned(),
            _ => String::new(),
        }
    }

    fn hint(&self, outcome: &Outcome) -> Option<String> {
        let printed = match &outcome.output {
            Output::Separate { stderr, .. } => stderr.text.to_lowercase(),
            Output::Combined(output) => output.text.to_lowercase(),
        };
        let fits = |hint: &&Hint| printed.contains(&hint.contains.to_lowercase());
        self.hints.iter().find(fits).map(|hint| hint.hint.clone())
    }
}

/// The template says where lines end.
fn without_last_newline(text: &str) -> String {
    text.strip_suffix('\n').unwrap_or(text).to_owned()
}

fn counted(cut: u64) -> String {
    if cut == 0 { String::new() } else { separated(cut) }
}

/// A signal as shells count it; of what was not run, -1.
fn exit_code(outcome: &Outcome) -> String {
    match outcome.exit {
        Some(bashtion_sandbox::Exit::Code(code)) => code.to_string(),
        Some(bashtion_sandbox::Exit::Signal(signal)) => (128 + signal.as_raw()).to_string(),
        None => "-1".to_owned(),
    }
}

/// Fifty characters say which command it was.
fn shortened(command: &str) -> String {
    const MOST: usize = 50;
    match command.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &command[..end]),
        None => command.to_owned(),
    }
}

fn check(name: &str, template: &str, fields: &[&'static str]) -> Result<(), String> {
    let unknown = std::cell::RefCell::new(None);
    filled(template, &|field| {
        if !fields.contains(&field) {
            unknown.borrow_mut().get_or_insert_with(|| field.to_owned());
        }
        "x".to_owned()
    });
    match unknown.into_inner() {
        None => Ok(()),
        Some(field) => {
            let nearest = bashtion_guard::nearest(&field, fields.iter().copied());
            let meant = nearest.map(|name| format!("; did you mean {{{name}}}?")).unwrap_or_default();
            Err(format!("wording.{name} names {{{field}}}, which no result has{meant}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_no_result_has_is_an_error() {
        let layer = WordingLayer { failed: Some("{exitcode}".to_owned()), ..WordingLayer::default() };
        let error = Wording::from_layer(layer, &Cut::default()).unwrap_err();
        assert_eq!(error, "wording.failed names {exitcode}, which no result has; did you mean {exit_code}?");
    }
}
