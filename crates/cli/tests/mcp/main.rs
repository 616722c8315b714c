//! `bashtion serve`, byte by byte: what other clients never send, and what nobody should have to wait for.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod approvals;
mod cancelling;
mod doors;
mod hostile;
mod http;
mod many;
mod rooms;
mod stdio;
mod tasks;
mod tools;

use bashtion_testkit::World;

fn world() -> World {
    World::new(env!("CARGO_BIN_EXE_bashtion"))
}
