//! Tachikoma, "Bash Execution Core": its embedded tests by their names, its requirements, its options.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use bashtion::calls::{self, Vendor};
use bashtion::{
    AdmitError, CancellationToken, Engine, Error, Outcome, Profile, Request, ShellError, Status, ToolContext,
    bash, bash_sequence, bash_success, build_safe_command, escape_arg,
};
use bashtion_testkit::{living_with, wait_until};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::world;

/// A working directory, and an engine with the profile.
struct Primitive {
    dir: TempDir,
    engine: Engine,
}

impl Primitive {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let profile = Profile::built_in("tachikoma").unwrap();
        let engine = Engine::builder().profile(&profile).state_dir(dir.path().join("state")).build();
        Self { dir, engine }
    }

    fn context(&self) -> ToolContext {
        ToolContext::from_host(self.dir.path())
    }

    async fn bash(&self, request: impl Into<Request>) -> Outcome {
        bash(&self.engine, &self.context(), request).await.unwrap()
    }

    async fn stdout(&self, request: impl Into<Request>) -> String {
        self.bash(request).await.output.stdout().to_owned()
    }
}

/// The first reason why a command is refused; none if it is not.
fn validate(command: &str) -> Option<String> {
    let json =
        world().bashtion().args(&["check", "--json", "--profile", "tachikoma", command]).finish().json();
    let reason = json["verdict"]["findings"][0]["message"].as_str().map(str::to_owned);
    assert_eq!(json["decision"], if reason.is_some() { "deny" } else { "allow" }, "{command}");
    reason
}

fn dangerous(command: &str) {
    assert_eq!(validate(command).as_deref(), Some("Command appears to be dangerous"), "{command}");
}

fn blocked(command: &str, pattern: &str) {
    let expected = format!("Command contains blocked pattern: {pattern}");
    assert_eq!(validate(command), Some(expected), "{command}");
}

fn setting(key: &str) -> Value {
    let args = ["config", "show", "--profile", "tachikoma", "--json"];
    let shown = world().bashtion().args(&args).finish().json();
    shown.as_array().unwrap().iter().find(|setting| setting["key"] == key).unwrap()["value"].clone()
}

// The embedded tests

#[tokio::test]
async fn test_bash_echo() {
    let outcome = Primitive::new().bash("echo 'hello world'").await;
    assert_eq!(outcome.status, Status::Exited(0));
    assert_eq!((outcome.output.stdout(), outcome.output.stderr()), ("hello world\n", ""));
}

#[tokio::test]
async fn test_bash_exit_code() {
    assert_eq!(Primitive::new().bash("exit 42").await.status, Status::Exited(42));
}

#[tokio::test]
async fn test_bash_stderr() {
    let outcome = Primitive::new().bash("echo error >&2").await;
    assert_eq!(outcome.status, Status::Exited(0));
    assert_eq!((outcome.output.stdout(), outcome.output.stderr()), ("", "error\n"));
}

#[tokio::test]
async fn test_bash_env() {
    let request = Request::new("echo $TEST_VAR").env("TEST_VAR", "test_value");
    assert_eq!(Primitive::new().stdout(request).await, "test_value\n");
}

#[tokio::test]
async fn test_bash_working_dir() {
    let primitive = Primitive::new();
    let context = ToolContext::from_host("/");
    let outcome = bash(&primitive.engine, &context, Request::new("pwd").cwd("/tmp")).await.unwrap();
    assert_eq!(outcome.output.stdout(), "/tmp\n");
}

#[test]
fn test_validate_normal_command() {
    for command in ["ls -la", "git status", "echo 'hello'"] {
        assert_eq!(validate(command), None, "{command}");
    }
}

#[test]
fn test_validate_blocked_pattern() {
    blocked("rm -rf /", "rm -rf /");
}

#[test]
fn test_validate_dangerous() {
    // Not the blocked text itself: the triple finds it.
    dangerous("rm  -rf  /");
    dangerous("dd bs=1M if=/dev/zero of=/dev/sda");
}

#[test]
fn test_escape_arg() {
    assert_eq!(escape_arg("hello"), "'hello'");
    assert_eq!(escape_arg("it's"), "'it'\\''s'");
}

// Testing requirements

#[tokio::test]
async fn requirement_1_basic_commands_execute() {
    assert_eq!(Primitive::new().stdout("printf '%s-' a b | tr a-z A-Z").await, "A-B-");
}

#[tokio::test]
async fn requirement_2_exit_codes_are_captured() {
    let primitive = Primitive::new();
    for code in [0, 1, 127, 255] {
        assert_eq!(primitive.bash(format!("exit {code}")).await.status, Status::Exited(code));
    }
}

