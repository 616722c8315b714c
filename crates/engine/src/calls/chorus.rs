//! Chorus's `bash_execute`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::answer::{UNREADABLE, appended, last};
use super::check::{command, seconds};
use super::env::variables;
use super::{Answer, Call, CallError, ToolCall};
use crate::{Output, Request, Status, Text};

/// Chorus's `bash_execute`; workspace and profile are the caller's. The reply is a `BashResult`.
///
/// As its document has it, `exit_code` is null where the command has none, -n after signal n as in Python, and of too much output the
/// end is kept under a line that says so.
///
/// ```
/// use bashtion::{Engine, ToolContext, calls};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), calls::CallError> {
/// let sent = serde_json::json!({"command": "seq 1000", "timeout": 2.5, "max_output_len": 9});
/// let parsed = calls::parse(calls::Vendor::Chorus, sent)?;
/// let results = parsed.call().run(&Engine::new(), &ToolContext::from_host("/tmp")).await;
/// let reply = parsed.reply(&results);
/// assert_eq!(reply["stdout"], "[Output truncated: showing last 9 chars of 3893 chars]\n999\n1000\n");
/// assert_eq!(reply["truncated"], true);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChorusBash {
    /// The command to run.
    pub command: String,
    /// How long it may take, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.001, max = 86_400.0))]
    pub timeout: Option<f64>,
    /// How many characters of each stream are kept, from its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10_000_000))]
    pub max_output_len: Option<usize>,
    /// Variables to set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env_overrides: Option<BTreeMap<String, String>>,
}

impl ToolCall for ChorusBash {
    fn to_call(&self) -> Result<Call, CallError> {
        let env = variables("env_overrides", self.env_overrides.as_ref())?;
        let mut request = Request::new(command("command", &self.command)?).envs(env);
        if let Some(after) = self.timeout {
            request = request.timeout(seconds("timeout", after)?);
        }
        if let Some(characters) = self.max_output_len {
            // Half of what is kept is the end. Both cuts may move to a line end, so there has to be more of it.
            request = request.max_output(asked_for(characters));
        }
        Ok(Call::foreground(request))
    }

    fn reply(&self, answers: &[Answer<'_>]) -> Value {
        let answer = Answer::only(answers);
        let streams = answer.outcome().map(|outcome| match &outcome.output {
            Output::Separate { stdout, stderr } => (self.end_of(stdout), self.end_of(stderr)),
            Output::Combined(output) => (self.end_of(output), Kept::default()),
        });
        let (stdout, stderr) = streams.unwrap_or_default();
        json!({
            "command": self.command,
            "exit_code": exit_code(answer),
            "stdout": stdout.text,
            "stderr": appended(&stderr.text, &answer.remarks()),
            "timed_out": answer.timed_out(),
            "duration_ms": answer.duration_ms(),
            "truncated": stdout.cut || stderr.cut,
        })
    }
}

/// More than a cut moves.
const SPARE: usize = 256;

fn asked_for(characters: usize) -> usize {
    2 * (characters + SPARE)
}

#[derive(Debug, Default)]
struct Kept {
    text: String,
    cut: bool,
}

impl ChorusBash {
    /// The end of a stream, with how much of it that is.
    fn end_of(&self, stream: &Text) -> Kept {
        let whole = Kept { text: stream.text.clone(), cut: stream.cut > 0 };
        let Some(most) = self.max_output_len else { return whole };
        // Where the engine has cut there is a line of its own, which is not output.
        let marker = format!("[... {} character", stream.cut);
        let line = stream.text.rfind(&marker).filter(|_| stream.cut > 0);
        let (before, after) = match line {
            Some(start) => {
                let rest = &stream.text[start..];
                (&stream.text[..start], rest.find('\n').map_or("", |end| &rest[end + 1..]))
            }
            None => ("", without_header(stream, asked_for(most))),
        };
        let end = last(after, most);
        if stream.cut == 0 && end.len() == stream.text.len() {
            return whole;
        }
        // Where its cut is not at a line end, the engine has added one.
        let before = before.chars().count().min(most + SPARE);
        let seen = before as u64 + stream.cut + after.chars().count() as u64;
        let shown = end.chars().count();
        Kept {
            text: format!("[Output truncated: showing last {shown} chars of {seen} chars]\n{end}"),
            cut: true,
        }
    }
}

/// An engine with the profile of Chorus has put a header of its own over what it kept.
fn without_header(stream: &Text, kept: usize) -> &str {
    let header = format!("[Output truncated: showing last {kept} chars of ");
    let rest = stream.text.strip_prefix(&header).filter(|_| stream.cut > 0);
    rest.and_then(|rest| rest.split_once('\n')).map_or(stream.text.as_str(), |(_, kept)| kept)
}

fn exit_code(answer: Answer<'_>) -> Option<i32> {
    match answer.status()? {
        Status::Exited(code) => Some(code),
        Status::Signaled(signal) => Some(-signal.as_raw()),
        Status::TimedOut { .. } | Status::Cancelled | Status::Refused | Status::NeedsApproval => None,
        Status::Invalid => Some(UNREADABLE),
        Status::Running => None,
    }
}

/// The reply to what could not be read.
pub(super) fn rejected(sent: &Value, text: &str) -> Value {
    json!({
        "command": sent.get("command").and_then(Value::as_str).unwrap_or_default(),
        "exit_code": null,
        "stdout": "",
        "stderr": text,
        "timed_out": false,
        "duration_ms": 0,
        "truncated": false,
    })
}
