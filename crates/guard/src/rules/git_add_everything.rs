use super::git::Git;
use super::{Problem, Rule, about, rule};
use crate::analysis::{Found, Stream};
use crate::effects::targets;
use crate::options::Options;
use crate::paths::Place;
use crate::programs::Concern;
use crate::text::Text;
use crate::world::World;

rule! {
    /// Staging of everything in the repository at once.
    ///
    /// ## Why
    /// Secrets, build results and the work of others get into the commit unseen. Many people work this way all the
    /// same, so the rule speaks only where a profile or a configuration gives it a severity.
    ///
    /// ## Example
    /// `git add -A`, `git add .`, `git add --all`, `git add *`, `git add :/`
    ///
    /// ## Instead
    /// Name the files: `git add src/main.rs`. What is already tracked is staged by `git add -u`.
    GitAddEverything, "git-add-everything", Deny
}

impl Rule for GitAddEverything {
    about!(Unasked, Throwaway, Container);

    fn check(&self, found: &Found, world: &World) -> Option<Problem> {
        if !found.is_about(Concern::Stages) {
            return None;
        }
        let git = Git::of(found)?;
        let options = Options::parse(git.arguments, "", &["pathspec-from-file", "chmod"]);
        let all = options.has(&["A", "all", "no-ignore-removal"]);
        let tracked = options.has(&["u", "update"]);
        let excludes =
            |path: &Text| [":!", ":^", ":(exclude)"].iter().any(|magic| path.rough().starts_with(magic));
        let named: Vec<&Text> = options.operands.iter().filter(|path| !excludes(path)).collect();
        // All but something is everything.
        let everything = named.is_empty() && !options.operands.is_empty()
            || named.iter().any(|path| is_everything(path, found, world));
        let listed = matches!(&found.input, Stream::Known(text) if text.rough().lines().any(|line| matches!(line.trim(), "." | "*" | ":/")))
            && options.value(&["pathspec-from-file"]).is_some();
        (all || everything && !tracked || listed).then(|| {
            Problem::deny(
                "this stages everything in the repository unseen",
                "name the files: `git add src/main.rs`, or `git add -u` for tracked ones",
            )
        })
    }
}

fn is_everything(path: &Text, found: &Found, world: &World) -> bool {
    let text = path.rough();
    let trimmed = text.trim_end_matches('/');
    // Magic: from the top, or all but something.
    let magic =
        matches!(trimmed, ":" | ":/" | ":(top)" | "**" | ":/*" | ":(glob)**" | ":(top)*" | ":(top)." | ":/.")
            || text == ":/";
    let after = text
        .strip_prefix(":(")
        .and_then(|rest| rest.split_once(')'))
        .map(|(_, rest)| rest)
        .or_else(|| text.strip_prefix(':'));
    let magic = magic
        || after.is_some_and(|rest| matches!(rest.trim_start_matches('/'), "" | "*" | "**" | "." | "**/*"));
    let literal = matches!(trimmed, "." | ".." | "*" | "./*" | "./." | "*.*" | "**/*" | ".*");
    magic
        || literal
        || targets(path, found, world).iter().any(|target| {
            matches!(target.place, Place::WorkspaceRoot | Place::Home | Place::Root | Place::OtherHome)
        })
}
