//! Chorus, "Bash Execution": its tests by their names, then what else it says.

mod notes;

use std::fs;

use bashtion::calls::{self, Vendor};
use bashtion::{Engine, Profile, ToolContext};
use bashtion_testkit::{Finished, Life, World, living_with, state_of, wait_until};
use serde_json::{Value, json};

use crate::world;

fn execute(world: &World, command: &str) -> Value {
    execute_with(world, &[], command).json()
}

fn execute_with(world: &World, options: &[&str], command: &str) -> Finished {
    world.run_with(&[&["--json", "--profile", "chorus"], options].concat(), command).finish()
}

/// A profile that inherits chorus, for an agent with permissions of its own.
fn agent_profile(world: &World, permissions: &str) -> String {
    let file = world.work().join("../agent.toml");
    fs::write(&file, format!("inherits = \"chorus\"\n[permissions]\n{permissions}\n")).unwrap();
    file.to_str().unwrap().to_owned()
}

fn execute_as(world: &World, profile: &str, command: &str) -> Finished {
    world.run_with(&["--json", "--profile", profile], command).finish()
}

/// Judged without being run: the decision and the first reason.
fn judged(command: &str) -> (String, String) {
    let json = world().bashtion().args(&["check", "--json", "--profile", "chorus", command]).finish().json();
    let reason = json["verdict"]["findings"][0]["message"].as_str().unwrap_or_default().to_owned();
    (json["decision"].as_str().unwrap().to_owned(), reason)
}

fn blocked(command: &str, reason: &str) {
    assert_eq!(judged(command), ("deny".to_owned(), format!("Command blocked: {reason}")), "{command}");
}

/// A call of the tool with the engine of the profile, as another program makes it.
async fn call(world: &World, sent: Value) -> Value {
    let profile = Profile::built_in("chorus").unwrap();
    let engine = Engine::builder().profile(&profile).state_dir(world.state()).build();
    let parsed = calls::parse(Vendor::Chorus, sent).unwrap();
    let results = parsed.call().run(&engine, &ToolContext::from_host(world.work())).await;
    parsed.reply(&results)
}

fn setting(key: &str) -> Value {
    let shown = world().bashtion().args(&["config", "show", "--profile", "chorus", "--json"]).finish().json();
    let settings = shown.as_array().unwrap();
    settings.iter().find(|setting| setting["key"] == key).unwrap()["value"].clone()
}

/// A caller with secrets in its environment.
fn safe_env(command: &str) -> Value {
    let world = world();
    let run = world.run_with(&["--json", "--profile", "chorus"], command);
    let run = run.env("DISCORD_TOKEN", "dummy-discord").env("ANTHROPIC_API_KEY", "dummy-anthropic");
    run.env("OPENAI_API_KEY", "dummy-openai").env("AWS_SECRET_ACCESS_KEY", "dummy-aws").finish().json()
}

// Basic execution

#[test]
fn test_bash_execute_simple_command() {
    let json = execute(&world(), "echo hello");
    assert_eq!((&json["status"], &json["stdout"]), (&"exited".into(), &"hello\n".into()));
}

#[test]
fn test_bash_execute_captures_stdout() {
    let json = execute(&world(), "echo out; echo err >&2");
    assert_eq!(json["stdout"], "out\n");
}

#[test]
fn test_bash_execute_captures_stderr() {
    let json = execute(&world(), "echo out; echo err >&2");
    assert_eq!(json["stderr"], "err\n");
}

#[test]
fn test_bash_execute_returns_exit_code() {
    assert_eq!(execute(&world(), "true")["exit_code"], 0);
}

#[test]
fn test_bash_execute_nonzero_exit_code() {
    let finished = execute_with(&world(), &[], "exit 7");
    assert_eq!((finished.code(), &finished.json()["exit_code"]), (Some(7), &7.into()));
}

