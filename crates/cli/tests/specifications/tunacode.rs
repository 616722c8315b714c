//! TunaCode, "Bash Tool Research Document": the profiles `tunacode` and `tunacode-local`.

mod checks;
mod ending;
mod input;
mod output;
mod screen;

use serde_json::Value;

use crate::{string, world};

/// The result of a command.
fn ran(options: &[&str], command: &str) -> Value {
    let options = [&["--json", "--profile", "tunacode"], options].concat();
    world().run_with(&options, command).finish().json()
}

/// Its text for the model.
fn text(options: &[&str], command: &str) -> String {
    string(&ran(options, command)["text"]).to_owned()
}
