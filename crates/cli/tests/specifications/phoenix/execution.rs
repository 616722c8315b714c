//! REQ-BASH-001 to 003: execution, timeouts, background.

use super::*;

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
    assert_eq!(setting("phoenix", "limits.timeout"), "30s");
}

#[test]
fn req_bash_002_the_slow_timeout_is_15_minutes() {
    assert_eq!(setting("phoenix", "limits.slow-timeout"), "15m");
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
