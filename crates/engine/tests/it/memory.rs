//! Memory does not grow with output.

use std::time::Duration;

use bashtion::{Output, Request};
use bashtion_testkit::resident_kib;

use crate::World;

#[tokio::test]
async fn it_stays_flat() {
    let world = World::new();
    world.run("seq 1 1000000").await;
    let before = resident_kib();
    let commands = [
        Request::new("yes").timeout(Duration::from_secs(2)),
        Request::new("head -c 10G /dev/zero").no_timeout(),
        Request::new("head -c 300M /dev/urandom").no_timeout(),
    ];
    for request in commands {
        let running = world.run(request);
        tokio::pin!(running);
        let outcome = loop {
            tokio::select! {
                outcome = &mut running => break outcome,
                () = tokio::time::sleep(Duration::from_millis(20)) => {
                    let grown = resident_kib().saturating_sub(before);
                    assert!(grown < 10 * 1024, "{grown} KiB");
                }
            }
        };
        let Output::Separate { stdout, .. } = &outcome.output else { panic!() };
        assert!(stdout.bytes > 100 << 20, "{}", stdout.bytes);
        assert!(stdout.text.len() < 200_000);
    }
}
