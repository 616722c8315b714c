//! The names in a git directory, and what a command may do with each. All others it may not touch.

/// A file or directory of a repository, as git uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// Nothing that git knows, or something that it runs or follows.
    Closed,
    /// A file that is only data. May be made, written, replaced and removed.
    Data,
    /// A list of steps, which may hold commands. Replaced after a look at it.
    Steps,
    /// Says which branch is checked out. Replaced after a look at it.
    Head,
    /// Configuration. Replaced after a look at it.
    Config,
}

/// Files directly in a git directory, beside those in capital letters such as `ORIG_HEAD` and `COMMIT_EDITMSG`.
const FILES: &[&str] =
    &["index", "packed-refs", "packed-refs.new", "shallow", "description", "gc.log", "gc.pid", "locked"];
/// Beginnings of such files.
const BEGINNINGS: &[&str] = &["index.", "sharedindex.", "next-index-", "tmp_", ".tmp-"];
/// Directories of data, however deep.
const TREES: &[&str] = &["objects", "refs", "logs", "lfs", "rr-cache", "reftable", "lost-found", "svn"];
/// Directories of something that is under way.
const UNDER_WAY: &[&str] = &["rebase-merge", "rebase-apply", "sequencer"];
/// Directories of which some files are data.
const OTHERS: &[&str] = &["info", "hooks", "branches", "modules", "worktrees"];
const INFO: &[&str] = &["exclude", "sparse-checkout", "refs"];
/// Neither git nor a person can do without.
const ESSENTIAL: &[&str] = &["objects", "refs", "hooks", "info", "modules", "worktrees", "logs"];

/// Subdirectories that are laid open in a room, so that what git writes most is not asked about.
pub(in super::super) fn is_open(name: &str) -> bool {
    TREES.contains(&name)
}

/// Returns true for such a directory of a repository, of one of its submodules or its worktrees.
pub(super) fn is_open_in(path: &[&str]) -> bool {
    match path {
        [name] => is_open(name),
        ["modules", around @ .., name] => {
            !around.is_empty() && is_open(name) && !around.iter().any(|part| is_open(part))
        }
        ["worktrees", _, name] => is_open(name),
        _ => false,
    }
}

/// Returns true for what lies in such a directory. Nobody is asked about it, but for names that would make a repository of it.
pub(super) fn is_in_open(path: &[&str]) -> bool {
    let first = match path {
        ["modules" | "worktrees", ..] => 2,
        _ => 0,
    };
    let around = path.split_last().map_or(&[][..], |(_, around)| around);
    let around = around.get(first..).unwrap_or_default();
    match first {
        0 => around.first().is_some_and(|name| is_open(name)),
        _ => around.iter().any(|name| is_open(name)),
    }
}

/// Returns true for a name without which git takes no directory for a repository, and which is nothing else among data.
pub(super) fn makes_repository(name: &str) -> bool {
    matches!(name, "objects" | "commondir")
}

/// Returns true for a lock under which something is written that is looked at before it counts: only whoever has made it may
/// use it, for its name is all that git goes by.
pub(super) fn is_guarded_lock(path: &[&str]) -> bool {
    let names = ["config.lock", "config.worktree.lock", "HEAD.lock", "git-rebase-todo.lock", "todo.lock"];
    path.last().is_some_and(|name| names.contains(name)) && !is_in_open(path)
}

/// The part that a path below a git directory is, if it is a file.
pub(super) fn file(path: &[&str]) -> Part {
    match path {
        [] => Part::Closed,
        ["modules", rest @ ..] if is_followed(rest) => Part::Closed,
        ["modules", rest @ ..] => {
            // The name of a submodule may itself have several parts. The most careful of what it could be counts.
            let could_be = (1..rest.len()).map(|length| own_file(&rest[length..]));
            could_be.max().unwrap_or(Part::Closed)
        }
        ["worktrees", _, rest @ ..] => own_file(rest),
        path => own_file(path),
    }
}

/// Returns true if a directory of that name may be made.
pub(super) fn may_be_directory(path: &[&str]) -> bool {
    match path {
        ["modules" | "worktrees"] => true,
        ["modules", rest @ ..] => {
            rest.len() == 1 || (1..rest.len()).any(|length| own_directory(&rest[length..])) || rest.len() < 8
        }
        ["worktrees", _] => true,
        ["worktrees", _, rest @ ..] => own_directory(rest),
        path => own_directory(path),
    }
}

/// The name of a worktree, if a path is one of the two files by which it and its repository find each other.
pub(super) fn worktree_link<'a>(path: &[&'a str]) -> Option<(&'a str, WorktreeLink)> {
    match path {
        ["worktrees", name, "commondir"] => Some((name, WorktreeLink::ToRepository)),
        ["worktrees", name, "gitdir"] => Some((name, WorktreeLink::ToFiles)),
        _ => None,
    }
}

/// One of these files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WorktreeLink {
    ToRepository,
    ToFiles,
}

/// Returns true if a directory may be removed when it is empty.
pub(super) fn may_go(path: &[&str]) -> bool {
    !matches!(path, [name] if ESSENTIAL.contains(name))
}

