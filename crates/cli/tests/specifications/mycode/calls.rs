//! `BashInput` and `BashOutput`, in a program of one's own.

use std::path::Path;

use bashtion::calls::{CallError, Vendor, parse, reject};
use bashtion::{Engine, Profile, TaskState, ToolContext};
use serde_json::{Value, json};

use crate::{string, world};

fn engine(dir: &Path) -> Engine {
    let profile = Profile::built_in("mycode").unwrap();
    let builder = Engine::builder().profile(&profile).state_dir(dir.join("state"));
    builder.supervisor(env!("CARGO_BIN_EXE_bashtion")).build()
}

fn on_runtime<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// The reply to a call.
fn replied(call: Value) -> Value {
    let dir = tempfile::tempdir().unwrap();
    let parsed = parse(Vendor::MyCode, call).unwrap();
    let results = on_runtime(parsed.call().run(&engine(dir.path()), &ToolContext::from_host("/usr")));
    parsed.reply(&results)
}

fn wrong(call: Value) -> CallError {
    parse(Vendor::MyCode, call).unwrap_err()
}

#[test]
fn a_success() {
    let mut reply = replied(json!({"command": "echo out; echo err >&2", "description": "Say it"}));
    assert!(reply["duration_ms"].take().is_u64());
    let expected = json!({
        "success": true, "stdout": "out\n", "stderr": "err\n", "exit_code": 0, "duration_ms": null, "truncated": false
    });
    assert_eq!(reply, expected);
}

#[test]
fn a_failure_has_its_code_and_output() {
    let reply = replied(json!({"command": "echo out; exit 7"}));
    assert_eq!((&reply["success"], &reply["exit_code"]), (&false.into(), &7.into()));
    assert_eq!(reply["stdout"], "out\n");
}

#[test]
fn a_timeout_is_in_milliseconds_and_has_the_code_1() {
    let reply = replied(json!({"command": "echo out; sleep 60", "timeout": 300}));
    assert_eq!((&reply["success"], &reply["exit_code"]), (&false.into(), &1.into()));
    assert!(string(&reply["stderr"]).contains("timed out after 300ms"), "{reply}");
    assert_eq!(reply["stdout"], "out\n");
}

#[test]
fn a_timeout_of_zero_is_the_default() {
    assert_eq!(replied(json!({"command": "sleep 0.1", "timeout": 0}))["success"], true);
}

#[test]
fn a_timeout_beyond_ten_minutes_is_ten_minutes() {
    let timeout =
        |call| serde_json::to_value(&parse(Vendor::MyCode, call).unwrap().call().requests[0]).unwrap();
    let most = timeout(json!({"command": "ls", "timeout": 600_000}));
    let more = timeout(json!({"command": "ls", "timeout": 9_999_999}));
    assert_eq!(more["timeout"], most["timeout"]);
    assert_ne!(most["timeout"], timeout(json!({"command": "ls", "timeout": 599_999}))["timeout"]);
}

#[test]
fn directory_and_variables() {
    let reply = replied(json!({"command": "pwd; echo $A", "cwd": "/usr/bin", "env": {"A": "b"}}));
    assert_eq!(reply["stdout"], "/usr/bin\nb\n");
}

#[test]
fn long_output_is_marked() {
    let reply = replied(json!({"command": "seq 100000"}));
    assert_eq!(reply["truncated"], true);
    assert!(string(&reply["stdout"]).contains(" characters truncated) ...\n\n"), "{reply}");
}

#[test]
fn a_blocked_command_has_the_reason_and_minus_1() {
    let reply = replied(json!({"command": "mkfs -V"}));
    assert_eq!((&reply["success"], &reply["exit_code"]), (&false.into(), &(-1).into()));
    assert_eq!((&reply["stdout"], &reply["duration_ms"]), (&"".into(), &0.into()));
    assert!(string(&reply["stderr"]).contains("Command contains blocked pattern: mkfs"), "{reply}");
}

#[test]
fn a_background_task() {
    let dir = tempfile::tempdir().unwrap();
    let engine = engine(dir.path());
    let parsed = parse(Vendor::MyCode, json!({"command": "echo out; exit 2", "run_in_background": true}));
    let parsed = parsed.unwrap();
    on_runtime(async {
        let results = parsed.call().run(&engine, &ToolContext::from_host("/usr")).await;
        let reply = parsed.reply(&results);
        let id = string(&reply["task_id"]);
        assert_eq!(reply["stdout"], format!("Background task started: {id}"));
        assert_eq!((&reply["success"], &reply["exit_code"]), (&true.into(), &0.into()));
        assert_eq!((&reply["stderr"], &reply["duration_ms"]), (&"".into(), &0.into()));
        let task = engine.tasks().wait(&id.parse().unwrap()).await.unwrap();
        let TaskState::Ended(outcome) = task.state else { panic!("{task:?}") };
        assert_eq!(outcome.output.stdout(), "out\n");
        let log = std::fs::read_to_string(string(&reply["output_file"])).unwrap();
        assert!(log.starts_with("out\n"), "{log}");
    });
}

#[test]
fn the_command_must_be_there_and_not_empty() {
    assert!(wrong(json!({})).to_string().contains("command"));
    assert!(wrong(json!({"command": ""})).to_string().contains("command"));
}

#[test]
fn a_field_of_the_wrong_kind_is_named() {
    for (field, value) in [
        ("timeout", json!(-1)),
        ("timeout", json!("2m")),
        ("run_in_background", json!("yes")),
        ("env", json!({"A": 1})),
        ("cwd", json!(7)),
    ] {
        let error = wrong(json!({"command": "ls", field: value})).to_string();
        assert!(error.contains(field), "{error}");
    }
}

#[test]
fn what_cannot_be_read_is_replied_to_in_the_same_shape() {
    let sent = json!({"cmd": "ls"});
    let reply = reject(Vendor::MyCode, &sent, &wrong(sent.clone()));
    assert_eq!((&reply["success"], &reply["exit_code"]), (&false.into(), &(-1).into()));
    assert!(string(&reply["stderr"]).contains("cmd"), "{reply}");
}

#[test]
fn the_schema_has_the_parameters() {
    let tool = world().bashtion().args(&["schema", "--profile", "mycode", "--format", "anthropic"]).finish();
    let tool = tool.json();
    let schema = &tool["input_schema"];
    let types = ["command", "description", "timeout", "run_in_background", "cwd", "env"]
        .map(|name| string(&schema["properties"][name]["type"]).to_owned());
    assert_eq!(types, ["string", "string", "integer", "boolean", "string", "object"]);
    assert_eq!((&tool["name"], &schema["required"]), (&"Bash".into(), &json!(["command"])));
}

#[test]
fn the_description_has_parameters_and_best_practices() {
    let expected = "\
Execute shell commands with configurable options.

Parameters:
- command: The command to execute (required)
- description: What this command does (recommended)
- timeout: Timeout in milliseconds (default: 120000, max: 600000)
- run_in_background: Run without waiting (returns task_id)
- cwd: Working directory override
- env: Additional environment variables

Best practices:
- Always quote paths with spaces
- Use absolute paths when possible
- Use && to chain dependent commands
- Use ; to run commands regardless of previous success
- Prefer dedicated tools over: find, grep, cat, head, tail

For long-running commands, use run_in_background: true
and TaskOutput tool to check results.
";
    let description = Profile::built_in("mycode").unwrap().tool_description(Path::new("/srv"));
    assert!(description.starts_with(expected), "{description}");
}
