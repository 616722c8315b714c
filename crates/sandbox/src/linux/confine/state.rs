//! A file or a directory of a repository as it was, and making it so again.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, Stat, fchmod, mkdirat, openat, readlinkat, renameat, statat,
    symlinkat,
};
use rustix::io::Errno;

use super::super::exhaustion::{if_there, is_exhaustion, unless_exhausted};
use super::remove::{open_up, remove_at};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    Absent,
    File {
        bytes: Vec<u8>,
        mode: u32,
    },
    /// Only what is directly in it: git looks no deeper for hooks.
    Directory {
        entries: BTreeMap<CString, State>,
        mode: u32,
    },
    Link(CString),
    /// A device, a file too large to hold or one that cannot be read: that it is there is all that is known.
    Other,
}

/// Hooks and configuration are small; a larger file is not read into memory for every command.
const LARGEST: u64 = 1 << 20;

/// What the branch is called is the command's business, that it is on one is not.
pub(super) const HEAD: &str = "HEAD";

impl State {
    /// A name may have one directory before it. An error only if something has run out.
    pub(super) fn of(git: BorrowedFd<'_>, name: &str) -> io::Result<Self> {
        match name.split_once('/') {
            None => Self::at(git, &c_name(name), 0),
            Some((directory, name)) => match if_there(open_directory(git, &c_name(directory))) {
                Ok(Some(inner)) => Self::at(inner.as_fd(), &c_name(name), 0),
                Ok(None) => Ok(Self::Absent),
                Err(error) => Self::unknown(error),
            },
        }
    }

    pub(super) fn is_file(&self) -> bool {
        matches!(self, Self::File { .. })
    }

    /// Whether it is otherwise now. Nothing is opened that need not be: there may be no descriptor to open it with.
    pub(super) fn differs(&self, git: BorrowedFd<'_>, name: &str) -> io::Result<bool> {
        match self {
            Self::Absent => Ok(look(git, name)?.is_some()),
            _ if name == HEAD => Ok(look(git, name)? != Some(FileType::RegularFile)),
            _ => Ok(Self::of(git, name)? != *self),
        }
    }

    pub(super) fn put_back(&self, git: BorrowedFd<'_>, name: &str) -> io::Result<()> {
        match name.split_once('/') {
            _ if *self == Self::Other => Err(io::Error::other("what was there could not be looked at")),
            None => self.write(git, &c_name(name)),
            Some((directory, name)) => {
                within(git, &c_name(directory), None, |inner| self.write(inner, &c_name(name)))
            }
        }
    }

    fn at(directory: BorrowedFd<'_>, name: &CStr, depth: usize) -> io::Result<Self> {
        let state = if_there(stat_at(directory, name)).and_then(|stat| match stat {
            Some(stat) => Self::read(directory, name, &stat, depth),
            None => Ok(Self::Absent),
        });
        state.or_else(Self::unknown)
    }

    fn read(directory: BorrowedFd<'_>, name: &CStr, stat: &Stat, depth: usize) -> io::Result<Self> {
        let mode = stat.st_mode & 0o7777;
        Ok(match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile if stat.st_size.unsigned_abs() <= LARGEST => {
                let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
                let file = File::from(openat(directory, name, flags, Mode::empty())?);
                let mut bytes = vec![];
                file.take(LARGEST).read_to_end(&mut bytes)?;
                Self::File { bytes, mode }
            }
            FileType::Symlink => Self::Link(readlinkat(directory, name, vec![])?),
            FileType::Directory if depth == 0 => {
                let inner = open_directory(directory, name)?;
                let states = names_in(inner.as_fd())?.into_iter().map(|name| {
                    let state = Self::at(inner.as_fd(), &name, 1)?;
                    Ok((name, state))
                });
                Self::Directory { entries: states.collect::<io::Result<_>>()?, mode }
            }
            _ => Self::Other,
        })
    }

    /// What cannot be looked at is not absent: it would be removed then. That something has run out says nothing about it.
    fn unknown(error: io::Error) -> io::Result<Self> {
        unless_exhausted::<Self>(Err(error)).map(|state| state.unwrap_or(Self::Other))
    }

    fn write(&self, directory: BorrowedFd<'_>, name: &CStr) -> io::Result<()> {
        match self {
            Self::Absent => remove_at(directory, name),
            Self::File { bytes, mode } => replace(directory, name, |draft| {
                let flags =
                    OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let mut file = File::from(openat(directory, draft, flags, Mode::RUSR | Mode::WUSR)?);
                file.write_all(bytes)?;
                Ok(fchmod(&file, Mode::from_raw_mode(*mode))?)
            }),
            Self::Link(target) => replace(directory, name, |draft| Ok(symlinkat(target, directory, draft)?)),
            Self::Directory { entries, mode } => {
                within(directory, name, Some(Mode::from_raw_mode(*mode)), |inner| {
                    let names = names_in(inner)?;
                    let extra = names.iter().filter(|name| !entries.contains_key(*name));
                    let removed = extra.map(|extra| remove_at(inner, extra));
                    let written = entries.iter().map(|(name, before)| {
                        if Self::at(inner, name, 1)? == *before { Ok(()) } else { before.write(inner, name) }
                    });
                    // Each of them, whatever becomes of the others.
                    removed.chain(written).fold(Ok(()), Result::and)
                })
            }
            Self::Other => Err(io::Error::other("what was there could not be looked at")),
        }
    }
}

