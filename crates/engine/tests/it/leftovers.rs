//! The shell has ended, but something it started has not.

use std::time::Duration;

use bashtion::{Fate, Leftovers, Request, Status, Streams};
use bashtion_testkit::{Life, in_a_thread_without_clone3, living_with, state_of};

use crate::{World, timed};

const SOON: Duration = Duration::from_secs(2);

async fn ended_and_named(command: &str, expected: &str, fate: Fate) {
    let world = World::new();
    let (outcome, took) = timed(world.run(command)).await;
    assert!(took < SOON, "{command}: {took:?}");
    assert_eq!(outcome.status, Status::Exited(0), "{command}");
    assert_eq!(outcome.output.stdout(), "hi\n", "{command}");
    let named: Vec<_> = outcome.leftovers.iter().filter(|l| l.command.contains(expected)).collect();
    // A process that bash has just forked has the name of its parent.
    assert!(!named.is_empty(), "{command}: {outcome:?}");
    assert!(named.iter().any(|leftover| leftover.fate == fate), "{command}: {outcome:?}");
    for leftover in named {
        assert_ne!(state_of(leftover.pid), Life::Alive, "{command}");
    }
}

async fn all_kinds() {
    ended_and_named("sleep 4322.1 & echo hi", "sleep 4322.1", Fate::Terminated).await;
    ended_and_named("echo hi; (setsid sleep 4322.2 &)", "sleep 4322.2", Fate::Terminated).await;
    ended_and_named(
        "echo hi; (setsid nohup sleep 4322.3 >/dev/null 2>&1 &)",
        "sleep 4322.3",
        Fate::Terminated,
    )
    .await;
    let stubborn =
        "(setsid bash -c 'trap \"\" TERM; echo hi; while :; do sleep 0.05; done #4322.4' &); sleep 0.2";
    ended_and_named(stubborn, "#4322.4", Fate::Killed).await;
}

#[tokio::test]
async fn they_are_ended_and_named() {
    all_kinds().await;
}

#[test]
fn they_are_ended_and_named_without_a_control_group() {
    in_a_thread_without_clone3(38, || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(all_kinds());
    });
}

#[tokio::test]
async fn what_they_print_in_time_is_kept() {
    let world = World::new();
    let outcome = world.run("(sleep 0.2; echo late) & echo early").await;
    assert_eq!(outcome.output.stdout(), "early\nlate\n");
    assert_eq!(outcome.leftovers, [], "it ended by itself");
    let outcome = world.run("seq 1 5 > >(sleep 0.1; cat)").await;
    assert_eq!(outcome.output.stdout(), "1\n2\n3\n4\n5\n");
}

#[tokio::test]
async fn one_that_prints_without_end_does_not_keep_us() {
    let world = World::new();
    for streams in [Streams::Separate, Streams::Combined] {
        let request = Request::new("while :; do echo x; sleep 0.01; done & echo hi").streams(streams);
        let (outcome, took) = timed(world.run(request)).await;
        assert!(took < SOON, "{took:?}");
        assert!(outcome.output.stdout().contains("hi\n"));
        assert!(!outcome.leftovers.is_empty());
    }
}

#[tokio::test]
async fn they_are_kept_when_asked() {
    let world = World::new();
    let request = Request::new("sleep 4322.5 & echo hi").leftovers(Leftovers::Keep);
    let (outcome, took) = timed(world.run(request)).await;
    assert!(took < SOON, "{took:?}");
    assert_eq!(outcome.output.stdout(), "hi\n");
    assert_eq!(outcome.leftovers.len(), 1);
    assert_eq!(outcome.leftovers[0].fate, Fate::Kept);
    let pid = outcome.leftovers[0].pid;
    assert_eq!(living_with("sleep 4322.5"), [pid]);
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(pid).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();
}

#[tokio::test]
async fn without_leftovers_there_is_no_wait() {
    let world = World::new();
    let (outcome, took) = timed(world.run("exec >&- 2>&-; true")).await;
    assert!(outcome.success());
    assert!(took < Duration::from_millis(400), "{took:?}");
}
