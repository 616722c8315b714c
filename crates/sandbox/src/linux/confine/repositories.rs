//! Git runs what a repository's hooks and configuration name, outside of any sandbox: so a command that may write
//! the repository must not write those.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::exhaustion::{is_exhaustion, unless_exhausted};
use super::host::{landlock, may_listen};
use super::mounts::Layer;
use crate::imp::git::is_open;
use crate::room::KnownRepository;
use crate::{Confinement, Mode as SandboxMode};
use rustix::fs::{
    AtFlags, CWD, Dir, DirEntry, FileType, Mode, OFlags, ResolveFlags, mkdirat, openat, openat2, statat,
};
use rustix::io::Errno;

/// What was found in the workspaces.
#[derive(Debug, Default)]
pub(super) struct Repositories {
    /// What must stay.
    pub(super) kept: Vec<(PathBuf, Layer)>,
    /// Their git directories.
    pub(super) git: Vec<GitDirectory>,
    /// And files that lead to one.
    pub(super) links: Vec<GitFile>,
    /// Git directories elsewhere that belong to a worktree here, and are written by every commit.
    pub(super) elsewhere: Vec<PathBuf>,
    /// What could not be kept, if anything.
    pub(super) gap: Option<&'static str>,
    /// The directories that were looked into.
    pub(super) searched: Vec<PathBuf>,
    /// True if git directories are closed but for data, and somebody answers for the names in them.
    are_closed: bool,
    /// Settings that must stay as they are, by the last parts of their paths.
    settings: Vec<PathBuf>,
    seen: usize,
}

/// A git directory, open: its path may lead elsewhere later, this does not.
#[derive(Debug)]
pub(super) struct GitDirectory {
    pub(super) path: PathBuf,
    pub(super) fd: Arc<OwnedFd>,
    /// The directory that it is in, unless that may not be written anyway.
    pub(super) parent: Option<Arc<OwnedFd>>,
    /// Where it can have been moved to.
    pub(super) root: PathBuf,
    /// None could be made, so the command shall not either.
    pub(super) without_hooks: bool,
}

/// A file in its place that says where it is.
#[derive(Debug)]
pub(super) struct GitFile {
    pub(super) path: PathBuf,
    pub(super) parent: Arc<OwnedFd>,
}

/// Looking at more takes longer than most commands run.
const MOST_DIRECTORIES: usize = 2000;
/// Each takes half a dozen mounts.
const MOST_REPOSITORIES: usize = 100;

/// Large, made by tools, and made anew when in doubt.
const PASSED_OVER: [&str; 6] = ["node_modules", "target", ".venv", "venv", "__pycache__", ".tox"];

const TOO_LARGE: &str = "the workspace has too many directories to find every repository in it";
const UNREADABLE: &str = "a directory of the workspace cannot be read, so repositories in it cannot be found";
const BY_LINK: &str = "a repository's git directory, hooks or configuration is a link, which cannot be kept";

/// What a project says about its own sandbox; the next command is to read it too.
const PROJECT_FILE: &str = ".bashtion.toml";

/// Returns true if git directories are read-only for a command, because somebody answers for the names in them.
pub(super) fn keeps_closed(confinement: &Confinement) -> bool {
    confinement.attended && may_listen()
}

/// Returns true if the host makes names and opens files for writing in workspaces in a command's place. Without mounts it is
/// Landlock that leaves the command no other way, which must know truncation for that.
pub(super) fn answers_for_names(confinement: &Confinement, namespaces: bool) -> bool {
    const TRUNCATION: u32 = 3;
    confinement.mode == SandboxMode::Workspace
        && keeps_closed(confinement)
        && (namespaces || landlock().abi() >= TRUNCATION)
}

impl Repositories {
    /// The repositories in the workspaces, linked worktrees and submodules included, and settings that others follow. Links
    /// are not followed. An error only if descriptors or memory have run out.
    pub(super) fn find(confinement: &Confinement, are_closed: bool) -> io::Result<Self> {
        let Confinement { workspaces, settings, .. } = confinement;
        let mut found = Self { are_closed, settings: settings.clone(), ..Self::default() };
        for root in workspaces {
            found.keep(root.join(PROJECT_FILE), Layer::Unchanged);
            found.search(root, workspaces)?;
        }
        Ok(found)
    }

