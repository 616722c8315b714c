//! Claude Code's `Bash`.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::check::{command, unsupported};
use super::tool_use::tool_result;
use super::{Answer, Call, CallError, ToolCall};
use crate::Request;

/// The input of Claude Code's `Bash`. The reply is a `tool_result`, as for [`AnthropicBash`](super::AnthropicBash).
///
/// ```
/// use bashtion::calls::{self, Vendor};
/// use serde_json::json;
/// let error = calls::parse(Vendor::ClaudeCode, json!({"command": "make", "timeout": 900_000})).unwrap_err();
/// assert_eq!(error.to_string(), r#""timeout" must be an integer from 1 to 600000, not 900000"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaudeCodeBash {
    /// The command to run.
    pub command: String,
    /// How long it may take, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 600_000))]
    pub timeout: Option<u64>,
    /// What it is for, in a few words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Start it as a background task and do not wait for its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_in_background: Option<bool>,
    /// Must not be true: commands are always confined.
    #[serde(rename = "dangerouslyDisableSandbox", skip_serializing_if = "Option::is_none")]
    pub dangerously_disable_sandbox: Option<bool>,
}

impl ToolCall for ClaudeCodeBash {
    fn to_call(&self) -> Result<Call, CallError> {
        if self.dangerously_disable_sandbox == Some(true) {
            return Err(unsupported(
                "dangerouslyDisableSandbox",
                "how commands are confined is not the model's to decide; leave it out",
            ));
        }
        let mut request = Request::new(command("command", &self.command)?);
        if let Some(after) = self.timeout {
            request = request.timeout(Duration::from_millis(after));
        }
        if let Some(text) = &self.description {
            request = request.description(text);
        }
        Ok(if self.run_in_background == Some(true) {
            Call::background(request)
        } else {
            Call::foreground(request)
        })
    }

    fn reply(&self, answers: &[Answer<'_>]) -> Value {
        let answer = Answer::only(answers);
        match (answer.task_id(), answer.output_file()) {
            (Some(id), Some(file)) if !answer.is_error() => {
                let text = format!(
                    "Command running in background with ID: {id}. Output is being written to: {file}"
                );
                tool_result(answer, &text)
            }
            _ => tool_result(answer, &answer.told_output()),
        }
    }
}
