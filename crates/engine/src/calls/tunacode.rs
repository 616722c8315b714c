//! TunaCode's `bash`.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::check::command;
use super::env::variables;
use super::{Answer, Call, CallError, ToolCall};
use crate::{Captures, KeepFile, Request};

/// TunaCode's `bash`. The reply is its formatted text.
///
/// Where TunaCode would raise `ModelRetry` (a timeout, a refusal), the text begins with the reason, and the same form follows with
/// what was printed until then. Without `capture_output` nothing that was printed is shown; it is not printed elsewhere either.
///
/// ```
/// use bashtion::{Engine, ToolContext, calls};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), calls::CallError> {
/// let sent = serde_json::json!({"command": "echo hello"});
/// let parsed = calls::parse(calls::Vendor::TunaCode, sent)?;
/// let results = parsed.call().run(&Engine::new(), &ToolContext::from_host("/tmp")).await;
/// assert_eq!(
///     parsed.reply(&results),
///     "Command: echo hello\nExit Code: 0\nWorking Directory: /tmp\n\nSTDOUT:\nhello\n\nSTDERR:\n(no errors)"
/// );
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TunaCodeBash {
    /// The bash command to execute.
    pub command: String,
    /// Working directory for the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub cwd: Option<String>,
    /// Additional environment variables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env: Option<BTreeMap<String, String>>,
    /// Command timeout in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 300))]
    pub timeout: Option<u64>,
    /// Whether to capture stdout and stderr.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capture_output: Option<bool>,
}

impl ToolCall for TunaCodeBash {
    fn to_call(&self) -> Result<Call, CallError> {
        let mut request =
            Request::new(command("command", &self.command)?).envs(variables("env", self.env.as_ref())?);
        if let Some(dir) = &self.cwd {
            request = request.cwd(dir);
        }
        if let Some(after) = self.timeout {
            request = request.timeout(Duration::from_secs(after));
        }
        if self.capture_output == Some(false) {
            request = request.capture(Captures::Nothing).keep_file(KeepFile::Never);
        }
        Ok(Call::foreground(request))
    }

    fn reply(&self, answers: &[Answer<'_>]) -> Value {
        let answer = Answer::only(answers);
        let (reason, remarks) = match answer.ending() {
            Some(reason) => (format!("{reason}\n\n"), answer.remarks().split_off(1)),
            None => (String::new(), answer.remarks()),
        };
        if !answer.was_run() {
            return json!(reason.trim_end());
        }
        let (stdout, stderr) = match self.capture_output {
            Some(false) => ("", ""),
            None | Some(true) => (answer.stdout().trim(), answer.stderr().trim()),
        };
        let stderr = super::answer::appended(stderr, &remarks);
        let cwd = answer.outcome().map(|outcome| outcome.cwd.display().to_string()).unwrap_or_default();
        let lines = [
            &format!("{reason}Command: {}", self.command),
            &format!("Exit Code: {}", answer.exit_code()),
            &format!("Working Directory: {cwd}"),
            "",
            "STDOUT:",
            or(stdout, "(no output)"),
            "",
            "STDERR:",
            or(stderr.trim(), "(no errors)"),
        ];
        json!(lines.join("\n"))
    }
}

fn or<'a>(text: &'a str, none: &'a str) -> &'a str {
    if text.is_empty() { none } else { text }
}
