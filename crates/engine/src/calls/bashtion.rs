//! Our own tool.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::check::command;
use super::env::variables;
use super::{Answer, Call, CallError, ToolCall};
use crate::{Mode, Request};

/// Our own tool. The reply is the [`Outcome`](crate::Outcome), with the names of `bashtion run --json`.
///
/// ```
/// use bashtion::calls::{self, Placement, Vendor};
/// use serde_json::json;
/// let sent = json!({"command": "make", "mode": "background", "description": "Build"});
/// assert_eq!(calls::parse(Vendor::Bashtion, sent)?.call().placement, Placement::Background);
/// # Ok::<(), calls::CallError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BashtionBash {
    /// The command, as it would be typed into bash.
    pub command: String,
    /// What it is for, in a few words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The directory to run it in, if not the working directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub cwd: Option<String>,
    /// Environment variables to set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env: Option<BTreeMap<String, String>>,
    /// End it after so many milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
    /// default: wait for it; slow: wait longer, for builds and tests; background: start it and return at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<BashtionMode>,
    /// Go on where the last command of this session left off: its working directory and exported variables.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub session: Option<String>,
}

/// How a command is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BashtionMode {
    /// For the usual time.
    Default,
    /// For longer.
    Slow,
    /// Not at all.
    Background,
}

impl ToolCall for BashtionBash {
    fn to_call(&self) -> Result<Call, CallError> {
        let mut request =
            Request::new(command("command", &self.command)?).envs(variables("env", self.env.as_ref())?);
        if let Some(text) = &self.description {
            request = request.description(text);
        }
        if let Some(dir) = &self.cwd {
            request = request.cwd(dir);
        }
        if let Some(after) = self.timeout_ms {
            request = request.timeout(Duration::from_millis(after));
        }
        if let Some(name) = &self.session {
            request = request.session(name);
        }
        Ok(match self.mode {
            Some(BashtionMode::Background) => Call::background(request),
            Some(BashtionMode::Slow) => Call::foreground(request.mode(Mode::Slow)),
            Some(BashtionMode::Default) | None => Call::foreground(request),
        })
    }

    fn reply(&self, answers: &[Answer<'_>]) -> Value {
        let answer = Answer::only(answers);
        match answer.outcome() {
            Some(outcome) => serde_json::to_value(outcome).unwrap_or_default(),
            None => json!({"error": {"message": answer.told_stderr()}}),
        }
    }
}

/// The reply to what could not be read.
pub(super) fn rejected(text: &str) -> Value {
    json!({"error": {"message": text}})
}
