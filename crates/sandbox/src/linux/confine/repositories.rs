//! Git runs what a repository's hooks and configuration name, outside of any sandbox: so a command that may write
//! the repository must not write those.

use std::collections::VecDeque;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What was found in the workspaces.
#[derive(Debug)]
pub(super) struct Repositories {
    /// What must stay, outer things first.
    pub(super) kept: Vec<Kept>,
    /// What must not appear: it would make git look for hooks elsewhere.
    pub(super) absent: Vec<PathBuf>,
    /// Git directories elsewhere that belong to a worktree here, and are written by every commit.
    pub(super) elsewhere: Vec<PathBuf>,
    /// Whether every directory was looked at.
    pub(super) complete: bool,
    seen: usize,
}

/// Something of a repository that a command may not exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kept {
    /// May be written into, not moved away.
    InPlace(PathBuf),
    /// May not be changed.
    Unchanged(PathBuf),
}

impl Kept {
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::InPlace(path) | Self::Unchanged(path) => path,
        }
    }
}

/// Looking at more takes longer than most commands run.
const MOST_DIRECTORIES: usize = 2000;
/// Each takes half a dozen mounts.
const MOST_REPOSITORIES: usize = 200;

/// Large, made by tools, and made anew when in doubt.
const PASSED_OVER: [&str; 6] = ["node_modules", "target", ".venv", "venv", "__pycache__", ".tox"];

impl Default for Repositories {
    fn default() -> Self {
        Self { kept: vec![], absent: vec![], elsewhere: vec![], complete: true, seen: 0 }
    }
}

impl Repositories {
    /// The repositories in these directories, linked worktrees and submodules included. Links are not followed.
    pub(super) fn find(workspaces: &[PathBuf]) -> Self {
        let mut found = Self::default();
        let mut queue: VecDeque<PathBuf> = workspaces.iter().cloned().collect();
        while let Some(directory) = queue.pop_front() {
            if !found.may_look() {
                break;
            }
            let Ok(entries) = fs::read_dir(&directory) else { continue };
            let mut inner = vec![];
            let (mut head, mut objects) = (false, false);
            for entry in entries.flatten() {
                let Ok(kind) = entry.file_type() else { continue };
                let name = entry.file_name();
                match (name.to_str(), kind.is_dir()) {
                    (Some(".git"), true) => found.add_git_directory(&entry.path()),
                    (Some(".git"), false) => found.add_git_file(&entry.path(), workspaces),
                    (Some("HEAD"), false) => head = true,
                    (Some(name), true) => {
                        objects |= name == "objects";
                        if !PASSED_OVER.contains(&name) {
                            inner.push(entry.path());
                        }
                    }
                    (None, true) => inner.push(entry.path()),
                    (_, false) => {}
                }
            }
            if head && objects {
                found.add_git_directory(&directory);
            } else {
                queue.extend(inner);
            }
        }
        found
    }

    /// Counts a directory; false when it is one too many.
    fn may_look(&mut self) -> bool {
        self.seen += 1;
        self.complete &= self.seen <= MOST_DIRECTORIES && self.absent.len() <= MOST_REPOSITORIES;
        self.complete
    }

    /// A git directory: that of a repository, of a submodule or a bare one.
    fn add_git_directory(&mut self, git: &Path) {
        if !git.join("HEAD").is_file() || self.kept.iter().any(|kept| kept.path() == git) {
            return;
        }
        self.kept.push(Kept::InPlace(git.to_owned()));
        // Created empty where missing: only what exists can be kept.
        let _ = DirBuilder::new().mode(0o755).create(git.join("hooks"));
        let _ = DirBuilder::new().mode(0o755).create(git.join("info"));
        let attributes = git.join("info/attributes");
        let _ = OpenOptions::new().write(true).create_new(true).mode(0o644).open(&attributes);
        for name in ["hooks", "config", "config.worktree", "info/attributes"] {
            self.add_unchanged(git.join(name));
        }
        self.absent.push(git.join("commondir"));
        for worktree in directories_in(&git.join("worktrees")) {
            if !self.may_look() {
                return;
            }
            for name in ["commondir", "gitdir", "config.worktree"] {
                self.add_unchanged(worktree.join(name));
            }
        }
        self.add_submodules(&git.join("modules"), 0);
    }

    /// They may be nested by their names: `modules/lib/one`, and by their own submodules.
    fn add_submodules(&mut self, modules: &Path, depth: usize) {
        const DEEPEST: usize = 8;
        for module in directories_in(modules) {
            if !self.may_look() {
                return;
            }
            if module.join("HEAD").is_file() {
                self.add_git_directory(&module);
            } else if depth < DEEPEST {
                self.add_submodules(&module, depth + 1);
            }
        }
    }

    /// A file that says where the git directory is: of a linked worktree or a submodule.
    fn add_git_file(&mut self, file: &Path, workspaces: &[PathBuf]) {
        self.add_unchanged(file.to_owned());
        let Some(git) = read_path(file, "gitdir: ") else { return };
        let Some(common) = read_path(&git.join("commondir"), "") else {
            if workspaces.iter().any(|root| git.starts_with(root)) {
                self.add_git_directory(&git);
            }
            return;
        };
        if workspaces.iter().any(|root| common.starts_with(root)) {
            self.add_git_directory(&common);
        } else if git.starts_with(common.join("worktrees")) && names(&git.join("gitdir"), file) {
            // The other side agrees: a file that anybody can write here does not open anything there.
            self.elsewhere.push(common.clone());
            self.add_git_directory(&common);
        }
    }

    fn add_unchanged(&mut self, path: PathBuf) {
        let exists = path.symlink_metadata().is_ok_and(|metadata| !metadata.is_symlink());
        if exists && !self.kept.iter().any(|kept| kept.path() == path) {
            self.kept.push(Kept::Unchanged(path));
        }
    }
}

fn directories_in(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect()
}

/// The path in a one-line file, from that file's directory, after links.
fn read_path(file: &Path, prefix: &str) -> Option<PathBuf> {
    const LONGEST: u64 = 4096;
    let mut text = String::new();
    let open =
        OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(file).ok()?;
    open.metadata().ok().filter(fs::Metadata::is_file)?;
    File::take(open, LONGEST).read_to_string(&mut text).ok()?;
    let path = text.strip_prefix(prefix)?.trim_end_matches(['\n', '\r']);
    file.parent()?.join(path).canonicalize().ok()
}

fn names(file: &Path, expected: &Path) -> bool {
    read_path(file, "").is_some_and(|path| expected.canonicalize().is_ok_and(|expected| path == expected))
}
