//! A bash of a room that was started before its command is known.
//!
//! Such a shell is a `bash -c` with blanks for a command, and reads a script first, as `BASH_ENV` asks it to: from a pipe
//! that is empty. By then it is fully started. To go on, it gets its command written over the blanks, where it will look for
//! it, and a script that puts its input and its variables in order. What follows is what `bash -c` does with a command.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

use rustix::fs::fstat;

use super::kept::nonsense;
use super::order::{Order, Question, Reply};
use super::visit::{Terms, Visit};
use crate::imp::processes;
use crate::imp::sockets::Channels;
use crate::imp::tag::Tag;
use crate::spec::{Output, Prepared, SpawnError, Step, World};
use crate::{Child, Room};

/// A bash that waits for its command. Dropping it ends it.
#[derive(Debug)]
pub struct WaitingShell {
    child: Child,
    terms: Terms,
    order: Order,
    room: (i32, u64),
    directory: (u64, u64),
    /// Its memory, which is never another's, and the place of the blanks in it.
    memory: File,
    blanks: u64,
}

/// The longest command that one can be given.
const LONGEST: usize = 4096;

impl WaitingShell {
    pub(in super::super) fn start(
        visit: &Visit,
        prepared: &Prepared,
        output: &Output,
        channels: &Channels,
    ) -> Result<Self, SpawnError> {
        let failed = |source| SpawnError::refused(Step::Prepare, source);
        let order = waiting(visit, prepared);
        let tag = Tag::unique();
        let tagged = Order { tag: tag.map(Tag::value), ..order.clone() };
        let (child, terms) = visit.enter(tagged, tag, prepared, output, channels)?;
        let blanks = arguments_of(child.pid()).map_err(failed)?
            + order.args.iter().rev().skip(1).map(|argument| length(argument)).sum::<u64>();
        let memory =
            File::options().write(true).open(format!("/proc/{}/mem", child.pid())).map_err(failed)?;
        let directory = identity(&prepared.cwd).map_err(failed)?;
        Ok(Self { child, terms, order, room: identity_of(&visit.room), directory, memory, blanks })
    }

    /// Returns true if this is a command that it waits for: all but its text is as it was started.
    #[must_use]
    pub fn fits(&self, prepared: &Prepared) -> bool {
        let World::Room(visit) = &prepared.world else { return false };
        prepared.args.last().is_some_and(|text| text.as_bytes().len() <= LONGEST)
            && self.room == identity_of(&visit.room)
            && identity(&prepared.cwd).is_ok_and(|directory| directory == self.directory)
            && waiting(visit, prepared) == self.order
    }

    /// Gives it its command, after a script that bash reads first. See [`SpawnError::may_have_begun`].
    pub fn go(mut self, prepared: &Prepared, script: &[u8]) -> Result<Child, SpawnError> {
        let failed = |source| SpawnError::refused(Step::Prepare, source);
        let (World::Room(visit), Some(text)) = (&prepared.world, prepared.args.last()) else {
            return Err(failed(io::ErrorKind::InvalidInput.into()));
        };
        let snapshot = visit.snapshot().map_err(failed)?;
        self.memory.write_all_at(text.to_bytes_with_nul(), self.blanks).map_err(failed)?;
        let socket = self.child.room_socket().ok_or_else(|| failed(io::ErrorKind::NotConnected.into()))?;
        match Question::Go(script.to_vec()).ask(socket)? {
            Reply::Going { unprotected } => {
                let (tree, report) = self.child.renewed();
                tree.begin(snapshot);
                *report = visit.report(self.terms, unprotected);
                Ok(self.child)
            }
            Reply::Failed { errno, .. } => Err(failed(io::Error::from_raw_os_error(errno))),
            _ => Err(SpawnError::RoomLost { source: nonsense() }),
        }
    }
}

/// The order for a shell that waits for this command, or for another that differs in its text alone.
fn waiting(visit: &Visit, prepared: &Prepared) -> Order {
    let mut order = Order { waits: true, ..visit.order(prepared, None) };
    order.env.truncate(prepared.env.len());
    order.env.push(c"BASH_ENV=/proc/self/fd/0".into());
    if let Some(text) = order.args.last_mut() {
        *text = CString::new(vec![b' '; LONGEST]).unwrap_or_default();
    }
    order
}

/// A room that was made anew is another, though its name be the same.
fn identity_of(room: &Room) -> (i32, u64) {
    (room.facts().keeper, room.facts().started)
}

fn identity(directory: &OwnedFd) -> io::Result<(u64, u64)> {
    let found = fstat(directory)?;
    Ok((found.st_dev, found.st_ino))
}

/// The address of the arguments of a process; see proc_pid_stat(5).
fn arguments_of(pid: i32) -> io::Result<u64> {
    /// Counted from the state of the process, which follows its name.
    const ARG_START: usize = 45;
    let stat = processes::read(format!("/proc/{pid}/stat"))?;
    let fields = stat.rsplit_once(')').map(|(_, fields)| fields).unwrap_or_default();
    let address = fields.split_ascii_whitespace().nth(ARG_START).and_then(|field| field.parse().ok());
    address.filter(|address| *address != 0).ok_or_else(|| io::ErrorKind::PermissionDenied.into())
}

fn length(argument: &CStr) -> u64 {
    argument.to_bytes_with_nul().len() as u64
}
