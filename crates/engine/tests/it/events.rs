//! What an observer sees.

use std::time::Duration;

use bashtion::{Event, Events, Request, Status, Stream, Streams};

use crate::{World, timed};

#[tokio::test]
async fn started_output_ended_in_this_order() {
    let world = World::new();
    let (sender, mut events) = Events::channel();
    let context = world.context().events(sender).operation_id("op-1");
    let outcome =
        world.engine.run(Request::new("echo out; sleep 0.1; echo err >&2"), &context).await.unwrap();
    drop(context);
    let mut seen = vec![];
    while let Some(event) = events.recv().await {
        seen.push(match event {
            Event::Started { operation_id, command, pid, .. } => {
                assert_eq!((&*operation_id, pid), ("op-1", outcome.pid.expect("it ran")));
                format!("started {command}")
            }
            Event::Output { stream, bytes, .. } => {
                format!("{stream:?} {}", String::from_utf8(bytes).unwrap())
            }
            Event::Ended { outcome, .. } => format!("ended {}", outcome.status),
            Event::Judged { verdict, .. } => format!("judged {}", verdict.decision),
            Event::Asked { .. } | Event::Answered { .. } => panic!("nobody is asked"),
            Event::Missed { .. } | Event::Lost { .. } => panic!("it ended"),
        });
    }
    assert_eq!(
        seen,
        [
            "judged allow",
            "started echo out; sleep 0.1; echo err >&2",
            "Stdout out\n",
            "Stderr err\n",
            "ended exit 0"
        ]
    );
}

#[tokio::test]
async fn a_slow_observer_gets_every_byte_and_the_deadline_holds() {
    let world = World::new();
    let (sender, mut events) = Events::channel();
    let context = world.context().events(sender);
    let request = Request::new("yes").timeout(Duration::from_secs(1)).streams(Streams::Combined);
    let (outcome, took) = timed(world.engine.run(request, &context)).await;
    let outcome = outcome.unwrap();
    assert!(matches!(outcome.status, Status::TimedOut { .. }));
    assert!(took < Duration::from_secs(2), "nobody has read anything: {took:?}");
    drop(context);
    let mut seen = 0;
    while let Some(event) = events.recv().await {
        if let Event::Output { stream, bytes, .. } = event {
            assert_eq!(stream, Stream::Output);
            seen += bytes.len() as u64;
        }
    }
    let bashtion::Output::Combined(text) = &outcome.output else { panic!() };
    assert_eq!(seen, text.bytes);
    assert!(seen < 4 << 20, "the command was held back: {seen}");
}

#[tokio::test]
async fn an_observer_that_goes_away_does_not_matter() {
    let world = World::new();
    let (sender, events) = Events::channel();
    drop(events);
    let context = world.context().events(sender);
    let outcome = world.engine.run(Request::new("seq 1 2000000"), &context).await.unwrap();
    assert!(outcome.success());
}

#[tokio::test]
async fn one_that_is_dropped_is_told_to_be_lost() {
    let world = World::new();
    let (sender, mut events) = Events::channel();
    let context = world.context().events(sender);
    let run = world.engine.run(Request::new("sleep 1000"), &context);
    assert!(tokio::time::timeout(Duration::from_millis(100), run).await.is_err());
    assert!(matches!(events.recv().await, Some(Event::Judged { .. })));
    assert!(matches!(events.recv().await, Some(Event::Started { .. })));
    assert!(matches!(events.recv().await, Some(Event::Lost { .. })));
    bashtion::wait_for_stopping();
}

#[tokio::test]
async fn several_observers_all_see_everything() {
    let world = World::new();
    let ((one, mut first), (two, mut second)) = (Events::channel(), Events::channel());
    let context = world.context().events(one).events(two);
    world.engine.run(Request::new("echo hi"), &context).await.unwrap();
    for events in [&mut first, &mut second] {
        assert!(matches!(events.recv().await, Some(Event::Judged { .. })));
        assert!(matches!(events.recv().await, Some(Event::Started { .. })));
        assert!(matches!(events.recv().await, Some(Event::Output { .. })));
        assert!(matches!(events.recv().await, Some(Event::Ended { .. })));
    }
}
