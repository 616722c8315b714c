//! What came of a request, in the words that a model reads.

use crate::{Decision, Fate, Outcome, Status, TaskId};

/// What came of one request of a call.
#[derive(Debug, Clone, Copy)]
pub enum Answer<'a> {
    /// It was judged, and perhaps run.
    Outcome(&'a Outcome),
    /// Bashtion failed; the causes, in words.
    Failed(&'a str),
    /// Nobody came to it.
    Missing,
}

/// The exit codes of the command line, for what has none of its own.
const TIMED_OUT: i32 = 124;
const BASHTION_FAILED: i32 = 125;
const NOT_RUN: i32 = 126;
/// The exit code of bash for a text that it cannot read.
pub(super) const UNREADABLE: i32 = 2;
const SIGNAL_BASE: i32 = 128;
const SIGINT: i32 = 2;

impl<'a> Answer<'a> {
    /// The only one of a call that makes one request.
    pub(super) fn only(answers: &[Self]) -> Self {
        answers.first().copied().unwrap_or(Answer::Missing)
    }

    /// What happened, if anything did.
    #[must_use]
    pub fn outcome(self) -> Option<&'a Outcome> {
        match self {
            Self::Outcome(outcome) => Some(outcome),
            Self::Failed(_) | Self::Missing => None,
        }
    }

    pub(super) fn status(self) -> Option<Status> {
        self.outcome().map(|outcome| outcome.status)
    }

    /// A code for everything, as the command line has it: see [`crate::calls`].
    #[must_use]
    pub fn exit_code(self) -> i32 {
        match self.status() {
            Some(Status::Exited(code)) => code,
            Some(Status::Signaled(signal)) => SIGNAL_BASE + signal.as_raw(),
            Some(Status::TimedOut { .. }) => TIMED_OUT,
            Some(Status::Cancelled) => SIGNAL_BASE + SIGINT,
            Some(Status::Refused | Status::NeedsApproval) => NOT_RUN,
            Some(Status::Invalid) => UNREADABLE,
            Some(Status::Running) => 0,
            None => BASHTION_FAILED,
        }
    }

    /// Whether it is anything but an exit with 0 or a task that was started.
    #[must_use]
    pub fn is_error(self) -> bool {
        self.exit_code() != 0
    }

    pub(super) fn timed_out(self) -> bool {
        matches!(self.status(), Some(Status::TimedOut { .. }))
    }

    /// Whether there was a command at all that could end.
    pub(super) fn was_run(self) -> bool {
        !matches!(self.status(), None | Some(Status::Refused | Status::NeedsApproval | Status::Invalid))
    }

    /// What the command printed to standard output, or all of it where both streams are one.
    #[must_use]
    pub fn stdout(self) -> &'a str {
        self.outcome().map_or("", |outcome| outcome.output.stdout())
    }

    /// What the command printed to standard error.
    #[must_use]
    pub fn stderr(self) -> &'a str {
        self.outcome().map_or("", |outcome| outcome.output.stderr())
    }

    /// The same, and after it what there is to say.
    #[must_use]
    pub fn told_stderr(self) -> String {
        appended(self.stderr(), &self.remarks())
    }

    /// All in one text: standard output, standard error, how it ended, what there is to say.
    #[must_use]
    pub fn told_output(self) -> String {
        let (stdout, stderr) = (self.stdout(), self.stderr());
        let between =
            if stdout.is_empty() || stderr.is_empty() || stdout.ends_with('\n') { "" } else { "\n" };
        let mut remarks = self.remarks();
        if let Some(Status::Exited(code)) = self.status().filter(|_| self.is_error()) {
            remarks.insert(0, format!("exit code {code}"));
        }
        match appended(&format!("{stdout}{between}{stderr}"), &remarks) {
            empty if empty.is_empty() => "(no output)".to_owned(),
            text => text,
        }
    }

    pub(super) fn is_truncated(self) -> bool {
        self.outcome().is_some_and(|outcome| outcome.output.is_truncated())
    }

    pub(super) fn duration_ms(self) -> u64 {
        self.outcome().map_or(0, |outcome| u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX))
    }

    pub(super) fn task_id(self) -> Option<&'a TaskId> {
        self.outcome().and_then(|outcome| outcome.task_id.as_ref())
    }

    pub(super) fn output_file(self) -> Option<String> {
        self.outcome()?.output_file.as_ref().map(|path| path.display().to_string())
    }

    /// What there is to say beside the output, a line each: how it ended if not by itself, what the sandbox stopped, what is left.
    #[must_use]
    pub fn remarks(self) -> Vec<String> {
        let mut remarks: Vec<String> = self.ending().into_iter().collect();
        if let Some(outcome) = self.outcome() {
            remarks.extend(outcome.denials.iter().map(|denial| format!("stopped by the sandbox: {denial}")));
            remarks.extend(outcome.notes.iter().map(|note| format!("note: {note}")));
            remarks.extend(outcome.leftovers.iter().map(|leftover| {
                let what = match leftover.fate {
                    Fate::Terminated | Fate::Killed => "was ended",
                    Fate::Kept => "still runs",
                    Fate::Alive => "could not be ended",
                };
                let command = &leftover.command;
                format!("note: process {} outlived the shell and {what}: {command}", leftover.pid)
            }));
        }
        remarks
    }

    /// How it ended, if not by itself.
    #[must_use]
    pub fn ending(self) -> Option<String> {
        let outcome = match self {
            Self::Outcome(outcome) => outcome,
            Self::Failed(causes) => return Some(format!("not run: {causes}")),
            Self::Missing => return Some("not run: the call ended before it".to_owned()),
        };
        match outcome.status {
            Status::Exited(_) | Status::Running => None,
            Status::Signaled(_) | Status::Cancelled => Some(outcome.status.to_string()),
            Status::TimedOut { .. } => Some(format!("{}; its processes were ended", outcome.status)),
            Status::Refused => Some(findings(outcome, "refused")),
            Status::NeedsApproval => Some(findings(outcome, "needs approval by a person")),
            Status::Invalid => Some(findings(outcome, "invalid")),
        }
    }
}

