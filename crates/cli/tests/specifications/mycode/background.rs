//! `executeBackground`, `TaskManager`, `/tasks` and `TaskOutput`.

use bashtion_testkit::{World, wait_until};
use serde_json::Value;

use super::ran_in;
use crate::{string, world};

/// Starts a task that goes on until the file `go` exists; its result.
fn started(world: &World) -> Value {
    let command = "echo out; echo err >&2; until [ -e go ]; do sleep 0.01; done; echo done; exit 3";
    ran_in(world, &["--background", "--description", "Run tests"], command)
}

fn finish(world: &World, task: &Value) -> Value {
    std::fs::write(world.work().join("go"), "").unwrap();
    world.bashtion().args(&["wait", string(&task["task_id"]), "--json"]).finish().json()
}

#[test]
fn it_returns_at_once_with_an_id_and_a_log_file() {
    let world = world();
    let task = started(&world);
    assert_eq!((&task["status"], &task["exit_code"]), (&"running".into(), &Value::Null));
    assert!(string(&task["task_id"]).starts_with("bash-"), "{task}");
    assert!(string(&task["output_file"]).ends_with(string(&task["task_id"])), "{task}");
    finish(&world, &task);
}

#[test]
fn the_log_file_has_both_streams() {
    let world = world();
    let task = started(&world);
    let log = || std::fs::read_to_string(string(&task["output_file"])).unwrap_or_default();
    wait_until("both are there", || log().contains("out\n") && log().contains("err\n"));
    finish(&world, &task);
    assert!(log().contains("done\n"));
}

#[test]
fn tasks_lists_it_with_its_description() {
    let world = world();
    let task = started(&world);
    let table = world.bashtion().arg("tasks").finish().stdout();
    assert!(table.contains(string(&task["task_id"])), "{table}");
    assert!(table.contains("running") && table.contains("Run tests"), "{table}");
    finish(&world, &task);
}

#[test]
fn the_registered_task_has_everything() {
    let world = world();
    let task = started(&world);
    let listed = world.bashtion().args(&["tasks", "--json"]).finish().json()[0].clone();
    for name in ["task_id", "command", "description", "pid", "output_file"] {
        assert_eq!(listed[name], task[name], "{name}");
    }
    assert!(listed["started"].is_string() && listed["status"] == "running", "{listed}");
    finish(&world, &task);
}

#[test]
fn output_shows_it_while_it_runs_and_after() {
    let world = world();
    let task = started(&world);
    let output = || world.bashtion().args(&["output", string(&task["task_id"])]).finish().stdout();
    wait_until("it prints", || output().contains("out\n") && output().contains("err\n"));
    finish(&world, &task);
    assert!(output().ends_with("done\n"), "{}", output());
}

#[test]
fn its_end_is_registered_with_the_code() {
    let world = world();
    let task = started(&world);
    let ended = finish(&world, &task);
    assert_eq!((&ended["status"], &ended["exit_code"]), (&"exited".into(), &3.into()));
    let listed = world.bashtion().args(&["tasks", "--json"]).finish().json()[0].clone();
    assert_eq!((&listed["status"], &listed["exit_code"]), (&"exited".into(), &3.into()));
}

#[test]
fn a_blocked_command_does_not_become_a_task() {
    let world = world();
    assert_eq!(ran_in(&world, &["--background"], "mkfs -V")["status"], "refused");
    assert_eq!(world.bashtion().args(&["tasks", "--json"]).finish().json(), serde_json::json!([]));
}