#[tokio::test]
async fn requirement_3_streams_are_separated() {
    let outcome = Primitive::new().bash("echo a; echo b >&2; echo c").await;
    assert_eq!((outcome.output.stdout(), outcome.output.stderr()), ("a\nc\n", "b\n"));
}

#[tokio::test]
async fn requirement_4_variables_are_set() {
    let request = Request::new("echo \"$A:$B\"").env("A", "1 $x").env("B", "ä");
    assert_eq!(Primitive::new().stdout(request).await, "1 $x:ä\n");
}

#[tokio::test]
async fn requirement_5_the_working_directory_is_respected() {
    let primitive = Primitive::new();
    fs::create_dir(primitive.dir.path().join("sub")).unwrap();
    let real = primitive.dir.path().canonicalize().unwrap();
    let expected = format!("{}\n", real.join("sub").display());
    assert_eq!(primitive.stdout(Request::new("pwd").cwd("sub")).await, expected);
}

#[tokio::test]
async fn requirement_6_blocked_commands_are_rejected() {
    let outcome = Primitive::new().bash("touch made; mkfs --version").await;
    assert_eq!((outcome.status, outcome.pid), (Status::Refused, None));
    assert_eq!(outcome.verdict.findings[0].message, "Command contains blocked pattern: mkfs");
}

