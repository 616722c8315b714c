//! `executeForeground`, `truncate` and "Streaming Support".

use std::io::{BufRead, BufReader};

use bashtion::Profile;
use bashtion_testkit::{living_with, wait_until};

use super::{ran, ran_in};
use crate::{profile_file, string, world};

#[test]
fn the_default_timeout_is_two_minutes() {
    assert_eq!(Profile::built_in("mycode").unwrap().limits.timeout.as_millis(), 120_000);
}

#[test]
fn the_longest_timeout_is_ten_minutes() {
    assert_eq!(Profile::built_in("mycode").unwrap().limits.longest_timeout.as_millis(), 600_000);
}

#[test]
fn a_longer_timeout_is_clamped() {
    let world = world();
    let text = "inherits = 'mycode'\n[limits]\ntimeout = '1s'\nslow-timeout = '1s'\nlongest-timeout = '1s'\n";
    let profile = profile_file(&world, text);
    let options = ["--json", "--profile", &profile, "--timeout", "1h"];
    let json = world.run_with(&options, "sleep 60").finish().json();
    assert_eq!((&json["status"], &json["timeout_ms"]), (&"timed_out".into(), &1000.into()));
}

#[test]
fn hung_processes_are_killed() {
    let json = ran(&["--timeout", "300ms"], "sleep 4402.1 & sleep 4402.1");
    assert_eq!(json["status"], "timed_out");
    assert_eq!(living_with("sleep 4402.1"), Vec::<i32>::new());
}

#[test]
fn what_was_printed_before_a_timeout_comes_back() {
    let json = ran(&["--timeout", "500ms"], "echo out; echo err >&2; sleep 60");
    assert_eq!((&json["stdout"], &json["stderr"]), (&"out\n".into(), &"err\n".into()));
}

#[test]
fn the_shell_is_bash() {
    assert_ne!(ran(&[], "echo $BASH_VERSION")["stdout"], "\n");
}

#[test]
fn the_directory_can_be_another() {
    assert_eq!(ran(&["--cwd", "/usr"], "pwd")["stdout"], "/usr\n");
}

#[test]
fn variables_lie_over_the_environment() {
    let options = ["--json", "--profile", "mycode", "--env", "A=given"];
    let world = world();
    let run = world.run_with(&options, "echo $A $B").env("A", "inherited").env("B", "kept");
    assert_eq!(run.finish().json()["stdout"], "given kept\n");
}

#[test]
fn each_command_stands_alone_unless_a_session_is_named() {
    let world = world();
    std::fs::create_dir(world.work().join("sub")).unwrap();
    ran_in(&world, &[], "cd sub");
    assert_eq!(ran_in(&world, &[], "basename $PWD")["stdout"], "work\n");
    ran_in(&world, &["--session", "one"], "cd sub");
    assert_eq!(ran_in(&world, &["--session", "one"], "basename $PWD")["stdout"], "sub\n");
}

#[test]
fn output_of_30000_characters_is_whole() {
    let json = ran(&[], "head -c 30000 /dev/zero | tr '\\0' x");
    assert_eq!((string(&json["stdout"]).len(), &json["truncated"]), (30_000, &false.into()));
}

#[test]
fn of_more_half_and_half_are_kept_with_the_number_between() {
    let json = ran(
        &[],
        "head -c 15000 /dev/zero | tr '\\0' a; head -c 45678 /dev/zero | tr '\\0' b; head -c 15000 /dev/zero | tr '\\0' c",
    );
    let (head, tail) = ("a".repeat(15_000), "c".repeat(15_000));
    let expected = format!("{head}\n\n... (45,678 characters truncated) ...\n\n{tail}");
    assert_eq!((string(&json["stdout"]), &json["truncated"]), (expected.as_str(), &true.into()));
}

#[test]
fn standard_error_is_cut_alike() {
    let json = ran(&[], "head -c 31000 /dev/zero | tr '\\0' x >&2");
    let expected = "\n\n... (1,000 characters truncated) ...\n\n";
    assert!(string(&json["stderr"]).contains(expected) && json["truncated"] == true, "{json}");
}

#[test]
fn events_come_while_it_runs() {
    let world = world();
    let command = "echo first; until [ -e go ]; do sleep 0.01; done; echo last >&2; exit 3";
    let mut child = world.run_with(&["--stream", "--profile", "mycode"], command).start();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || serde_json::from_str::<serde_json::Value>(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(next()["event"], "started");
    let first = next();
    assert_eq!((&first["stream"], &first["text"]), (&"stdout".into(), &"first\n".into()));
    std::fs::write(world.work().join("go"), "").unwrap();
    let last = next();
    assert_eq!((&last["stream"], &last["text"]), (&"stderr".into(), &"last\n".into()));
    let exit = next();
    assert_eq!((&exit["event"], &exit["exit_code"]), (&"ended".into(), &3.into()));
    child.wait().unwrap();
}

#[test]
fn a_watcher_that_leaves_ends_it() {
    let world = world();
    let command = "touch up; while :; do echo x; sleep 0.01; done";
    let mut child = world.run_with(&["--stream", "--profile", "mycode"], command).start();
    wait_until("it runs", || world.work().join("up").exists());
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(141));
}