/// What is there, if anything is. What cannot be looked at is something.
fn look(git: BorrowedFd<'_>, name: &str) -> io::Result<Option<FileType>> {
    let found = match name.split_once('/') {
        None => stat_at(git, &c_name(name)),
        Some((directory, name)) => {
            open_directory(git, &c_name(directory)).and_then(|inner| stat_at(inner.as_fd(), &c_name(name)))
        }
    };
    match if_there(found) {
        Ok(found) => Ok(found.map(|stat| FileType::from_raw_mode(stat.st_mode))),
        Err(error) if is_exhaustion(&error) => Err(error),
        Err(_) => Ok(Some(FileType::Unknown)),
    }
}

/// Does something in a directory, which is opened up or made for that. It has this mode afterwards, or the one it had.
fn within(
    at: BorrowedFd<'_>,
    name: &CStr,
    mode: Option<Mode>,
    act: impl FnOnce(BorrowedFd<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let found = stat_at(at, name).ok();
    let found = found.filter(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory);
    let inner = match if_there(open_up(at, name))? {
        Some(inner) => inner,
        None => {
            remove_at(at, name)?;
            mkdirat(at, name, Mode::from_raw_mode(0o755))?;
            open_directory(at, name)?
        }
    };
    let done = act(inner.as_fd());
    let mode = mode.or(found.map(|stat| Mode::from_raw_mode(stat.st_mode & 0o7777)));
    done.and(mode.map_or(Ok(()), |mode| Ok(fchmod(&inner, mode)?)))
}

/// All of it or nothing: what is there goes only when there is something to take its place.
fn replace(directory: BorrowedFd<'_>, name: &CStr, make: impl Fn(&CStr) -> io::Result<()>) -> io::Result<()> {
    let draft = c_name(&format!(".put-back-{:016x}", RandomState::new().hash_one(name)));
    let is_full = |error: &io::Error| [libc::ENOSPC, libc::EDQUOT].map(Some).contains(&error.raw_os_error());
    let made = make(&draft).or_else(|error| {
        let _ = remove_at(directory, &draft);
        if !is_full(&error) {
            return Err(error);
        }
        // What the command has put there makes room for what was there.
        remove_at(directory, name)?;
        make(&draft)
    });
    let put_back = made.and_then(|()| {
        let put = || renameat(directory, &draft, directory, name);
        Ok(match put() {
            Err(Errno::ISDIR | Errno::EXIST | Errno::NOTEMPTY) => {
                remove_at(directory, name)?;
                put()
            }
            done => done,
        }?)
    });
    if put_back.is_err() {
        let _ = remove_at(directory, &draft);
    }
    put_back
}

fn stat_at(directory: BorrowedFd<'_>, name: &CStr) -> io::Result<Stat> {
    Ok(statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?)
}

fn open_directory(at: BorrowedFd<'_>, name: &CStr) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(at, name, flags, Mode::empty())?)
}

fn names_in(directory: BorrowedFd<'_>) -> io::Result<Vec<CString>> {
    let mut names = vec![];
    for entry in Dir::read_from(directory)? {
        names.push(entry?.file_name().to_owned());
    }
    names.retain(|name| ![c".", c".."].contains(&name.as_c_str()));
    Ok(names)
}

fn c_name(name: &str) -> CString {
    CString::new(name).expect("the names are ours")
}
