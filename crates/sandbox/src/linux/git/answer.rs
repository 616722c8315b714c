//! From a call about a name to its answer.

use std::ffi::OsStr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, fstat, openat2, unlinkat};
use rustix::io::Errno;
use rustix::net::SocketFlags;

use super::deed::Doing;
use super::names::{self, Part};
use super::operation::{Named, Operation, is_about_names};
use super::plain::Waiting;
use super::{Ground, birth};
use crate::StoppedBy;
use crate::imp::confine::open_beneath;
use crate::imp::sockets::Watch;
use crate::imp::sockets::notice::{Call, Place};
use crate::own_directory::identity;

/// The host's answer to a call.
#[derive(Debug)]
pub(super) enum Answer {
    /// The kernel does what was asked for. Its own rules hold.
    GoOn,
    /// The host has done it.
    Done,
    /// The caller gets this file.
    File(OwnedFd, OFlags),
    /// The caller gets it when somebody reads from it.
    Later(Waiting),
    Refused(Errno),
}

impl From<Result<Answer, Errno>> for Answer {
    fn from(result: Result<Self, Errno>) -> Self {
        result.unwrap_or_else(Self::Refused)
    }
}

/// Answers one call.
pub(in super::super) fn answer(watch: &Arc<Watch>, call: Call) {
    debug_assert!(is_about_names(call.number), "others are answered elsewhere");
    if call.number == libc::SYS_umask {
        watch.masks.set();
        return watch.listener.let_go_on(call);
    }
    let asked = Asked { watch, call, ground: &watch.reach.ground };
    match Answer::from(asked.answer()) {
        Answer::GoOn => watch.listener.let_go_on(call),
        Answer::Done => watch.listener.answer(call, Ok(0)),
        Answer::Refused(errno) => watch.listener.answer(call, Err(errno)),
        Answer::File(file, flags) => give(watch, call, &file, flags),
        Answer::Later(waiting) => waiting.begin(watch, call),
    }
}

/// Gives the caller a file that it has asked for.
pub(super) fn give(watch: &Watch, call: Call, file: &OwnedFd, flags: OFlags) {
    let kept = if flags.contains(OFlags::CLOEXEC) { SocketFlags::CLOEXEC } else { SocketFlags::empty() };
    if !watch.listener.give(call, file, Place::Result, kept) {
        // It has as many open as it may; or it is gone, and nobody hears this.
        watch.listener.answer(call, Err(Errno::MFILE));
    }
}

/// A call, and what is known around it.
pub(super) struct Asked<'a> {
    pub(super) watch: &'a Watch,
    pub(super) call: Call,
    pub(super) ground: &'a Ground,
}

/// A name in a directory that both the command and the host have found.
#[derive(Debug)]
pub(super) struct Spot {
    /// The directory, as the host has opened it.
    pub(super) directory: OwnedFd,
    pub(super) name: String,
    /// The whole path.
    pub(super) path: PathBuf,
    /// The workspace around it.
    pub(super) root: PathBuf,
    /// The git directory that it lies in, if it does, and its place there.
    pub(super) home: Option<(PathBuf, Vec<String>)>,
}

