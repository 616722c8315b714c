//! mycode, "Proposal: Enhanced Bash Tool": the profile `mycode`.

mod background;
mod calls;
mod checks;
mod experience;
mod running;

use bashtion_testkit::World;
use serde_json::Value;

use crate::world;

/// The result of a command.
fn ran(options: &[&str], command: &str) -> Value {
    ran_in(&world(), options, command)
}

fn ran_in(world: &World, options: &[&str], command: &str) -> Value {
    world.run_with(&[&["--json", "--profile", "mycode"], options].concat(), command).finish().json()
}
