//! Phoenix, "Bash Tool": REQ-BASH-001 to 011, sentence by sentence.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::time::Duration;

use bashtion::calls::{self, Placement, Vendor};
use bashtion::{
    CancellationToken, Engine, Landlock, Profile, Request, Status, TaskState, ToolContext, landlock_lacks,
};
use bashtion_testkit::{
    Finished, Life, World, in_a_thread_without_landlock, living_with, state_of, wait_until,
};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::world;

fn run_with(world: &World, options: &[&str], command: &str) -> Finished {
    world.run_with(&[&["--json", "--profile", "phoenix"], options].concat(), command).finish()
}

fn run(world: &World, command: &str) -> Value {
    run_with(world, &[], command).json()
}

fn restricted(world: &World, command: &str) -> Finished {
    world.run_with(&["--json", "--profile", "phoenix-restricted"], command).finish()
}

fn setting(profile: &str, key: &str) -> Value {
    let shown = world().bashtion().args(&["config", "show", "--json", "--profile", profile]).finish().json();
    shown.as_array().unwrap().iter().find(|setting| setting["key"] == key).unwrap()["value"].clone()
}

fn decision(command: &str) -> (Value, Value) {
    let json = world().bashtion().args(&["check", "--json", "--profile", "phoenix", command]).finish().json();
    (json["decision"].clone(), json["verdict"]["findings"][0]["rule"].clone())
}

fn rejects(command: &str, rule: &str) {
    assert_eq!(decision(command), ("deny".into(), rule.into()), "{command}");
}

fn allows(command: &str) {
    assert_eq!(decision(command), ("allow".into(), Value::Null), "{command}");
}

fn schema(profile: &str) -> Value {
    world().bashtion().args(&["schema", "--format", "anthropic", "--profile", profile]).finish().json()
}

fn engine(dir: &TempDir) -> Engine {
    let profile = Profile::built_in("phoenix").unwrap();
    Engine::builder().profile(&profile).state_dir(dir.path().join("state")).build()
}

// REQ-BASH-001: Command execution

#[test]
fn req_bash_001_runs_bash_in_the_working_directory() {
    let world = world();
    let json = run(&world, "echo $0; echo ${BASH_VERSION:+bash}; pwd");
    assert_eq!(json["output"], format!("bash\nbash\n{}\n", world.work().display()));
}

#[test]
fn req_bash_001_returns_both_streams_together_in_order() {
    let json = run(&world(), "echo a; echo b >&2; echo c; echo d >&2");
    assert_eq!(json["output"], "a\nb\nc\nd\n");
    assert_eq!((json.get("stdout"), json.get("stderr")), (None, None));
}

#[test]
fn req_bash_001_keeps_the_first_and_the_last_4_kb_of_more_than_128_kb() {
    let json = run(&world(), "head -c 70000 /dev/zero | tr '\\0' a; head -c 70000 /dev/zero | tr '\\0' z");
    let output = json["output"].as_str().unwrap();
    let (first, rest) = output.split_once("\n\n[").unwrap();
    let (_, last) = rest.split_once("]\n\n").unwrap();
    assert_eq!((first, last), ("a".repeat(4096).as_str(), "z".repeat(4096).as_str()));
}

#[test]
fn req_bash_001_indicates_truncation() {
    let json = run(&world(), "head -c 131073 /dev/zero | tr '\\0' x");
    assert_eq!((&json["truncated"], &json["output_cut"]), (&true.into(), &122_881.into()));
    let output = json["output"].as_str().unwrap();
    assert!(output.contains("[output truncated: 122881 bytes in the middle left out of 131073; "), "{json}");
}

#[test]
fn req_bash_001_leaves_128_kb_whole() {
    let json = run(&world(), "head -c 131072 /dev/zero | tr '\\0' x");
    assert_eq!((json["output"].as_str().unwrap().len(), &json["truncated"]), (131_072, &false.into()));
}

