//! mycode's `Bash`.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::answer::UNREADABLE;
use super::check::command;
use super::env::variables;
use super::{Answer, Call, CallError, ToolCall};
use crate::{Request, Status};

/// mycode's `BashInput`. The reply is a `BashOutput`.
///
/// As its document has it: a timeout beyond ten minutes is ten minutes, one of 0 is none; what was not run has the exit code -1, and what
/// has no code of its own (a signal, a timeout) 1, with the reason in `stderr`.
///
/// ```
/// use bashtion::calls::{self, Placement, Vendor};
/// use serde_json::json;
/// let sent = json!({"command": "npm test", "run_in_background": true, "description": "Run tests"});
/// assert_eq!(calls::parse(Vendor::MyCode, sent)?.call().placement, Placement::Background);
/// # Ok::<(), calls::CallError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MyCodeBash {
    /// The command to run.
    pub command: String,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How long it may take, in milliseconds; more than 600000 is 600000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
    /// Start it as a background task and do not wait for its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_in_background: Option<bool>,
    /// Where it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub cwd: Option<String>,
    /// Variables to set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env: Option<BTreeMap<String, String>>,
}

const LONGEST_TIMEOUT: u64 = 600_000;
/// Of what was not run.
const NOT_RUN: i32 = -1;
/// Of what ended without a code.
const NO_CODE: i32 = 1;

impl ToolCall for MyCodeBash {
    fn to_call(&self) -> Result<Call, CallError> {
        let mut request =
            Request::new(command("command", &self.command)?).envs(variables("env", self.env.as_ref())?);
        if let Some(after) = self.timeout.filter(|after| *after > 0) {
            request = request.timeout(Duration::from_millis(after.min(LONGEST_TIMEOUT)));
        }
        if let Some(text) = &self.description {
            request = request.description(text);
        }
        if let Some(dir) = &self.cwd {
            request = request.cwd(dir);
        }
        Ok(if self.run_in_background == Some(true) {
            Call::background(request)
        } else {
            Call::foreground(request)
        })
    }

    fn reply(&self, answers: &[Answer<'_>]) -> Value {
        let answer = Answer::only(answers);
        let mut output = json!({
            "success": !answer.is_error(),
            "stdout": answer.stdout(),
            "stderr": answer.told_stderr(),
            "exit_code": exit_code(answer),
            "duration_ms": answer.duration_ms(),
            "truncated": answer.is_truncated(),
        });
        if let Some(id) = answer.task_id() {
            output["task_id"] = json!(id);
            output["output_file"] = json!(answer.output_file());
            if answer.status() == Some(Status::Running) {
                output["stdout"] = json!(format!("Background task started: {id}"));
                output["duration_ms"] = json!(0);
            }
        }
        output
    }
}

fn exit_code(answer: Answer<'_>) -> i32 {
    match answer.status() {
        Some(Status::Exited(code)) => code,
        Some(Status::Running) => 0,
        Some(Status::Signaled(_) | Status::TimedOut { .. } | Status::Cancelled) => NO_CODE,
        Some(Status::Refused | Status::NeedsApproval) | None => NOT_RUN,
        Some(Status::Invalid) => UNREADABLE,
    }
}

/// The reply to what could not be read.
pub(super) fn rejected(text: &str) -> Value {
    json!({"success": false, "stdout": "", "stderr": text, "exit_code": NOT_RUN, "duration_ms": 0, "truncated": false})
}