/// Returns true for the file by which a new repository finds out what its file system can do: `tAbC123`.
pub(super) fn is_trial(path: &[&str]) -> bool {
    let Some(name) = path.last().and_then(|name| name.strip_prefix('t')) else { return false };
    name.len() == 6 && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Returns true for what git runs or follows, whatever directory it is in.
fn is_followed(path: &[&str]) -> bool {
    match path {
        [.., "commondir" | "gitdir"] | [.., "info", "attributes"] => true,
        [.., "hooks", name] => !name.ends_with(".sample"),
        _ => false,
    }
}

fn own_directory(path: &[&str]) -> bool {
    match path {
        [name] => [TREES, UNDER_WAY, OTHERS].iter().any(|names| names.contains(name)),
        [tree, ..] => TREES.contains(tree) || UNDER_WAY.contains(tree),
        [] => false,
    }
}

fn own_file(path: &[&str]) -> Part {
    match path {
        [name] => {
            let base = name.strip_suffix(".lock");
            match (base.unwrap_or(name), base.is_some()) {
                ("config" | "config.worktree", false) => Part::Config,
                ("HEAD", false) => Part::Head,
                ("config" | "config.worktree" | "HEAD", true) => Part::Data,
                (name, _) if FILES.contains(&name) || is_in_capitals(name) => Part::Data,
                (_, false) if is_trial(path) => Part::Data,
                (name, _) if BEGINNINGS.iter().any(|beginning| name.starts_with(beginning)) => Part::Data,
                _ => Part::Closed,
            }
        }
        [tree, .., name] if UNDER_WAY.contains(tree) => {
            if matches!(*name, "git-rebase-todo" | "todo") {
                Part::Steps
            } else {
                Part::Data
            }
        }
        [tree, ..] if TREES.contains(tree) => Part::Data,
        ["info", name] if INFO.contains(&name.strip_suffix(".lock").unwrap_or(name)) => Part::Data,
        // Of `info/refs`, while it is written.
        ["info", name] if name.starts_with("refs_") => Part::Data,
        ["hooks", name] if name.ends_with(".sample") => Part::Data,
        _ => Part::Closed,
    }
}

/// `FETCH_HEAD`, `MERGE_MSG`, `BISECT_LOG` …
fn is_in_capitals(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_' || byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_by_their_names() {
        let cases = [
            ("HEAD", Part::Head),
            ("HEAD.lock", Part::Data),
            ("config", Part::Config),
            ("config.worktree", Part::Config),
            ("config.lock", Part::Data),
            ("index", Part::Data),
            ("index.lock", Part::Data),
            ("COMMIT_EDITMSG", Part::Data),
            ("objects/ab/cdef", Part::Data),
            ("refs/heads/config", Part::Data),
            ("info/exclude", Part::Data),
            ("info/sparse-checkout.lock", Part::Data),
            ("hooks/pre-commit.sample", Part::Data),
            ("rebase-merge/git-rebase-todo", Part::Steps),
            ("rebase-merge/done", Part::Data),
            ("modules/lib/one/config", Part::Config),
            ("modules/lib/one/HEAD", Part::Head),
            ("modules/lib/index.lock", Part::Data),
            ("worktrees/a/HEAD", Part::Head),
            ("worktrees/a/index.lock", Part::Data),
            ("hooks/pre-commit", Part::Closed),
            ("hooks/pre-commit.lock", Part::Closed),
            ("modules/x/hooks/pre-commit", Part::Closed),
            ("commondir", Part::Closed),
            ("gitdir", Part::Closed),
            ("worktrees/a/commondir", Part::Closed),
            ("worktrees/a/gitdir", Part::Closed),
            ("modules/x/commondir", Part::Closed),
            ("info/attributes", Part::Closed),
            ("remotes/origin", Part::Closed),
            ("branches/origin", Part::Closed),
            ("anything", Part::Closed),
        ];
        for (path, part) in cases {
            assert_eq!(file(&path.split('/').collect::<Vec<_>>()), part, "{path}");
        }
    }

    #[test]
    fn what_lies_among_data() {
        let is_in = |path: &str| is_in_open(&path.split('/').collect::<Vec<_>>());
        for path in
            ["objects/ab", "logs/HEAD", "modules/m/logs/HEAD", "modules/a/b/refs/x", "worktrees/w/logs/HEAD"]
        {
            assert!(is_in(path), "{path}");
        }
        for path in ["objects", "config", "modules/objects/config", "hooks/objects/x", "worktrees/refs/HEAD"]
        {
            assert!(!is_in(path), "{path}");
        }
    }

    #[test]
    fn directories_by_their_names() {
        let may = |path: &str| may_be_directory(&path.split('/').collect::<Vec<_>>());
        for path in
            ["rebase-merge", "refs/heads/a", "modules", "modules/lib", "modules/lib/one", "modules/a/hooks"]
        {
            assert!(may(path), "{path}");
        }
        for path in ["config", "remotes", "hooks/pre-commit", "info/attributes"] {
            assert!(!may(path), "{path}");
        }
        assert!(may_go(&["rebase-merge"]) && !may_go(&["objects"]));
    }
}