#[test]
fn test_bash_execute_cwd_is_workspace() {
    let world = world();
    fs::write(world.work().join("sample.txt"), "sample").unwrap();
    let json = execute(&world, "pwd; cat sample.txt");
    assert_eq!(json["stdout"], format!("{}\nsample", world.work().display()));
}

// Permission integration

#[test]
fn test_bash_execute_checks_permission_before_running() {
    let world = world();
    let profile = agent_profile(&world, "allow = ['tool:bash:echo .*']");
    assert_eq!(execute_as(&world, &profile, "echo allowed").json()["stdout"], "allowed\n");
    let refused = execute_as(&world, &profile, "touch made").json();
    assert_eq!((&refused["status"], &refused["pid"]), (&"refused".into(), &Value::Null));
    assert_eq!(refused["verdict"]["findings"][0]["rule"], "permission");
}

#[test]
fn test_bash_execute_denied_command_not_executed() {
    let world = world();
    let profile = agent_profile(&world, "deny = ['tool:bash:touch .*']");
    assert_eq!(execute_as(&world, &profile, "touch made").code(), Some(126));
    assert!(!world.work().join("made").exists());
}

#[test]
fn test_bash_execute_ask_result_returned_to_caller() {
    let world = world();
    let profile = agent_profile(&world, "allow = []\nask = ['tool:bash:touch .*']");
    let asked = execute_as(&world, &profile, "touch made");
    assert_eq!((asked.code(), &asked.json()["status"]), (Some(126), &"needs_approval".into()));
    assert!(!world.work().join("made").exists());
}

// Timeout

#[test]
fn test_bash_execute_timeout_kills_process() {
    let json = execute_with(&world(), &["--timeout", "1s"], "echo $$; sleep 10").json();
    let pid = i32::try_from(json["pid"].as_i64().unwrap()).unwrap();
    assert_eq!(state_of(pid), Life::Gone);
}

#[test]
fn test_bash_execute_timeout_returns_timed_out_flag() {
    let finished = execute_with(&world(), &["--timeout", "300ms"], "sleep 10");
    let json = finished.json();
    assert_eq!((finished.code(), &json["timed_out"]), (Some(124), &true.into()));
    assert_eq!(json["exit_code"], Value::Null);
}

#[test]
fn test_bash_execute_long_running_completes_within_timeout() {
    let json = execute_with(&world(), &["--timeout", "60s"], "sleep 0.5; echo done").json();
    assert_eq!((&json["timed_out"], &json["stdout"]), (&false.into(), &"done\n".into()));
}

#[test]
fn test_bash_execute_sigterm_then_sigkill() {
    let command = "trap 'echo term' TERM; echo ready; while :; do sleep 0.05; done";
    let json = execute_with(&world(), &["--timeout", "1s"], command).json();
    assert_eq!((&json["stdout"], &json["signal"]), (&"ready\nterm\n".into(), &"SIGKILL".into()));
    // A second to its deadline, and the two between the signals.
    assert!(json["duration_ms"].as_u64() >= Some(3000), "{json}");
}

#[test]
fn a_process_that_ends_at_sigterm_is_not_killed() {
    let json = execute_with(&world(), &["--timeout", "300ms"], "sleep 10").json();
    assert_eq!((&json["signal"], &json["killed"]), (&"SIGTERM".into(), &0.into()));
}

// Output handling

#[test]
fn test_bash_execute_truncates_long_stdout() {
    let json = execute(&world(), "printf '%060000d' 7");
    let expected =
        format!("[Output truncated: showing last 50000 chars of 60000 chars]\n{}7", "0".repeat(49_999));
    assert_eq!((&json["stdout"], &json["truncated"]), (&expected.into(), &true.into()));
}

#[test]
fn test_bash_execute_truncates_long_stderr() {
    let json = execute(&world(), "printf '%060000d' 7 >&2");
    let text = json["stderr"].as_str().unwrap();
    assert!(text.starts_with("[Output truncated: showing last 50000 chars of 60000 chars]\n0"), "{json}");
    assert_eq!((text.ends_with("07"), &json["truncated"]), (true, &true.into()));
}

