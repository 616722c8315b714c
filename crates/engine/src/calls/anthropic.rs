//! Anthropic's `bash_20250124`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::check::command;
use super::tool_use::tool_result;
use super::{Answer, Call, CallError, ToolCall};
use crate::Request;

/// The input of `bash_20250124`: a command, or a restart.
///
/// The tool promises one shell that lives. Commands go on where the last one left off instead: see [`Request::session`], and
/// [`ParsedCall::session`](super::ParsedCall::session) for its name. The reply is a `tool_result` with one text: standard output,
/// standard error, then lines of ours. Everything but an exit with 0 is an error.
///
/// ```
/// use bashtion::calls::{self, Placement, Vendor};
/// use serde_json::json;
/// let parsed = calls::parse(Vendor::AnthropicBash, json!({"restart": true}))?;
/// assert_eq!(parsed.call().placement, Placement::RestartSession);
/// let error = calls::parse(Vendor::AnthropicBash, json!({"command": "ls", "restart": true})).unwrap_err();
/// assert_eq!(error.to_string(), r#"send either "command" or "restart": true, not both"#);
/// # Ok::<(), calls::CallError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnthropicBash {
    /// The command to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Forget the working directory and the variables, and begin anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart: Option<bool>,
}

/// The session of callers that do not name their own.
const SESSION: &str = "bash";

impl AnthropicBash {
    fn restarts(&self) -> bool {
        self.restart == Some(true)
    }
}

impl ToolCall for AnthropicBash {
    fn to_call(&self) -> Result<Call, CallError> {
        let contradiction = |reason: &str| Err(CallError::Contradiction { reason: reason.to_owned() });
        match &self.command {
            Some(_) if self.restarts() => {
                contradiction(r#"send either "command" or "restart": true, not both"#)
            }
            Some(text) => Ok(Call::foreground(Request::new(command("command", text)?).session(SESSION))),
            // The least that enters a session.
            None if self.restarts() => Ok(Call::restart(Request::new(":").session(SESSION).reset_session())),
            None => contradiction(r#"send "command" with a string, or "restart": true"#),
        }
    }

    fn reply(&self, answers: &[Answer<'_>]) -> Value {
        let answer = Answer::only(answers);
        if self.restarts() && !answer.is_error() {
            return tool_result(answer, "the tool has been restarted");
        }
        tool_result(answer, &answer.told_output())
    }
}
