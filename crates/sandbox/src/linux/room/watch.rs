//! Changes on the host while a room is kept: repositories that appear, and the room's own directory.

use std::collections::HashMap;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};

/// A watch over directories.
#[derive(Debug)]
pub(super) struct Watch {
    events: OwnedFd,
    directories: HashMap<PathBuf, i32>,
    /// The room's own.
    home: (i32, PathBuf),
}

/// Changes since the last look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Happened {
    /// A directory or a `.git` has appeared somewhere, or some of it was missed.
    pub(super) something_new: bool,
    /// The room's own directory has gone.
    pub(super) home_is_gone: bool,
}

impl Watch {
    pub(super) fn new(home: &Path) -> io::Result<Self> {
        let events = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        // It is open here, so that its removal is a change of its links, and nothing more.
        let wanted = WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF | WatchFlags::ATTRIB;
        let id = inotify::add_watch(&events, home, wanted)?;
        Ok(Self { events, directories: HashMap::new(), home: (id, home.to_owned()) })
    }

    /// Watches these too. What cannot be watched, because there are too many, is looked at only when a room is made.
    pub(super) fn add(&mut self, directories: &[PathBuf]) {
        let wanted =
            WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR | WatchFlags::DONT_FOLLOW;
        for directory in directories {
            if let Ok(id) = inotify::add_watch(&self.events, directory, wanted) {
                self.directories.insert(directory.clone(), id);
            }
        }
    }

    pub(super) fn read(&self) -> Happened {
        let mut happened = Happened::default();
        let mut buffer = [MaybeUninit::uninit(); 8192];
        let mut reader = inotify::Reader::new(&self.events, &mut buffer);
        while let Ok(event) = reader.next() {
            let flags = event.events();
            if event.wd() == self.home.0 {
                happened.home_is_gone |= flags.contains(ReadFlags::MOVE_SELF) || !self.home.1.exists();
                continue;
            }
            let is_git = event.file_name().is_some_and(|name| name == c".git" || name == c"HEAD");
            happened.something_new |=
                is_git || flags.intersects(ReadFlags::ISDIR | ReadFlags::QUEUE_OVERFLOW);
        }
        happened
    }
}

impl AsFd for Watch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.events.as_fd()
    }
}
