//! The default profile: the best of the five, one test for each choice of the table in `docs/specifications.md`.

use std::time::Duration;

use bashtion::{Decision, Profile};
use bashtion_testkit::{living_with, wait_until};
use serde_json::Value;

use crate::{on_terminal, permits, profile_file, refusals, string, without_times, world};

fn ran(options: &[&str], command: &str) -> Value {
    world().run_with(&[&["--json"], options].concat(), command).finish().json()
}

fn default() -> Profile {
    Profile::built_in("default").unwrap()
}

#[test]
fn two_minutes_or_slow_fifteen() {
    let limits = default().limits;
    assert_eq!(limits.timeout, Duration::from_secs(120));
    assert_eq!(limits.slow_timeout, Duration::from_secs(900));
}

#[test]
fn a_timeout_can_be_given_or_left_out() {
    assert_eq!(ran(&["--timeout", "200ms"], "sleep 60")["timeout_ms"], 200);
    assert_eq!(ran(&["--timeout", "none"], "true")["success"], true);
}

#[test]
fn a_timeout_is_a_result_with_the_output_so_far() {
    let json = ran(&["--timeout", "500ms"], "echo begun; sleep 60");
    assert_eq!((&json["timed_out"], &json["stdout"]), (&true.into(), &"begun\n".into()));
}

#[test]
fn sigterm_two_seconds_sigkill_for_the_whole_tree() {
    assert_eq!(default().limits.grace, Duration::from_secs(2));
    let json = ran(&["--timeout", "300ms"], "(setsid sleep 4404.1 &); sleep 4404.1");
    assert_eq!(json["status"], "timed_out");
    assert_eq!(living_with("sleep 4404.1"), Vec::<i32>::new());
}

#[test]
fn streams_apart_and_together_if_asked_for() {
    let apart = ran(&[], "echo out; echo err >&2");
    assert_eq!((&apart["stdout"], &apart["stderr"]), (&"out\n".into(), &"err\n".into()));
    assert_eq!(ran(&["--combined"], "echo out; echo err >&2")["output"], "out\nerr\n");
}

#[test]
fn head_and_tail_of_30000_characters_and_a_file_with_all() {
    let world = world();
    let json = world.run_with(&["--json"], "seq 100000").finish().json();
    let text = string(&json["stdout"]);
    assert!(text.starts_with("1\n2\n") && text.ends_with("\n99999\n100000\n"), "{}", text.len());
    assert!(text.len() > 29_000 && text.len() < 30_300, "{}", text.len());
    let all = std::fs::read(string(&json["output_file"])).unwrap();
    assert_eq!(all.len(), 588_895);
}

#[test]
fn malformed_bytes_are_replaced() {
    assert_eq!(ran(&[], "printf 'a\\xffb'")["stdout"], "a\u{fffd}b");
}

#[test]
fn an_environment_of_allowed_names() {
    let world = world();
    let run = world.run_with(&["--json", "--env", "GIVEN=yes"], "echo $PATH $GIVEN $API_KEY $OTHER");
    let json = run.env("API_KEY", "hunter2").env("OTHER", "hunter3").finish().json();
    let printed = string(&json["stdout"]);
    assert!(printed.contains("/usr/bin") && printed.contains("yes"), "{printed}");
    assert!(!printed.contains("hunter"), "{printed}");
}

#[test]
fn home_is_the_callers() {
    let world = world();
    let json = world.run_with(&["--json"], "echo $HOME").env("HOME", "/usr/share").finish().json();
    assert_eq!(json["stdout"], "/usr/share\n");
}

#[test]
fn the_syntax_tree_is_judged() {
    for command in ["sudo rm -rf ~", "git push -f", "echo x | tee /dev/sda", "true && (rm -r /)"] {
        assert_ne!(refusals("default", command), Vec::<String>::new(), "{command}");
    }
}

#[test]
fn no_text_is_banned() {
    permits("default", "echo 'rm -rf / is text'; x=$(date) && echo ${x:-none} {a,b} &");
}

#[test]
fn what_cannot_be_undone_is_asked_about() {
    let json = ran(&["--approve", "never"], "git reset --hard");
    assert_eq!((&json["status"], &json["pid"]), (&"needs_approval".into(), &Value::Null));
    assert_eq!(string(&json["verdict"]["decision"]), Decision::Ask.to_string());
}

#[test]
fn confined_to_the_workspace_without_network() {
    let world = world();
    let json = world.run_with(&["--json"], "touch inside; touch ../outside").finish().json();
    assert_eq!(json["sandbox"]["mode"], "workspace");
    assert_eq!(json["sandbox"]["network"], "full");
    assert!(world.work().join("inside").exists() && !world.work().join("../outside").exists(), "{json}");
}

#[test]
fn no_terminal_and_no_input() {
    let json = ran(&[], "cat; tty; (: < /dev/tty) 2> /dev/null || echo none");
    assert_eq!(json["stdout"], "not a tty\nnone\n");
}

#[test]
fn background_tasks_with_an_id_a_process_group_and_a_log() {
    let world = world();
    let task = world.run_with(&["--json", "--background"], "echo out; until [ -e go ]; do sleep 0.01; done");
    let task = task.finish().json();
    assert!(string(&task["task_id"]).starts_with("bash-") && task["pid"] == task["pgid"], "{task}");
    let log = || std::fs::read_to_string(string(&task["output_file"])).unwrap_or_default();
    wait_until("it prints", || log() == "out\n");
    std::fs::write(world.work().join("go"), "").unwrap();
    let ended = world.bashtion().args(&["wait", string(&task["task_id"]), "--json"]).finish().json();
    assert_eq!(ended["exit_code"], 0);
    wait_until("its end is in the log", || log().starts_with("out\n") && log().len() > 4);
}

#[test]
fn output_in_a_pipe_is_the_commands_own() {
    let finished = world().run("echo out; echo err >&2; exit 3").finish();
    let streams = (finished.stdout(), finished.stderr());
    assert_eq!((finished.code(), streams), (Some(3), ("out\n".to_owned(), "err\n".to_owned())));
}

#[test]
fn output_on_a_terminal_comes_as_it_is_printed() {
    let seen = on_terminal(&world(), "", "echo out; exit 3", &[("NO_COLOR", "1")]);
    assert_eq!(without_times(&seen), "out\nexit 3 (Ns)\n");
}

#[test]
fn a_redundant_cd_is_not_shown() {
    let world = world();
    let command = format!("cd {} && echo x", world.work().display());
    assert_eq!(world.run_with(&["--json"], command).finish().json()["display"], "echo x");
}

#[test]
fn everything_is_written_down() {
    let world = world();
    world.run("echo written").finish().code().unwrap();
    let listed = world.bashtion().args(&["audit", "list"]).finish().stdout();
    assert!(listed.contains("echo written"), "{listed}");
}

#[test]
fn every_other_choice_is_a_profile_away() {
    let world = world();
    let profile = profile_file(&world, "[output]\nstreams = 'combined'\n[limits]\ntimeout = '30s'\n");
    let json = world.run_with(&["--json", "--profile", &profile], "echo out; echo err >&2").finish().json();
    assert_eq!(json["output"], "out\nerr\n");
}
