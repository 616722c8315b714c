use super::runs_download::is_saved;
use super::{Problem, Rule, about, rule};
use crate::analysis::{Found, Stream};
use crate::world::World;

rule! {
    /// Code that is decoded or unpacked and run at once.
    ///
    /// ## Why
    /// Encoding hides what a command does from everybody who reads it, and has no other use here.
    ///
    /// ## Example
    /// `echo cm0gLXJmIC8K | base64 -d | bash`, `xxd -r -p x | sh`, `gunzip -c payload.gz | bash`
    ///
    /// ## Instead
    /// Write the command itself. A script that came packed can be unpacked into a file and read.
    RunsDecoded, "runs-decoded", Deny
}

impl Rule for RunsDecoded {
    about!();

    fn check(&self, found: &Found, _: &World) -> Option<Problem> {
        if found.feed != Some(Stream::Decoded) {
            return None;
        }
        Some(if is_saved(found) {
            Problem::ask("a file that was just decoded would be run", "read it before it runs")
        } else {
            Problem::deny(
                format!("`{}` would run decoded code unseen", found.program),
                "write the command itself",
            )
        })
    }
}
