//! The tools as clients and their models see them.

use std::sync::Arc;

use bashtion::{Network, SandboxMode, calls};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde_json::{Value, json};

use super::{Questions, Setup, arguments};

pub(super) const TASK_LIST: &str = "task_list";
pub(super) const TASK_OUTPUT: &str = "task_output";
pub(super) const TASK_WAIT: &str = "task_wait";
pub(super) const TASK_KILL: &str = "task_kill";
pub(super) const APPROVAL: &str = "approval";

/// How long `task_wait` and `approval` wait if they are not told: less than the minute after which clients give up.
pub(super) const USUAL_WAIT_MS: u64 = 50_000;

const ABOUT_TASKS: &str = "
- Background tasks outlive this conversation. With the task_id of the result: task_output shows what one has printed, task_wait waits \
for its end, task_kill ends it with everything it started.";

const ABOUT_QUESTIONS: &str = "
- A result with status needs_approval was not run: the user is asked. When `approval` says that they have agreed, make the very same call \
again.";

/// All of them, always in this order.
pub(super) fn all(setup: &Setup) -> Vec<Tool> {
    let mut tools = vec![
        bash(setup),
        tool::<arguments::List>(
            TASK_LIST,
            "Background tasks",
            "List the background tasks of this workspace, running and finished, the latest first: task_id, status, command, how long, \
             the last line printed.",
            ToolAnnotations::new().read_only(true),
            &json!({"tasks": {"type": "array", "items": {"type": "object"}}}),
            setup,
        ),
        tool::<arguments::Output>(
            TASK_OUTPUT,
            "Output of a task",
            "Show what a background task has printed so far, standard output and standard error together. Of very much the beginning and \
             the end are shown; `since` with the last next_offset gets only what is new, `tail` only the last lines.",
            ToolAnnotations::new().read_only(true),
            &json!({
                "task_id": {"type": "string"}, "status": {"type": "string"}, "output": {"type": "string"},
                "next_offset": {"type": "integer"},
            }),
            setup,
        ),
        tool::<arguments::Wait>(
            TASK_WAIT,
            "Wait for a task",
            &format!(
                "Wait until a background task has ended, and get its result. After {} seconds, or timeout_ms, it comes back with status \
                 running if it has not: wait again, or do something else meanwhile. Better than sleeping in a command.",
                USUAL_WAIT_MS / 1000
            ),
            ToolAnnotations::new().read_only(true),
            &result_schema(),
            setup,
        ),
        tool::<arguments::Kill>(
            TASK_KILL,
            "End a task",
            "End a background task with everything it started (SIGTERM, after two seconds SIGKILL), and get its result. With `signal` that \
             signal is sent instead.",
            ToolAnnotations::new().read_only(false).destructive(true).idempotent(true).open_world(false),
            &result_schema(),
            setup,
        ),
    ];
    if setup.questions == Questions::Ask {
        tools.push(tool::<arguments::Look>(
            APPROVAL,
            "A question to the user",
            &format!(
                "See whether the user has agreed to a command whose result was needs_approval; waits up to {} seconds, or timeout_ms, for \
                 their answer. It cannot be answered with a tool or a command.",
                USUAL_WAIT_MS / 1000
            ),
            ToolAnnotations::new().read_only(true),
            &json!({"approval_id": {"type": "string"}, "state": {"type": "string"}}),
            setup,
        ));
    }
    tools
}

/// As the profile has it.
fn bash(setup: &Setup) -> Tool {
    let Setup { profile, cwd, .. } = setup;
    let questions = if setup.questions == Questions::Ask { ABOUT_QUESTIONS } else { "" };
    let description = format!("{}\n{ABOUT_TASKS}{questions}", profile.tool_description(cwd));
    let mut definition = profile.tool_definition(bashtion::ToolFormat::Mcp, cwd);
    let sandbox = &profile.sandbox;
    let annotations = ToolAnnotations::with_title("Run a command")
        .read_only(false)
        .destructive(sandbox.mode != SandboxMode::ReadOnly)
        .idempotent(false)
        .open_world(sandbox.mode == SandboxMode::Off || sandbox.network == Network::On);
    let tool = Tool::new(profile.tool.name.clone(), description, object(definition["inputSchema"].take()))
        .with_annotations(annotations);
    with_output(tool, &result_schema(), setup)
}

fn tool<T: JsonSchema>(
    name: &'static str,
    title: &str,
    description: &str,
    mut annotations: ToolAnnotations,
    output: &Value,
    setup: &Setup,
) -> Tool {
    annotations.title = Some(title.to_owned());
    annotations.open_world_hint.get_or_insert(false);
    let tool =
        Tool::new(name, description.to_owned(), object(calls::schema::<T>())).with_annotations(annotations);
    with_output(tool, output, setup)
}

/// What the structured part of a result is like. There may be more in it.
fn with_output(tool: Tool, properties: &Value, setup: &Setup) -> Tool {
    if !setup.structured {
        return tool;
    }
    tool.with_raw_output_schema(object(json!({"type": "object", "properties": properties})))
}

/// Of a command. What does not apply is left out.
fn result_schema() -> Value {
    let text = |about: &str| json!({"type": "string", "description": about});
    let number = |about: &str| json!({"type": "integer", "description": about});
    let texts = |about: &str| json!({"type": "array", "items": {"type": "string"}, "description": about});
    let objects = |about: &str| json!({"type": "array", "items": {"type": "object"}, "description": about});
    json!({
        "status": {
            "type": "string",
            "enum": [
                "exited", "signaled", "timed_out", "cancelled", "refused", "needs_approval", "running", "lost",
                "invalid",
            ],
        },
        "success": {"type": "boolean", "description": "whether it exited with 0"},
        "exit_code": number("if it exited"),
        "signal": text("what ended it"),
        "duration_ms": number("how long it took"),
        "stdout": text("standard output"),
        "stderr": text("standard error"),
        "output": text("both, where they are one"),
        "truncated": {"type": "boolean", "description": "whether the middle of the output was left out"},
        "output_file": text("all of the output"),
        "task_id": text("the background task"),
        "approval_id": text("the question that waits for the user"),
        "timed_out": {"type": "boolean", "description": "whether it took too long and was ended"},
        "session": text("the session it ran in"),
        "cwd_after": text("where the session is now"),
        "text": text("the result in the profile's words, instead of its output"),
        "denials": texts("what the sandbox stopped, and what would allow it"),
        "notes": texts("what else there is to say"),
        "pipe_status": {"type": "array", "items": {"type": "integer"}, "description": "the exit codes of a pipe"},
        "leftovers": objects("processes that outlived the shell, and what became of them"),
        "verdict": {"type": "object", "description": "why it was not run: findings with rule, message and help"},
        "results": objects("of a call that runs several commands, one for each"),
    })
}

fn object(value: Value) -> Arc<JsonObject> {
    match value {
        Value::Object(map) => Arc::new(map),
        _ => Arc::default(),
    }
}
