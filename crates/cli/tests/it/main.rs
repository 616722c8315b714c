//! The command line, wired to the engine.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod agents;
mod approval;
mod approval_terminal;
mod approved;
mod audit;
mod check;
mod config;
mod configured;
mod confined;
mod exit_codes;
mod hooks;
mod interrupts;
mod json;
mod other_hosts;
mod other_verbs;
mod own_files;
mod pipe;
mod refused;
mod sessions;
mod stream;
mod tasks;
mod tasks_under_stress;
mod terminal;
mod usage;

use bashtion_testkit::World;

fn world() -> World {
    World::new(env!("CARGO_BIN_EXE_bashtion"))
}
