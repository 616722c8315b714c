//! `--stream`: one event per line, as it happens.

use std::io::{BufRead, BufReader};

use crate::world;

#[test]
fn started_output_ended() {
    let finished = world().run_with(&["--stream"], "echo hi; sleep 0.1; echo oops >&2; exit 4").finish();
    assert_eq!(finished.code(), Some(4));
    let events = finished.json_lines();
    let names: Vec<_> = events.iter().map(|e| e["event"].as_str().unwrap()).collect();
    assert_eq!(names, ["started", "output", "output", "ended"]);
    assert_eq!(events[0]["command"], "echo hi; sleep 0.1; echo oops >&2; exit 4");
    assert_eq!(
        (&events[1]["stream"], &events[1]["text"], &events[1]["bytes"]),
        (&"stdout".into(), &"hi\n".into(), &3.into())
    );
    assert_eq!((&events[2]["stream"], &events[2]["text"]), (&"stderr".into(), &"oops\n".into()));
    assert_eq!((&events[3]["status"], &events[3]["exit_code"]), (&"exited".into(), &4.into()));
    assert_eq!(events[3]["stdout"], "hi\n");
    assert_eq!(events[0]["pid"], events[3]["pid"]);
}

#[test]
fn output_comes_while_the_command_runs() {
    let world = world();
    let mut child =
        world.run_with(&["--stream"], "echo first; until [ -e go ]; do sleep 0.01; done; echo last").start();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().contains("\"started\""));
    assert!(lines.next().unwrap().unwrap().contains("first"));
    std::fs::write(world.work().join("go"), "").unwrap();
    assert!(lines.next().unwrap().unwrap().contains("last"));
    assert!(child.wait().unwrap().success());
}

#[test]
fn the_texts_together_are_the_whole_output() {
    let finished = world()
        .run_with(&["--stream"], "for i in {1..300}; do printf 'ä中🦀\\xff'; done; printf '\\xe4'")
        .finish();
    let text: String =
        finished.json_lines().iter().filter_map(|e| e["text"].as_str().map(str::to_owned)).collect();
    assert_eq!(text, "ä中🦀\u{fffd}".repeat(300) + "\u{fffd}");
}
