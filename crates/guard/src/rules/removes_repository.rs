use super::{Problem, Rule, about, rule};
use crate::analysis::{Effect, Found};
use crate::paths::Place;
use crate::world::World;

rule! {
    /// Deletion of a `.git` directory, or of what it is made of.
    ///
    /// ## Why
    /// The history, all branches and all stashes are lost.
    ///
    /// ## Example
    /// `rm -rf .git`, `rm -rf .g*`, `find . -name .git -exec rm -rf {} +`
    ///
    /// ## Instead
    /// A stale lock is one file: `rm -f .git/index.lock`. A copy without history is `git archive` or `git worktree add`.
    RemovesRepository, "removes-repository", Deny
}

impl Rule for RemovesRepository {
    about!();

    fn check(&self, found: &Found, _: &World) -> Option<Problem> {
        found.effects.iter().find_map(|effect| {
            let Effect::Delete { target, recursive } = effect else { return None };
            let lock = target.path.ends_with(".lock");
            let vital = !lock
                && ["objects", "refs", "HEAD", "logs"].iter().any(|part| {
                    target.path.ends_with(&format!(".git/{part}"))
                        || target.path.contains(&format!(".git/{part}/"))
                });
            let help = "keep .git; a stale lock is one file: `rm -f .git/index.lock`";
            match target.place {
                Place::Repository => {
                    Some(Problem::deny(format!("deletion of a repository: {}", target.path), help))
                }
                Place::InRepository if vital => {
                    Some(Problem::deny(format!("deletion of a repository's history: {}", target.path), help))
                }
                Place::InRepository if *recursive && !lock => Some(Problem::ask(
                    format!("deletion inside a repository's own files: {}", target.path),
                    help,
                )),
                _ => None,
            }
        })
    }
}
