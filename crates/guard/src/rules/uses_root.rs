use super::{Problem, Rule, about, rule};
use crate::analysis::{Effect, Found};
use crate::paths::Place;
use crate::programs::{Concern, Usage, page};
use crate::text::Text;
use crate::world::World;

rule! {
    /// Commands run as root or as another user.
    ///
    /// ## Why
    /// As root a small mistake reaches everything, and files that root makes cannot be changed by the user afterwards.
    ///
    /// ## Example
    /// `sudo rm -rf /tmp/test-output`, `sudo chown -R dev:dev .`
    ///
    /// ## Instead
    /// Run it as the user. Looking at things, as with `sudo systemctl status`, is allowed.
    UsesRoot, "uses-root", Ask
}

impl Rule for UsesRoot {
    about!(Container);

    fn check(&self, found: &Found, _: &World) -> Option<Problem> {
        let shell = matches!(found.program.as_str(), "sudo" | "su" | "doas") && !looks(found);
        if !shell && (!found.setting.elevated || only_looks(found)) {
            return None;
        }
        Some(Problem::ask(
            format!("`{}` would run as root or another user", found.program),
            "run it without sudo",
        ))
    }
}

fn looks(found: &Found) -> bool {
    found.arguments.iter().filter_map(Text::value).any(|argument| {
        matches!(argument, "-l" | "--list" | "-v" | "-k" | "-K" | "-V" | "--version" | "-h" | "--help" | "-n")
    })
}

fn only_looks(found: &Found) -> bool {
    let nothing = |effect: &Effect| {
        // A redirection is done by the shell of the user.
        matches!(effect, Effect::Write { target } if matches!(target.place, Place::Harmless | Place::Temporary | Place::Workspace))
    };
    let looks = found.concerns.iter().all(|concern| *concern == Concern::Looks);
    let shows = || page(&found.program).is_some_and(|page| Usage::of(found, page).shows());
    // What `find` would do to files is found by itself; `env` alone shows variables.
    let harmless = matches!(found.program.as_str(), "find" | "env");
    found.effects.iter().all(nothing)
        && looks
        && (!found.concerns.is_empty() || harmless || shows() && is_known_to_show(found))
}

/// Looking at disks needs root, and changes nothing.
fn is_known_to_show(found: &Found) -> bool {
    matches!(found.program.as_str(), "fdisk" | "sfdisk" | "sgdisk" | "iptables" | "nft" | "ufw" | "mount")
}
