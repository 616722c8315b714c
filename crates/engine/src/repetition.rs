//! A command that fails again as it did before, although nothing has changed: whoever runs it should know.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use crate::ledger::{Attempt, LastEnd};
use crate::{Outcome, Status, ToolContext};

/// What happened longer ago says nothing about now.
const RECENTLY: Duration = Duration::from_secs(10 * 60);
/// How many files are looked at, and for how long. Whoever has more is told nothing.
const MOST_FILES: usize = 20_000;
const PATIENCE: Duration = Duration::from_millis(100);
/// Programs whose exit code 1 is an answer, not a failure.
const ANSWERING: [&str; 14] = [
    "[", "[[", "cmp", "command", "diff", "egrep", "expr", "fgrep", "git", "grep", "pgrep", "rg", "test",
    "which",
];

/// The attempt that is to be compared with this outcome, if it is a failure.
pub(crate) fn attempt<'a>(outcome: &'a Outcome, context: &'a ToolContext) -> Option<Attempt<'a>> {
    let has_failed = match outcome.status {
        Status::Exited(0) => false,
        Status::Exited(1) => !answers(&outcome.command) && says_something(outcome),
        Status::Exited(_) | Status::TimedOut { .. } => true,
        Status::Signaled(_)
        | Status::Cancelled
        | Status::Refused
        | Status::NeedsApproval
        | Status::Invalid
        | Status::Running => false,
    };
    has_failed.then(|| Attempt {
        command: &outcome.command,
        cwd: &outcome.cwd,
        agent: context.agent_name(),
        session: outcome.session.as_deref(),
    })
}

/// The note about an outcome that is as the last one was, if nothing has changed in between as far as can be told.
pub(crate) fn note(outcome: &Outcome, last: &LastEnd, roots: &[PathBuf], own: &Path) -> Option<String> {
    let code = outcome.exit.and_then(|exit| match exit {
        bashtion_sandbox::Exit::Code(code) => Some(code),
        bashtion_sandbox::Exit::Signal(_) => None,
    });
    if last.status != outcome.status.name() || last.exit_code != code {
        return None;
    }
    let began = SystemTime::now().checked_sub(outcome.duration)?;
    let since = began.duration_since(last.at).ok().filter(|since| *since <= RECENTLY)?;
    let search =
        Search { between: (last.at, began), own, left: MOST_FILES, until: Instant::now() + PATIENCE };
    if !search.finds_nothing(roots) {
        return None;
    }
    let ended = match outcome.status {
        Status::TimedOut { .. } => "ran out of time".to_owned(),
        status => format!("ended with {status}"),
    };
    let ago = match since.as_secs() {
        0 => "just before".to_owned(),
        seconds => format!("{} before", humantime::format_duration(Duration::from_secs(seconds))),
    };
    Some(format!("the same command {ended} {ago}, too, and no file of the workspace has changed in between"))
}

fn answers(command: &str) -> bool {
    let parts = command.split(['|', ';', '&', '\n', '(', '{']);
    let mut programs = parts.filter_map(|part| part.trim_start_matches(['!', ' ']).split_whitespace().next());
    programs.any(|program| ANSWERING.contains(&program))
}

fn says_something(outcome: &Outcome) -> bool {
    !outcome.output.stdout().is_empty() || !outcome.output.stderr().is_empty()
}

/// Looks for a file or directory that was changed between two moments.
struct Search<'a> {
    between: (SystemTime, SystemTime),
    /// What is written for every command.
    own: &'a Path,
    left: usize,
    until: Instant,
}

impl Search<'_> {
    /// Returns true if everything was looked at, and nothing was changed.
    fn finds_nothing(mut self, roots: &[PathBuf]) -> bool {
        let mut folders = roots.to_vec();
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(&folder) else { return false };
            if self.is_between(&folder) != Some(false) {
                return false;
            }
            for entry in entries {
                if self.left == 0 || Instant::now() > self.until {
                    return false;
                }
                self.left -= 1;
                let Ok(entry) = entry else { return false };
                // Git writes there when it only looks.
                if entry.file_name() == ".git" || entry.path() == self.own {
                    continue;
                }
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                    Ok(_) if self.is_between(&entry.path()) == Some(false) => {}
                    Ok(_) | Err(_) => return false,
                }
            }
        }
        true
    }

    fn is_between(&self, path: &Path) -> Option<bool> {
        let changed = path.symlink_metadata().ok()?.modified().ok()?;
        Some(changed > self.between.0 && changed < self.between.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_not_a_failure() {
        for command in
            ["grep -q x y", "make && diff a b", "! test -e x", "cat x | grep y", "(git diff --quiet)"]
        {
            assert!(answers(command), "{command}");
        }
        for command in ["make test", "pytest -k grep", "cargo test; echo"] {
            assert!(!answers(command), "{command}");
        }
    }

    #[test]
    fn a_change_in_between_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let sub = dir.path().join("a/b");
        fs::create_dir_all(&sub).unwrap();
        fs::create_dir(dir.path().join(".git")).unwrap();
        let hour = Duration::from_secs(3600);
        let now = SystemTime::now();
        let finds_nothing = |from: SystemTime, to: SystemTime, left: usize| {
            let own = dir.path().join("own");
            let search = Search { between: (from, to), own: &own, left, until: Instant::now() + hour };
            search.finds_nothing(&[dir.path().to_owned()])
        };
        assert!(!finds_nothing(now - hour, now + hour, 100));
        assert!(finds_nothing(now + hour, now + 2 * hour, 100));
        let file = fs::File::create(sub.join("x")).unwrap();
        file.set_modified(now + hour + hour / 2).unwrap();
        assert!(!finds_nothing(now + hour, now + 2 * hour, 100));
        assert!(!finds_nothing(now + 3 * hour, now + 4 * hour, 2), "not everything was looked at");
    }
}