    /// Those that somebody else has found, as far as they are still there.
    pub(super) fn known(found: &[KnownRepository]) -> io::Result<Self> {
        let mut repositories = Self::default();
        for KnownRepository { root, git, without_hooks } in found {
            let Some(fd) = unless_exhausted(open_beneath(root, git))? else { continue };
            let parent = git.parent().filter(|_| git != root).map(|parent| open_beneath(root, parent));
            let parent = parent.map(unless_exhausted).transpose()?.flatten().map(Arc::new);
            repositories.git.push(GitDirectory {
                path: git.clone(),
                fd: fd.into(),
                parent,
                root: root.clone(),
                without_hooks: *without_hooks,
            });
        }
        Ok(repositories)
    }

    /// Lists them for other processes.
    pub(super) fn to_known(&self) -> Vec<KnownRepository> {
        let known = |git: &GitDirectory| KnownRepository {
            root: git.root.clone(),
            git: git.path.clone(),
            without_hooks: git.without_hooks,
        };
        self.git.iter().map(known).collect()
    }

    fn search(&mut self, root: &Path, workspaces: &[PathBuf]) -> io::Result<()> {
        let mut queue = VecDeque::from([root.to_owned()]);
        while let Some(directory) = queue.pop_front()
            && self.may_look()
        {
            let opened = open_beneath(root, &directory);
            let (fd, entries) = match opened.and_then(|fd| Ok((Dir::read_from(&fd)?, fd))) {
                Ok((entries, fd)) => (fd, entries),
                Err(error) => {
                    self.add_unreadable(root, &directory, error)?;
                    continue;
                }
            };
            self.searched.push(directory.clone());
            let mut inner = vec![];
            let (mut head, mut objects) = (false, false);
            for entry in entries {
                let Some(entry) = self.readable(entry.map_err(io::Error::from)) else { continue };
                let name = OsStr::from_bytes(entry.file_name().to_bytes());
                if name == "." || name == ".." {
                    continue;
                }
                let Some(kind) = self.readable(kind_of(&fd, &entry)) else { continue };
                let path = directory.join(name);
                if self.settings.iter().any(|setting| path.ends_with(setting)) {
                    self.keep(path.clone(), Layer::Unchanged);
                }
                match name.to_str() {
                    // Whatever is in it: a command may have made it look like none for a while.
                    Some(".git") if kind == FileType::Directory => self.add_git_directory(root, &path)?,
                    Some(".git") if kind == FileType::Symlink => self.gap = Some(BY_LINK),
                    Some(".git") => self.add_git_file(root, &fd, &path, workspaces)?,
                    name if kind == FileType::Directory => {
                        objects |= name == Some("objects");
                        if !name.is_some_and(|name| PASSED_OVER.contains(&name)) {
                            inner.push(path);
                        }
                    }
                    name => head |= name == Some("HEAD"),
                }
            }
            if head && objects {
                self.add_git_directory(root, &directory)?;
            } else {
                queue.extend(inner);
            }
        }
        Ok(())
    }

