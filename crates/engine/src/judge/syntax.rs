//! Text that bash itself cannot read, in bash's own words.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use bashtion_guard::{Decision, Finding, Span, Verdict};
use serde::Serialize;

/// What bash says about a text that it cannot read.
///
/// ```
/// use bashtion::{Engine, Request, ToolContext};
/// # fn main() -> Result<(), bashtion::Error> {
/// let context = ToolContext::from_host("/tmp");
/// let judgement = Engine::new().judge(Request::new("ls\necho \"unclosed"), &context)?;
/// let error = judgement.syntax_error.expect("bash cannot read it");
/// assert_eq!(error.line, Some(2));
/// assert!(error.message.starts_with("line 2: unexpected EOF"));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SyntaxError {
    /// Bash's message, with the line.
    pub message: String,
    /// The line of the text, counted from 1, if bash names one.
    pub line: Option<usize>,
    /// That line, or everything, in bytes of the text.
    pub span: Span,
}

/// Reading a mebibyte takes bash a quarter of this.
const PATIENCE: Duration = Duration::from_secs(1);
/// More than any message.
const LONGEST: u64 = 16 << 10;
/// The name of the text in bash's messages.
const FILE: &str = "/dev/stdin";

impl SyntaxError {
    /// The name of the rule under which a verdict tells it.
    pub const RULE: &str = "syntax";

    /// Asks bash to read a text, which with `-n` runs nothing of it: without an environment, without startup files, for a short
    /// time. None if bash can read it or does not say.
    pub(super) fn found_by(bash: &Path, text: &str) -> Option<Self> {
        let message = refusal(bash, &[], text)?;
        // Bash reads on as its options are by then, and with `-n` none is set. Aliases can change any text.
        if text.contains("alias") {
            return None;
        }
        if text.contains("extglob") {
            refusal(bash, &["-O", "extglob"], text)?;
        }
        Some(Self::of(&message, text))
    }

    fn of(message: &str, text: &str) -> Self {
        let first = message.lines().next().unwrap_or_default();
        let message = first.strip_prefix(FILE).map_or(first, |rest| rest.trim_start_matches(": "));
        let number = message.strip_prefix("line ").and_then(|rest| rest.split_once(':'));
        let line: Option<usize> = number.and_then(|(number, _)| number.parse().ok());
        let whole = Span { start: 0, end: text.len() };
        let span = line.and_then(|line| line_at(text, line)).unwrap_or(whole);
        Self { message: message.to_owned(), line, span }
    }

    /// The verdict about such a text: nobody is asked, and nobody can allow it.
    pub(super) fn verdict(&self) -> Verdict {
        Verdict::new(vec![Finding {
            rule: Self::RULE.to_owned(),
            severity: Decision::Deny,
            message: self.message.clone(),
            span: self.span,
            help: "bash cannot read this: mend it, and try again".to_owned(),
        }])
    }
}

/// The line of this number. Where the text is over before it, the last one.
fn line_at(text: &str, number: usize) -> Option<Span> {
    let mut start = 0;
    let lines = text.split('\n').map(|line| {
        let span = Span { start, end: start + line.len() };
        start = span.end + 1;
        span
    });
    lines.take(number.max(1)).filter(|span| span.start < span.end).last()
}

/// What bash prints if it refuses the text.
fn refusal(bash: &Path, options: &[&str], text: &str) -> Option<String> {
    let mut child = Command::new(bash)
        .arg0("bash")
        .args(["--norc", "--noprofile"])
        .args(options)
        .args(["-n", "--", FILE])
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let (mut input, output) = (child.stdin.take()?, child.stderr.take()?);
    let text = text.to_owned();
    let (send, said) = mpsc::channel();
    // Both end with the process: a pipe without another end can neither be written nor be waited for.
    let writer = thread::Builder::new().spawn(move || input.write_all(text.as_bytes()));
    let reader = thread::Builder::new().spawn(move || {
        let mut message = vec![];
        let read = output.take(LONGEST).read_to_end(&mut message);
        let _ = send.send(read.map(|_| message));
    });
    let started = writer.is_ok() && reader.is_ok();
    let message = started.then(|| said.recv_timeout(PATIENCE).ok()).flatten();
    if message.is_none() {
        let _ = child.kill();
    }
    let status = child.wait().ok()?;
    let message = String::from_utf8_lossy(&message?.ok()?).trim().to_owned();
    (status.code() == Some(REFUSES) && !message.is_empty()).then_some(message)
}

/// The exit code of bash for a text that it cannot read.
const REFUSES: i32 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<SyntaxError> {
        SyntaxError::found_by(Path::new("/bin/bash"), text)
    }

    #[test]
    fn bash_says_what_and_where() {
        let error = found("ls\necho 'a").unwrap();
        assert_eq!(error.message, "line 2: unexpected EOF while looking for matching `''");
        assert_eq!((error.line, error.span), (Some(2), Span { start: 3, end: 10 }));
        let error = found("echo )\nls").unwrap();
        assert_eq!(error.message, "line 1: syntax error near unexpected token `)'");
        assert_eq!(error.span, Span { start: 0, end: 6 });
        let error = found("if true; then\n").unwrap();
        assert!(error.message.contains("unexpected end of file"), "{error:?}");
        assert!(error.span.start < error.span.end, "{error:?}");
    }

    #[test]
    fn nothing_is_run_and_what_bash_reads_is_no_error() {
        let dir = tempfile::tempdir().unwrap();
        let made = dir.path().join("made");
        for text in [
            format!("touch {}", made.display()),
            format!("touch {}\n$(touch {0})", made.display()),
            "shopt -s extglob\nls !(a)".to_owned(),
            "shopt -s expand_aliases\nalias open='{'\nopen ls; }".to_owned(),
            "cat <<EOF\nno end".to_owned(),
        ] {
            assert_eq!(found(&text), None, "{text}");
        }
        assert!(found(&format!("touch {}\necho )", made.display())).is_some());
        assert!(!made.exists());
    }

    #[test]
    fn a_bash_that_is_none_says_nothing() {
        assert_eq!(SyntaxError::found_by(Path::new("/nowhere/bash"), "echo )"), None);
        assert_eq!(SyntaxError::found_by(Path::new("/bin/true"), "echo )"), None);
    }

    #[test]
    fn a_long_text_is_read_whole() {
        let text = format!("{}\necho \"x", "echo 0123456789\n".repeat(20_000));
        assert_eq!(found(&text).and_then(|error| error.line), Some(20_002));
    }
}
