//! Background tasks, from their start to the last byte.

use std::fs;
use std::time::Duration;

use bashtion_testkit::{World, living_with, wait_until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::world;

/// Starts a task and returns its name.
pub(crate) fn start(world: &World, options: &[&str], command: &str) -> String {
    let started = world.run_with(&[&["--background", "--json"], options].concat(), command).finish();
    let json = started.json();
    assert_eq!((started.code(), &json["status"]), (Some(0), &"running".into()), "{}", started.stderr());
    json["task_id"].as_str().unwrap().to_owned()
}

pub(crate) fn waited(world: &World, id: &str) -> Value {
    world.bashtion().args(&["wait", id, "--json"]).finish().json()
}

fn output(world: &World, options: &[&str], id: &str) -> String {
    world.bashtion().arg("output").args(options).arg(id).finish().stdout()
}

pub(crate) fn status(world: &World, id: &str) -> Value {
    world.bashtion().args(&["status", id, "--json"]).finish().json()
}

pub(crate) fn supervisor(world: &World, id: &str) -> Pid {
    let record = fs::read(world.state().join("private/tasks").join(id).join("task.json")).unwrap();
    let record: Value = serde_json::from_slice(&record).unwrap();
    Pid::from_raw(i32::try_from(record["supervisor"].as_i64().unwrap()).unwrap())
}

pub(crate) fn configure(world: &World, text: &str) -> String {
    let path = world.work().join("../config.toml");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn from_start_to_result() {
    let world = world();
    let command = "echo out; echo err >&2; touch up; while [ ! -e go ]; do sleep 0.02; done; exit 3";
    let started =
        world.run_with(&["--mode", "background", "--json", "--description", "a test"], command).finish();
    let json = started.json();
    let id = json["task_id"].as_str().unwrap();
    assert!(id.len() == 11 && id.starts_with("bash-"), "{id}");
    assert!(json["pid"].as_i64() > Some(1) && json["pid"] == json["pgid"]);
    assert_eq!((&json["status"], &json["exit_code"]), (&"running".into(), &Value::Null));
    wait_until("it runs", || world.work().join("up").exists());

    let listed = world.bashtion().args(&["tasks", "--json"]).finish().json();
    assert_eq!(listed[0]["task_id"], id);
    assert_eq!((&listed[0]["status"], &listed[0]["description"]), (&"running".into(), &"a test".into()));
    assert!(listed[0]["usage"]["processes"].as_i64() >= Some(1), "{listed}");
    assert!(listed[0]["usage"]["rss_kib"].as_i64() > Some(100), "{listed}");
    let gave_up = world.bashtion().args(&["wait", id, "--timeout", "50ms"]).finish();
    assert_eq!(gave_up.code(), Some(124));

    fs::write(world.work().join("go"), "").unwrap();
    let ended = world.bashtion().args(&["wait", id, "--json"]).finish();
    assert_eq!(ended.code(), Some(3));
    let json = ended.json();
    assert_eq!((&json["status"], &json["exit_code"]), (&"exited".into(), &3.into()));
    assert_eq!((&json["stdout"], &json["stderr"]), (&"out\n".into(), &"err\n".into()));
    assert_eq!((&json["task_id"], &json["description"]), (&id.into(), &"a test".into()));
    assert_eq!(json["sandbox"]["mode"], "workspace");
    let mut lines: Vec<_> = output(&world, &[], id).lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(lines, ["err", "out"]);
    let file = fs::read_to_string(json["output_file"].as_str().unwrap()).unwrap();
    let last = file.lines().last().unwrap();
    assert!(last.starts_with(&format!("[{id} exited with code 3 after ")), "{last}");
    let listed = world.bashtion().args(&["tasks"]).finish().stdout();
    assert!(listed.contains("exit 3") && listed.contains("a test"), "{listed}");
}

#[test]
fn killing_ends_the_whole_tree() {
    let world = world();
    let id = start(&world, &[], "(setsid sleep 4330.1 &); sleep 4330.1");
    wait_until("all run", || living_with("sleep 4330.1").len() >= 2);
    let killed = world.bashtion().args(&["kill", &id, "--json"]).finish();
    assert_eq!((killed.code(), &killed.json()["status"]), (Some(0), &"cancelled".into()));
    assert_eq!(living_with("sleep 4330.1"), Vec::<i32>::new());
    let again = world.bashtion().args(&["kill", &id]).finish();
    assert_eq!(again.code(), Some(1));
    assert!(again.stderr().contains("is not running any more"), "{}", again.stderr());
}

#[test]
fn signals_are_sent_or_end_it() {
    let world = world();
    let trapping =
        "trap 'echo got usr1' USR1; trap 'echo got int' INT; touch up; while :; do sleep 0.05; done";
    let id = start(&world, &[], trapping);
    wait_until("it runs", || world.work().join("up").exists());
    let sent = world.bashtion().args(&["kill", &id, "--signal", "USR1"]).finish();
    assert!(sent.stdout().contains("is running"), "{}", sent.stdout());
    wait_until("it is told", || output(&world, &[], &id).contains("got usr1"));
    // It takes SIGINT and goes on, so SIGTERM follows.
    let ended = world.bashtion().args(&["kill", &id, "--signal", "SIGINT", "--json"]).finish().json();
    assert_eq!(ended["status"], "cancelled");
    assert!(ended["stdout"].as_str().unwrap().contains("got int"), "{ended}");

    let stubborn = start(&world, &[], "trap '' TERM; touch deaf; while :; do sleep 0.05; done");
    wait_until("it runs", || world.work().join("deaf").exists());
    let killed = world.bashtion().args(&["kill", &stubborn, "--signal", "kill", "--json"]).finish().json();
    assert!(killed["duration_ms"].as_u64() < Some(1_900), "without a grace period: {killed}");
    let wrong = world.bashtion().args(&["kill", &id, "--signal", "NOPE"]).finish();
    assert_eq!(wrong.code(), Some(2));
}

#[test]
fn a_deadline_holds_in_the_background_too() {
    let world = world();
    let id = start(&world, &["--timeout", "300ms"], "echo begun; sleep 1000");
    let ended = world.bashtion().args(&["wait", &id, "--json"]).finish();
    assert_eq!((ended.code(), &ended.json()["status"]), (Some(124), &"timed_out".into()));
    assert_eq!(ended.json()["stdout"], "begun\n");
}

#[test]
fn what_is_refused_does_not_become_a_task() {
    let world = world();
    let refused = world.run_with(&["--background", "--json"], "rm -rf ~").finish();
    assert_eq!((refused.code(), &refused.json()["status"]), (Some(126), &"refused".into()));
    let failed = world.run_with(&["--background", "--cwd", "/nowhere"], "true").finish();
    assert_eq!(failed.code(), Some(125));
    assert!(failed.stderr().contains("/nowhere"), "{}", failed.stderr());
    assert_eq!(world.bashtion().args(&["tasks", "--json"]).finish().json(), serde_json::json!([]));
    let left = fs::read_dir(world.state().join("private/tasks")).unwrap().flatten();
    let left: Vec<_> =
        left.map(|entry| entry.file_name()).filter(|name| name != "lock" && name != "index.json").collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn every_byte_survives_the_death_of_whoever_started_it() {
    let world = world();
    let command = "for i in $(seq 100); do head -c 1000000 /dev/urandom | tee >(sha256sum > /dev/null) ; done | tee copy; \
                   sha256sum < copy > sum; rm copy; exit 7";
    let mut starter =
        world.run_with(&["--on-timeout", "background", "--timeout", "60s", "--json"], command).start();
    wait_until("it prints", || {
        let listed = world.bashtion().args(&["tasks", "--json"]).finish().json();
        listed[0]["output_bytes"].as_u64() > Some(1_000_000)
    });
    starter.kill().unwrap();
    starter.wait().unwrap();
    let id = world.bashtion().args(&["tasks", "--json"]).finish().json()[0]["task_id"].clone();
    let ended = waited(&world, id.as_str().unwrap());
    assert_eq!(
        (&ended["exit_code"], &ended["stdout_bytes"]),
        (&7.into(), &100_000_000_u64.into()),
        "{ended}"
    );
    let expected = fs::read_to_string(world.work().join("sum")).unwrap();
    let script = format!("$BASHTION output {} | sha256sum", id.as_str().unwrap());
    let sum = world.program("/bin/bash").args(&["-c", &script]).finish().stdout();
    assert_eq!(sum, expected);
}

#[test]
fn a_killed_supervisor_is_noticed_and_leaves_nothing_behind() {
    let world = world();
    let id = start(&world, &[], "echo begun; touch up; (setsid sleep 4331.1 &); sleep 4331.1");
    wait_until("all run", || world.work().join("up").exists() && living_with("sleep 4331.1").len() >= 2);
    wait_until("it is written down", || output(&world, &[], &id) == "begun\n");
    kill(supervisor(&world, &id), Signal::SIGKILL).unwrap();
    wait_until("it is lost", || status(&world, &id)["status"] == "lost");
    let lost = status(&world, &id);
    assert_eq!(lost["reason"], "its supervisor was killed");
    assert_eq!(output(&world, &[], &id), "begun\n");
    let waited = world.bashtion().args(&["wait", &id, "--json"]).finish();
    assert_eq!((waited.code(), &waited.json()["status"]), (Some(125), &"lost".into()));
    // Its room ends what it had started, also what had left its session.
    wait_until("nothing is left", || living_with("sleep 4331.1").is_empty());
}

#[test]
fn without_a_room_survivors_are_named_and_can_be_ended() {
    let world = world();
    let id = start(&world, &["--sandbox", "off"], "touch up; (setsid sleep 4331.2 &); sleep 4331.2");
    wait_until("all run", || world.work().join("up").exists() && living_with("sleep 4331.2").len() >= 2);
    kill(supervisor(&world, &id), Signal::SIGKILL).unwrap();
    wait_until("it is lost", || status(&world, &id)["status"] == "lost");
    let lost = status(&world, &id);
    let survivors = lost["survivors"].as_array().unwrap();
    assert!(survivors.iter().any(|process| process["command"] == "sleep 4331.2"), "{lost}");
    assert_eq!(world.bashtion().args(&["kill", &id]).finish().code(), Some(0));
    assert_eq!(living_with("sleep 4331.2"), Vec::<i32>::new());
}

#[test]
fn output_is_read_by_offsets() {
    let world = world();
    let id = start(&world, &[], "printf 'one\\ntwo\\nthree\\n'");
    waited(&world, &id);
    assert_eq!(output(&world, &["--since", "4"], &id), "two\nthree\n");
    assert_eq!(output(&world, &["--since", "14"], &id), "");
    assert_eq!(output(&world, &["--since", "99"], &id), "");
    assert_eq!(output(&world, &["--tail", "1"], &id), "three\n");
    assert_eq!(output(&world, &["--tail", "2"], &id), "two\nthree\n");
    assert_eq!(output(&world, &["--tail", "9"], &id), "one\ntwo\nthree\n");
    assert_eq!(output(&world, &["--tail", "0"], &id), "");
    let json = world.bashtion().args(&["output", &id, "--since", "4", "--json"]).finish().json();
    assert_eq!((&json["output"], &json["next_offset"]), (&"two\nthree\n".into(), &14.into()));
    assert_eq!((&json["offset"], &json["dropped"], &json["running"]), (&4.into(), &0.into(), &false.into()));
}

#[test]
fn following_shows_everything_until_the_end() {
    let world = world();
    let id = start(&world, &[], "for i in 1 2 3 4 5; do echo $i; sleep 0.1; done");
    assert_eq!(output(&world, &["--follow"], &id), "1\n2\n3\n4\n5\n");
    let id = start(&world, &[], "for i in 1 2 3; do echo $i; sleep 0.1; done");
    let lines = world.bashtion().args(&["output", &id, "--follow", "--json"]).finish().json_lines();
    let text: String = lines.iter().map(|line| line["output"].as_str().unwrap()).collect();
    assert_eq!(text, "1\n2\n3\n");
    assert_eq!(lines.last().unwrap()["running"], false);
}

#[test]
fn of_very_long_output_the_ends_are_kept_and_the_gap_is_told() {
    let world = world();
    let config = configure(&world, "[tasks]\noutput-size = \"64K\"\n");
    let started = world
        .run_with(&["--background", "--json"], "seq 1 100000; exit 1")
        .env("BASHTION_CONFIG", &config)
        .finish();
    let id = started.json()["task_id"].as_str().unwrap().to_owned();
    let ended = waited(&world, &id);
    assert_eq!(ended["stdout_bytes"], 588_895);
    let file = fs::read_to_string(ended["output_file"].as_str().unwrap()).unwrap();
    assert!(file.len() < 70_000 && file.starts_with("1\n2\n"), "{}", file.len());
    assert!(
        file.contains(" bytes dropped ...]\n") && file.contains("\n100000\n["),
        "{}",
        &file[file.len() - 200..]
    );
    let whole = world.bashtion().args(&["output", &id]).finish();
    assert!(whole.stdout().starts_with("1\n2\n") && whole.stdout().ends_with("99999\n100000\n"));
    let dropped = 588_895 - whole.stdout().len();
    assert!(whole.stderr().contains(&format!("note: {dropped} bytes before offset")), "{}", whole.stderr());
    assert_eq!(output(&world, &["--tail", "2"], &id), "99999\n100000\n");
    let middle = world.bashtion().args(&["output", &id, "--since", "300000", "--json"]).finish().json();
    assert!(middle["dropped"].as_u64() > Some(100_000), "{}", middle["dropped"]);
}

#[test]
fn only_so_many_run_at_once() {
    let world = world();
    let config = configure(&world, "[tasks]\nlimit = 2\n");
    let ids = [start(&world, &[], "sleep 4332.1"), start(&world, &[], "sleep 4332.1")];
    let third = world.run_with(&["--background"], "true").env("BASHTION_CONFIG", &config).finish();
    assert_eq!(third.code(), Some(125));
    assert!(ids.iter().all(|id| third.stderr().contains(id)), "{}", third.stderr());
    world.bashtion().args(&["kill", &ids[0]]).finish().code().unwrap();
    let third = world.run_with(&["--background"], "true").env("BASHTION_CONFIG", &config).finish();
    assert_eq!(third.code(), Some(0), "{}", third.stderr());
    world.bashtion().args(&["kill", &ids[1]]).finish().code().unwrap();
}

#[test]
fn what_takes_too_long_goes_on_in_the_background() {
    let world = world();
    let options = ["--on-timeout", "background", "--timeout", "300ms"];
    let command = "echo $$; echo begun; sleep 1; echo done; exit 4";
    let left = world.run_with(&[&options[..], &["--json"]].concat(), command).finish();
    let json = left.json();
    assert_eq!((left.code(), &json["status"]), (Some(124), &"running".into()));
    let pid = json["room_pid"].as_i64().unwrap();
    assert_eq!(json["output"], format!("{pid}\nbegun\n"));
    let ended = waited(&world, json["task_id"].as_str().unwrap());
    assert_eq!((&ended["exit_code"], &ended["pid"]), (&4.into(), &json["pid"]));
    assert_eq!(ended["stdout"], format!("{pid}\nbegun\ndone\n"));

    let in_time = world.run_with(&options, "echo quick; exit 5").finish();
    assert_eq!((in_time.code(), in_time.stdout().as_str()), (Some(5), "quick\n"));
    let left = world.run_with(&options, "echo slow; sleep 4333.1").finish();
    assert_eq!((left.code(), left.stdout().as_str()), (Some(124), "slow\n"));
    assert!(left.stderr().contains("bashtion wait bash-"), "{}", left.stderr());
    let id = world.bashtion().args(&["tasks", "--running", "--json"]).finish().json()[0]["task_id"].clone();
    world.bashtion().args(&["kill", id.as_str().unwrap()]).finish().code().unwrap();
}

#[test]
fn interrupting_the_wait_ends_it() {
    let world = world();
    let options = ["--on-timeout", "background", "--timeout", "100s"];
    let mut child = world.run_with(&options, "touch up; sleep 4334.1").start();
    wait_until("it runs", || world.work().join("up").exists());
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGINT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(living_with("sleep 4334.1"), Vec::<i32>::new());
}

#[test]
fn old_ones_are_forgotten_and_running_ones_never() {
    let world = world();
    let config = configure(&world, "[tasks]\nkeep-for = \"2s\"\n");
    let running = start(&world, &[], "sleep 4335.1");
    let ended = start(&world, &[], "true");
    waited(&world, &ended);
    std::thread::sleep(Duration::from_millis(2100));
    let next = world.run_with(&["--background"], "true").env("BASHTION_CONFIG", &config).finish();
    assert_eq!(next.code(), Some(0));
    assert_eq!(status(&world, &running)["status"], "running");
    let gone = world.bashtion().args(&["status", &ended]).finish();
    assert_eq!(gone.code(), Some(1));
    assert!(gone.stderr().contains("there is no task"), "{}", gone.stderr());
    world.bashtion().args(&["kill", &running]).finish().code().unwrap();
}

#[test]
fn a_program_without_a_supervisor_is_told_and_one_that_names_it_works() {
    let dir = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let builder = || bashtion::Engine::builder().state_dir(dir.path().join("state"));
    let context = bashtion::ToolContext::from_host(dir.path());
    let error =
        runtime.block_on(builder().build().start(bashtion::Request::new("true"), &context)).unwrap_err();
    assert!(error.to_string().contains("supervise_if_asked"), "{error}");
    let engine = builder().supervisor(env!("CARGO_BIN_EXE_bashtion")).build();
    let begun =
        runtime.block_on(engine.start(bashtion::Request::new("echo durable; exit 2"), &context)).unwrap();
    let task = runtime.block_on(engine.tasks().wait(&begun.task_id.unwrap())).unwrap();
    let bashtion::TaskState::Ended(outcome) = task.state else { panic!("{task:?}") };
    assert_eq!((outcome.status, outcome.output.stdout()), (bashtion::Status::Exited(2), "durable\n"));
}

#[test]
fn a_supervisor_is_small() {
    let world = world();
    let id = start(&world, &[], "echo up; sleep 4336.1");
    wait_until("it runs", || output(&world, &[], &id) == "up\n");
    let pid = supervisor(&world, &id);
    let number = |file: &str, name: &str| -> u64 {
        let text = fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    };
    let (kib, threads) = (number("smaps_rollup", "Pss_Anon:"), number("status", "Threads:"));
    assert!(kib < 2048 && threads <= 2, "{kib} KiB of its own, {threads} threads");
    world.bashtion().args(&["kill", &id]).finish().code().unwrap();
}
