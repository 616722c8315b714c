//! Tachikoma's `bash`.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::check::{command, seconds};
use super::env::variables;
use super::{Answer, Call, CallError, ToolCall};
use crate::{Request, Status};

/// Tachikoma's `bash`: a command with its `BashOptions`. The reply is a `BashResult`.
///
/// Its document has options for Rust code and no JSON, so the names are those of the fields, and times are seconds. `exit_code` is -1
/// where the command has none; `metadata.duration` is as serde writes one, and `metadata.operation_id` null, because only the caller knows it.
///
/// ```
/// use bashtion::calls::{self, Vendor};
/// use serde_json::json;
/// let sent = json!({"command": "echo $A", "env_vars": {"A": "1"}, "clear_env": true, "no_timeout": true});
/// assert!(calls::parse(Vendor::Tachikoma, sent).is_ok());
/// let sent = json!({"command": "docker ps", "blocked_commands": ["docker"]});
/// let error = calls::parse(Vendor::Tachikoma, sent).unwrap_err();
/// assert_eq!(error.to_string(), r#"the command contains "docker", which "blocked_commands" forbids"#);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TachikomaBash {
    /// The command to run.
    pub command: String,
    /// Where it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub working_dir: Option<String>,
    /// Variables to set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env_vars: Option<BTreeMap<String, String>>,
    /// Pass only these variables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clear_env: Option<bool>,
    /// How long it may take, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.001, max = 86_400.0))]
    pub timeout: Option<f64>,
    /// Let it run for as long as it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_timeout: Option<bool>,
    /// Texts that the command must not contain, beside what is refused anyway.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1000))]
    pub blocked_commands: Option<Vec<String>>,
    /// How many bytes of each stream are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 67_108_864))]
    pub max_output_size: Option<usize>,
}

impl ToolCall for TachikomaBash {
    fn to_call(&self) -> Result<Call, CallError> {
        let text = command("command", &self.command)?;
        let mut blocked = self.blocked_commands.iter().flatten();
        if let Some(found) = blocked.find(|pattern| !pattern.is_empty() && text.contains(*pattern)) {
            let reason = format!("the command contains {found:?}, which \"blocked_commands\" forbids");
            return Err(CallError::Contradiction { reason });
        }
        let mut request = Request::new(text).envs(variables("env_vars", self.env_vars.as_ref())?);
        if let Some(dir) = &self.working_dir {
            request = request.cwd(dir);
        }
        if self.clear_env == Some(true) {
            request = request.clear_env();
        }
        request = match (self.timeout, self.no_timeout) {
            (Some(_), Some(true)) => {
                let reason = r#"send either "timeout" or "no_timeout": true, not both"#.to_owned();
                return Err(CallError::Contradiction { reason });
            }
            (Some(after), None | Some(false)) => request.timeout(seconds("timeout", after)?),
            (None, Some(true)) => request.no_timeout(),
            (None, None | Some(false)) => request,
        };
        if let Some(characters) = self.max_output_size {
            request = request.max_output(characters);
        }
        Ok(Call::foreground(request))
    }

    fn reply(&self, answers: &[Answer<'_>]) -> Value {
        let answer = Answer::only(answers);
        let exit_code = match answer.status() {
            Some(Status::Exited(code)) => code,
            _ => NO_CODE,
        };
        let duration = answer.outcome().map(|outcome| outcome.duration).unwrap_or_default();
        json!({
            "exit_code": exit_code,
            "stdout": answer.stdout(),
            "stderr": answer.told_stderr(),
            "timed_out": answer.timed_out(),
            "metadata": metadata(duration),
        })
    }
}

const NO_CODE: i32 = -1;

fn metadata(duration: Duration) -> Value {
    json!({"duration": duration, "operation_id": null, "primitive": "bash"})
}

/// The reply to what could not be read.
pub(super) fn rejected(text: &str) -> Value {
    json!({
        "exit_code": NO_CODE,
        "stdout": "",
        "stderr": text,
        "timed_out": false,
        "metadata": metadata(Duration::ZERO),
    })
}
