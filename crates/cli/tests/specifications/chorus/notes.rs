//! Acceptance criteria and implementation notes that its own tests do not name.

use super::*;

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
    assert_eq!(setting("limits.timeout"), "120s");
    let world = world();
    let file = world.work().join("../agent.toml");
    fs::write(&file, "inherits = \"chorus\"\n[limits]\ntimeout = \"200ms\"\n").unwrap();
    let json = execute_as(&world, file.to_str().unwrap(), "sleep 10").json();
    assert_eq!((&json["status"], &json["timeout_ms"]), (&"timed_out".into(), &200.into()));
}

#[test]
fn the_grace_period_is_two_seconds() {
    assert_eq!(setting("limits.grace"), "2s");
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
        json!(["PATH", "HOME", "USER", "LANG", "LC_ALL", "TERM", "SHELL", "TMPDIR"])
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

#[test]
fn commands_are_confined_to_the_workspace() {
    let world = world();
    let outside = world.work().join("../outside");
    let command = format!("touch inside; touch {}", outside.display());
    let json = world.run_with(&["--json", "--profile", "chorus"], command).finish().json();
    assert_eq!((&json["sandbox"]["mode"], &json["success"]), (&"workspace".into(), &false.into()), "{json}");
    assert!(world.work().join("inside").exists() && !outside.exists());
}
