//! OpenAI's `local_shell`, the older of the two.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::check::{command, unsupported};
use super::env::variables;
use super::{Answer, Call, CallError, CallStatus, ToolCall};
use crate::{Request, build_safe_command, escape_arg};

/// An item `local_shell_call` of a response: a program with its arguments, not a line for a shell.
///
/// It becomes `exec 'program' 'argument' …`, each word quoted, so that what runs is the program of that name and never a builtin,
/// a function or a keyword. `["bash", "-c", SCRIPT]` becomes the script itself where that is the same: see [`LocalShellAction::script`].
///
/// The reply's `id` is the `call_id`, and its `output` a JSON text with `stdout`, `stderr`, `exit_code` and `timed_out`.
///
/// ```
/// use bashtion::calls::{LocalShellAction, LocalShellActionType};
/// let action = |command: &[&str]| LocalShellAction {
///     r#type: LocalShellActionType::Exec,
///     command: command.iter().map(|word| word.to_string()).collect(),
///     env: None,
///     timeout_ms: None,
///     user: None,
///     working_directory: None,
/// };
/// assert_eq!(action(&["grep", "-r", "it's; rm x"]).script(), r"exec 'grep' '-r' 'it'\''s; rm x'");
/// assert_eq!(action(&["bash", "-c", "ls | wc -l"]).script(), "ls | wc -l");
/// assert_eq!(action(&["bash", "-lc", "ls | wc -l"]).script(), "exec 'bash' '-lc' 'ls | wc -l'");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LocalShellCall {
    /// What kind of item it is.
    pub r#type: LocalShellCallType,
    /// The name of the call, which comes back in the reply.
    #[schemars(length(min = 1, max = 64))]
    pub call_id: String,
    /// What to run.
    pub action: LocalShellAction,
    /// How far the model has come with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<CallStatus>,
    /// The name of the item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// The only type that a [`LocalShellCall`] has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum LocalShellCallType {
    /// A call of the tool `local_shell`.
    #[serde(rename = "local_shell_call")]
    LocalShellCall,
}

/// What to run, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LocalShellAction {
    /// What kind of action it is.
    pub r#type: LocalShellActionType,
    /// The program and its arguments.
    #[schemars(length(min = 1, max = 10_000))]
    pub command: Vec<String>,
    /// Variables to set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env: Option<BTreeMap<String, String>>,
    /// How long it may take, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 86_400_000))]
    pub timeout_ms: Option<u64>,
    /// Must be null: no other user can be switched to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Where it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub working_directory: Option<String>,
}

/// The only action there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LocalShellActionType {
    /// Run a program.
    Exec,
}

impl LocalShellAction {
    /// The same as a script for bash.
    ///
    /// `["bash", "-c", SCRIPT]` is the script, because every script is run with `bash -c`. Not so `-lc`, which reads profiles first;
    /// a path to some bash, which may be another one; a `PATH` in `env`, for the same reason; further arguments, which are `$0`
    /// and on; and a script that begins with a sign, which bash takes for an option.
    #[must_use]
    pub fn script(&self) -> String {
        let words: Vec<&str> = self.command.iter().map(String::as_str).collect();
        let other_path = self.env.as_ref().is_some_and(|env| env.contains_key("PATH"));
        match words.as_slice() {
            ["bash", "-c", script]
                if !other_path && !script.starts_with(['-', '+']) && !script.trim().is_empty() =>
            {
                (*script).to_owned()
            }
            // Quoted, a name that begins with a dash is still an option of exec.
            [program, args @ ..] if program.starts_with('-') => {
                build_safe_command(&format!("exec -- {}", escape_arg(program)), args)
            }
            [program, args @ ..] => build_safe_command(&format!("exec {}", escape_arg(program)), args),
            [] => String::new(),
        }
    }
}

impl ToolCall for LocalShellCall {
    fn to_call(&self) -> Result<Call, CallError> {
        CallStatus::check(self.status)?;
        let action = &self.action;
        if action.user.is_some() {
            return Err(unsupported(
                "action.user",
                "commands run as the user who runs Bashtion; leave it out or send null",
            ));
        }
        command("action.command[0]", action.command.first().map_or("", String::as_str))?;
        let mut request = Request::new(action.script()).envs(variables("action.env", action.env.as_ref())?);
        if let Some(dir) = &action.working_directory {
            request = request.cwd(dir);
        }
        if let Some(after) = action.timeout_ms {
            request = request.timeout(Duration::from_millis(after));
        }
        Ok(Call::foreground(request))
    }

    fn reply(&self, answers: &[Answer<'_>]) -> Value {
        let answer = Answer::only(answers);
        let output = json!({
            "stdout": answer.stdout(),
            "stderr": answer.told_stderr(),
            "exit_code": answer.exit_code(),
            "timed_out": answer.timed_out(),
        });
        item(&json!(self.call_id), &output)
    }
}

/// The reply to what could not be read.
pub(super) fn rejected(sent: &Value, text: &str) -> Value {
    let output = json!({"stdout": "", "stderr": text, "exit_code": 2, "timed_out": false});
    item(sent.get("call_id").filter(|id| id.is_string()).unwrap_or(&Value::Null), &output)
}

fn item(id: &Value, output: &Value) -> Value {
    json!({"type": "local_shell_call_output", "id": id, "output": output.to_string()})
}
