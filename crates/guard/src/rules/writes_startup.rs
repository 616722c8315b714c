use super::{Problem, Rule, about, rule};
use crate::analysis::{Effect, Found};
use crate::world::World;

rule! {
    /// Writes to files that are run later by themselves: shell start-up files, ssh keys, git hooks and settings.
    ///
    /// ## Why
    /// What stands there runs without anybody looking, with all of the user's rights.
    ///
    /// ## Example
    /// `echo 'export X=1' >> ~/.bashrc`, `cat key >> ~/.ssh/authorized_keys`, `cp hook .git/hooks/pre-commit`
    ///
    /// ## Instead
    /// Set variables for one command only, and keep hooks in the repository where they are reviewed.
    WritesStartup, "writes-startup", Ask
}

impl Rule for WritesStartup {
    about!();

    fn check(&self, found: &Found, world: &World) -> Option<Problem> {
        found.effects.iter().find_map(|effect| {
            let Effect::Write { target } = effect else { return None };
            runs_later(&target.path, world.home()).then(|| {
                Problem::ask(
                    format!("this file is run or read later by itself: {}", target.path),
                    "set variables for one command only; keep hooks and keys where they are reviewed",
                )
            })
        })
    }
}

fn runs_later(path: &str, home: &str) -> bool {
    const AT_HOME: [&str; 17] = [
        ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zprofile",
        ".zshenv", ".zlogin", ".kshrc", ".inputrc", ".vimrc", ".gitconfig", ".npmrc", ".pam_environment",
        ".xprofile", ".config/fish/config.fish",
    ];
    const DIRECTORIES: [&str; 5] =
        [".ssh", ".config/autostart", ".config/systemd", "Library/LaunchAgents", ".config/git"];
    if let Some(rest) = path.strip_prefix(home).and_then(|rest| rest.strip_prefix('/')) {
        let inside =
            |directory: &&str| rest.strip_prefix(*directory).is_some_and(|rest| rest.starts_with('/'));
        if AT_HOME.contains(&rest) || DIRECTORIES.iter().any(inside) && !rest.ends_with("known_hosts") {
            return true;
        }
    }
    let hook = path.contains("/.git/hooks/") && !path.ends_with(".sample");
    let vital = ["/.git/HEAD", "/.git/index"].iter().any(|end| path.ends_with(end))
        || path.contains("/.git/refs/")
        || path.contains("/.git/objects/");
    hook || vital || path.ends_with("/.git/config") || path.ends_with("/.git/info/attributes")
}