#[test]
fn test_bash_execute_empty_output() {
    let json = execute(&world(), "true");
    assert_eq!((&json["stdout"], &json["stderr"]), (&"".into(), &"".into()));
}

#[test]
fn test_bash_execute_binary_output_handled() {
    let json = execute(&world(), r"printf 'a\xff\xfeb'");
    assert_eq!((&json["stdout"], &json["exit_code"]), (&"a\u{fffd}\u{fffd}b".into(), &0.into()));
}

// Environment sanitization

#[test]
fn test_bash_execute_env_does_not_contain_discord_token() {
    let json = safe_env("env; echo ${DISCORD_TOKEN-unset}");
    let stdout = json["stdout"].as_str().unwrap();
    assert!(stdout.ends_with("\nunset\n") && !stdout.contains("dummy-discord"), "{json}");
}

#[test]
fn test_bash_execute_env_does_not_contain_api_keys() {
    let json = safe_env("env; echo $0");
    let stdout = json["stdout"].as_str().unwrap();
    assert!(stdout.ends_with("bash\n") && !stdout.contains("dummy-"), "{json}");
}

#[test]
fn test_bash_execute_env_contains_path() {
    assert_eq!(
        safe_env("echo $PATH")["stdout"],
        "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n"
    );
}

#[test]
fn test_bash_execute_env_contains_home() {
    let world = world();
    assert_eq!(execute(&world, "echo $HOME")["stdout"], format!("{}\n", world.work().display()));
}

// Safety

#[test]
fn test_bash_execute_blocklist_rejects_rm_rf_root() {
    blocked("rm -rf /", "rm -rf /");
}

#[test]
fn test_bash_execute_blocklist_rejects_fork_bomb() {
    blocked(":(){ :|:& };:", "fork bomb");
}

#[test]
fn test_bash_execute_blocklist_allows_normal_rm() {
    let world = world();
    fs::write(world.work().join("file"), "").unwrap();
    assert_eq!(execute(&world, "rm file")["exit_code"], 0);
    assert!(!world.work().join("file").exists());
}

#[test]
fn test_bash_execute_blocklist_allows_rm_rf_subdir() {
    let world = world();
    fs::create_dir_all(world.work().join("sub/deep")).unwrap();
    assert_eq!(execute(&world, "rm -rf ./sub")["exit_code"], 0);
    assert!(!world.work().join("sub").exists());
}

// Concurrency

#[test]
fn test_bash_execute_multiple_concurrent_commands() {
    let world = world();
    // Each waits for the other, so neither can end before both run.
    let meet = |own: &str, other: &str| {
        let command = format!("touch {own}; while [ ! -e {other} ]; do sleep 0.01; done");
        world.run_with(&["--profile", "chorus", "--agent", "ada"], command).start()
    };
    let both = [meet("one", "two"), meet("two", "one")];
    for mut child in both {
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn test_bash_execute_tracks_running_processes() {
    let world = world();
    let command = "while [ ! -e go ]; do sleep 0.01; done";
    let mut child = world.run_with(&["--profile", "chorus", "--agent", "ada"], command).start();
    let tasks = || world.bashtion().args(&["tasks", "--agent", "ada", "--json"]).finish().json();
    wait_until("it is listed", || tasks()[0]["pid"].as_i64() > Some(0));
    let running = tasks();
    assert_eq!((&running[0]["command"], &running[0]["status"]), (&command.into(), &"running".into()));
    assert_eq!(state_of(i32::try_from(running[0]["pid"].as_i64().unwrap()).unwrap()), Life::Alive);
    fs::write(world.work().join("go"), "").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(tasks(), json!([]));
}

// Duration tracking

#[test]
fn test_bash_execute_returns_duration_ms() {
    let json = execute(&world(), "sleep 0.3");
    assert!(json["duration_ms"].as_u64() >= Some(300), "{json}");
}
