//! Results as a client gets them: a text that says everything, and the same as an object.
//!
//! Some clients show their model only the text, some only the object, some both. So each says all there is to say, and neither
//! says what the model knows already.

use std::time::Duration;

use bashtion::calls::Answer;
use bashtion::{Outcome, Status, Task, TaskState, visible};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};

use super::Setup;

/// How a command ended. An error of the tool is only what was not run at all, unless the profile wants more of them.
pub(super) fn outcome(outcome: &Outcome, setup: &Setup) -> CallToolResult {
    let text = outcome.text.clone().unwrap_or_else(|| in_words(outcome));
    let failed = match outcome.status {
        Status::Refused | Status::Invalid => true,
        Status::NeedsApproval | Status::Running => false,
        _ => setup.profile.tool.failure_is_error && !outcome.success(),
    };
    result(text, facts(outcome), failed, setup)
}

/// A text and the same facts.
pub(super) fn result(text: String, facts: Value, failed: bool, setup: &Setup) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.is_error = Some(failed);
    result.structured_content = setup.structured.then_some(facts);
    result
}

/// Several results of one call, one after the other.
pub(super) fn joined(results: Vec<CallToolResult>) -> CallToolResult {
    let mut whole = CallToolResult::default();
    whole.is_error = Some(results.iter().any(|result| result.is_error == Some(true)));
    let parts: Vec<Value> = results.iter().filter_map(|result| result.structured_content.clone()).collect();
    whole.structured_content = (!parts.is_empty()).then(|| json!({"results": parts}));
    whole.content = results.into_iter().flat_map(|result| result.content).collect();
    whole
}

/// The status, what it printed, what there is to say about it.
fn in_words(outcome: &Outcome) -> String {
    let answer = Answer::Outcome(outcome);
    let mut text = status(outcome, answer);
    text.push('\n');
    let (stdout, stderr) = (answer.stdout(), answer.stderr());
    append(&mut text, stdout);
    if !stderr.is_empty() {
        append(&mut text, "standard error:\n");
        append(&mut text, stderr);
    }
    if stdout.is_empty() && stderr.is_empty() && was_run(outcome.status) {
        append(&mut text, "(no output)");
    }
    let ending = usize::from(answer.ending().is_some());
    for remark in answer.remarks().iter().skip(ending) {
        append(&mut text, remark);
    }
    if let Some(codes) = outcome.pipe_status.as_ref().filter(|codes| codes.len() > 1) {
        let codes: Vec<String> = codes.iter().map(ToString::to_string).collect();
        append(&mut text, &format!("exit codes of the pipe: {}", codes.join(" ")));
    }
    if let (Some(session), Some(dir)) = (&outcome.session, &outcome.cwd_after) {
        append(&mut text, &format!("session {session} is now in {}", visible(&dir.to_string_lossy())));
    }
    text.truncate(text.trim_end_matches('\n').len());
    text
}

fn status(outcome: &Outcome, answer: Answer<'_>) -> String {
    let time = in_short(outcome.duration);
    match (outcome.status, answer.ending()) {
        (Status::Exited(code), _) => format!("exit {code} after {time}"),
        (Status::Running, _) => running(outcome),
        (
            Status::TimedOut { .. } | Status::Refused | Status::NeedsApproval | Status::Invalid,
            Some(ending),
        ) => ending,
        (_, Some(ending)) => format!("{ending} after {time}"),
        (status, None) => status.to_string(),
    }
}

fn running(outcome: &Outcome) -> String {
    let name = outcome.task_id.as_ref().map(ToString::to_string).unwrap_or_default();
    let file = outcome.output_file.as_ref().map(|file| file.display().to_string()).unwrap_or_default();
    let pid = outcome.pid_to_kill().unwrap_or_default();
    format!(
        "running in the background as task {name}, process {pid}; output in {file}\n\
         next: task_output, task_wait or task_kill with task_id {name}"
    )
}

fn was_run(status: Status) -> bool {
    !matches!(status, Status::Refused | Status::NeedsApproval | Status::Invalid | Status::Running)
}

/// What is always told about a command, and what only if there is anything to tell.
const ALWAYS: [&str; 8] =
    ["status", "success", "exit_code", "duration_ms", "stdout", "stderr", "output", "truncated"];
const SOMETIMES: [&str; 13] = [
    "signal", "timed_out", "timeout_ms", "output_file", "task_id", "approval_id", "session", "cwd_after",
    "pipe_status", "denials", "notes", "leftovers", "pid",
];

/// The same facts, by the names of `bashtion run --json`. What a profile says in its own words stands for the output.
fn facts(outcome: &Outcome) -> Value {
    let Ok(Value::Object(mut whole)) = serde_json::to_value(outcome) else { return json!({}) };
    let mut told = Map::new();
    let words = whole.remove("text").filter(|text| !text.is_null());
    for name in ALWAYS {
        let is_output = matches!(name, "stdout" | "stderr" | "output");
        match whole.remove(name) {
            Some(value) if !(value.is_null() || is_output && words.is_some()) => {
                told.insert(name.to_owned(), value);
            }
            _ => {}
        }
    }
    if let Some(words) = words {
        told.insert("text".to_owned(), words);
    }
    if outcome.status != Status::Running {
        whole.remove("pid");
    }
    let is_plain = |codes: &Value| codes.as_array().is_none_or(|codes| codes.len() < 2);
    if whole.get("pipe_status").is_some_and(is_plain) {
        whole.remove("pipe_status");
    }
    for name in SOMETIMES {
        if let Some(value) = whole.remove(name).filter(says_something) {
            told.insert(name.to_owned(), value);
        }
    }
    if outcome.status == Status::Running {
        told.shift_remove("success");
    }
    if !was_run(outcome.status) {
        for name in ["duration_ms", "stdout", "stderr", "output", "truncated"] {
            told.shift_remove(name);
        }
    }
    if matches!(outcome.status, Status::Refused | Status::NeedsApproval | Status::Invalid) {
        told.insert("verdict".to_owned(), whole.remove("verdict").unwrap_or_default());
    } else if outcome.sandbox.reason.is_some() {
        told.insert("sandbox".to_owned(), whole.remove("sandbox").unwrap_or_default());
    }
    Value::Object(told)
}

fn says_something(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Array(items) => !items.is_empty(),
        Value::String(text) => !text.is_empty(),
        Value::Bool(true) | Value::Number(_) | Value::Object(_) => true,
    }
}

/// How a task stands, in one line.
pub(super) fn task_line(task: &Task) -> String {
    let time = in_short(task.duration());
    let printed = match task.output_bytes {
        0 => "nothing printed yet".to_owned(),
        bytes => format!("{bytes} bytes printed"),
    };
    match &task.state {
        TaskState::Running(_) => format!("task {} has been running for {time}, {printed}", task.id),
        TaskState::Ended(outcome) => format!("task {}: {} after {time}", task.id, outcome.status),
        TaskState::Over => format!("task {} has ended", task.id),
        TaskState::Lost { reason, .. } => {
            format!("task {} is lost: {reason}; what it printed is kept", task.id)
        }
    }
}

/// On a line of its own.
pub(super) fn append(text: &mut String, more: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(more);
}

/// `412 ms`, `3.2 s`, `2m 5s`
pub(super) fn in_short(duration: Duration) -> String {
    match duration.as_secs() {
        0 => format!("{} ms", duration.as_millis()),
        1..60 => format!("{:.1} s", duration.as_secs_f64()),
        seconds => humantime::format_duration(Duration::from_secs(seconds)).to_string(),
    }
}