impl Asked<'_> {
    fn answer(&self) -> Result<Answer, Errno> {
        let Some(operation) = Operation::of(self.call)? else { return Ok(Answer::GoOn) };
        match self.look_at(&operation)? {
            Answer::GoOn => self.do_plainly(&operation),
            answer => Ok(answer),
        }
    }

    /// Looks whether it is about a repository, or something that others follow.
    fn look_at(&self, operation: &Operation) -> Result<Answer, Errno> {
        match operation {
            Operation::Rename { from, to, flags } => self.rename(from, to, *flags),
            Operation::Open { at, .. }
            | Operation::MakeDirectory { at, .. }
            | Operation::Remove { at, .. }
            | Operation::SetMode { at, .. }
            | Operation::MakeLink { at, .. }
            | Operation::Link { at, .. }
            | Operation::Truncate { at, .. }
            | Operation::MakeNode { at, .. } => {
                if let Operation::MakeLink { text, .. } = operation
                    && self.ground.is_hidden(Path::new(OsStr::from_bytes(text)))
                {
                    let path = PathBuf::from(OsStr::from_bytes(&at.name));
                    self.watch.stop(path, StoppedBy::Repository);
                    return Err(Errno::ACCESS);
                }
                let Some(spot) = self.spot(at)? else { return Ok(Answer::GoOn) };
                let removes = matches!(operation, Operation::Remove { .. } | Operation::SetMode { .. });
                match &spot.home {
                    Some(_) if names::is_in_open(&spot.parts()) => self.among_data(&spot, !removes),
                    Some(_) => Doing { asked: self, spot: &spot }.answer(operation),
                    None => self.outside(&spot, operation),
                }
            }
        }
    }

    /// A name outside of every git directory.
    fn outside(&self, spot: &Spot, operation: &Operation) -> Result<Answer, Errno> {
        let makes = !matches!(operation, Operation::Remove { .. } | Operation::SetMode { .. });
        match self.must_not_be(&spot.path) {
            // It is covered by a mount, which goes with it.
            Some(_) if spot.name == ".git" && spot.path != spot.root.join(".git") => match operation {
                Operation::Remove { is_directory, .. } => {
                    let flags = if *is_directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
                    unlinkat(&spot.directory, &spot.name, flags)?;
                    Ok(Answer::Done)
                }
                _ => self.make_git(spot, operation),
            },
            Some(_) if !makes => Ok(Answer::GoOn),
            _ if matches!(
                operation,
                Operation::Link { .. } | Operation::MakeNode { .. } | Operation::MakeLink { .. }
            ) && self.ground.leads_to_setting(&spot.path) =>
            {
                Err(self.stop(spot, StoppedBy::Settings))
            }
            Some(_) if spot.name == ".git" => self.make_git(spot, operation),
            Some(why) => Err(self.stop(spot, why)),
            None => Ok(Answer::GoOn),
        }
    }

    /// A name in a directory of data, which is laid open: the mount decides.
    fn among_data(&self, spot: &Spot, makes: bool) -> Result<Answer, Errno> {
        if makes && names::makes_repository(&spot.name) {
            return Err(self.stop(spot, StoppedBy::Repository));
        }
        Ok(Answer::GoOn)
    }

    /// Something by the name of a git directory.
    fn make_git(&self, spot: &Spot, operation: &Operation) -> Result<Answer, Errno> {
        match operation {
            Operation::MakeDirectory { mode, .. } => birth::repository(self, spot, *mode),
            Operation::Open { flags, .. } => birth::link(self, spot, *flags),
            Operation::SetMode { .. } => Ok(Answer::GoOn),
            _ => Err(self.stop(spot, StoppedBy::Repository)),
        }
    }

    fn rename(&self, from: &Named, to: &Named, flags: u32) -> Result<Answer, Errno> {
        let (source, target) = (self.spot(from)?, self.spot(to)?);
        match (source, target) {
            (None, None) => Ok(Answer::GoOn),
            (Some(source), Some(target)) if source.home.is_some() && target.home.is_some() => {
                let is_same =
                    source.home.as_ref().map(|home| &home.0) == target.home.as_ref().map(|home| &home.0);
                if !is_same {
                    return Err(Errno::XDEV);
                }
                if names::is_in_open(&source.parts()) && names::is_in_open(&target.parts()) {
                    return self.among_data(&target, true);
                }
                Doing { asked: self, spot: &target }.rename(&source, flags)
            }
            (source, target) => {
                const EXCHANGE: u32 = libc::RENAME_EXCHANGE;
                // Exchanged, either takes the name of the other.
                let made = target.iter().chain(source.iter().filter(|_| flags & EXCHANGE != 0));
                for spot in made.filter(|spot| spot.home.is_none()) {
                    let leads = self.ground.leads_to_setting(&spot.path).then_some(StoppedBy::Settings);
                    if let Some(why) = self.must_not_be(&spot.path).or(leads) {
                        return Err(self.stop(spot, why));
                    }
                }
                Ok(Answer::GoOn)
            }
        }
    }

    /// The reason why nothing may be made at a path outside of git directories.
    pub(super) fn must_not_be(&self, path: &Path) -> Option<StoppedBy> {
        self.ground.workspace_of(path)?;
        let name = path.file_name()?.to_str()?;
        if matches!(name, ".git" | "HEAD") {
            return Some(StoppedBy::Repository);
        }
        self.ground.is_in_setting(path).then_some(StoppedBy::Settings)
    }

    pub(super) fn stop(&self, spot: &Spot, why: StoppedBy) -> Errno {
        self.watch.stop(spot.path.clone(), why);
        Errno::ACCESS
    }

    /// The place of a name; none if it is of no interest.
    fn spot(&self, named: &Named) -> Result<Option<Spot>, Errno> {
        let Some(name) = named.text() else { return Ok(None) };
        if !named.looks_like_git() && !self.ground.may_matter(name) && !self.removes_from_git(named) {
            return Ok(None);
        }
        let Some(theirs) = self.parent_of(named)? else { return Ok(None) };
        let parent = rustix::fs::readlink(format!("/proc/self/fd/{}", theirs.as_raw_fd()), vec![])?;
        let parent = PathBuf::from(OsStr::from_bytes(parent.as_bytes()));
        let path = parent.join(name);
        let home = self.ground.home_of(&parent);
        let root = match (&home, self.ground.workspace_of(&parent)) {
            (Some((root, _)), _) => root.clone(),
            (None, Some(root))
                if self.must_not_be(&path).is_some() || self.ground.leads_to_setting(&path) =>
            {
                root.clone()
            }
            (None, _) => return Ok(None),
        };
        // What a path leads to may be another thing for us, and another one by now.
        let Ok(directory) = open_beneath(&root, &parent) else { return Ok(None) };
        if identity(&fstat(&directory)?) != identity(&fstat(&theirs)?) {
            return Ok(None);
        }
        // Only now is it certain that all of this was about the one who asked.
        if !self.watch.listener.still_waits(self.call) {
            return Err(Errno::INTR);
        }
        let home = home.map(|(_, git)| {
            let inner = path.strip_prefix(&git).unwrap_or(&path);
            let parts = inner.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            (git, parts)
        });
        Ok(Some(Spot { directory, name: name.to_owned(), path, root, home }))
    }

    /// Returns true for a name in a git directory that the caller has open: whoever removes a tree does so.
    fn removes_from_git(&self, named: &Named) -> bool {
        let Some(fd) = named.from.filter(|_| self.call.number == libc::SYS_unlinkat) else { return false };
        let path = rustix::fs::readlink(format!("/proc/{}/fd/{fd}", self.call.thread), vec![]);
        path.is_ok_and(|path| path.as_bytes().windows(5).any(|part| part == b"/.git"))
    }

    /// The directory that a name is in, as the caller sees it. None if there is none: the kernel says so better.
    pub(super) fn parent_of(&self, named: &Named) -> Result<Option<OwnedFd>, Errno> {
        let thread = self.call.thread;
        let parent = Path::new(OsStr::from_bytes(&named.parent));
        let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::DIRECTORY;
        if matches!(named.parent.as_slice(), b"" | b"./") {
            let from = match named.from {
                Some(fd) => format!("/proc/{thread}/fd/{fd}"),
                None => format!("/proc/{thread}/cwd"),
            };
            return Ok(rustix::fs::open(from, flags, Mode::empty()).ok());
        }
        let path = if parent.is_absolute() {
            parent.to_owned()
        } else {
            let from = match named.from {
                Some(fd) => format!("/proc/{thread}/fd/{fd}"),
                None => format!("/proc/{thread}/cwd"),
            };
            let Ok(from) = rustix::fs::readlink(from, vec![]) else { return Ok(None) };
            PathBuf::from(std::ffi::OsString::from_vec(from.into_bytes())).join(parent)
        };
        let root = rustix::fs::open(format!("/proc/{thread}/root"), flags, Mode::empty())?;
        let within = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        let inner = path.strip_prefix("/").unwrap_or(&path);
        let inner = if inner.as_os_str().is_empty() { Path::new(".") } else { inner };
        Ok(openat2(root.as_fd(), inner, flags, Mode::empty(), within).ok())
    }
}

impl Spot {
    /// Returns true for what lies in a repository that is not the workspace's own: such a one can be removed as a whole.
    pub(super) fn is_removable(&self) -> bool {
        let is_nested = |git: &PathBuf| *git != self.root && *git != self.root.join(".git");
        self.home.as_ref().is_some_and(|(git, _)| is_nested(git) && git.starts_with(&self.root))
    }

    /// The part that it is to git.
    pub(super) fn part(&self) -> Part {
        let parts = self.parts();
        names::file(&parts)
    }

    pub(super) fn parts(&self) -> Vec<&str> {
        self.home.iter().flat_map(|(_, parts)| parts.iter().map(String::as_str)).collect()
    }
}