/// Why nothing was run, and what would be.
fn findings(outcome: &Outcome, title: &str) -> String {
    let strict = outcome.verdict.findings.iter().filter(|finding| finding.severity != Decision::Allow);
    let reasons: Vec<_> = strict
        .map(|finding| match finding.help.as_str() {
            "" => format!("{} ({})", finding.message, finding.rule),
            help => format!("{} ({}); help: {help}", finding.message, finding.rule),
        })
        .collect();
    match reasons.as_slice() {
        [] => format!("{title}: nothing was run"),
        several => format!("{title}: nothing was run: {}", several.join("; and ")),
    }
}

/// Lines of ours after the command's own, which may not have ended its last one.
pub(super) fn appended(text: &str, remarks: &[String]) -> String {
    let mut text = text.to_owned();
    for remark in remarks {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str("bashtion: ");
        text.push_str(remark);
        text.push('\n');
    }
    text
}

/// No more than so many characters, from the beginning and the end.
pub(super) fn shortened(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    // The number will be smaller, and so not longer.
    let marker = |cut: usize| format!("\n[... {cut} characters cut ...]\n");
    let Some(kept) = most.checked_sub(marker(count).len()) else { return last(text, most).to_owned() };
    let head: String = text.chars().take(kept / 2).collect();
    format!("{head}{}{}", marker(count - kept), last(text, kept - kept / 2))
}

/// The last characters of a text.
pub(super) fn last(text: &str, count: usize) -> &str {
    match count.checked_sub(1) {
        None => "",
        Some(before) => text.char_indices().rev().nth(before).map_or(text, |(index, _)| &text[index..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortened_is_never_longer() {
        let text = "äöü".repeat(100);
        for most in 0..=310 {
            let short = shortened(&text, most);
            assert!(short.chars().count() <= most, "{most}");
            assert_eq!(short == text, most >= 300, "{most}");
        }
        assert_eq!(shortened(&text, 40), "äöüäö\n[... 290 characters cut ...]\nöüäöü");
    }

    #[test]
    fn remarks_begin_on_a_line_of_their_own() {
        assert_eq!(appended("", &[]), "");
        assert_eq!(appended("oops", &["cancelled".to_owned()]), "oops\nbashtion: cancelled\n");
        assert_eq!(appended("oops\n", &["a".into(), "b".into()]), "oops\nbashtion: a\nbashtion: b\n");
    }
}
