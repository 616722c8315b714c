//! When descriptors run out.

use std::fs::File;

use bashtion::{CancellationToken, Error, LaunchError, Request};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::{World, timed};

#[tokio::test]
async fn the_command_gets_a_clear_error_and_the_next_one_works() {
    let world = World::new();
    let context = world.context();
    world.run("true").await;
    let before = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(64), maximum: before.maximum }).unwrap();
    for spare in 0..12 {
        let mut hoard: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
        hoard.truncate(hoard.len() - spare);
        let (result, took) = timed(world.engine.run(Request::new("echo hi"), &context)).await;
        assert!(took.as_secs() < 8, "{spare}: {took:?}");
        match result {
            Ok(outcome) => assert_eq!(outcome.output.stdout(), "hi\n", "{spare}"),
            Err(Error::Launch(error @ LaunchError::Descriptors { .. })) => {
                assert_eq!(
                    error.to_string(),
                    "no file descriptors are left for another command: this process may have 64 open"
                );
            }
            Err(Error::Admit(error)) => {
                assert!(format!("{error:?}").contains("Too many open files"), "{error:?}");
            }
            Err(error) => panic!("{spare}: {error:?}"),
        }
        drop(hoard);
        assert_eq!(world.run("echo fine").await.output.stdout(), "fine\n");
    }
    setrlimit(Resource::Nofile, before).unwrap();
    assert_eq!(bashtion_testkit::zombie_children(), Vec::<i32>::new());
}

#[test]
fn a_tree_is_killed_without_any() {
    are_killed_without_any(STAYS);
}

#[test]
fn those_that_left_are_killed_without_any() {
    are_killed_without_any(LEAVES);
}

/// Where there is no control group to kill, each process has to be found.
#[test]
fn those_that_left_are_killed_without_any_or_control_groups() {
    bashtion_testkit::in_a_thread_without_clone3(38, || are_killed_without_any(LEAVES));
}

const STAYS: &str = "bash";
const LEAVES: &str = "setsid bash";

fn are_killed_without_any(shell: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let world = World::new();
    let context = world.context();
    let before = getrlimit(Resource::Nofile);
    let command = format!(
        "trap '' TERM; echo $$ > one; echo $$; \
         {shell} -c 'trap \"\" TERM; echo $$ > two; echo $$; while :; do sleep 0.1; done' & \
         while :; do sleep 0.1; done"
    );
    let cancel = CancellationToken::new();
    let exhaust = async {
        let written =
            |name: &str| std::fs::read(world.path().join(name)).is_ok_and(|text| text.ends_with(b"\n"));
        while !(written("one") && written("two")) {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        setrlimit(Resource::Nofile, Rlimit { current: Some(64), maximum: before.maximum }).unwrap();
        let hoard = std::iter::from_fn(|| File::open("/dev/null").ok()).collect::<Vec<File>>();
        cancel.cancel();
        hoard
    };
    let context = context.cancel(cancel.clone());
    let (outcome, hoard) =
        runtime.block_on(async { tokio::join!(world.engine.run(Request::new(command), &context), exhaust) });
    drop(hoard);
    setrlimit(Resource::Nofile, before).unwrap();
    let outcome = outcome.unwrap();
    assert_eq!(outcome.exit, Some(bashtion::Exit::Signal(bashtion::Signal::KILL)));
    // Elsewhere they cannot be looked for without one, which is told.
    assert_eq!(outcome.notes.len(), usize::from(cfg!(feature = "portable")), "{outcome:?}");
    let pids: Vec<i32> = outcome.output.stdout().lines().map(|pid| pid.parse().unwrap()).collect();
    assert_eq!(pids.len(), 2);
    for pid in pids {
        // Whoever adopted it may not have reaped it yet.
        assert_ne!(bashtion_testkit::state_of(pid), bashtion_testkit::Life::Alive, "{outcome:?}");
    }
}
