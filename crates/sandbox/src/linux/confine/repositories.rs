//! Git runs what a repository's hooks and configuration name, outside of any sandbox: so a command that may write
//! the repository must not write those.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, File};
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, mkdirat, openat, openat2, statat};

/// What was found in the workspaces.
#[derive(Debug, Default)]
pub(super) struct Repositories {
    /// What must stay. A map, so that outer things come first.
    pub(super) kept: BTreeMap<PathBuf, Kept>,
    /// Their git directories.
    pub(super) git: Vec<GitDirectory>,
    /// And files that lead to one.
    pub(super) links: Vec<GitFile>,
    /// Git directories elsewhere that belong to a worktree here, and are written by every commit.
    pub(super) elsewhere: Vec<PathBuf>,
    /// What could not be kept, if anything.
    pub(super) gap: Option<&'static str>,
    seen: usize,
}

/// How a file or directory is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// May be written into, not moved away.
    InPlace,
    /// May not be changed.
    Unchanged,
}

/// A git directory, open: its path may lead elsewhere later, this does not.
#[derive(Debug)]
pub(super) struct GitDirectory {
    pub(super) path: PathBuf,
    pub(super) fd: OwnedFd,
    /// The directory that it is in, unless that may not be written anyway.
    pub(super) parent: Option<OwnedFd>,
    /// Where it can have been moved to.
    pub(super) root: PathBuf,
}

/// A file in its place that says where it is.
#[derive(Debug)]
pub(super) struct GitFile {
    pub(super) path: PathBuf,
    pub(super) parent: OwnedFd,
}

/// Looking at more takes longer than most commands run.
const MOST_DIRECTORIES: usize = 2000;
/// Each takes half a dozen mounts.
const MOST_REPOSITORIES: usize = 200;

/// Large, made by tools, and made anew when in doubt.
const PASSED_OVER: [&str; 6] = ["node_modules", "target", ".venv", "venv", "__pycache__", ".tox"];

const TOO_LARGE: &str = "the workspace has too many directories to find every repository in it";
const BY_LINK: &str = "a repository's git directory, hooks or configuration is a link, which cannot be kept";

/// What a project says about its own sandbox; the next command is to read it too.
const PROJECT_FILE: &str = ".bashtion.toml";

impl Repositories {
    /// The repositories in these directories, linked worktrees and submodules included. Links are not followed.
    pub(super) fn find(workspaces: &[PathBuf]) -> Self {
        let mut found = Self::default();
        for root in workspaces {
            found.keep(root, root.join(PROJECT_FILE), Kept::Unchanged);
            found.search(root, workspaces);
        }
        found
    }

    fn search(&mut self, root: &Path, workspaces: &[PathBuf]) {
        let mut queue = VecDeque::from([root.to_owned()]);
        while let Some(directory) = queue.pop_front()
            && self.may_look()
        {
            let Ok(entries) = fs::read_dir(&directory) else { continue };
            let mut inner = vec![];
            let (mut head, mut objects) = (false, false);
            for entry in entries.flatten() {
                let Ok(kind) = entry.file_type() else { continue };
                let name = entry.file_name();
                match name.to_str() {
                    // Whatever is in it: a command may have made it look like none for a while.
                    Some(".git") if kind.is_dir() => self.add_git_directory(root, &entry.path()),
                    Some(".git") if kind.is_symlink() => self.gap = Some(BY_LINK),
                    Some(".git") => self.add_git_file(root, &entry.path(), workspaces),
                    name if kind.is_dir() => {
                        objects |= name == Some("objects");
                        if !name.is_some_and(|name| PASSED_OVER.contains(&name)) {
                            inner.push(entry.path());
                        }
                    }
                    name => head |= name == Some("HEAD"),
                }
            }
            if head && objects {
                self.add_git_directory(root, &directory);
            } else {
                queue.extend(inner);
            }
        }
    }

    /// Counts a directory; false when it is one too many.
    fn may_look(&mut self) -> bool {
        self.seen += 1;
        let few = self.seen <= MOST_DIRECTORIES && self.git.len() <= MOST_REPOSITORIES;
        if !few {
            self.gap = Some(TOO_LARGE);
        }
        few
    }

    /// A git directory: that of a repository, of a submodule or a bare one.
    fn add_git_directory(&mut self, root: &Path, git: &Path) {
        let Some(fd) = open_beneath(root, git).filter(|_| !self.git.iter().any(|known| known.path == git))
        else {
            return;
        };
        make_what_is_missing(fd.as_fd());
        self.keep(root, git.to_owned(), Kept::InPlace);
        for name in ["hooks", "config", "config.worktree", "commondir", "info/attributes"] {
            self.keep(root, git.join(name), Kept::Unchanged);
        }
        let parent = git.parent().filter(|_| git != root).and_then(|parent| open_beneath(root, parent));
        self.git.push(GitDirectory { path: git.to_owned(), fd, parent, root: root.to_owned() });
        for worktree in directories_in(&git.join("worktrees")) {
            if !self.may_look() {
                return;
            }
            for name in ["commondir", "gitdir", "config.worktree"] {
                self.keep(root, worktree.join(name), Kept::Unchanged);
            }
        }
        self.add_submodules(root, &git.join("modules"), 0);
    }

