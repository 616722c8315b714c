//! Ordinary files of a workspace.
//!
//! Landlock lets no command make a name in a workspace, or open a file there for writing: a path that was looked at may be
//! another one when the kernel reads it again. So the host does it, at the very place that it has looked at, as the caller would:
//! through the caller's mounts, with its rights and its mask.

use std::ffi::OsStr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, StatxAttributes, StatxFlags, chmod, fchmod,
    fcntl_setfl, fstat, ftruncate, linkat, mkdirat, mknodat, openat, readlinkat, renameat_with, statat,
    statx, symlinkat, unlinkat,
};
use rustix::io::Errno;

use super::Fence;
use super::answer::{Answer, Asked};
use super::names;
use super::operation::{Linked, Named, Operation};
use super::rights::{Birth, Rights};
use crate::StoppedBy;
use crate::imp::sockets::Watch;
use crate::imp::sockets::notice::Call;

/// A name in a directory of a workspace, as the caller sees it.
struct Place {
    directory: OwnedFd,
    /// The path of that directory.
    around: PathBuf,
    name: Vec<u8>,
}

impl Place {
    fn path(&self) -> PathBuf {
        self.around.join(OsStr::from_bytes(&self.name))
    }

    fn kind(&self) -> Option<FileType> {
        let stat = statat(&self.directory, self.name.as_slice(), AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(FileType::from_raw_mode(stat.st_mode))
    }

    /// Returns true if something is mounted there for the caller.
    fn is_mount(&self) -> bool {
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
        let found = statx(&self.directory, self.name.as_slice(), flags, StatxFlags::TYPE);
        found.is_ok_and(|found| found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
    }
}

impl Asked<'_> {
    /// Does what was asked for if it is about ordinary files of a workspace. All else goes on, and Landlock and the mounts hold.
    pub(super) fn do_plainly(&self, operation: &Operation) -> Result<Answer, Errno> {
        match operation {
            Operation::Open { at, flags, mode } => self.open(at, *flags, *mode),
            Operation::Truncate { at, length } => match self.open(at, OFlags::WRONLY, 0)? {
                Answer::File(file, _) => ftruncate(&file, *length).map(|()| Answer::Done),
                other => Ok(other),
            },
            Operation::MakeDirectory { at, mode } => self
                .make(at, Some(*mode), |place, mode| mkdirat(&place.directory, place.name.as_slice(), mode)),
            Operation::MakeLink { at, text } if !at.is_directory => self.make(at, None, |place, _| {
                self.may_lie(place, Some(text))?;
                symlinkat(text.as_slice(), &place.directory, place.name.as_slice())
            }),
            Operation::MakeNode { at, mode } if !at.is_directory => match FileType::from_raw_mode(*mode) {
                kind @ (FileType::Fifo | FileType::RegularFile | FileType::Socket) => {
                    self.make(at, Some(*mode), |place, mode| {
                        mknodat(&place.directory, place.name.as_slice(), kind, mode, 0)
                    })
                }
                _ => Ok(Answer::GoOn),
            },
            Operation::Link { of, at } if !at.is_directory => self.link(of, at),
            Operation::Rename { from, to, flags } => self.move_file(from, to, *flags),
            Operation::MakeLink { .. } | Operation::MakeNode { .. } | Operation::Link { .. } => {
                Ok(Answer::GoOn)
            }
            Operation::Remove { at, is_directory } if self.ground.fence == Fence::Landlock => {
                self.remove(at, *is_directory)
            }
            Operation::Remove { .. } | Operation::SetMode { .. } => Ok(Answer::GoOn),
        }
    }

    /// Makes a name; of something that has a mode, with this one.
    fn make(
        &self,
        at: &Named,
        mode: Option<u32>,
        act: impl Fn(&Place, Mode) -> Result<(), Errno>,
    ) -> Result<Answer, Errno> {
        let Some(place) = self.place(at)? else { return Ok(Answer::GoOn) };
        let birth = self.birth(mode.unwrap_or(0));
        let _rights = self.rights();
        act(&place, birth.mode)?;
        if let (Some(_), Some(mode)) = (mode, birth.repaired) {
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let made = openat(&place.directory, place.name.as_slice(), flags, Mode::empty())?;
            // Of what is there now, and not of what it may lead to: a link has no mode to set.
            let _ = chmod(format!("/proc/self/fd/{}", made.as_raw_fd()), mode);
        }
        Ok(Answer::Done)
    }

    fn remove(&self, at: &Named, is_directory: bool) -> Result<Answer, Errno> {
        let Some(place) = self.place(at)? else { return Ok(Answer::GoOn) };
        if at.is_directory && place.kind() != Some(FileType::Directory) {
            return Err(if place.kind().is_some() { Errno::NOTDIR } else { Errno::NOENT });
        }
        let flags = if is_directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        let _rights = self.rights();
        unlinkat(&place.directory, place.name.as_slice(), flags).map(|()| Answer::Done)
    }

    fn open(&self, at: &Named, flags: OFlags, mode: u32) -> Result<Answer, Errno> {
        /// As many links as the kernel follows in one path.
        const MOST_LINKS: usize = 40;
        if let Some(number) = at.descriptor() {
            return self.open_again(number, flags);
        }
        // A directory cannot be written, and the kernel says so in its own words.
        if at.is_directory || flags.contains(OFlags::PATH) {
            return Ok(Answer::GoOn);
        }
        if flags.contains(OFlags::TMPFILE) {
            return self.open_nameless(at, flags, mode);
        }
        let mut at = at.clone();
        for _ in 0..MOST_LINKS {
            let Some(place) = self.place(&at)? else { return Ok(Answer::GoOn) };
            match self.open_at(&place, flags, mode) {
                Err(Errno::LOOP) if !flags.contains(OFlags::NOFOLLOW) => {
                    let text = readlinkat(&place.directory, place.name.as_slice(), vec![])?;
                    let around = place.around.as_os_str().as_bytes();
                    let Some(next) = Named::followed(around, text.as_bytes()) else {
                        return Ok(Answer::GoOn);
                    };
                    at = next;
                }
                Err(Errno::NXIO) if place.kind() == Some(FileType::Fifo) => {
                    return Ok(Answer::Later(Waiting { place: place.directory, name: place.name, flags }));
                }
                opened => return opened,
            }
        }
        Err(Errno::LOOP)
    }

    fn open_at(&self, place: &Place, flags: OFlags, mode: u32) -> Result<Answer, Errno> {
        // A name that is new is of no pipe that could make us wait.
        let is_new = flags.contains(OFlags::CREATE | OFlags::EXCL);
        let patience = if is_new { OFlags::empty() } else { OFlags::NONBLOCK };
        let opening = flags | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC | patience;
        let birth = self.birth(mode);
        let rights = self.rights();
        let file = match birth.repaired {
            Some(mode) if flags.contains(OFlags::CREATE) => open_or_make(place, opening, mode)?,
            _ => openat(&place.directory, place.name.as_slice(), opening, birth.mode)?,
        };
        drop(rights);
        if !is_new && !flags.contains(OFlags::NONBLOCK) {
            fcntl_setfl(&file, flags & (OFlags::APPEND | OFlags::DIRECT))?;
        }
        Ok(Answer::File(file, flags))
    }

    /// A file without a name, in a directory that is named.
    fn open_nameless(&self, at: &Named, flags: OFlags, mode: u32) -> Result<Answer, Errno> {
        let Some(place) = self.place(at)? else { return Ok(Answer::GoOn) };
        let birth = self.birth(mode);
        let _rights = self.rights();
        let file = openat(&place.directory, c".", flags | OFlags::CLOEXEC, birth.mode)?;
        birth.repaired.map_or(Ok(()), |mode| fchmod(&file, mode))?;
        Ok(Answer::File(file, flags))
    }

    /// Opens what a descriptor of the caller is of, as `> /dev/stdout` does.
    fn open_again(&self, number: i32, flags: OFlags) -> Result<Answer, Errno> {
        let path = format!("/proc/{}/fd/{number}", self.call.thread);
        let Ok(file) = rustix::fs::open(&path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) else {
            return Ok(Answer::GoOn);
        };
        if FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::RegularFile || !self.is_plain(&file)? {
            return Ok(Answer::GoOn);
        }
        self.still_asked()?;
        let own = format!("/proc/self/fd/{}", file.as_raw_fd());
        let _rights = self.rights();
        let opening = flags & !(OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW) | OFlags::CLOEXEC;
        Ok(Answer::File(rustix::fs::open(own, opening, Mode::empty())?, flags))
    }

    fn link(&self, of: &Linked, at: &Named) -> Result<Answer, Errno> {
        let Some(place) = self.place(at)? else { return Ok(Answer::GoOn) };
        let (directory, name) = (place.directory.as_fd(), place.name.as_slice());
        match of {
            Linked::Descriptor(number) => {
                let path = format!("/proc/{}/fd/{number}", self.call.thread);
                let file = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
                if !self.is_plain(&file)? {
                    return Ok(Answer::GoOn);
                }
                self.still_asked()?;
                let own = format!("/proc/self/fd/{}", file.as_raw_fd());
                let _rights = self.rights();
                linkat(CWD, own, directory, name, AtFlags::SYMLINK_FOLLOW)?;
            }
            Linked::At(source) => {
                // Another name for what must stay as it is would be a way around its own.
                let Some(source) = self.place(source)? else { return Ok(Answer::GoOn) };
                let _rights = self.rights();
                linkat(&source.directory, source.name.as_slice(), directory, name, AtFlags::empty())?;
            }
        }
        Ok(Answer::Done)
    }

    fn move_file(&self, from: &Named, to: &Named, flags: u32) -> Result<Answer, Errno> {
        let (Some(source), Some(target)) = (self.place(from)?, self.place(to)?) else {
            return Ok(Answer::GoOn);
        };
        // A mount is no obstacle to us, who see it from outside, and would go with the name.
        if source.is_mount() || target.is_mount() {
            return Err(Errno::BUSY);
        }
        let kind = source.kind();
        if (from.is_directory || to.is_directory) && kind != Some(FileType::Directory) {
            return Err(if kind.is_some() { Errno::NOTDIR } else { Errno::NOENT });
        }
        let text = |place: &Place| match place.kind() {
            Some(FileType::Symlink) => readlinkat(&place.directory, place.name.as_slice(), vec![])
                .map(|text| Some(text.into_bytes())),
            _ => Ok(None),
        };
        self.may_lie(&target, text(&source)?.as_deref())?;
        let flags = RenameFlags::from_bits_retain(flags);
        if flags.contains(RenameFlags::EXCHANGE) {
            self.may_lie(&source, text(&target)?.as_deref())?;
        }
        let _rights = self.rights();
        let (old, new) = (source.name.as_slice(), target.name.as_slice());
        renameat_with(&source.directory, old, &target.directory, new, flags).map(|()| Answer::Done)
    }

    /// Fails for a link that leads whoever follows it to what a command has written, and for what would take the place of a
    /// directory around files that git follows.
    fn may_lie(&self, place: &Place, link: Option<&[u8]>) -> Result<(), Errno> {
        let ground = self.ground;
        let is_astray = link.is_some_and(|text| {
            ground.workspace_of(&place.around).is_some() && ground.link_leads_astray(&place.around, text)
        });
        if is_astray || ground.leads_to_followed(&place.path()) {
            self.watch.stop(place.path(), StoppedBy::Git);
            return Err(Errno::ACCESS);
        }
        Ok(())
    }

    /// The place of a name, if it is an ordinary one in a workspace.
    fn place(&self, named: &Named) -> Result<Option<Place>, Errno> {
        if named.is_the_kernels() {
            return Ok(None);
        }
        let Some(directory) = self.parent_of(named)? else { return Ok(None) };
        let around = path_of(&directory)?;
        let place = Place { directory, around, name: named.name.clone() };
        let path = place.path();
        if self.ground.is_followed(&path) {
            self.watch.stop(path, StoppedBy::Git);
            return Ok(None);
        }
        if !self.is_ordinary(&path) {
            return Ok(None);
        }
        if self.completes_repository(&place) {
            self.watch.stop(path, StoppedBy::Repository);
            return Ok(None);
        }
        self.still_asked()?;
        Ok(Some(place))
    }

    /// Returns true for a name that makes a repository of a directory in which somebody has put a `HEAD`.
    fn completes_repository(&self, place: &Place) -> bool {
        const PARTS: [&[u8]; 4] = [b"objects", b"refs", b"config", b"commondir"];
        PARTS.contains(&place.name.as_slice())
            && self.ground.home_of(&place.around).is_none()
            && self.ground.workspace_of(&place.around).is_some()
            && statat(&place.directory, "HEAD", AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    fn is_plain(&self, file: &OwnedFd) -> Result<bool, Errno> {
        let path = path_of(file)?;
        // A file that has no name any more is nothing that others follow.
        let path =
            path.to_str().and_then(|path| path.strip_suffix(" (deleted)")).map_or(path.as_path(), Path::new);
        Ok(self.is_ordinary(path))
    }

    /// Returns true for a path that the host answers for, and that neither git nor anybody else follows.
    fn is_ordinary(&self, path: &Path) -> bool {
        let ground = self.ground;
        let is_ours = ground.answered.iter().any(|root| path.starts_with(root) && path != root);
        let is_closed = |hidden: &PathBuf| path.starts_with(hidden);
        if !is_ours || self.watch.reach.closed.iter().chain(&ground.own).any(is_closed) {
            return false;
        }
        if ground.workspace_of(path).is_none() {
            return true;
        }
        match ground.home_of(path) {
            Some((_, git)) => {
                let inner = path.strip_prefix(&git).unwrap_or(path);
                let parts: Option<Vec<&str>> = inner.iter().map(OsStr::to_str).collect();
                let is_data = |parts: &Vec<&str>| names::is_in_open(parts);
                let name = path.file_name().and_then(OsStr::to_str);
                parts.as_ref().is_some_and(is_data) && name.is_some_and(|name| !names::makes_repository(name))
            }
            None => self.must_not_be(path).is_none(),
        }
    }

    /// Fails if the caller has gone: its number may be another's.
    fn still_asked(&self) -> Result<(), Errno> {
        if self.watch.listener.still_waits(self.call) { Ok(()) } else { Err(Errno::INTR) }
    }

    fn rights(&self) -> Rights {
        Rights::of_caller(self.ground.capabilities, self.watch.masks.of(self.call.thread))
    }

    fn birth(&self, mode: u32) -> Birth {
        Birth::new(mode, self.watch.masks.of(self.call.thread))
    }
}

/// A pipe that is opened for writing when somebody reads from it.
#[derive(Debug)]
pub(super) struct Waiting {
    place: OwnedFd,
    name: Vec<u8>,
    flags: OFlags,
}

impl Waiting {
    /// Opens it when it can be, in a thread of its own, for as long as the caller waits.
    pub(super) fn begin(self, watch: &Arc<Watch>, call: Call) {
        const PAUSE: Duration = Duration::from_millis(5);
        const MOST: usize = 64;
        let theirs = Arc::clone(watch);
        let opening = move || {
            let _counted = Arc::clone(&theirs.pipes);
            while theirs.listener.still_waits(call) {
                let flags = self.flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
                match openat(&self.place, self.name.as_slice(), flags & !OFlags::CREATE, Mode::empty()) {
                    Err(Errno::NXIO) => std::thread::sleep(PAUSE),
                    Err(errno) => return theirs.listener.answer(call, Err(errno)),
                    Ok(pipe) => {
                        let _ = fcntl_setfl(&pipe, self.flags & OFlags::NONBLOCK);
                        return super::answer::give(&theirs, call, &pipe, self.flags);
                    }
                }
            }
        };
        let thread = std::thread::Builder::new().name("bashtion-pipe".to_owned()).stack_size(64 << 10);
        if Arc::strong_count(&watch.pipes) > MOST || thread.spawn(opening).is_err() {
            watch.listener.answer(call, Err(Errno::AGAIN));
        }
    }
}

/// Opens a file, or makes it with exactly this mode.
fn open_or_make(place: &Place, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    let (directory, name) = (&place.directory, place.name.as_slice());
    loop {
        match openat(directory, name, flags | OFlags::EXCL, mode) {
            Ok(made) => return fchmod(&made, mode).map(|()| made),
            Err(Errno::EXIST) if !flags.contains(OFlags::EXCL) => {}
            Err(error) => return Err(error),
        }
        match openat(directory, name, flags & !OFlags::CREATE, Mode::empty()) {
            // Removed in between.
            Err(Errno::NOENT) => {}
            opened => return opened,
        }
    }
}

fn path_of(file: &OwnedFd) -> Result<PathBuf, Errno> {
    let path = rustix::fs::readlink(format!("/proc/self/fd/{}", file.as_raw_fd()), vec![])?;
    Ok(PathBuf::from(OsStr::from_bytes(path.as_bytes())))
}
