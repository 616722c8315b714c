//! OpenAI's `shell` of the Responses API.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::answer::{appended, shortened};
use super::check::{command, unsupported};
use super::{Answer, Call, CallError, ToolCall};
use crate::Request;

/// An item `shell_call` of a response.
///
/// The reply is a `shell_call_output` with one entry for each command. The API knows only an exit and a timeout, so the rest is an
/// exit: a signal with 128 + n, a refusal and a missing approval with 126, a cancellation with 130, a failure of ours with 125. What it
/// was is said in a line after the command's own standard error.
///
/// `timeout_ms` holds for each command, as in OpenAI's own executor, and `max_output_length` for what each prints to both streams
/// together; our own lines do not count.
///
/// ```
/// use bashtion::calls::{self, Vendor};
/// use serde_json::json;
/// let sent = json!({"type": "shell_call", "call_id": "c1", "action": {"commands": ["ls", "pwd"]}, "status": "in_progress"});
/// assert_eq!(calls::parse(Vendor::OpenAiShell, sent)?.call().requests.len(), 2);
/// # Ok::<(), calls::CallError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShellCall {
    /// What kind of item it is.
    pub r#type: ShellCallType,
    /// The name of the call, which comes back in the reply.
    #[schemars(length(min = 1, max = 64))]
    pub call_id: String,
    /// What to run.
    pub action: ShellAction,
    /// How far the model has come with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<CallStatus>,
    /// The name of the item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Who made the item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    /// Where it is to run: here, or it is not for us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<Environment>,
}

/// The only type that a [`ShellCall`] has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ShellCallType {
    /// A call of the tool `shell`.
    #[serde(rename = "shell_call")]
    ShellCall,
}

/// What to run, and within which limits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShellAction {
    /// Shell commands, run one after the other, each in a shell of its own.
    #[schemars(length(min = 1, max = 100))]
    pub commands: Vec<String>,
    /// How long each may take, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 86_400_000))]
    pub timeout_ms: Option<u64>,
    /// How many characters of what each prints are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10_000_000))]
    pub max_output_length: Option<usize>,
}

/// How far a model has come with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// It waits for its output.
    InProgress,
    /// It is all there.
    Completed,
    /// The model was cut off: what is there may be half a command.
    Incomplete,
}

/// Where a call is to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Environment {
    /// What kind of place it is.
    pub r#type: EnvironmentType,
}

/// The only place that is ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EnvironmentType {
    /// On the machine of whoever asked the model.
    Local,
}

impl CallStatus {
    /// Half a command may be another one.
    pub(super) fn check(status: Option<Self>) -> Result<(), CallError> {
        match status {
            Some(Self::Incomplete) => Err(unsupported(
                "status",
                "an incomplete call is not run, because its end is missing; send it again",
            )),
            None | Some(Self::InProgress | Self::Completed) => Ok(()),
        }
    }
}

impl ToolCall for ShellCall {
    fn to_call(&self) -> Result<Call, CallError> {
        CallStatus::check(self.status)?;
        let action = &self.action;
        let mut requests = vec![];
        for (index, text) in action.commands.iter().enumerate() {
            let mut request = Request::new(command(&format!("action.commands[{index}]"), text)?);
            if let Some(after) = action.timeout_ms {
                request = request.timeout(Duration::from_millis(after));
            }
            if let Some(characters) = action.max_output_length {
                request = request.max_output(characters);
            }
            requests.push(request);
        }
        Ok(Call::in_order(requests))
    }

    fn reply(&self, answers: &[Answer<'_>]) -> Value {
        let most = self.action.max_output_length;
        let output: Vec<_> = answers.iter().map(|answer| entry(*answer, most)).collect();
        item(&json!(self.call_id), most, &output)
    }
}

fn entry(answer: Answer<'_>, most: Option<usize>) -> Value {
    let (stdout, stderr) = fitted(answer.stdout(), answer.stderr(), most.unwrap_or(usize::MAX));
    let outcome = if answer.timed_out() {
        json!({"type": "timeout"})
    } else {
        json!({"type": "exit", "exit_code": answer.exit_code()})
    };
    json!({"stdout": stdout, "stderr": appended(&stderr, &answer.remarks()), "outcome": outcome})
}

/// Both streams within one limit: neither gets less than half because of the other.
fn fitted(stdout: &str, stderr: &str, most: usize) -> (String, String) {
    let (out, err) = (stdout.chars().count(), stderr.chars().count());
    let for_err = err.min(most.saturating_sub(out).max(most / 2));
    (shortened(stdout, most - for_err), shortened(stderr, for_err))
}

/// The reply to what could not be read.
pub(super) fn rejected(sent: &Value, text: &str) -> Value {
    let entry = json!({"stdout": "", "stderr": appended("", &[text.to_owned()]), "outcome": {"type": "exit", "exit_code": 2}});
    item(sent.get("call_id").filter(|id| id.is_string()).unwrap_or(&Value::Null), None, &[entry])
}

fn item(call_id: &Value, most: Option<usize>, output: &[Value]) -> Value {
    let mut item = json!({"type": "shell_call_output", "call_id": call_id, "output": output});
    if let Some(most) = most {
        item["max_output_length"] = json!(most);
    }
    item
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_streams_fit_into_one_limit() {
        let (long, short) = ("x".repeat(1000), "y".repeat(10));
        for (stdout, stderr, lengths) in [
            (&long, &short, (89, 10)),
            (&short, &long, (10, 89)),
            (&long, &long, (49, 49)),
            (&short, &short, (10, 10)),
        ] {
            let (out, err) = fitted(stdout, stderr, 100);
            assert_eq!((out.chars().count(), err.chars().count()), lengths);
        }
        assert_eq!(fitted(&long, &long, 1), ("x".to_owned(), String::new()));
    }
}
