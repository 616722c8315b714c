//! Codex's `exec_command`.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::answer::appended;
use super::check::{command, unsupported};
use super::{Answer, Call, CallError, ToolCall};
use crate::{Output, Request, Status, Streams};

/// Codex's `exec_command`. The reply is its text: wall time, exit code, token count, output.
///
/// There is no terminal, no login shell, no shell but bash and no `write_stdin`: a call that wants one is refused, and told so.
/// `yield_time_ms` becomes [`Call::wait`], within Codex's own bounds of 250 to 30000. A token is counted as four characters.
///
/// ```
/// use bashtion::calls::{self, Vendor};
/// use serde_json::json;
/// let error = calls::parse(Vendor::Codex, json!({"cmd": "vim x", "tty": true})).unwrap_err();
/// assert!(error.to_string().starts_with(r#""tty" cannot be honoured: there is no terminal"#));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CodexExecCommand {
    /// The shell command to execute.
    pub cmd: String,
    /// Where it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub workdir: Option<String>,
    /// Must be bash, or left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shell: Option<String>,
    /// Must not be true: profiles are not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub login: Option<bool>,
    /// Must not be true: there is no terminal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tty: Option<bool>,
    /// How long to wait for the end, in milliseconds, before the command goes on in the background.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub yield_time_ms: Option<u64>,
    /// How much of the output is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_output_tokens: Option<usize>,
    /// Must be `use_default`, or left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox_permissions: Option<SandboxPermissions>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub justification: Option<String>,
    /// What Codex could allow in future. Without effect: the rules are not the model's to change.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1000))]
    pub prefix_rule: Option<Vec<String>>,
}

/// Which permissions a command wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SandboxPermissions {
    /// What every command has.
    UseDefault,
    /// More than that, still confined.
    WithAdditionalPermissions,
    /// No confinement.
    RequireEscalated,
}

const CHARACTERS_PER_TOKEN: usize = 4;
const SHORTEST_WAIT: u64 = 250;
const LONGEST_WAIT: u64 = 30_000;

impl ToolCall for CodexExecCommand {
    fn to_call(&self) -> Result<Call, CallError> {
        self.check()?;
        let mut request = Request::new(command("cmd", &self.cmd)?).streams(Streams::Combined);
        if let Some(dir) = &self.workdir {
            request = request.cwd(dir);
        }
        if let Some(tokens) = self.max_output_tokens {
            request = request.max_output(tokens * CHARACTERS_PER_TOKEN);
        }
        if let Some(text) = &self.justification {
            request = request.description(text);
        }
        let wait = self.yield_time_ms.map(|wait| wait.clamp(SHORTEST_WAIT, LONGEST_WAIT));
        Ok(Call { wait: wait.map(Duration::from_millis), ..Call::foreground(request) })
    }

    fn reply(&self, answers: &[Answer<'_>]) -> Value {
        let answer = Answer::only(answers);
        let mut lines = vec![];
        if let Some(outcome) = answer.outcome() {
            lines.push(format!("Wall time: {:.4} seconds", outcome.duration.as_secs_f64()));
            lines.push(match (outcome.status, &outcome.task_id) {
                (Status::Running, Some(id)) => format!("Process running with session ID {id}"),
                _ => format!("Process exited with code {}", answer.exit_code()),
            });
            if let Some(tokens) = original_tokens(&outcome.output) {
                lines.push(format!("Original token count: {tokens}"));
            }
        } else {
            lines.push(format!("Process exited with code {}", answer.exit_code()));
        }
        lines.push("Output:".to_owned());
        lines.push(appended(answer.stdout(), &answer.remarks()));
        json!(lines.join("\n"))
    }
}

impl CodexExecCommand {
    fn check(&self) -> Result<(), CallError> {
        if self.tty == Some(true) {
            return Err(unsupported(
                "tty",
                "there is no terminal; leave it out and use non-interactive options",
            ));
        }
        if self.login == Some(true) {
            return Err(unsupported("login", "profiles are not read; leave it out or send false"));
        }
        if self.shell.as_deref().is_some_and(|shell| !["bash", "/bin/bash", "/usr/bin/bash"].contains(&shell))
        {
            return Err(unsupported(
                "shell",
                "commands run with bash; leave it out, and call another shell by name in \"cmd\"",
            ));
        }
        match self.sandbox_permissions {
            None | Some(SandboxPermissions::UseDefault) => Ok(()),
            Some(SandboxPermissions::WithAdditionalPermissions | SandboxPermissions::RequireEscalated) => {
                Err(unsupported(
                    "sandbox_permissions",
                    "how commands are confined is not the model's to decide; leave it out",
                ))
            }
        }
    }
}

/// How much there was before anything was cut.
fn original_tokens(output: &Output) -> Option<u64> {
    let bytes = match output {
        Output::Combined(output) => output.bytes,
        Output::Separate { stdout, stderr } => stdout.bytes + stderr.bytes,
    };
    (bytes > 0).then(|| bytes.div_ceil(CHARACTERS_PER_TOKEN as u64))
}
