//! Phoenix's `bash`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::answer::appended;
use super::check::command;
use super::{Answer, Call, CallError, ToolCall};
use crate::{Mode, Request, Status, Streams};

/// Phoenix's `bash`: a command and how patient to be.
///
/// The reply has `command`, `display` (without a redundant `cd`), `output` (both streams in the order written, then lines of ours),
/// `exit_code`, which is null where the command has none, `timed_out` and `is_error`; for the background also `pid`, `pgid`, `task_id` and
/// `output_file`.
///
/// ```
/// use bashtion::calls::{self, Vendor};
/// use serde_json::json;
/// let error = calls::parse(Vendor::Phoenix, json!({"command": "make", "mode": "fast"})).unwrap_err();
/// assert_eq!(error.to_string(), r#""mode" must be "default", "slow" or "background", not the string "fast""#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhoenixBash {
    /// The shell command to execute.
    pub command: String,
    /// How patient to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<PhoenixMode>,
}

/// How patient to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PhoenixMode {
    /// For a short while.
    Default,
    /// For builds and test suites.
    Slow,
    /// Not at all: it goes on in the background.
    Background,
}

impl ToolCall for PhoenixBash {
    fn to_call(&self) -> Result<Call, CallError> {
        let request = Request::new(command("command", &self.command)?).streams(Streams::Combined);
        Ok(match self.mode {
            None | Some(PhoenixMode::Default) => Call::foreground(request),
            Some(PhoenixMode::Slow) => Call::foreground(request.mode(Mode::Slow)),
            Some(PhoenixMode::Background) => Call::background(request),
        })
    }

    fn reply(&self, answers: &[Answer<'_>]) -> Value {
        let answer = Answer::only(answers);
        let (exit_code, mut remarks) = match answer.status() {
            Some(Status::Exited(0)) => (Some(0), vec![]),
            Some(Status::Exited(code)) => (Some(code), vec![format!("exit code {code}")]),
            _ => (None, vec![]),
        };
        remarks.extend(answer.remarks());
        let outcome = answer.outcome();
        let running = outcome.filter(|outcome| outcome.status == Status::Running);
        if let (Some(pid), Some(file)) = (running.and_then(crate::Outcome::pid_to_kill), answer.output_file())
        {
            remarks.insert(
                0,
                format!(
                    "started with process id {pid}; its output is written to {file}; `kill -9 -{pid}` ends it"
                ),
            );
        }
        let display = outcome.map_or(self.command.as_str(), |outcome| outcome.display.as_str());
        let mut reply = json!({
            "command": self.command,
            "display": display,
            "output": appended(answer.stdout(), &remarks),
            "exit_code": exit_code,
            "timed_out": answer.timed_out(),
            "is_error": answer.is_error(),
        });
        if let Some(outcome) = running {
            reply["pid"] = json!(outcome.pid_to_kill());
            reply["pgid"] = json!(outcome.pid_to_kill());
            reply["task_id"] = json!(outcome.task_id);
            reply["output_file"] = json!(answer.output_file());
        }
        reply
    }
}

/// The reply to what could not be read.
pub(super) fn rejected(sent: &Value, text: &str) -> Value {
    let command = sent.get("command").and_then(Value::as_str).unwrap_or_default();
    json!({
        "command": command,
        "display": command,
        "output": text,
        "exit_code": null,
        "timed_out": false,
        "is_error": true,
    })
}