// REQ-BASH-002: Timeout management

#[test]
fn req_bash_002_the_default_timeout_is_30_seconds() {
    assert_eq!(setting("phoenix", "limits.timeout"), "\"30s\"");
}

#[test]
fn req_bash_002_the_slow_timeout_is_15_minutes() {
    assert_eq!(setting("phoenix", "limits.slow-timeout"), "\"15m\"");
}

/// The same profile with shorter times, so that a test can wait for them.
fn impatient(world: &World) -> String {
    let file = world.work().join("../impatient.toml");
    fs::write(&file, "inherits = \"phoenix\"\n[limits]\ntimeout = \"200ms\"\nslow-timeout = \"400ms\"\n")
        .unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn req_bash_002_each_mode_applies_its_timeout() {
    let world = world();
    let profile = impatient(&world);
    for (mode, after) in [("default", 200), ("slow", 400)] {
        let options = ["--json", "--profile", &profile, "--mode", mode];
        let json = world.run_with(&options, "sleep 10").finish().json();
        assert_eq!((&json["status"], &json["timeout_ms"]), (&"timed_out".into(), &after.into()), "{mode}");
    }
}

#[test]
fn req_bash_002_a_timeout_terminates_the_process_group() {
    let json = run_with(&world(), &["--timeout", "1s"], "echo $$; sleep 4403.1 & sleep 4403.1").json();
    let pid = json["output"].as_str().unwrap().trim().parse().unwrap();
    assert_eq!((state_of(pid), living_with("sleep 4403.1")), (Life::Gone, vec![]));
}

#[test]
fn req_bash_002_a_timeout_returns_partial_output() {
    let json = run_with(&world(), &["--timeout", "1s"], "echo begun; sleep 10; echo never").json();
    assert_eq!(json["output"], "begun\n");
}

#[test]
fn req_bash_002_a_timeout_is_indicated() {
    let finished = run_with(&world(), &["--timeout", "1s"], "echo begun; sleep 10");
    let json = finished.json();
    assert_eq!((finished.code(), &json["timed_out"]), (Some(124), &true.into()));
    assert_eq!(json["text"], "begun\n[command timed out after 1s and its process group was terminated]");
}

// REQ-BASH-003: Background execution

fn start(world: &World, command: &str) -> Value {
    run_with(world, &["--mode", "background"], command).json()
}

fn waited(world: &World, task: &Value) -> Value {
    world.bashtion().args(&["wait", task["task_id"].as_str().unwrap(), "--json"]).finish().json()
}

fn pid(task: &Value) -> i32 {
    i32::try_from(task["pid"].as_i64().unwrap()).unwrap()
}

#[test]
fn req_bash_003_returns_at_once_with_process_id_and_output_file() {
    let world = world();
    let task = start(&world, "while [ ! -e go ]; do sleep 0.01; done");
    assert_eq!((&task["status"], state_of(pid(&task))), (&"running".into(), Life::Alive));
    assert!(Path::new(task["output_file"].as_str().unwrap()).is_file(), "{task}");
    fs::write(world.work().join("go"), "").unwrap();
    assert_eq!(waited(&world, &task)["exit_code"], 0);
}

#[test]
fn req_bash_003_tells_the_model_process_id_group_and_output_file() {
    let world = world();
    let task = start(&world, "true");
    let (pid, file) = (pid(&task), task["output_file"].as_str().unwrap());
    let expected = format!(
        "Started in the background.\npid: {pid}\npgid: {pid}\noutput: {file}\nTo stop it: kill -9 -{pid}"
    );
    assert_eq!(task["text"], expected);
    waited(&world, &task);
}

#[test]
fn req_bash_003_the_command_outlives_its_caller() {
    let world = world();
    let script = "\"$BASHTION\" run --json --profile phoenix --mode background \
                  'while [ ! -e go ]; do sleep 0.01; done; echo still here' > told; mv told started; sleep 4403.4";
    let mut caller = world.program("setsid").args(&["bash", "-c", script]).start();
    let started = world.work().join("started");
    wait_until("it is started", || started.exists());
    killpg(Pid::from_raw(i32::try_from(caller.id()).unwrap()), Signal::SIGKILL).unwrap();
    assert_eq!(caller.wait().unwrap().code(), None, "a signal has ended the caller");
    fs::write(world.work().join("go"), "").unwrap();
    let task = serde_json::from_slice(&fs::read(started).unwrap()).unwrap();
    assert_eq!(waited(&world, &task)["output"], "still here\n");
}

#[tokio::test]
async fn req_bash_003_a_call_in_the_background_has_no_timeout() {
    let dir = TempDir::new().unwrap();
    let mut profile = Profile::built_in("phoenix").unwrap();
    profile.limits.timeout = Duration::from_millis(100);
    let builder = Engine::builder().profile(&profile).state_dir(dir.path().join("state"));
    let engine = builder.supervisor(env!("CARGO_BIN_EXE_bashtion")).build();
    let sent = json!({"command": "sleep 0.5; echo done", "mode": "background"});
    let parsed = calls::parse(Vendor::Phoenix, sent).unwrap();
    let results = parsed.call().run(&engine, &ToolContext::from_host(dir.path())).await;
    let id = results[0].as_ref().unwrap().task_id.clone().unwrap();
    let task = engine.tasks().wait(&id).await.unwrap();
    let TaskState::Ended(outcome) = task.state else { panic!("{task:?}") };
    assert_eq!((outcome.status, outcome.output.stdout()), (Status::Exited(0), "done\n"));
    assert_eq!(parsed.reply(&results)["pgid"], json!(results[0].as_ref().unwrap().pid));
}

#[test]
fn req_bash_003_completion_is_appended_to_the_output_file() {
    let world = world();
    let task = start(&world, "echo out; echo err >&2; exit 4");
    waited(&world, &task);
    let file = fs::read_to_string(task["output_file"].as_str().unwrap()).unwrap();
    let name = task["task_id"].as_str().unwrap();
    assert!(file.starts_with(&format!("out\nerr\n[{name} exited with code 4 after ")), "{file}");
}

#[test]
fn req_bash_003_kill_9_of_the_group_ends_it() {
    let world = world();
    let task = start(&world, "sleep 4403.2 & sleep 4403.2");
    wait_until("both run", || living_with("sleep 4403.2").len() >= 2);
    let killed = run(&world, &format!("kill -9 -{}", task["pgid"]));
    assert_eq!(killed["exit_code"], 0, "{killed}");
    let ended = waited(&world, &task);
    assert_eq!((&ended["status"], &ended["signal"]), (&"signaled".into(), &"SIGKILL".into()));
    assert_eq!(living_with("sleep 4403.2"), Vec::<i32>::new());
    let file = fs::read_to_string(task["output_file"].as_str().unwrap()).unwrap();
    assert!(file.contains("SIGKILL"), "{file}");
}

// REQ-BASH-004: No TTY attached

#[test]
fn req_bash_004_no_stream_is_a_terminal() {
    // Called from a terminal all the same.
    let script =
        "\"$BASHTION\" run --profile phoenix 'for fd in 0 1 2; do [ -t $fd ] && echo $fd; done; echo none'";
    let finished =
        world().program("script").args(&["-qec", script, "/dev/null"]).env("SHELL", "/bin/bash").finish();
    assert_eq!(finished.stdout().lines().next(), Some("none"), "{finished:?}");
}

#[test]
fn req_bash_004_there_is_no_controlling_terminal() {
    let script = "\"$BASHTION\" run --profile phoenix 'exec 3</dev/tty'";
    let finished =
        world().program("script").args(&["-qec", script, "/dev/null"]).env("SHELL", "/bin/bash").finish();
    assert!(finished.stdout().contains("/dev/tty: No such device or address"), "{finished:?}");
}

// REQ-BASH-005: Tool schema

#[test]
fn req_bash_005_command_is_a_required_string() {
    let input = &schema("phoenix")["input_schema"];
    assert_eq!(
        (&input["required"], &input["properties"]["command"]["type"]),
        (&json!(["command"]), &"string".into())
    );
}

#[test]
fn req_bash_005_mode_is_an_optional_enum() {
    let input = &schema("phoenix")["input_schema"];
    assert_eq!(input["properties"]["mode"]["enum"], json!(["default", "slow", "background"]));
    assert_eq!(input["properties"].as_object().unwrap().len(), 2);
}

#[test]
fn req_bash_005_other_modes_are_rejected() {
    let error = calls::parse(Vendor::Phoenix, json!({"command": "ls", "mode": "fast"})).unwrap_err();
    assert!(error.to_string().contains(r#"must be "default", "slow" or "background""#), "{error}");
}

#[tokio::test]
async fn req_bash_005_an_omitted_mode_is_the_default_one() {
    let dir = TempDir::new().unwrap();
    let mut profile = Profile::built_in("phoenix").unwrap();
    profile.limits.timeout = Duration::from_millis(200);
    let engine = Engine::builder().profile(&profile).state_dir(dir.path().join("state")).build();
    let parsed = calls::parse(Vendor::Phoenix, json!({"command": "sleep 10"})).unwrap();
    assert_eq!(parsed.call().placement, Placement::Foreground);
    let results = parsed.call().run(&engine, &ToolContext::from_host(dir.path())).await;
    assert_eq!(parsed.reply(&results)["timed_out"], true);
}

#[test]
fn req_bash_005_the_background_mode_is_for_the_background() {
    let parsed = calls::parse(Vendor::Phoenix, json!({"command": "ls", "mode": "background"})).unwrap();
    assert_eq!(parsed.call().placement, Placement::Background);
}

#[test]
fn req_bash_005_the_description_names_the_working_directory() {
    let world = world();
    let definition = world.bashtion().args(&["schema", "--profile", "phoenix"]).finish().json();
    let line = format!("\nWorking directory: {}\n", world.work().display());
    assert!(definition["description"].as_str().unwrap().contains(&line), "{definition}");
}

// REQ-BASH-006: Error reporting

#[test]
fn req_bash_006_a_failure_has_its_exit_code_and_output() {
    let json = run(&world(), "echo why >&2; exit 5");
    assert_eq!((&json["exit_code"], &json["output"]), (&5.into(), &"why\n".into()));
    assert_eq!(json["text"], "why\n[exit code: 5]");
}

#[test]
fn req_bash_006_a_system_error_is_described() {
    let finished = run_with(&world(), &["--cwd", "/nowhere"], "true");
    let error = &finished.json()["error"];
    assert_eq!(error["message"], "cannot open the working directory /nowhere");
    assert_eq!(error["causes"], json!(["No such file or directory (os error 2)"]));
}

#[test]
fn req_bash_006_a_system_error_is_told_apart_from_a_failure() {
    let world = world();
    // A command may end with our own code for errors, too.
    let failed = run_with(&world, &[], "exit 125");
    let error = run_with(&world, &["--cwd", "/nowhere"], "true");
    assert_eq!((failed.code(), error.code()), (Some(125), Some(125)));
    assert_eq!((failed.json().get("error"), error.json().get("exit_code")), (None, None));
}

#[tokio::test]
async fn req_bash_006_the_tools_reply_tells_them_apart() {
    let dir = TempDir::new().unwrap();
    let parsed = calls::parse(Vendor::Phoenix, json!({"command": "exit 5"})).unwrap();
    let reply = async |cwd: &Path| {
        let results = parsed.call().run(&engine(&dir), &ToolContext::from_host(cwd)).await;
        parsed.reply(&results)
    };
    let failed = reply(dir.path()).await;
    assert_eq!((&failed["exit_code"], &failed["is_error"]), (&5.into(), &true.into()));
    let error = reply(Path::new("/nowhere")).await;
    assert_eq!((&error["exit_code"], &error["is_error"]), (&Value::Null, &true.into()));
    let text = error["output"].as_str().unwrap();
    assert!(text.contains("not run: cannot open the working directory /nowhere"), "{text}");
}

// REQ-BASH-007: Command safety checks

#[test]
fn req_bash_007_the_syntax_is_parsed() {
    allows("echo 'git add .' # rm -rf /");
    allows("git commit -m 'no more git push --force'");
    rejects("git 'add' \".\"", "git-add-everything");
}

#[test]
fn req_bash_007_a_rejected_command_is_not_executed() {
    let world = world();
    let finished = run_with(&world, &[], "touch made; git add .");
    assert_eq!((finished.code(), &finished.json()["status"]), (Some(126), &"refused".into()));
    assert!(!world.work().join("made").exists());
}

#[test]
fn req_bash_007_the_message_is_descriptive() {
    assert_eq!(
        run(&world(), "git push -f")["text"],
        "Command rejected by safety check: a forced push overwrites what others have pushed\n\
         use `git push --force-with-lease`"
    );
}

#[test]
fn req_bash_007_blind_git_add() {
    for command in ["git add -A", "git add .", "git add --all", "git add *"] {
        rejects(command, "git-add-everything");
    }
    allows("git add src/main.rs");
}

#[test]
fn req_bash_007_force_push() {
    for command in ["git push --force", "git push -f", "git push origin main --force"] {
        rejects(command, "git-force-push");
    }
    allows("git push origin main");
}

#[test]
fn req_bash_007_force_with_lease_is_allowed() {
    allows("git push --force-with-lease");
    allows("git push --force-with-lease=main origin main");
}

#[test]
fn req_bash_007_dangerous_rm() {
    for target in ["/", "~", "$HOME"] {
        rejects(&format!("rm -rf {target}"), "removes-root");
    }
    rejects("rm -rf .git", "removes-repository");
    for target in ["*", ".*"] {
        rejects(&format!("rm -rf {target}"), "removes-workspace");
    }
    allows("rm -rf ./build");
}

#[test]
fn req_bash_007_behind_sudo() {
    rejects("sudo git add .", "git-add-everything");
    rejects("sudo -u root rm -rf /", "removes-root");
    rejects("sudo git push -f", "git-force-push");
}

#[test]
fn req_bash_007_in_pipelines() {
    rejects("yes | rm -rf ~", "removes-root");
    rejects("git add . | tee log", "git-add-everything");
}

#[test]
fn req_bash_007_in_compound_commands() {
    for command in [
        "make && git add .", "make || git add .", "make; git add .", "(git add .)",
        "if make; then git add .; fi", "for x in 1 2; do git add .; done", "echo $(git add .)",
    ] {
        rejects(command, "git-add-everything");
    }
}

// REQ-BASH-008: Landlock enforcement

#[test]
fn req_bash_008_files_are_read_only() {
    let world = world();
    fs::write(world.work().join("old"), "old").unwrap();
    let command = "cat old; echo new > made; echo new > old; rm old; mkdir dir; chmod 777 old; true";
    let json = restricted(&world, command).json();
    assert_eq!(
        (&json["sandbox"]["mode"], &json["sandbox"]["filesystem"]),
        (&"read-only".into(), &"full".into())
    );
    assert!(json["output"].as_str().unwrap().starts_with("old"), "{json}");
    let names: Vec<_> = fs::read_dir(world.work()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["old"]);
    assert_eq!(fs::read_to_string(world.work().join("old")).unwrap(), "old");
}

#[test]
fn req_bash_008_tcp_connections_are_blocked() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let command = format!("exec 3<>/dev/tcp/127.0.0.1/{}", listener.local_addr().unwrap().port());
    assert_eq!(run(&world(), &command)["exit_code"], 0, "it works without Landlock");
    let json = restricted(&world(), &command).json();
    assert_eq!((&json["exit_code"], &json["sandbox"]["network"]), (&1.into(), &"full".into()), "{json}");
}

#[test]
fn req_bash_008_tcp_servers_are_blocked() {
    let command = "perl -MIO::Socket::INET -e \
                   'IO::Socket::INET->new(Listen => 1, LocalAddr => q(127.0.0.1)) or print $! and exit 9'";
    assert_eq!(run(&world(), command)["exit_code"], 0, "it works without Landlock");
    let json = restricted(&world(), command).json();
    assert_eq!(json["exit_code"], 9, "{json}");
}

#[test]
fn req_bash_008_signals_stay_inside() {
    let command = format!("kill -0 {}", std::process::id());
    assert_eq!(run(&world(), &command)["exit_code"], 0, "it works without Landlock");
    let json = restricted(&world(), &command).json();
    assert!(json["output"].as_str().unwrap().contains("Operation not permitted"), "{json}");
    assert_eq!(restricted(&world(), "sleep 60 & kill $!; wait $!").json()["exit_code"], 143, "its own");
}

#[test]
fn req_bash_008_resources_are_limited() {
    for (limit, value) in [("memory", "\"4G\""), ("processes", "1024"), ("cpu", "\"15m\"")] {
        assert_eq!(setting("phoenix-restricted", &format!("sandbox.limits.{limit}")), value);
    }
    let json = restricted(&world(), "ulimit -t").json();
    assert_eq!((&json["output"], &json["sandbox"]["limits"]), (&"900\n".into(), &"full".into()));
}

#[test]
fn req_bash_008_more_memory_than_the_limit_is_refused() {
    let options = ["--json", "--profile", "phoenix-restricted", "--limit", "memory=64M"];
    let json =
        world().run_with(&options, "x=$(head -c 200M /dev/zero | tr '\\0' x); echo ${#x}").finish().json();
    assert!(json["denials"][0].as_str().unwrap().starts_with("the memory limit of 64 MiB"), "{json}");
}

#[test]
fn req_bash_008_the_error_of_the_kernel_is_returned() {
    let json = restricted(&world(), "touch made").json();
    assert_eq!(
        (&json["exit_code"], &json["output"]),
        (&1.into(), &"touch: cannot touch 'made': Permission denied\n".into())
    );
    assert!(json["text"].as_str().unwrap().contains("in read-only mode nothing can be changed"), "{json}");
}

#[test]
fn req_bash_008_the_description_explains_the_sandbox() {
    let definition = schema("phoenix-restricted");
    let text = definition["description"].as_str().unwrap();
    assert!(text.contains("can change nothing but $TMPDIR") && text.contains("no network"), "{text}");
    assert!(text.contains("do not try to work around it"), "{text}");
}

#[test]
fn req_bash_008_a_blocked_command_is_not_tried_again() {
    let world = world();
    let json = restricted(&world, "echo tried; touch made").json();
    assert_eq!(json["output"].as_str().unwrap().matches("tried").count(), 1);
    let rows = world.bashtion().args(&["audit", "list", "--json", "--kind", "started"]).finish().json();
    assert_eq!(rows.as_array().unwrap().len(), 1, "{rows}");
}

#[test]
fn req_bash_008_each_version_of_landlock_lacks_what_the_matrix_says() {
    let lacks = |abi, word: &str| landlock_lacks(Landlock::Abi(abi)).iter().any(|gap| gap.contains(word));
    for (abi, tcp, devices, signals) in [
        (1, true, true, true),
        (3, true, true, true),
        (4, false, true, true),
        (5, false, false, true),
        (6, false, false, false),
    ] {
        assert_eq!(
            (lacks(abi, "TCP"), lacks(abi, "devices"), lacks(abi, "signals")),
            (tcp, devices, signals),
            "{abi}"
        );
    }
}

// REQ-BASH-009: Graceful degradation without Landlock

fn without_landlock(world: &World, profile: &str, command: &str) -> Finished {
    in_a_thread_without_landlock(|| world.run_with(&["--json", "--profile", profile], command).finish())
}

#[test]
fn req_bash_009_the_missing_landlock_is_detected() {
    let doctor = in_a_thread_without_landlock(|| world().bashtion().args(&["doctor", "--json"]).finish());
    let json = doctor.json();
    assert_eq!(
        (doctor.code(), &json["ok"], &json["landlock"]["status"]),
        (Some(1), &false.into(), &"missing".into())
    );
}

#[test]
fn req_bash_009_restricted_mode_is_disabled() {
    let world = world();
    let finished = without_landlock(&world, "phoenix-restricted", "touch made");
    assert_eq!((finished.code(), finished.json().get("output")), (Some(125), None));
    assert!(!world.work().join("made").exists());
}

#[test]
fn req_bash_009_the_weaker_protection_is_warned_of() {
    let finished = in_a_thread_without_landlock(|| world().run("true").finish());
    assert_eq!(finished.code(), Some(0));
    assert!(
        finished
            .stderr()
            .starts_with("warning: this command was not fully confined: there is no Landlock here"),
        "{}",
        finished.stderr()
    );
}

#[test]
fn req_bash_009_unrestricted_mode_still_works() {
    let finished = without_landlock(&world(), "phoenix", "echo ran");
    assert_eq!((finished.code(), &finished.json()["output"]), (Some(0), &"ran\n".into()));
}

#[test]
fn req_bash_009_safety_checks_still_apply() {
    let world = world();
    let finished = without_landlock(&world, "phoenix", "touch made; git add .");
    assert_eq!((finished.code(), world.work().join("made").exists()), (Some(126), false));
}

#[test]
fn req_bash_009_the_user_is_told_that_landlock_is_missing() {
    let doctor = in_a_thread_without_landlock(|| world().bashtion().arg("doctor").finish()).stdout();
    assert!(doctor.contains("\nlandlock     none\n"), "{doctor}");
}

#[test]
fn req_bash_009_restricted_mode_explains_what_landlock_needs() {
    let finished = without_landlock(&world(), "phoenix-restricted", "true");
    assert_eq!(
        finished.json()["error"]["message"],
        "the sandbox mode read-only cannot be enforced here: there is no Landlock here; it needs Linux 5.13 or newer, built with it"
    );
}

// REQ-BASH-010: Stateless tool with context injection

#[tokio::test]
async fn req_bash_010_the_working_directory_comes_from_the_context() {
    let (state, one, two) = (TempDir::new().unwrap(), TempDir::new().unwrap(), TempDir::new().unwrap());
    let engine = engine(&state);
    for dir in [&one, &two, &one] {
        let outcome = engine.run(Request::new("pwd"), &ToolContext::from_host(dir.path())).await.unwrap();
        assert_eq!(outcome.output.stdout().trim(), dir.path().canonicalize().unwrap().to_str().unwrap());
    }
}

#[tokio::test]
async fn req_bash_010_the_contexts_token_cancels() {
    let dir = TempDir::new().unwrap();
    let cancel = CancellationToken::new();
    let context = ToolContext::from_host(dir.path()).cancel(cancel.clone());
    let (engine, up) = (engine(&dir), dir.path().join("up"));
    let run = engine.run(Request::new("echo begun; touch up; sleep 4403.3"), &context);
    let stop = async {
        while !up.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(run, stop);
    let outcome = outcome.unwrap();
    assert_eq!(
        (outcome.status, outcome.text.as_deref()),
        (Status::Cancelled, Some("begun\n[command cancelled]"))
    );
    assert_eq!(living_with("sleep 4403.3"), Vec::<i32>::new());
}

#[tokio::test]
async fn req_bash_010_nothing_of_one_conversation_is_left_for_the_next() {
    let dir = TempDir::new().unwrap();
    let engine = engine(&dir);
    let first = ToolContext::from_host(dir.path()).env("TALK", "one");
    engine.run(Request::new("cd /; export SET=1; echo $TALK"), &first).await.unwrap();
    let second = ToolContext::from_host(dir.path());
    let outcome = engine.run(Request::new("echo ${SET-unset} ${TALK-unset}; pwd"), &second).await.unwrap();
    let here = dir.path().canonicalize().unwrap();
    assert_eq!(outcome.output.stdout(), format!("unset unset\n{}\n", here.display()));
}

#[tokio::test]
async fn req_bash_010_one_tool_serves_conversations_at_once() {
    let (state, one, two) = (TempDir::new().unwrap(), TempDir::new().unwrap(), TempDir::new().unwrap());
    let engine = engine(&state);
    let contexts = [&one, &two].map(|dir| ToolContext::from_host(dir.path()));
    let meet = |other: &TempDir| {
        Request::new(format!(
            "touch here; while [ ! -e {}/here ]; do sleep 0.01; done",
            other.path().display()
        ))
    };
    let both = tokio::join!(engine.run(meet(&two), &contexts[0]), engine.run(meet(&one), &contexts[1]));
    assert!(both.0.unwrap().success() && both.1.unwrap().success());
}

// REQ-BASH-011: Display command simplification

/// What is shown of a command in which `HERE` stands for the working directory.
fn display(command: &str) -> (String, String) {
    let world = world();
    let here = world.work().to_str().unwrap().to_owned();
    let json = run(&world, &command.replace("HERE", &here));
    let field = |name: &str| json[name].as_str().unwrap().replace(&here, "HERE");
    (field("command"), field("display"))
}

fn shows(command: &str, shown: &str) {
    assert_eq!(display(command), (command.to_owned(), shown.to_owned()));
}

#[test]
fn req_bash_011_display_stands_beside_the_command() {
    shows("echo x", "echo x");
}

#[test]
fn req_bash_011_a_redundant_cd_is_stripped() {
    shows("cd HERE && echo x", "echo x");
    shows("cd \"HERE\" && echo x && echo y", "echo x && echo y");
}

#[test]
fn req_bash_011_a_cd_to_elsewhere_stays() {
    shows("cd / && echo x", "cd / && echo x");
    shows("cd HERE/.. && echo x", "cd HERE/.. && echo x");
}

#[test]
fn req_bash_011_a_redundant_cd_with_a_semicolon_is_stripped() {
    shows("cd HERE; echo x", "echo x");
    shows("cd /; echo x", "cd /; echo x");
}

#[test]
fn req_bash_011_nothing_before_an_or_is_stripped() {
    shows("cd HERE || echo fallback", "cd HERE || echo fallback");
    shows("echo x || echo fallback", "echo x || echo fallback");
}

#[test]
fn req_bash_011_of_mixed_operators_only_the_cd_is_stripped() {
    shows("cd HERE && echo x || echo fallback", "echo x || echo fallback");
    shows("cd / && echo x || echo fallback", "cd / && echo x || echo fallback");
}

#[tokio::test]
async fn req_bash_011_the_tools_reply_has_both() {
    let dir = TempDir::new().unwrap();
    let command = format!("cd {} && echo x", dir.path().display());
    let parsed = calls::parse(Vendor::Phoenix, json!({"command": command})).unwrap();
    let results = parsed.call().run(&engine(&dir), &ToolContext::from_host(dir.path())).await;
    let reply = parsed.reply(&results);
    assert_eq!((&reply["command"], &reply["display"]), (&command.into(), &"echo x".into()));
}
