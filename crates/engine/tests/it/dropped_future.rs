//! A caller that goes away takes its command with it.

use std::time::Duration;

use bashtion::Request;
use bashtion_testkit::{living_with, wait_until, zombie_children};

use crate::World;

#[tokio::test]
async fn dropping_the_future_ends_the_tree() {
    let world = World::new();
    let context = world.context();
    let command = "(setsid bash -c 'trap \"\" TERM; while :; do sleep 0.777; done' &); trap '' TERM; while :; do sleep 0.777; done";
    let run = world.engine.run(Request::new(command), &context);
    assert!(tokio::time::timeout(Duration::from_millis(300), run).await.is_err());
    assert_ne!(living_with("sleep 0.777"), Vec::<i32>::new(), "it has a grace period");
    wait_until("the tree is ended", || living_with("sleep 0.777").is_empty());
    wait_until("the shell is reaped", || zombie_children().is_empty());
}

#[test]
fn even_if_the_runtime_goes_away_too() {
    let world = World::new();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (engine, context) = (world.engine.clone(), world.context());
    runtime.spawn(async move { engine.run(Request::new("sleep 4321.2"), &context).await });
    wait_until("it has started", || !living_with("sleep 4321.2").is_empty());
    drop(runtime);
    wait_until("it is ended", || living_with("sleep 4321.2").is_empty());
}
