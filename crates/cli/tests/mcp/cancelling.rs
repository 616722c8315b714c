//! Progress, and every way in which a call can end before its command.

use std::time::{Duration, Instant};

use bashtion_testkit::{living_with, wait_until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use crate::stdio::{Client, text};
use crate::world;

#[test]
fn output_comes_while_it_runs_at_a_bounded_rate() {
    let world = world();
    let mut client = Client::new(&world);
    let command =
        "echo early; until [ -e go ]; do sleep 0.02; done; for i in $(seq 3000); do echo $i; done; sleep 0.5";
    let call = json!({"name": "bash", "arguments": {"command": command}, "_meta": {"progressToken": "tok"}});
    let id = client.request("tools/call", &call);
    let first = client.wait_for("progress", |message| message["method"] == "notifications/progress");
    assert_eq!(
        (&first["params"]["progressToken"], &first["params"]["message"]),
        (&json!("tok"), &json!("early\n"))
    );
    client.bash("touch go");
    let result = client.answer(id);
    assert!(text(&result["result"]).contains("\n3000"), "{result}");
    let mut progress = vec![];
    while client.hears(|message| message["method"] == "notifications/progress", Duration::ZERO) {
        progress.push(client.wait_for("progress", |message| message["method"] == "notifications/progress"));
    }
    assert!((1..=6).contains(&progress.len()), "{} notifications for 3000 lines", progress.len());
    let numbers: Vec<f64> = progress.iter().map(|one| one["params"]["progress"].as_f64().unwrap()).collect();
    assert!(numbers.is_sorted(), "{numbers:?}");
}

#[test]
fn who_does_not_ask_for_progress_gets_none() {
    let world = world();
    let mut client = Client::new(&world);
    client.bash("echo x; sleep 0.5");
    assert!(!client.hears(|message| message.get("method").is_some(), Duration::from_millis(100)));
}

#[test]
fn cancelling_ends_the_tree_even_one_that_does_not_want_to() {
    let world = world();
    let mut client = Client::new(&world);
    let id = client.call(
        "bash",
        &json!({"command": "trap '' TERM; setsid sleep 918273 & while :; do sleep 918273; done"}),
    );
    wait_until("it runs", || living_with("918273").len() >= 3);
    client.cancel(id);
    let began = Instant::now();
    wait_until("it is gone", || living_with("918273").is_empty());
    assert!(began.elapsed() < Duration::from_secs(5), "took {:?}", began.elapsed());
    assert!(
        !client.hears(|message| message["id"] == id, Duration::from_millis(300)),
        "nobody waits for an answer"
    );
    let on = client.bash("echo on");
    assert_eq!(on["structuredContent"]["stdout"], "on\n", "{on}");
}

#[test]
fn a_late_cancellation_changes_nothing() {
    let world = world();
    let mut client = Client::new(&world);
    let id = client.call("bash", &json!({"command": "true"}));
    client.answer(id);
    client.cancel(id);
    client.cancel(99_999);
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}}));
    let on = client.bash("echo on");
    assert_eq!(on["structuredContent"]["stdout"], "on\n", "{on}");
}

#[test]
fn when_the_client_is_gone_its_commands_end_and_tasks_live_on() {
    let world = world();
    let mut client = Client::new(&world);
    let task = client.result("bash", &json!({"command": "exec sleep 726354", "mode": "background"}));
    client.call("bash", &json!({"command": "sleep 627381 & sleep 627381"}));
    wait_until("both run", || living_with("627381").len() >= 3 && !living_with("726354").is_empty());
    // Whoever kills a client closes both ends.
    let mut child = world.program("/bin/sh").args(&["-c", "exec sleep 0"]).start();
    child.wait().unwrap();
    let began = Instant::now();
    assert_eq!(client.leave(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(8), "took {:?}", began.elapsed());
    assert_eq!(living_with("627381"), Vec::<i32>::new());
    assert!(!living_with("726354").is_empty(), "the task goes on");
    let id = task["structuredContent"]["task_id"].as_str().unwrap();
    assert_eq!(world.bashtion().args(&["kill", id]).finish().code(), Some(0));
}

#[test]
fn who_only_stops_talking_still_gets_answers() {
    let world = world();
    let mut client = Client::new(&world);
    let id = client.call("bash", &json!({"command": "sleep 1; echo answered"}));
    client.hang_up();
    assert_eq!(client.answer(id)["result"]["structuredContent"]["stdout"], "answered\n");
    assert_eq!(client.leave(), Some(0));
}

#[test]
fn sigterm_ends_commands_answers_and_leaves() {
    let world = world();
    let mut client = Client::new(&world);
    let id = client.call("bash", &json!({"command": "echo before; sleep 536271"}));
    wait_until("it runs", || !living_with("536271").is_empty());
    kill(Pid::from_raw(client.child.id().cast_signed()), Signal::SIGTERM).unwrap();
    let answer = client.answer(id);
    assert_eq!(answer["result"]["structuredContent"]["status"], "cancelled", "{answer}");
    assert_eq!(answer["result"]["structuredContent"]["stdout"], "before\n");
    assert_eq!(client.child.wait().unwrap().code(), Some(0));
    assert_eq!(living_with("536271"), Vec::<i32>::new());
}
