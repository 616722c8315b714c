//! Output that would hurt a reader.

use bashtion::Output;

use crate::World;

#[tokio::test]
async fn a_line_of_five_hundred_megabytes() {
    let world = World::new();
    let outcome = world.run("head -c 500000000 /dev/zero | tr '\\0' x").await;
    let Output::Separate { stdout, .. } = &outcome.output else { panic!() };
    assert_eq!(stdout.bytes, 500_000_000);
    assert_eq!(stdout.cut, 500_000_000 - 30_000);
}

#[tokio::test]
async fn nul_bytes_and_invalid_utf8() {
    let world = World::new();
    let outcome = world.run("printf 'a\\0b\\xc3(\\xe2\\x82'").await;
    let Output::Separate { stdout, .. } = &outcome.output else { panic!() };
    assert_eq!(stdout.text, "a\0b\u{fffd}(\u{fffd}");
    assert_eq!(stdout.bytes, 7);
}

#[tokio::test]
async fn a_progress_bar_of_many_megabytes_is_one_line() {
    let world = World::new();
    let outcome = world.run("for i in {1..200000}; do printf 'progress %s of 200000 ................\\r' $i; done; echo; echo done").await;
    assert_eq!(outcome.output.stdout(), "progress 200000 of 200000 ................\ndone\n");
    assert!(!outcome.output.is_truncated());
}
