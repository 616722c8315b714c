//! Gemini CLI's `run_shell_command`.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::check::command;
use super::{Answer, Call, CallError, ToolCall};
use crate::{Fate, Request, Status, Streams};

/// Gemini CLI's `run_shell_command`. The reply is its text: `Output`, and what else there is, a line each.
///
/// ```
/// use bashtion::{Engine, ToolContext, calls};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), calls::CallError> {
/// let sent = serde_json::json!({"command": "echo hello; exit 3", "description": "Say hello"});
/// let parsed = calls::parse(calls::Vendor::Gemini, sent)?;
/// let results = parsed.call().run(&Engine::new(), &ToolContext::from_host("/tmp")).await;
/// assert!(parsed.reply(&results).as_str().unwrap().starts_with("Output: hello\nExit Code: 3\nProcess Group PGID: "));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GeminiRunShellCommand {
    /// The exact bash command to execute.
    pub command: String,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Where it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub dir_path: Option<String>,
    /// Start it as a background task and do not wait for its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_background: Option<bool>,
    /// How long to give a background task before the reply, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 600_000))]
    pub delay_ms: Option<u64>,
}

impl ToolCall for GeminiRunShellCommand {
    fn to_call(&self) -> Result<Call, CallError> {
        let mut request = Request::new(command("command", &self.command)?).streams(Streams::Combined);
        if let Some(text) = &self.description {
            request = request.description(text);
        }
        if let Some(dir) = &self.dir_path {
            request = request.cwd(dir);
        }
        if self.is_background == Some(true) {
            return Ok(Call { wait: self.delay_ms.map(Duration::from_millis), ..Call::background(request) });
        }
        Ok(Call::foreground(request))
    }

    fn reply(&self, answers: &[Answer<'_>]) -> Value {
        let answer = Answer::only(answers);
        let Some(outcome) = answer.outcome() else {
            return json!(format!("Error: {}", answer.remarks().join("; ")));
        };
        if let (Status::Running, Some(pid)) = (outcome.status, outcome.pid_to_kill()) {
            let file = answer.output_file().map(|file| format!(" Output: {file}")).unwrap_or_default();
            return json!(format!("Command moved to background (PID: {pid}).{file}"));
        }
        let mut lines = vec![];
        if answer.was_run() {
            let output = answer.stdout().trim_end_matches('\n');
            lines.push(format!("Output: {}", if output.is_empty() { "(empty)" } else { output }));
        }
        lines.extend(answer.remarks().into_iter().map(|remark| format!("Error: {remark}")));
        match outcome.status {
            Status::Exited(0) => {}
            Status::Exited(code) => lines.push(format!("Exit Code: {code}")),
            Status::Signaled(signal) => lines.push(format!("Signal: {signal}")),
            Status::TimedOut { .. } | Status::Cancelled | Status::Refused => {}
            Status::NeedsApproval | Status::Invalid | Status::Running => {}
        }
        let alive = outcome.leftovers.iter().filter(|leftover| match leftover.fate {
            Fate::Kept | Fate::Alive => true,
            Fate::Terminated | Fate::Killed => false,
        });
        let alive: Vec<_> = alive.map(|leftover| leftover.pid.to_string()).collect();
        if !alive.is_empty() {
            lines.push(format!("Background PIDs: {}", alive.join(", ")));
        }
        if let Some(pid) = outcome.pid_to_kill() {
            lines.push(format!("Process Group PGID: {pid}"));
        }
        json!(lines.join("\n"))
    }
}
