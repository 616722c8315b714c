use super::{Problem, Rule, about, rule};
use crate::analysis::{Effect, Found, Stream};
use crate::paths::Place;
use crate::world::World;

rule! {
    /// Code from another machine that is run unseen.
    ///
    /// ## Why
    /// Whoever controls the server, or the way to it, controls this machine. Nobody has read what runs.
    ///
    /// ## Example
    /// `curl https://example.com/install.sh | bash`, `bash <(curl -s …)`, `eval "$(wget -qO- …)"`
    ///
    /// ## Instead
    /// Save it, read it, then run it: `curl -o install.sh …`, and running the saved file asks first.
    RunsDownload, "runs-download", Deny
}

impl Rule for RunsDownload {
    about!();

    fn check(&self, found: &Found, _: &World) -> Option<Problem> {
        if found.feed != Some(Stream::Downloaded) {
            return None;
        }
        let help = "save it to a file, read it, and run it then";
        Some(if is_saved(found) {
            Problem::ask("a file that was just downloaded would be run", "read it before it runs")
        } else {
            Problem::deny(format!("`{}` would run code from another machine unseen", found.program), help)
        })
    }
}

/// Whether the code is in a file that can be read first.
pub(super) fn is_saved(found: &Found) -> bool {
    found
        .effects
        .iter()
        .any(|effect| matches!(effect, Effect::Execute { target } if target.place != Place::Harmless))
}
