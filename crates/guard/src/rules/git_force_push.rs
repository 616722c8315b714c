use super::git::Git;
use super::{Problem, Rule, about, rule};
use crate::analysis::Found;
use crate::options::Options;
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
        let git = Git::of(found)?;
        if !matches!(git.verb, "push" | "send-pack") || git.is_help() {
            return None;
        }
        let options = Options::parse(git.arguments, "o", &["repo", "receive-pack", "exec", "push-option"]);
        // Not `has`, which would take `--force` for the beginning of `--force-with-lease`.
        let forced = options.given.iter().any(|(name, _)| matches!(name.as_str(), "f" | "force"));
        let dry = options.has(&["n", "dry-run"]);
        let plus = options.operands.iter().any(|refspec| refspec.prefix().starts_with('+'));
        let configured = git.settings.iter().any(|setting| setting.contains("push=+"));
        ((forced || plus || configured) && !dry).then(|| {
            Problem::deny(
                "a forced push overwrites what others have pushed",
                "use `git push --force-with-lease`",
            )
        })
    }
}
