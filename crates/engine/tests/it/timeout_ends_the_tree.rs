//! After a deadline nothing of the command is alive, and the result says what it took.

use std::time::Duration;

use bashtion::{Request, Status};
use bashtion_testkit::{Life, in_a_thread_without_clone3, living_with, state_of};

use crate::{World, timed};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn output_so_far_is_kept_and_sigterm_is_enough() {
    let world = World::new();
    let request = Request::new("echo before; sleep 1000; echo after").timeout(SECOND / 2);
    let (outcome, took) = timed(world.run(request)).await;
    assert_eq!(outcome.status, Status::TimedOut { after: SECOND / 2, killed: false });
    assert_eq!(outcome.output.stdout(), "before\n");
    assert_eq!(outcome.killed, 0);
    assert!(took < 2 * SECOND, "no grace is waited for when all have gone: {took:?}");
}

#[tokio::test]
async fn a_command_may_clean_up_within_the_grace_period() {
    let world = World::new();
    let request =
        Request::new("trap 'echo cleaned up; exit 7' TERM; echo ready; sleep 1000 & wait").timeout(SECOND);
    let outcome = world.run(request).await;
    assert!(matches!(outcome.status, Status::TimedOut { killed: false, .. }), "{outcome:?}");
    assert_eq!(outcome.output.stdout(), "ready\ncleaned up\n");
    assert_eq!(outcome.exit, Some(bashtion::Exit::Code(7)));
}

/// Four kinds of runaway at once; each writes its id to a file.
const RUNAWAYS: &str = r#"
    stubborn='trap "" TERM HUP INT; echo $$ >> pids; while :; do sleep 0.1; done'
    bash -c "$stubborn" &
    setsid bash -c "$stubborn" &
    (setsid env -i PATH="$PATH" bash -c "$stubborn" &)
    (setsid nohup bash -c "(bash -c '${stubborn//\'/}' > /dev/null 2>&1 &)" > /dev/null 2>&1 &)
    while [ "$(wc -l < pids 2> /dev/null)" != 4 ]; do sleep 0.01; done
    echo all running
    trap '' TERM
    while :; do sleep 0.1; done
"#;

async fn runaways_are_killed() {
    let world = World::new();
    let (outcome, took) = timed(world.run(Request::new(RUNAWAYS).timeout(2 * SECOND))).await;
    assert_eq!(outcome.output.stdout(), "all running\n");
    assert!(matches!(outcome.status, Status::TimedOut { killed: true, .. }), "{outcome:?}");
    assert!(outcome.killed >= 5, "four and the shell: {outcome:?}");
    assert!(took < 6 * SECOND, "{took:?}");
    let pids = std::fs::read_to_string(world.path().join("pids")).unwrap();
    for pid in pids.lines().map(|line| line.parse().unwrap()) {
        assert_ne!(state_of(pid), Life::Alive);
        let leftover = outcome.leftovers.iter().find(|leftover| leftover.pid == pid);
        assert_eq!(leftover.map(|l| l.fate), Some(bashtion::Fate::Killed), "{:?}", outcome.leftovers);
    }
}

#[tokio::test]
async fn runaways_are_killed_by_control_group() {
    runaways_are_killed().await;
}

#[test]
fn runaways_are_killed_by_tag() {
    in_a_thread_without_clone3(38, || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(runaways_are_killed());
    });
}

#[test]
fn one_that_forks_and_exits_all_the_time_is_caught() {
    // In a file: on the command line the guard would see what it is.
    let directory = tempfile::tempdir().unwrap();
    let hopper = directory.path().join("hopper.pl");
    std::fs::write(&hopper, "use POSIX; $SIG{TERM} = q(IGNORE); while (1) { exit if fork; setsid }").unwrap();
    let name = hopper.display().to_string();
    let hop = format!("perl {name} >/dev/null 2>&1 & sleep 1000");
    in_a_thread_without_clone3(38, || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let outcome = runtime.block_on(World::new().run(Request::new(hop).timeout(SECOND)));
        assert_eq!(outcome.tracking, Some("limit tag"));
        assert!(matches!(outcome.status, Status::TimedOut { .. }));
        assert!(outcome.killed > 0, "{outcome:?}");
        std::thread::sleep(SECOND / 10);
        assert_eq!(living_with(&name), Vec::<i32>::new());
    });
}

#[tokio::test]
async fn a_frozen_control_group_harms_nobody() {
    let world = World::new();
    let freeze = "mount=$(grep -m1 ' cgroup2 ' /proc/self/mounts | cut -d' ' -f2); \
        own=$(grep ^0::.*/bashtion- /proc/self/cgroup | cut -d: -f3) && echo 1 > $mount$own/cgroup.freeze; sleep 1000";
    let outcome = world.run(Request::new(freeze).timeout(SECOND / 2)).await;
    assert!(matches!(outcome.status, Status::TimedOut { .. }), "{outcome:?}");
    let (outcome, took) = timed(world.run("echo next")).await;
    assert_eq!(outcome.output.stdout(), "next\n");
    assert!(took < SECOND, "{took:?}");
}

#[tokio::test]
async fn a_flood_of_output_does_not_delay_the_deadline() {
    let world = World::new();
    let (outcome, took) = timed(world.run(Request::new("yes").timeout(SECOND))).await;
    assert!(matches!(outcome.status, Status::TimedOut { .. }));
    assert!(took < 2 * SECOND, "{took:?}");
    assert!(outcome.output.stdout().starts_with("y\ny\n"));
}

#[tokio::test]
async fn no_timeout_means_none() {
    let limits = bashtion::Limits { timeout: Duration::from_millis(50), ..Default::default() };
    let world = World::with_limits(limits);
    assert!(matches!(world.run("sleep 0.3").await.status, Status::TimedOut { .. }));
    assert!(world.run(Request::new("sleep 0.3").no_timeout()).await.success());
    assert!(world.run(Request::new("sleep 0.3").mode(bashtion::Mode::Slow)).await.success());
}