    /// Whatever is in a directory that cannot be looked at, a command shall not open it up and change it.
    fn add_unreadable(&mut self, root: &Path, directory: &Path, why: io::Error) -> io::Result<()> {
        match why.kind() {
            _ if is_exhaustion(&why) => return Err(why),
            ErrorKind::NotFound | ErrorKind::NotADirectory => {}
            ErrorKind::PermissionDenied if directory != root => {
                self.keep(directory.to_owned(), Layer::Unchanged);
            }
            _ => {
                self.gap = Some(UNREADABLE);
                if directory == root {
                    self.add_git_directory(root, &directory.join(".git"))?;
                }
            }
        }
        Ok(())
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
    fn add_git_directory(&mut self, root: &Path, git: &Path) -> io::Result<()> {
        if self.git.iter().any(|known| known.path == git) {
            return Ok(());
        }
        let fd = match open_beneath(root, git) {
            Ok(fd) => fd,
            Err(error) => return self.add_unreadable(root, git, error),
        };
        let without_hooks = if self.are_closed {
            self.close(git)?;
            false
        } else {
            self.keep(git.to_owned(), Layer::InPlace);
            for name in ["hooks", "config", "config.worktree", "commondir", "info/attributes"] {
                self.keep(git.join(name), Layer::Unchanged);
            }
            !make_what_is_missing(fd.as_fd())?
        };
        let parent = git.parent().filter(|_| git != root).map(|parent| open_beneath(root, parent));
        let parent = parent.map(unless_exhausted).transpose()?.flatten().map(Arc::new);
        let (path, fd, root_path) = (git.to_owned(), fd.into(), root.to_owned());
        self.git.push(GitDirectory { path, fd, parent, root: root_path, without_hooks });
        for worktree in self.directories_in(&git.join("worktrees"))? {
            if !self.may_look() {
                return Ok(());
            }
            if self.are_closed {
                self.open_data(&worktree)?;
            } else {
                ["commondir", "gitdir", "config.worktree"]
                    .into_iter()
                    .for_each(|name| self.keep(worktree.join(name), Layer::Unchanged));
            }
        }
        self.add_submodules(root, &git.join("modules"), 0)
    }

    /// Nothing in it can be changed, but for what is only data.
    fn close(&mut self, git: &Path) -> io::Result<()> {
        self.keep(git.to_owned(), Layer::Unchanged);
        for name in ["HEAD", "config", "hooks", "info", "modules", "objects", "refs", "worktrees"] {
            let is_link = |metadata: fs::Metadata| metadata.is_symlink();
            if self.readable(git.join(name).symlink_metadata()).is_some_and(is_link) {
                self.gap = Some(BY_LINK);
            }
        }
        self.open_data(git)
    }

    fn open_data(&mut self, git: &Path) -> io::Result<()> {
        for directory in self.directories_in(git)? {
            if directory.file_name().and_then(OsStr::to_str).is_some_and(is_open) {
                self.kept.push((directory, Layer::Open));
            }
        }
        Ok(())
    }

    /// They may be nested by their names: `modules/lib/one`, and by their own submodules.
    fn add_submodules(&mut self, root: &Path, modules: &Path, depth: usize) -> io::Result<()> {
        const DEEPEST: usize = 8;
        for module in self.directories_in(modules)? {
            if !self.may_look() {
                break;
            }
            if module.join("objects").is_dir() || module.join("config").is_file() {
                self.add_git_directory(root, &module)?;
            } else if depth < DEEPEST {
                self.add_submodules(root, &module, depth + 1)?;
            }
        }
        Ok(())
    }

    /// A file that says where the git directory is: of a linked worktree or a submodule.
    fn add_git_file(
        &mut self,
        root: &Path,
        parent: &OwnedFd,
        file: &Path,
        workspaces: &[PathBuf],
    ) -> io::Result<()> {
        self.keep(file.to_owned(), Layer::Unchanged);
        self.links.push(GitFile { path: file.to_owned(), parent: parent.try_clone()?.into() });
        let home = |path: &Path| workspaces.iter().find(|root| path.starts_with(root));
        // Of the directory that was walked to without a link, whatever is at its path by now.
        let Some(opened) = open_at(parent.as_fd(), ".git", TO_READ, Mode::empty())? else { return Ok(()) };
        let is_here = |path: &Path| path.starts_with(root) && path == file;
        let Some(git) = path_in(opened, file, "gitdir: ") else { return Ok(()) };
        let Some(common) = read_path(&git.join("commondir"), "")? else {
            if let Some(root) = home(&git) {
                self.add_git_directory(root, &git)?;
            } else if may_be_granted(&git, workspaces)
                && worktree_of(&git)?.is_some_and(|path| is_here(&path.join(".git")))
            {
                self.elsewhere.push(git.clone());
                self.add_git_directory(&git, &git)?;
            }
            return Ok(());
        };
        if let Some(root) = home(&common) {
            self.add_git_directory(root, &common)?;
        } else if may_be_granted(&common, workspaces)
            && git.parent() == Some(common.join("worktrees").as_path())
            && home(&git).is_none()
            && read_path(&git.join("gitdir"), "")?.is_some_and(|path| is_here(&path))
        {
            // The other side agrees: a file that anybody can write here does not open anything there.
            self.elsewhere.push(common.clone());
            self.add_git_directory(&common, &common)?;
        }
        Ok(())
    }

    fn directories_in(&mut self, path: &Path) -> io::Result<Vec<PathBuf>> {
        match self.readable(path.symlink_metadata()) {
            Some(metadata) if !metadata.is_symlink() => {}
            Some(_) => {
                self.gap = Some(BY_LINK);
                return Ok(vec![]);
            }
            None => return Ok(vec![]),
        }
        let opened = open_beneath(Path::new("/"), path);
        let (fd, entries) = match opened.and_then(|fd| Ok((Dir::read_from(&fd)?, fd))) {
            Ok((entries, fd)) => (fd, entries),
            Err(error) => return self.add_unreadable(Path::new("/"), path, error).map(|()| vec![]),
        };
        let mut found = vec![];
        for entry in entries {
            let Some(entry) = self.readable(entry.map_err(io::Error::from)) else { continue };
            let name = entry.file_name();
            if [c".", c".."].contains(&name)
                || self.readable(kind_of(&fd, &entry)) != Some(FileType::Directory)
            {
                continue;
            }
            found.push(path.join(OsStr::from_bytes(name.to_bytes())));
        }
        Ok(found)
    }

    fn keep(&mut self, path: PathBuf, how: Layer) {
        match self.readable(path.symlink_metadata()) {
            Some(metadata) if metadata.is_symlink() => self.gap = Some(BY_LINK),
            Some(_) => self.kept.push((path, how)),
            None => {}
        }
    }

    /// None where nothing is there. What is there and cannot be looked at is a gap.
    fn readable<T>(&mut self, result: io::Result<T>) -> Option<T> {
        match result {
            Ok(found) => Some(found),
            Err(error) => {
                if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
                    self.gap = Some(UNREADABLE);
                }
                None
            }
        }
    }
}

