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
            Effect::Move { target } => moved(target),
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
    Some(Problem::deny(
        format!("{verb} of {what}: {}", target.path),
        "name a directory inside the workspace, for example `rm -rf ./build`",
    ))
}

fn moved(target: &Target) -> Option<Problem> {
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