    /// They may be nested by their names: `modules/lib/one`, and by their own submodules.
    fn add_submodules(&mut self, root: &Path, modules: &Path, depth: usize) {
        const DEEPEST: usize = 8;
        for module in directories_in(modules) {
            if !self.may_look() {
                return;
            }
            if module.join("objects").is_dir() || module.join("config").is_file() {
                self.add_git_directory(root, &module);
            } else if depth < DEEPEST {
                self.add_submodules(root, &module, depth + 1);
            }
        }
    }

    /// A file that says where the git directory is: of a linked worktree or a submodule.
    fn add_git_file(&mut self, root: &Path, file: &Path, workspaces: &[PathBuf]) {
        self.keep(root, file.to_owned(), Kept::Unchanged);
        if let Some(parent) = file.parent().and_then(|parent| open_beneath(root, parent)) {
            self.links.push(GitFile { path: file.to_owned(), parent });
        }
        let home = |path: &Path| workspaces.iter().find(|root| path.starts_with(root));
        let Some(git) = read_path(file, "gitdir: ") else { return };
        let Some(common) = read_path(&git.join("commondir"), "") else {
            if let Some(root) = home(&git) {
                self.add_git_directory(root, &git);
            } else if has_worktree(&git, file.parent()) {
                self.elsewhere.push(git.clone());
                self.add_git_directory(&git, &git);
            }
            return;
        };
        if let Some(root) = home(&common) {
            self.add_git_directory(root, &common);
        } else if git.starts_with(common.join("worktrees")) && names(&git.join("gitdir"), file) {
            // The other side agrees: a file that anybody can write here does not open anything there.
            self.elsewhere.push(common.clone());
            self.add_git_directory(&common, &common);
        }
    }

    /// Keeps it, with all directories on the way to it, which could be moved away with it otherwise.
    fn keep(&mut self, root: &Path, path: PathBuf, how: Kept) {
        match path.symlink_metadata() {
            Ok(metadata) if metadata.is_symlink() => self.gap = Some(BY_LINK),
            Ok(_) => {
                let on_the_way = path
                    .ancestors()
                    .skip(1)
                    .take_while(|ancestor| *ancestor != root && ancestor.starts_with(root));
                for ancestor in on_the_way {
                    self.kept.entry(ancestor.to_owned()).or_insert(Kept::InPlace);
                }
                self.kept.entry(path).or_insert(how);
            }
            Err(_) => {}
        }
    }
}

/// Opens a directory below another without following any link.
pub(super) fn open_beneath(root: &Path, path: &Path) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let top = openat(CWD, root, flags, Mode::empty()).ok()?;
    match path.strip_prefix(root).ok()? {
        inner if inner.as_os_str().is_empty() => Some(top),
        inner => {
            openat2(top, inner, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH).ok()
        }
    }
}

/// Only what exists can be kept, so it is made, empty, as git itself could have. Nothing is made in what is no repository.
fn make_what_is_missing(git: BorrowedFd<'_>) {
    let is = |name: &str, kind| {
        statat(git, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == kind)
    };
    if !is("objects", FileType::Directory) || !is("config", FileType::RegularFile) {
        return;
    }
    let _ = mkdirat(git, "hooks", Mode::from_raw_mode(0o755));
    let (safely, mode) = (OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::from_raw_mode(0o644));
    // Otherwise nobody reads it.
    let reads_more = openat(git, "config", OFlags::RDONLY | OFlags::NONBLOCK | safely, Mode::empty())
        .is_ok_and(|config| text_of(config).to_ascii_lowercase().contains("worktreeconfig"));
    if reads_more {
        let _ = openat(git, "config.worktree", OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | safely, mode);
    }
}

fn directories_in(path: &Path) -> Vec<PathBuf> {
    let is_link = path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
    let entries = fs::read_dir(path).into_iter().filter(|_| !is_link).flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect()
}

/// The path in a one-line file, from that file's directory, after links.
fn read_path(file: &Path, prefix: &str) -> Option<PathBuf> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let text = text_of(openat(CWD, file, flags, Mode::empty()).ok()?);
    let path = text.strip_prefix(prefix)?.trim_end_matches(['\n', '\r']);
    file.parent()?.join(path).canonicalize().ok()
}

/// Of an ordinary file, and not more of it than makes sense.
fn text_of(file: OwnedFd) -> String {
    const LONGEST: u64 = 1 << 20;
    let file = File::from(file);
    let mut bytes = vec![];
    if file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        let _ = file.take(LONGEST).read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether a submodule's configuration names this directory as the place of its files.
fn has_worktree(git: &Path, expected: Option<&Path>) -> bool {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(config) = openat(CWD, git.join("config"), flags, Mode::empty()) else { return false };
    let text = text_of(config);
    let named = text.lines().find_map(|line| line.trim().strip_prefix("worktree")?.trim().strip_prefix('='));
    let real = named.and_then(|path| git.join(path.trim()).canonicalize().ok());
    real.is_some() && real == expected.and_then(|path| path.canonicalize().ok())
}

fn names(file: &Path, expected: &Path) -> bool {
    read_path(file, "").is_some_and(|path| expected.canonicalize().is_ok_and(|expected| path == expected))
}
