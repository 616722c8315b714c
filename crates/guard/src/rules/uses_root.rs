use super::{Problem, Rule, about, rule};
use crate::analysis::{Effect, Found};
use crate::paths::Place;
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
    const LOOKING: [&str; 38] = [
        "ls", "cat", "head", "tail", "less", "more", "grep", "id", "whoami", "ps", "top", "df", "du",
        "lsblk", "blkid", "lsof", "ss", "netstat", "journalctl", "dmesg", "stat", "file", "which", "find",
        "lscpu", "lspci", "lsusb", "free", "uptime", "uname", "hostname", "true", "echo", "test", "printenv",
        "getent", "findmnt", "env",
    ];
    let first = found.argument(0).unwrap_or_default();
    let nothing = |effect: &Effect| {
        // A redirection is done by the shell of the user.
        matches!(effect, Effect::Write { target } if matches!(target.place, Place::Harmless | Place::Temporary | Place::Workspace))
    };
    found.effects.iter().all(nothing)
        && (LOOKING.contains(&found.program.as_str())
            || found.program == "systemctl"
                && matches!(first, "status" | "show" | "is-active" | "list-units" | "cat" | "is-enabled")
            || found.program == "fdisk" && found.has("-l")
            || found.program == "docker"
                && matches!(first, "ps" | "images" | "logs" | "inspect" | "info" | "version"))
}
