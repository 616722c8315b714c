//! Chorus, "Bash Execution": its tests by their names, then what else it says.

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
    let pid = json["stdout"].as_str().unwrap().trim().parse().unwrap();
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
    wait_until("it is listed", || tasks() != json!([]));
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

// Acceptance criteria and implementation notes

#[tokio::test]
async fn the_result_has_the_fields_of_bash_result_and_no_others() {
    let reply = call(&world(), json!({"command": "echo out; echo err >&2; exit 3"})).await;
    assert!(reply["duration_ms"].is_u64());
    let mut rest = reply.as_object().unwrap().clone();
    rest.remove("duration_ms");
    let expected = json!({
        "command": "echo out; echo err >&2; exit 3", "exit_code": 3, "stdout": "out\n", "stderr": "err\n",
        "timed_out": false, "truncated": false,
    });
    assert_eq!(Value::Object(rest), expected);
}

#[tokio::test]
async fn a_timeout_of_a_call_is_in_seconds_and_its_error_is_returned() {
    let reply = call(&world(), json!({"command": "echo begun; sleep 10", "timeout": 1.5})).await;
    assert_eq!((&reply["timed_out"], &reply["exit_code"]), (&true.into(), &Value::Null));
    assert_eq!(
        (&reply["stdout"], reply["stderr"].as_str().unwrap().contains("timed out")),
        (&"begun\n".into(), true)
    );
}

#[tokio::test]
async fn max_output_len_of_a_call_keeps_the_end() {
    let sent = json!({"command": "printf '%05000d' 7", "max_output_len": 9});
    let reply = call(&world(), sent).await;
    assert_eq!(reply["stdout"], "[Output truncated: showing last 9 chars of 5000 chars]\n000000007");
    assert_eq!(reply["truncated"], true);
}

#[tokio::test]
async fn env_overrides_of_a_call_are_set() {
    let reply = call(&world(), json!({"command": "echo $A", "env_overrides": {"A": "1"}})).await;
    assert_eq!(reply["stdout"], "1\n");
}

#[test]
fn the_timeout_is_two_minutes_by_default_and_an_agents_profile_can_say_otherwise() {
    assert_eq!(setting("limits.timeout"), "\"120s\"");
    let world = world();
    let file = world.work().join("../agent.toml");
    fs::write(&file, "inherits = \"chorus\"\n[limits]\ntimeout = \"200ms\"\n").unwrap();
    let json = execute_as(&world, file.to_str().unwrap(), "sleep 10").json();
    assert_eq!((&json["status"], &json["timeout_ms"]), (&"timed_out".into(), &200.into()));
}

#[test]
fn the_grace_period_is_two_seconds() {
    assert_eq!(setting("limits.grace"), "\"2s\"");
}

#[test]
fn fifty_thousand_characters_are_not_cut() {
    let json = execute(&world(), "printf '%050000d' 7");
    assert_eq!((json["stdout"].as_str().unwrap().len(), &json["truncated"]), (50_000, &false.into()));
}

#[test]
fn the_length_of_output_is_counted_in_characters() {
    let json = execute_with(&world(), &["--max-output", "3"], "printf 'äöüß'").json();
    assert_eq!(json["stdout"], "[Output truncated: showing last 3 chars of 4 chars]\nöüß");
}

#[test]
fn the_environment_is_an_allow_list() {
    let names = ["PATH", "USER", "LANG", "LC_ALL", "TERM", "SHELL"];
    let world = world();
    let mut run = world.run_with(&["--json", "--profile", "chorus"], "env").env("EDITOR", "of-the-caller");
    for name in &names[1..] {
        run = run.env(name, "of-the-caller");
    }
    let json = run.finish().json();
    let stdout = json["stdout"].as_str().unwrap();
    let mut told: Vec<_> = stdout.lines().filter_map(|line| line.strip_suffix("=of-the-caller")).collect();
    told.sort_unstable();
    assert_eq!(told, ["LANG", "LC_ALL", "SHELL", "TERM", "USER"]);
    assert!(stdout.contains("\nTMPDIR=/"), "{stdout}");
    assert_eq!(
        setting("env.allow"),
        r#"["PATH", "HOME", "USER", "LANG", "LC_ALL", "TERM", "SHELL", "TMPDIR"]"#
    );
}

#[test]
fn the_block_list_rejects_filling_a_disk() {
    blocked("dd if=/dev/zero of=file", "dd if=/dev/zero");
    blocked("dd  if=/dev/random of=file", "dd if=/dev/zero");
}

#[test]
fn the_block_list_rejects_formatting() {
    blocked("mkfs.ext4 image", "mkfs");
}

#[test]
fn the_block_list_rejects_overwriting_a_disk() {
    let (decision, _) = judged("cat image >/dev/sdb");
    assert_eq!(decision, "deny");
    blocked("true # > /dev/sda", "writing to a disk device");
}

#[test]
fn other_ways_to_write_rm_rf_root_are_rejected_too() {
    assert_eq!(judged("rm -vrf /  ").0, "deny");
    assert_eq!(judged("rm --recursive --force /").0, "deny");
    assert_eq!(judged("sudo rm -rf / --no-preserve-root").0, "deny");
}

