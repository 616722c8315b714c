//! Stop means stop.

use std::time::Duration;

use bashtion::{CancellationToken, Request, Status};
use bashtion_testkit::living_with;

use crate::{World, timed};

async fn after<T>(delay: Duration, act: impl FnOnce() -> T) -> T {
    tokio::time::sleep(delay).await;
    act()
}

const MOMENT: Duration = Duration::from_millis(200);

#[tokio::test]
async fn a_cancelled_command_is_ended_and_keeps_its_output() {
    let (world, token) = (World::new(), CancellationToken::new());
    let context = world.context().cancel(token.clone());
    let run = world.engine.run(Request::new("echo begun; (setsid sleep 4321.1 &); sleep 4321.1"), &context);
    let ((outcome, ()), took) = timed(async { tokio::join!(run, after(MOMENT, || token.cancel())) }).await;
    let outcome = outcome.unwrap();
    assert_eq!(outcome.status, Status::Cancelled);
    assert_eq!(outcome.output.stdout(), "begun\n");
    assert_eq!(living_with("sleep 4321.1"), Vec::<i32>::new());
    assert!(took < Duration::from_secs(1), "{took:?}");
}

#[tokio::test]
async fn a_command_that_had_to_be_killed_does_not_harm_the_next() {
    let world = World::new();
    for _ in 0..3 {
        let (cancel, kill) = (CancellationToken::new(), CancellationToken::new());
        let context = world.context().cancel(cancel.clone()).kill(kill.clone());
        let run = world.engine.run(Request::new("trap '' TERM; while :; do sleep 4321.7; done"), &context);
        let stop = after(MOMENT, || {
            cancel.cancel();
            kill.cancel();
        });
        assert_eq!(tokio::join!(run, stop).0.unwrap().status, Status::Cancelled);
        let outcome = world.engine.run(Request::new("echo alive"), &world.context()).await.unwrap();
        assert_eq!((outcome.status, outcome.output.stdout()), (Status::Exited(0), "alive\n"));
    }
}

#[tokio::test]
async fn a_token_cancelled_beforehand_ends_it_at_once() {
    let (world, token) = (World::new(), CancellationToken::new());
    token.cancel();
    let context = world.context().cancel(token);
    let (outcome, took) = timed(world.engine.run(Request::new("sleep 1000"), &context)).await;
    assert_eq!(outcome.unwrap().status, Status::Cancelled);
    assert!(took < Duration::from_secs(1), "{took:?}");
}

#[tokio::test]
async fn the_second_request_skips_the_grace_period() {
    let (world, cancel, kill) = (World::new(), CancellationToken::new(), CancellationToken::new());
    let context = world.context().cancel(cancel.clone()).kill(kill.clone());
    let run = world.engine.run(Request::new("trap '' TERM; while :; do sleep 0.1; done"), &context);
    let twice = async {
        after(MOMENT, || cancel.cancel()).await;
        after(MOMENT, || kill.cancel()).await;
    };
    let ((outcome, ()), took) = timed(async { tokio::join!(run, twice) }).await;
    let outcome = outcome.unwrap();
    assert_eq!(outcome.status, Status::Cancelled);
    assert!(outcome.killed > 0);
    assert!(took < Duration::from_millis(1500), "the grace period is two seconds: {took:?}");
}

#[tokio::test]
async fn killing_alone_is_enough() {
    let (world, kill) = (World::new(), CancellationToken::new());
    let context = world.context().kill(kill.clone());
    let run = world.engine.run(Request::new("trap '' TERM; while :; do sleep 0.1; done"), &context);
    let ((outcome, ()), took) = timed(async { tokio::join!(run, after(MOMENT, || kill.cancel())) }).await;
    assert_eq!(outcome.unwrap().status, Status::Cancelled);
    assert!(took < Duration::from_millis(1500), "{took:?}");
}
