//! The five specifications, criterion by criterion: `docs/specifications.md` says which test shows which.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod chorus;
mod mycode;
mod phoenix;
mod tachikoma;
mod tunacode;

use bashtion_testkit::World;

fn world() -> World {
    World::new(env!("CARGO_BIN_EXE_bashtion"))
}
