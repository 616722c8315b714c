//! How much is kept, and that what was cut is counted.

use bashtion::{Output, Request, Streams, Text};

use crate::World;

fn stdout(output: &Output) -> &Text {
    match output {
        Output::Separate { stdout, .. } => stdout,
        Output::Combined(output) => output,
    }
}

/// Kept, cut and the marker's own number.
fn count(text: &Text) -> (usize, u64, u64) {
    let marker = text.text.lines().find(|line| line.starts_with("[... ")).expect("it was cut");
    let told = marker.split(' ').nth(1).unwrap().parse().unwrap();
    (text.text.replace(&format!("{marker}\n"), "").chars().count(), text.cut, told)
}

#[tokio::test]
async fn beginning_and_end_are_kept_and_the_count_is_exact() {
    let world = World::new();
    let outcome = world.run("seq 1 100000").await;
    let text = stdout(&outcome.output);
    assert!(outcome.output.is_truncated());
    assert!(text.text.starts_with("1\n2\n3\n") && text.text.ends_with("\n99999\n100000\n"));
    assert_eq!(text.bytes, 588_895);
    let (kept, cut, told) = count(text);
    assert_eq!(kept as u64 + cut, 588_895);
    assert_eq!(cut, told);
    assert!((29_000..=30_000).contains(&kept), "{kept}");
    assert!(
        text.text.lines().all(|line| line.starts_with("[... ") || line.parse::<u32>().is_ok()),
        "whole lines"
    );
}

#[tokio::test]
async fn the_bound_counts_characters_and_is_the_requests() {
    let world = World::new();
    let outcome = world.run(Request::new("printf 'ä%.0s' {1..1000}").max_output(100)).await;
    let text = stdout(&outcome.output);
    assert_eq!(text.bytes, 2000);
    assert_eq!(text.cut, 900);
    assert_eq!(text.text.matches('ä').count(), 100);
    let outcome = world.run(Request::new("printf 'ä%.0s' {1..100}").max_output(100)).await;
    assert!(!outcome.output.is_truncated());
}

#[tokio::test]
async fn each_stream_has_its_own() {
    let world = World::new();
    let outcome = world.run("seq 1 100000 >&2; echo short").await;
    let Output::Separate { stdout, stderr } = &outcome.output else { panic!() };
    assert_eq!((stdout.text.as_str(), stdout.cut), ("short\n", 0));
    assert_eq!(count(stderr).1, stderr.cut);
}

#[tokio::test]
async fn combined_output_is_in_the_order_written() {
    let world = World::new();
    let command = "for i in {1..500}; do echo out$i; echo err$i >&2; done";
    let outcome = world.run(Request::new(command).streams(Streams::Combined)).await;
    let expected: String = (1..=500).flat_map(|n| [format!("out{n}\n"), format!("err{n}\n")]).collect();
    assert_eq!(outcome.output.stdout(), expected);
    assert_eq!(outcome.output.stderr(), "");
}
