use super::{Problem, Rule, about, rule};
use crate::analysis::{Effect, Found};
use crate::paths::Place;
use crate::world::World;

rule! {
    /// Deletion of the whole workspace, or of everything in it.
    ///
    /// ## Why
    /// All work in it is lost, also what was never committed. `*` is seldom what was meant.
    ///
    /// ## Example
    /// `rm -rf *`, `rm -rf .`, `find . -delete`, `ls -A | xargs rm -rf`
    ///
    /// ## Instead
    /// Name what is to go: `rm -rf build dist`, `rm -f *.o`.
    RemovesWorkspace, "removes-workspace", Deny
}

impl Rule for RemovesWorkspace {
    about!();

    fn check(&self, found: &Found, _: &World) -> Option<Problem> {
        // It removes empty directories only.
        if found.program == "rmdir" {
            return None;
        }
        found.effects.iter().find_map(|effect| {
            let Effect::Delete { target, recursive } = effect else { return None };
            match (target.place, recursive) {
                (Place::WorkspaceRoot, true) => Some(Problem::deny(
                    format!("recursive deletion of the workspace or everything in it: {}", target.path),
                    "name what is to go, for example `rm -rf build dist`",
                )),
                (Place::WorkspaceRoot | Place::Home | Place::OtherHome, false) => Some(Problem::ask(
                    format!("every file here would be deleted: {}", target.path),
                    "name the files or a narrower pattern, for example `rm -f *.o`",
                )),
                _ => None,
            }
        })
    }
}