#[test]
fn a_blocked_command_starts_no_process() {
    let json = execute(&world(), "true; mkfs --version");
    assert_eq!((&json["status"], &json["pid"]), (&"refused".into(), &Value::Null));
}

#[test]
fn the_block_list_comes_before_permission() {
    let world = world();
    let profile =
        agent_profile(&world, "default = 'allow'\nallow = ['tool:bash:.*']\nask = ['tool:bash:mkfs.*']");
    let json = execute_as(&world, &profile, "mkfs --version").json();
    assert_eq!(
        (&json["status"], &json["verdict"]["findings"][0]["rule"]),
        (&"refused".into(), &"format-disk".into())
    );
}

#[test]
fn blocked_attempts_are_in_the_audit_log() {
    let world = world();
    assert_eq!(execute_with(&world, &[], "mkfs --version").code(), Some(126));
    let rows = world.bashtion().args(&["audit", "list", "--json", "--status", "refused"]).finish().json();
    assert_eq!((&rows[0]["command"], &rows[0]["decision"]), (&"mkfs --version".into(), &"deny".into()));
    assert_eq!(rows[0]["data"]["verdict"]["findings"][0]["message"], "Command blocked: mkfs");
}

#[test]
fn the_action_is_the_whole_command_after_tool_bash() {
    let world = world();
    let profile = agent_profile(&world, "allow = ['tool:bash:echo one', 'tool:bash:echo two']");
    assert_eq!(execute_as(&world, &profile, "echo one").code(), Some(0));
    assert_eq!(execute_as(&world, &profile, "echo one more").code(), Some(126));
    assert_eq!(execute_as(&world, &profile, "echo one; echo three").code(), Some(126));
}

#[test]
fn a_denial_is_stronger_than_a_permission() {
    let world = world();
    let profile = agent_profile(&world, "allow = ['tool:bash:.*']\ndeny = ['tool:bash:.*secret.*']");
    assert_eq!(execute_as(&world, &profile, "echo open").code(), Some(0));
    assert_eq!(execute_as(&world, &profile, "echo secret").code(), Some(126));
}

#[test]
fn an_agent_can_run_background_tasks() {
    let world = world();
    let options = ["--json", "--profile", "chorus", "--agent", "ada", "--background"];
    let ids: Vec<String> = ["echo one", "echo two"]
        .iter()
        .map(|command| {
            world.run_with(&options, command).finish().json()["task_id"].as_str().unwrap().to_owned()
        })
        .collect();
    let printed =
        ids.iter().map(|id| world.bashtion().args(&["wait", id, "--json"]).finish().json()["stdout"].clone());
    assert_eq!(printed.collect::<Vec<_>>(), ["one\n", "two\n"]);
}

#[test]
fn destroying_an_agent_ends_its_processes_and_no_others() {
    let world = world();
    let start = |agent: &str, command: &str| {
        let options = ["--json", "--profile", "chorus", "--background", "--agent", agent];
        world.run_with(&options, command).finish().json()["task_id"].as_str().unwrap().to_owned()
    };
    start("ada", "sleep 4401.1");
    let other = start("bob", "sleep 4401.2");
    let mut child = world.run_with(&["--profile", "chorus", "--agent", "ada"], "sleep 4401.1").start();
    let tasks = || world.bashtion().args(&["tasks", "--agent", "ada", "--json"]).finish().json();
    wait_until("both are listed", || tasks().as_array().unwrap().len() == 2);
    let ended = world.bashtion().args(&["tasks", "--agent", "ada", "--kill-all", "--json"]).finish().json();
    assert_eq!(ended.as_array().unwrap().len(), 2, "{ended}");
    assert_ne!(child.wait().unwrap().code(), Some(0));
    wait_until("they are gone", || living_with("sleep 4401.1").is_empty());
    let status = world.bashtion().args(&["status", &other, "--json"]).finish().json();
    assert_eq!(status["status"], "running");
    assert_eq!(world.bashtion().args(&["kill", &other]).finish().code(), Some(0));
}

#[test]
fn status_reports_one_task_by_its_name() {
    let world = world();
    let started = execute_with(&world, &["--background", "--agent", "ada"], "exit 3").json();
    let id = started["task_id"].as_str().unwrap();
    assert_eq!(world.bashtion().args(&["wait", id, "--json"]).finish().json()["exit_code"], 3);
    let status = world.bashtion().args(&["status", id, "--json"]).finish().json();
    assert_eq!((&status["agent"], &status["status"]), (&"ada".into(), &"exited".into()));
}

#[test]
fn the_tool_has_a_parameter_schema_in_every_format() {
    for (format, at) in [
        ("mcp", "/inputSchema"),
        ("anthropic", "/input_schema"),
        ("openai", "/parameters"),
        ("gemini", "/parametersJsonSchema"),
    ] {
        let definition =
            world().bashtion().args(&["schema", "--profile", "chorus", "--format", format]).finish().json();
        let schema = definition.pointer(at).unwrap_or_else(|| panic!("{format}: {definition}"));
        let names: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(names, ["command", "timeout", "max_output_len", "env_overrides"], "{format}");
        assert_eq!(definition["name"], "bash", "{format}");
    }
}
