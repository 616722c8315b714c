use super::{Problem, Rule, about, rule};
use crate::analysis::{Effect, Found};
use crate::paths::Place;
use crate::world::World;

rule! {
    /// Deletion of something outside of the workspace.
    ///
    /// ## Why
    /// It is not part of the task, and only its owner knows whether it is still needed.
    ///
    /// ## Example
    /// `rm -rf ../sibling`, `rm -rf ~/.cache/pip`, `rm -rf /tmp/*`
    ///
    /// ## Instead
    /// Work inside the workspace, or in a directory of your own from `mktemp -d`.
    RemovesOutside, "removes-outside", Ask
}

impl Rule for RemovesOutside {
    about!();

    fn check(&self, found: &Found, _: &World) -> Option<Problem> {
        found.effects.iter().find_map(|effect| {
            let (target, verb) = match effect {
                Effect::Delete { target, .. } => (target, "deletion"),
                Effect::Move { target } if target.place != Place::TemporaryAll => (target, "moving"),
                _ => return None,
            };
            let outside = matches!(target.place, Place::Outside | Place::InHome | Place::TemporaryAll)
                || verb == "moving" && target.place == Place::Personal;
            outside.then(|| {
                Problem::ask(
                    format!("{verb} of something outside of the workspace: {}", target.path),
                    "stay inside the workspace, or use a directory of your own from `mktemp -d`",
                )
            })
        })
    }
}
