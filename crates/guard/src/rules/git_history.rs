use super::git::Git;
use super::{Problem, Rule, about, rule};
use crate::analysis::Found;
use crate::programs::Concern;
use crate::world::World;

rule! {
    /// Git commands that throw away changes, branches or history.
    ///
    /// ## Why
    /// Uncommitted work cannot be brought back, and the rest only by somebody who knows how.
    ///
    /// ## Example
    /// `git reset --hard`, `git clean -fdx`, `git checkout .`, `git branch -D old`, `git stash clear`, `git push origin --delete x`
    ///
    /// ## Instead
    /// `git stash` keeps what is there, `git clean -n` shows what would go, `git revert` undoes a commit with a commit.
    GitHistory, "git-history", Ask
}

impl Rule for GitHistory {
    about!(Throwaway, Container);

    fn check(&self, found: &Found, _: &World) -> Option<Problem> {
        let lost = found.concerns.iter().find_map(|concern| match concern {
            Concern::History(lost) => Some(*lost),
            _ => None,
        })?;
        let verb = Git::of(found).map(|git| format!(" {}", git.verb)).unwrap_or_default();
        Some(Problem::ask(
            format!("`{}{verb}` {lost}", found.program),
            "keep it first: `git stash`, a branch, or a dry run with `-n`",
        ))
    }
}
