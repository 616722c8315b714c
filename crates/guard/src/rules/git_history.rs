use super::git::Git;
use super::{Problem, Rule, about, rule};
use crate::analysis::Found;
use crate::options::Options;
use crate::text::Text;
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
    about!(Help, Throwaway, Container);

    fn check(&self, found: &Found, _: &World) -> Option<Problem> {
        if found.program == "bfg" {
            return Some(Problem::ask("`bfg` rewrites history", "keep a copy of the repository first"));
        }
        let git = Git::of(found)?;
        let looks = git.is_help() || git.has("--dry-run") || git.has("--analyze");
        let lost = if looks { None } else { lost(&git) }?;
        Some(Problem::ask(
            format!("`git {}` {lost}", git.verb),
            "keep it first: `git stash`, a branch, or a dry run with `-n`",
        ))
    }
}

fn lost(git: &Git<'_>) -> Option<&'static str> {
    let options = Options::parse(git.arguments, "mbBo", &["source", "message"]);
    let has = |names: &[&str]| options.has(names);
    let exactly = |name: &str| options.given.iter().any(|(given, _)| given == name);
    let first = git.first();
    let everything =
        |path: &Text| matches!(path.rough().trim_end_matches('/'), "." | "*" | ":" | ":/" | "..");
    match git.verb {
        "reset" => (has(&["hard", "merge"])).then_some("throws away uncommitted changes"),
        "clean" => (has(&["f", "force"]) && !has(&["n", "dry-run"])
            || git.settings.iter().any(|setting| setting.contains("requireForce=false")))
        .then_some("deletes files that git does not know"),
        "checkout" => {
            let paths = git.has("--") || options.operands.iter().any(everything);
            (paths || has(&["f", "force"])).then_some("throws away uncommitted changes")
        }
        "switch" => (has(&["discard-changes", "f", "force"])).then_some("throws away uncommitted changes"),
        "restore" => ((!has(&["S", "staged"]) || has(&["W", "worktree"])) && !options.operands.is_empty())
            .then_some("throws away uncommitted changes"),
        "branch" => {
            (exactly("D") || (has(&["d", "delete"]) && has(&["f", "force"])) || exactly("M") || exactly("C"))
                .then_some("deletes or replaces a branch")
        }
        "tag" => has(&["d", "delete", "f", "force"]).then_some("deletes or replaces a tag"),
        "stash" => matches!(first, "clear" | "drop").then_some("deletes stashed changes"),
        "push" => {
            let deletes = options
                .operands
                .iter()
                .any(|refspec| refspec.prefix().starts_with(':') && refspec.rough().len() > 1);
            (deletes || has(&["d", "delete", "mirror", "prune"]))
                .then_some("deletes branches or tags on the server")
        }
        "filter-branch" | "filter-repo" | "replace" => Some("rewrites history"),
        "reflog" => matches!(first, "expire" | "delete").then_some("deletes what could be brought back"),
        "gc" => git
            .arguments
            .iter()
            .any(|argument| argument.prefix().starts_with("--prune"))
            .then_some("deletes what could be brought back"),
        "prune" => (!has(&["n", "dry-run"])).then_some("deletes what could be brought back"),
        "update-ref" | "symbolic-ref" => {
            (exactly("d") || exactly("delete") || exactly("stdin")).then_some("deletes or moves a reference")
        }
        "read-tree" => exactly("reset").then_some("throws away uncommitted changes"),
        "rebase" => exactly("root").then_some("rewrites history"),
        "worktree" => {
            (first == "remove" && has(&["f", "force"])).then_some("deletes a working tree with its changes")
        }
        "submodule" => (first == "deinit" && has(&["f", "force", "all"]))
            .then_some("deletes working trees of submodules"),
        "rm" => (has(&["r"]) && options.operands.iter().any(everything) && !has(&["n", "dry-run"]))
            .then_some("takes every file out"),
        "lfs" => (first == "prune").then_some("deletes local copies"),
        "remote" => matches!(first, "remove" | "rm").then_some("forgets a server and its branches"),
        _ => None,
    }
}