/// Whether it is a git directory, and one that the workspace does not lie in: then a command could have made it look so.
fn may_be_granted(git: &Path, workspaces: &[PathBuf]) -> bool {
    let has =
        |name: &str, is: fn(&fs::Metadata) -> bool| git.join(name).symlink_metadata().is_ok_and(|it| is(&it));
    has("HEAD", fs::Metadata::is_file)
        && has("config", fs::Metadata::is_file)
        && has("objects", fs::Metadata::is_dir)
        && has("refs", fs::Metadata::is_dir)
        && !workspaces.iter().any(|root| root.starts_with(git))
}

/// Opens a directory below another without following any link.
pub(in super::super) fn open_beneath(root: &Path, path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let inner = path.strip_prefix(root).map_err(|_| ErrorKind::NotFound)?;
    if inner.as_os_str().is_empty() {
        return Ok(openat(CWD, root, flags, Mode::empty())?);
    }
    // Not for reading: it may only be allowed to go through.
    let top = openat(CWD, root, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let safely = ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH;
    Ok(openat2(top, inner, flags, Mode::empty(), safely)?)
}

/// Only what exists can be kept, so it is made, empty, as git itself could have. Nothing is made in what is no repository.
/// Whether there is a place for hooks now.
fn make_what_is_missing(git: BorrowedFd<'_>) -> io::Result<bool> {
    let may_be = |name: &str, kind| match statat(git, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => FileType::from_raw_mode(stat.st_mode) == kind,
        Err(error) => error != Errno::NOENT,
    };
    if !may_be("objects", FileType::Directory) || !may_be("config", FileType::RegularFile) {
        return Ok(true);
    }
    let hooks = mkdirat(git, "hooks", Mode::from_raw_mode(0o755));
    let has_hooks = matches!(hooks, Ok(()) | Err(Errno::EXIST));
    let (safely, mode) = (OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::from_raw_mode(0o644));
    // Otherwise nobody reads it.
    let config = open_at(git, "config", OFlags::RDONLY | OFlags::NONBLOCK | safely, Mode::empty())?;
    if config.is_some_and(|config| text_of(config).to_ascii_lowercase().contains("worktreeconfig")) {
        open_at(git, "config.worktree", OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | safely, mode)?;
    }
    Ok(has_hooks)
}

fn open_at(
    at: BorrowedFd<'_>,
    path: impl rustix::path::Arg,
    flags: OFlags,
    mode: Mode,
) -> io::Result<Option<OwnedFd>> {
    unless_exhausted(openat(at, path, flags, mode).map_err(io::Error::from))
}

/// The kind of something in a directory. Not every file system tells it with the name.
fn kind_of(directory: &OwnedFd, entry: &DirEntry) -> io::Result<FileType> {
    match entry.file_type() {
        FileType::Unknown => {
            let stat = statat(directory, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
            Ok(FileType::from_raw_mode(stat.st_mode))
        }
        kind => Ok(kind),
    }
}

/// The path in a one-line file, from that file's directory, after links.
fn read_path(file: &Path, prefix: &str) -> io::Result<Option<PathBuf>> {
    let opened = open_at(CWD, file, TO_READ, Mode::empty())?;
    Ok(opened.and_then(|opened| path_in(opened, file, prefix)))
}

fn path_in(opened: OwnedFd, file: &Path, prefix: &str) -> Option<PathBuf> {
    let text = text_of(opened);
    let path = text.strip_prefix(prefix).map(|path| path.trim_end_matches(['\n', '\r']))?;
    file.parent()?.join(path).canonicalize().ok()
}

const TO_READ: OFlags = OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

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

/// The place of a submodule's files, as its configuration says.
fn worktree_of(git: &Path) -> io::Result<Option<PathBuf>> {
    let Some(config) = open_at(CWD, git.join("config"), TO_READ, Mode::empty())? else { return Ok(None) };
    let text = text_of(config);
    let named = text.lines().find_map(|line| line.trim().strip_prefix("worktree")?.trim().strip_prefix('='));
    Ok(named.and_then(|path| git.join(path.trim()).canonicalize().ok()))
}
