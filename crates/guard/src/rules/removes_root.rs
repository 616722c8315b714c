use super::{Problem, Rule, about, rule};
use crate::analysis::{Effect, Found, Target};
use crate::paths::Place;
use crate::world::World;

rule! {
    /// Deletion of the root, of system directories or of a home directory.
    ///
    /// ## Why
    /// It cannot be undone, and is nearly always a wrong or empty variable. Moving such a directory away does the same.
    ///
    /// ## Example
    /// `rm -rf "$DIR/"` where `DIR` is empty; `cd / && rm -rf *`; `find ~ -delete`
    ///
    /// ## Instead
    /// Name a directory inside the workspace: `rm -rf ./build`.
    RemovesRoot, "removes-root", Deny
}

impl Rule for RemovesRoot {
    about!();

    fn check(&self, found: &Found, _: &World) -> Option<Problem> {
        found.effects.iter().find_map(|effect| match effect {
            Effect::Delete { target, recursive } => deleted(target, *recursive),
            Effect::Move { target } => moved(target, found),
            Effect::Write { .. }
            | Effect::Permissions { .. }
            | Effect::Execute { .. }
            | Effect::Connect { .. } => None,
        })
    }
}

fn deleted(target: &Target, recursive: bool) -> Option<Problem> {
    let what = what(target, recursive)?;
    let verb = if recursive { "recursive deletion" } else { "deletion" };
    let message = format!("{verb} of {what}: {}", target.path);
    if FETCHED_AGAIN.iter().any(|cache| target.path.starts_with(cache)) {
        return Some(Problem::ask(message, "let the package manager do it: `apt-get clean`"));
    }
    Some(Problem::deny(message, "name a directory inside the workspace, for example `rm -rf ./build`"))
}

/// Caches and locks of package managers.
const FETCHED_AGAIN: [&str; 9] = [
    "/var/lib/apt/lists/", "/var/lib/dpkg/lock", "/var/cache/apt/", "/var/cache/yum/", "/var/cache/dnf/",
    "/var/cache/apk/", "/var/cache/pacman/", "/var/cache/debconf/", "/var/lib/rpm/.rpm.lock",
];

fn moved(target: &Target, found: &Found) -> Option<Problem> {
    // `rename … *` and `find . -exec mv {} {}.old` move files, not the directory.
    let is_whole = !target.path.ends_with('*')
        && !found.via.iter().any(|via| matches!(via.as_str(), "find" | "fd" | "xargs" | "parallel"));
    if target.place == Place::WorkspaceRoot && !is_whole {
        return leaves(found).then(|| {
            Problem::ask(
                format!("everything here would be moved out of the workspace: {}", target.path),
                "name the files that are to move",
            )
        });
    }
    let what = match target.place {
        Place::Root | Place::System | Place::Home | Place::OtherHome | Place::TemporaryRoot => {
            what(target, true)?
        }
        Place::WorkspaceRoot => "the workspace itself",
        Place::Repository => "a repository's .git directory",
        _ => return None,
    };
    Some(Problem::deny(
        format!("{what} would be moved away: {}", target.path),
        "move files inside the workspace only",
    ))
}

/// Whether it puts something outside of the workspace.
fn leaves(found: &Found) -> bool {
    found.effects.iter().any(|effect| match effect {
        Effect::Write { target } => !matches!(
            target.place,
            Place::Workspace | Place::WorkspaceRoot | Place::InRepository | Place::Unknown
        ),
        Effect::Delete { .. }
        | Effect::Move { .. }
        | Effect::Permissions { .. }
        | Effect::Execute { .. }
        | Effect::Connect { .. } => false,
    })
}

fn what(target: &Target, recursive: bool) -> Option<&'static str> {
    match target.place {
        Place::Root => Some("the root directory"),
        Place::System => Some("system files"),
        Place::Personal => Some("the user's own files"),
        Place::Home if recursive => Some("the home directory"),
        Place::OtherHome if recursive => Some("a directory of the whole machine"),
        Place::TemporaryRoot if recursive => Some("the directory for all temporary files"),
        _ => None,
    }
}