#[tokio::test]
async fn requirement_7_cancellation_ends_the_process() {
    let primitive = Primitive::new();
    let cancel = CancellationToken::new();
    let context = primitive.context().cancel(cancel.clone());
    let up = primitive.dir.path().join("up");
    let run = bash(&primitive.engine, &context, "echo begun; touch up; sleep 4402.1");
    let stop = async {
        wait_for(&up).await;
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(run, stop);
    let outcome = outcome.unwrap();
    assert_eq!((outcome.status, outcome.output.stdout()), (Status::Cancelled, "begun\n"));
    assert_eq!(living_with("sleep 4402.1"), Vec::<i32>::new());
}

async fn wait_for(file: &Path) {
    while !file.exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_dropped_call_ends_the_process() {
    let primitive = Primitive::new();
    let context = primitive.context();
    let up = primitive.dir.path().join("up");
    tokio::select! {
        outcome = bash(&primitive.engine, &context, "touch up; sleep 4402.2") => panic!("{outcome:?}"),
        () = wait_for(&up) => {}
    }
    wait_until("it is ended", || living_with("sleep 4402.2").is_empty());
}

// Acceptance criteria and details

#[tokio::test]
async fn commands_are_executed_asynchronously() {
    let primitive = Primitive::new();
    // Each waits for the other, on one thread.
    let one = primitive.bash("touch one; while [ ! -e two ]; do sleep 0.01; done");
    let two = primitive.bash("touch two; while [ ! -e one ]; do sleep 0.01; done");
    let (one, two) = tokio::join!(one, two);
    assert!(one.success() && two.success());
}

#[tokio::test]
async fn standard_input_is_empty() {
    assert_eq!(Primitive::new().stdout("cat; readlink /proc/self/fd/0").await, "/dev/null\n");
}

#[tokio::test]
async fn a_directory_outside_is_an_error() {
    let primitive = Primitive::new();
    let request = Request::new("pwd").cwd("/etc");
    let error = bash(&primitive.engine, &primitive.context(), request).await.unwrap_err();
    let Error::Admit(AdmitError::OutsideRoots { path, .. }) = error else { panic!("{error}") };
    assert_eq!(path, Path::new("/etc"));
}

#[test]
fn ten_mebibytes_of_each_stream_are_kept() {
    assert_eq!(setting("output.max"), 10_485_760);
    assert_eq!(setting("output.head"), 10_485_760);
    assert_eq!(setting("output.unit"), "bytes");
}

#[tokio::test]
async fn what_is_longer_than_ten_mebibytes_keeps_its_beginning() {
    let outcome = Primitive::new().bash("echo first; head -c 11000000 /dev/zero | tr '\\0' x").await;
    let bashtion::Output::Separate { stdout, .. } = &outcome.output else { panic!() };
    assert_eq!((stdout.bytes, stdout.cut), (11_000_006, 11_000_006 - 10_485_760));
    assert!(stdout.text.starts_with("first\nxxx"));
}

#[tokio::test]
async fn invalid_utf8_is_replaced() {
    assert_eq!(Primitive::new().stdout(r"printf 'a\xffb'").await, "a\u{fffd}b");
}

#[tokio::test]
async fn a_signal_is_exit_code_minus_one() {
    let reply = replied(json!({"command": "kill -9 $$"})).await;
    assert_eq!((&reply["exit_code"], &reply["timed_out"]), (&(-1).into(), &false.into()));
}

/// The reply to a call of the tool.
async fn replied(sent: Value) -> Value {
    let primitive = Primitive::new();
    let parsed = calls::parse(Vendor::Tachikoma, sent).unwrap();
    let results = parsed.call().run(&primitive.engine, &primitive.context()).await;
    parsed.reply(&results)
}

#[tokio::test]
async fn the_result_has_the_fields_of_bash_result_and_no_others() {
    let reply = replied(json!({"command": "echo out; echo err >&2; exit 3"})).await;
    let metadata = reply["metadata"].as_object().unwrap();
    assert_eq!(metadata.keys().collect::<Vec<_>>(), ["duration", "operation_id", "primitive"]);
    assert_eq!((&metadata["primitive"], metadata["duration"]["nanos"].is_u64()), (&"bash".into(), true));
    let mut rest = reply.as_object().unwrap().clone();
    rest.remove("metadata");
    let expected = json!({"exit_code": 3, "stdout": "out\n", "stderr": "err\n", "timed_out": false});
    assert_eq!(Value::Object(rest), expected);
}

#[test]
fn a_context_has_an_operation_id() {
    assert_eq!(ToolContext::new("/tmp").operation_id("op-1").id(), "op-1");
    assert_ne!(ToolContext::new("/tmp").id(), ToolContext::new("/tmp").id());
}

// bash_success and bash_sequence

#[tokio::test]
async fn bash_success_returns_what_succeeded() {
    let primitive = Primitive::new();
    let outcome = bash_success(&primitive.engine, &primitive.context(), "echo fine").await.unwrap();
    assert_eq!(outcome.output.stdout(), "fine\n");
}

#[tokio::test]
async fn bash_success_fails_with_the_exit_code_and_standard_error() {
    let primitive = Primitive::new();
    let error =
        bash_success(&primitive.engine, &primitive.context(), "echo why >&2; exit 3").await.unwrap_err();
    let ShellError::Failed { outcome } = error else { panic!("{error}") };
    assert_eq!((outcome.status, outcome.output.stderr()), (Status::Exited(3), "why\n"));
}

#[tokio::test]
async fn bash_sequence_runs_all_in_order() {
    let primitive = Primitive::new();
    let commands = ["echo a > file", "echo b >> file", "cat file"];
    let outcomes = bash_sequence(&primitive.engine, &primitive.context(), commands).await.unwrap();
    assert_eq!((outcomes.len(), outcomes[2].output.stdout()), (3, "a\nb\n"));
}

#[tokio::test]
async fn bash_sequence_stops_after_the_first_that_fails() {
    let primitive = Primitive::new();
    let commands = ["true", "exit 5", "touch never"];
    let outcomes = bash_sequence(&primitive.engine, &primitive.context(), commands).await.unwrap();
    let statuses: Vec<_> = outcomes.iter().map(|outcome| outcome.status).collect();
    assert_eq!(statuses, [Status::Exited(0), Status::Exited(5)]);
    assert!(!primitive.dir.path().join("never").exists());
}

// BashOptions

#[test]
fn the_options_have_the_defaults_of_the_document() {
    assert_eq!(setting("limits.timeout"), "120s");
    assert_eq!(setting("env.base"), "inherit");
    assert_eq!(
        setting("guard.block"),
        json!(["rm -rf /", ":(){ :|:& };:", "mkfs", "dd if=/dev/", "> /dev/sd"])
    );
}

#[tokio::test]
async fn the_callers_environment_is_inherited() {
    let primitive = Primitive::new();
    let context = primitive.context().env("OF_THE_CALLER", "here");
    let outcome = bash(&primitive.engine, &context, "echo $OF_THE_CALLER").await.unwrap();
    assert_eq!(outcome.output.stdout(), "here\n");
}

#[tokio::test]
async fn envs_adds_many_variables() {
    let vars = HashMap::from([("A", "1"), ("B", "2")]);
    assert_eq!(Primitive::new().stdout(Request::new("echo $A$B$C").env("C", "3").envs(vars)).await, "123\n");
}

#[tokio::test]
async fn clear_env_leaves_only_what_is_set() {
    let primitive = Primitive::new();
    let context = primitive.context().env("OF_THE_CALLER", "here");
    let request = Request::new("echo ${OF_THE_CALLER-gone} ${HOME-gone} $A").clear_env().env("A", "1");
    let outcome = bash(&primitive.engine, &context, request).await.unwrap();
    assert_eq!(outcome.output.stdout(), "gone gone 1\n");
}

#[tokio::test]
async fn timeout_ends_the_command() {
    let request = Request::new("echo begun; sleep 4402.3").timeout(Duration::from_secs(1));
    let outcome = Primitive::new().bash(request).await;
    assert!(matches!(outcome.status, Status::TimedOut { .. }), "{}", outcome.status);
    assert_eq!(outcome.output.stdout(), "begun\n");
    assert_eq!(living_with("sleep 4402.3"), Vec::<i32>::new());
}

#[tokio::test]
async fn no_timeout_outlasts_the_timeout_of_the_engine() {
    let dir = TempDir::new().unwrap();
    let mut profile = Profile::built_in("tachikoma").unwrap();
    profile.limits.timeout = Duration::from_millis(100);
    let engine = Engine::builder().profile(&profile).state_dir(dir.path().join("state")).build();
    let context = ToolContext::from_host(dir.path());
    let ended = bash(&engine, &context, "sleep 0.4").await.unwrap();
    assert!(matches!(ended.status, Status::TimedOut { .. }), "{}", ended.status);
    let outcome = bash(&engine, &context, Request::new("sleep 0.4").no_timeout()).await.unwrap();
    assert_eq!(outcome.status, Status::Exited(0));
}

#[test]
fn block_command_adds_a_pattern() {
    let sent = json!({"command": "docker ps", "blocked_commands": ["docker"]});
    let error = calls::parse(Vendor::Tachikoma, sent).unwrap_err();
    assert_eq!(error.to_string(), r#"the command contains "docker", which "blocked_commands" forbids"#);
}

#[test]
fn a_project_adds_blocked_patterns() {
    let world = world();
    fs::write(world.work().join(".bashtion.toml"), "[guard]\nblock = [\"docker\"]\n").unwrap();
    for (command, pattern) in [("docker ps", "docker"), ("mkfs --version", "mkfs")] {
        let json =
            world.bashtion().args(&["check", "--json", "--profile", "tachikoma", command]).finish().json();
        let expected = format!("Command contains blocked pattern: {pattern}");
        assert_eq!(json["verdict"]["findings"][0]["message"], expected);
    }
}

#[tokio::test]
async fn max_output_keeps_so_many_bytes() {
    let outcome = Primitive::new().bash(Request::new("printf 0123456789").max_output(4)).await;
    let bashtion::Output::Separate { stdout, .. } = outcome.output else { panic!() };
    assert_eq!((stdout.text.starts_with("0123\n[... 6 bytes cut"), stdout.cut), (true, 6), "{}", stdout.text);
}

// Command validation

#[test]
fn an_empty_command_is_an_error() {
    for command in ["", "  \n\t "] {
        let finished = world().run_with(&["--json", "--profile", "tachikoma"], command).finish();
        assert_eq!(finished.json()["error"]["message"], "the command is empty");
    }
}

#[test]
fn every_blocked_pattern_is_named() {
    blocked("rm -rf /home/x", "rm -rf /");
    blocked(":(){ :|:& };:", ":(){ :|:& };:");
    blocked("mkfs.ext4 image", "mkfs");
    blocked("dd if=/dev/sda of=copy", "dd if=/dev/");
    blocked("cat image > /dev/sda", "> /dev/sd");
}

#[test]
fn patterns_are_found_in_quotes_too() {
    blocked("echo 'about mkfs'", "mkfs");
}

#[test]
fn dangerous_triples_are_found_in_any_order() {
    dangerous("cd / && rm build -rf");
    dangerous("nc -l -e /bin/sh");
    dangerous("ncat --e -e /bin/bash host 1");
}

#[test]
fn dangerous_triples_are_found_in_any_case() {
    dangerous("RM -RF /TMP");
}

#[test]
fn encoded_commands_are_dangerous() {
    dangerous("echo bHM= | base64 -d | bash");
    dangerous("echo bHM= | base64 -d |bash");
}

#[test]
fn base64_alone_is_fine() {
    assert_eq!(validate("echo hi | base64"), None);
}

#[test]
fn build_safe_command_quotes_each_argument() {
    assert_eq!(build_safe_command("ls", &["-la", "a b", "it's"]), r"ls '-la' 'a b' 'it'\''s'");
}

#[tokio::test]
async fn a_safe_command_gets_its_arguments_as_they_are() {
    let arguments = ["a b", "$HOME", "it's", "`id`; echo x", "*"];
    let command = build_safe_command("printf '%s\\n'", &arguments);
    assert_eq!(
        Primitive::new().stdout(command).await,
        arguments.map(|argument| format!("{argument}\n")).concat()
    );
}
