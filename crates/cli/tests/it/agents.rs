//! The commands of an agent, listed and ended together.

use std::fs;
use std::process::Child;

use bashtion_testkit::{World, living_with, wait_until};
use serde_json::Value;

use crate::world;

fn tasks(world: &World, args: &[&str]) -> Value {
    world.bashtion().args(&["tasks", "--json"]).args(args).finish().json()
}

fn in_foreground(world: &World, agent: &str, command: &str) -> Child {
    world.run_with(&["--agent", agent, "--json"], command).start()
}

fn in_background(world: &World, agent: &str, command: &str) {
    assert_eq!(world.run_with(&["--agent", agent, "--background"], command).finish().code(), Some(0));
}

#[test]
fn all_that_runs_is_listed_and_ended_with_its_agent() {
    let world = world();
    in_background(&world, "alice", "sleep 4341.1");
    in_background(&world, "bob", "sleep 4342.1");
    // The shell does not hear SIGTERM, and one process has left it.
    let foreground = in_foreground(&world, "alice", "trap '' TERM; (setsid sleep 4341.1 &); sleep 4341.1");
    wait_until("all run", || {
        living_with("sleep 4341.1").len() >= 3 && living_with("sleep 4342.1").len() == 1
    });
    let listed = tasks(&world, &["--agent", "alice"]);
    let kinds: Vec<_> = listed.as_array().unwrap().iter().map(|task| task["background"].clone()).collect();
    assert!(kinds.contains(&true.into()) && kinds.contains(&false.into()), "{listed}");
    assert!(
        listed.as_array().unwrap().iter().all(|task| task["agent"] == "alice" && task["status"] == "running")
    );

    let ended = tasks(&world, &["--agent", "alice", "--kill-all"]);
    assert_eq!(ended.as_array().unwrap().len(), 2, "{ended}");
    assert!(ended.as_array().unwrap().iter().all(|task| task["status"] == "cancelled"), "{ended}");
    assert_eq!(living_with("sleep 4341.1"), Vec::<i32>::new());
    assert_eq!(living_with("sleep 4342.1").len(), 1, "another agent's goes on");
    let told = foreground.wait_with_output().unwrap();
    let outcome: Value = serde_json::from_slice(&told.stdout).unwrap();
    assert_eq!(outcome["status"], "cancelled");
    assert_eq!(tasks(&world, &["--agent", "alice", "--running"]), serde_json::json!([]));
    assert_eq!(tasks(&world, &["--agent", "bob", "--kill-all"]).as_array().unwrap().len(), 1);
}

#[test]
fn a_command_in_the_foreground_is_known_while_it_runs() {
    let world = world();
    let running = in_foreground(&world, "carol", "while ! test -e go; do sleep 0.02; done");
    wait_until("it is known", || tasks(&world, &["--agent", "carol"])[0]["pid"].as_i64() > Some(1));
    let listed = tasks(&world, &[]);
    assert_eq!(
        (&listed[0]["status"], &listed[0]["background"]),
        (&"running".into(), &false.into()),
        "{listed}"
    );
    fs::write(world.work().join("go"), "").unwrap();
    assert!(running.wait_with_output().unwrap().status.success());
    assert_eq!(tasks(&world, &[]), serde_json::json!([]));
}

#[test]
fn one_whose_bashtion_was_killed_is_forgotten() {
    let world = world();
    let mut running = in_foreground(&world, "dave", "sleep 4343.1");
    wait_until("it is known", || tasks(&world, &["--agent", "dave"]).as_array().unwrap().len() == 1);
    running.kill().unwrap();
    running.wait().unwrap();
    wait_until("it is gone", || living_with("sleep 4343.1").is_empty());
    assert_eq!(tasks(&world, &["--agent", "dave"]), serde_json::json!([]));
    assert_eq!(fs::read_dir(world.state().join("private/running")).unwrap().count(), 0);
}

#[test]
fn names_that_cannot_be() {
    let world = world();
    for name in ["", "a\nb", "x\u{1b}[1m", &"n".repeat(101)] {
        assert_eq!(world.run_with(&["--agent", name], "true").finish().code(), Some(2), "{name:?}");
    }
    assert_eq!(world.bashtion().args(&["tasks", "--kill-all"]).finish().code(), Some(2));
}
