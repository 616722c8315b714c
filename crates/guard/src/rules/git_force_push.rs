use super::git::Git;
use super::{Problem, Rule, about, rule};
use crate::analysis::Found;
use crate::programs::Concern;
use crate::world::World;

rule! {
    /// A push that overwrites what others have pushed.
    ///
    /// ## Why
    /// Commits of others vanish from the server without a word.
    ///
    /// ## Example
    /// `git push --force`, `git push -f origin main`, `git push origin +main`
    ///
    /// ## Instead
    /// `git push --force-with-lease`, which stops if somebody else has pushed in between.
    GitForcePush, "git-force-push", Deny
}

impl Rule for GitForcePush {
    about!(Container);

    fn check(&self, found: &Found, _: &World) -> Option<Problem> {
        let configured = || {
            let git = Git::of(found)?;
            let dry = git.is_help() || found.has("--dry-run") || found.has("-n");
            let forced = git.settings.iter().any(|setting| setting.contains("push=+"));
            Some(git.verb == "push" && forced && !dry)
        };
        (found.is_about(Concern::ForcedPush) || configured() == Some(true)).then(|| {
            Problem::deny(
                "a forced push overwrites what others have pushed",
                "use `git push --force-with-lease`",
            )
        })
    }
}
