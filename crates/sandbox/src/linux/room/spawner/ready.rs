//! A bash of a room that is started before its command is known.
//!
//! Such a shell is a `bash -c` with blanks for a command, and reads a script first, as `BASH_ENV` asks it to: from a pipe
//! that is empty. By then it is fully started. To go on, it gets its command written over the blanks, where it will look for
//! it, and a script that puts its input and its variables in order. What follows is what `bash -c` does with a command.
#![expect(unsafe_code, reason = "writing to the memory of another process has no safe interface")]

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::fstat;
use rustix::pipe::{PipeFlags, pipe_with};

use super::super::groups::Groups;
use super::super::order::{LONGEST_TEXT, Order, Started, Take, waiting_script};
use super::command::{Command, Given, Refused};
use super::slots::Slots;
use crate::Piping;
use crate::imp::confine::Filters;
use crate::imp::processes;
use crate::imp::sockets::{self, Channel};
use crate::imp::tag::Tag;
use crate::spec::Step;

/// A command that others like it may follow.
#[derive(Debug)]
pub(super) struct Model {
    order: Order,
    bytes: Vec<u8>,
    cwd: OwnedFd,
    directory: (u64, u64),
    piping: Piping,
}

impl Model {
    /// Returns the model of an order, if there may be others like it.
    pub(super) fn of(order: &Order, cwd: &OwnedFd) -> Option<Self> {
        let (piping, order) = (order.again?, order.waiting());
        let found = fstat(cwd).ok()?;
        let directory = (found.st_dev, found.st_ino);
        Some(Self { bytes: order.to_bytes(), order, cwd: cwd.try_clone().ok()?, directory, piping })
    }

    /// Returns true if such a command is wanted.
    pub(super) fn is_like(&self, take: &Take) -> bool {
        self.bytes == take.order && self.directory == take.directory
    }

    /// Returns true if both are models of the same.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.bytes == other.bytes && self.directory == other.directory
    }

    pub(super) fn order(&self) -> &Order {
        &self.order
    }

    pub(super) fn program(&self) -> &CStr {
        &self.order.program
    }
}

/// A shell that waits.
#[derive(Debug)]
pub(super) struct Ready {
    command: Command,
    /// The order that it was started with.
    bytes: Vec<u8>,
    directory: (u64, u64),
    /// The count of changes in the room when it was started.
    changes: u32,
    /// The end of the pipe on which it waits for its script, until it has that.
    script: Option<OwnedFd>,
    /// The place of the blanks in its memory; none if that is closed to us.
    blanks: Option<u64>,
    listener: Option<OwnedFd>,
    stdout: OwnedFd,
    stderr: Option<OwnedFd>,
}

impl Ready {
    /// Starts one in these groups, which come back if it cannot be.
    pub(super) fn start(
        model: &Model,
        changes: u32,
        groups: Option<Groups>,
        filters: &Filters,
        slots: &mut Slots,
    ) -> Result<Self, Box<(Option<Groups>, Refused)>> {
        let ends = match Ends::new(model.piping) {
            Ok(ends) => ends,
            Err(error) => return Err(Box::new((groups, Refused::new(Step::Prepare, &error)))),
        };
        let order = Order { tag: Tag::unique().map(Tag::value), ..model.order.clone() };
        let given = Given {
            stdin: &ends.stdin,
            stdout: &ends.written_to,
            stderr: ends.errors_to.as_ref().unwrap_or(&ends.written_to),
            cwd: &model.cwd,
            channel: ends.channel.end(),
        };
        let command = Command::begin(&order, given, groups, filters, slots)?;
        Ok(Self {
            listener: ends.channel.received(),
            blanks: blanks_of(command.pid(), &order.args),
            command,
            bytes: model.bytes.clone(),
            directory: model.directory,
            changes,
            script: Some(ends.script),
            stdout: ends.stdout,
            stderr: ends.stderr,
        })
    }

    /// Returns true if it was started for such a command, and nothing has happened since that could make another of it.
    pub(super) fn fits(&self, take: &Take, changes: u32) -> bool {
        self.bytes == take.order
            && self.directory == take.directory
            && self.changes == changes
            && take.text.as_bytes().len() <= LONGEST_TEXT
    }

    pub(super) fn command(&self) -> &Command {
        &self.command
    }

    pub(super) fn into_command(self) -> Command {
        self.command
    }

    /// Can be read when it asks about a connection.
    pub(super) fn listener(&self) -> Option<&OwnedFd> {
        self.listener.as_ref()
    }

    /// Refuses the connection that it asks about: nobody answers for it yet. Bash looks for a daemon that knows users, for
    /// one, if its environment does not say who it is.
    pub(super) fn refuse_connection(&mut self) {
        self.listener = self.listener.take().map(sockets::refuse);
    }

    /// Gives it its command. If it cannot have all of it, it is killed before it can go on with a part.
    pub(super) fn go(&mut self, text: &CStr, script: &[u8]) -> io::Result<()> {
        let gone = self.write(text, script);
        if gone.is_err() {
            self.command.kill();
        }
        gone
    }

    fn write(&mut self, text: &CStr, script: &[u8]) -> io::Result<()> {
        let blanks = self.blanks.ok_or(io::ErrorKind::PermissionDenied)?;
        write_memory(self.command.pid(), blanks, text.to_bytes_with_nul())?;
        // Bash reads until it is closed.
        let pipe = self.script.take().ok_or(io::ErrorKind::InvalidInput)?;
        let written = rustix::io::retry_on_intr(|| rustix::io::write(&pipe, script))?;
        if written < script.len() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    /// For whoever has it now: the message about it, and its descriptors with the listener and the output at their end.
    pub(super) fn told(&self, unprotected: bool) -> (Started, Vec<BorrowedFd<'_>>) {
        let (started, mut descriptors) = self.command.told(unprotected);
        descriptors.extend(self.listener.iter().chain([&self.stdout]).chain(&self.stderr).map(AsFd::as_fd));
        (Started { unheard: self.listener.is_none(), ..started }, descriptors)
    }

    /// Has it show whether this bash does what a command says that it is given so late.
    pub(super) fn try_out(&mut self) -> io::Result<()> {
        self.go(TRIAL, &waiting_script(TRIAL, None))
    }

    /// Returns true if it has shown that, and nothing else.
    pub(super) fn has_passed(&self) -> bool {
        let expected = [TRIAL.to_bytes(), b",bash,0,hBc,1,no"].concat();
        let mut printed = [0; 1024];
        // Somebody else may hold the pipe open: this must not wait.
        let read = rustix::io::ioctl_fionbio(&self.stdout, true)
            .and_then(|()| rustix::io::read(&self.stdout, &mut printed));
        read.is_ok_and(|count| printed[..count] == expected)
    }
}

/// A command that shows the variables which waiting might change.
const TRIAL: &CStr = c"printf %s \"$BASH_EXECUTION_STRING,$0,$#,$-,$LINENO,${BASH_ENV-no}\"";

/// Everything that connects such a shell, its ends and ours.
struct Ends {
    stdin: OwnedFd,
    script: OwnedFd,
    stdout: OwnedFd,
    written_to: OwnedFd,
    stderr: Option<OwnedFd>,
    errors_to: Option<OwnedFd>,
    channel: Channel,
}

impl Ends {
    fn new(piping: Piping) -> io::Result<Self> {
        let (stdin, script) = pipe_with(PipeFlags::CLOEXEC)?;
        // Nobody waits for a shell that does not read.
        rustix::io::ioctl_fionbio(&script, true)?;
        let (stdout, written_to) = pipe_with(PipeFlags::CLOEXEC)?;
        let (stderr, errors_to) = match piping {
            Piping::Separate => {
                pipe_with(PipeFlags::CLOEXEC).map(|(read, write)| (Some(read), Some(write)))?
            }
            Piping::Combined => (None, None),
        };
        let channel = Channel::new()?;
        Ok(Self { stdin, script, stdout, written_to, stderr, errors_to, channel })
    }
}

/// The address of the last argument of a process; see proc_pid_stat(5).
fn blanks_of(pid: i32, arguments: &[CString]) -> Option<u64> {
    /// Counted from the state of the process, which follows its name.
    const ARG_START: usize = 45;
    let stat = processes::read(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let first: u64 = fields.split_ascii_whitespace().nth(ARG_START)?.parse().ok()?;
    let before = arguments.iter().rev().skip(1).map(|argument| argument.as_bytes_with_nul().len() as u64);
    (first != 0).then(|| first + before.sum::<u64>())
}

fn write_memory(pid: i32, address: u64, bytes: &[u8]) -> io::Result<()> {
    let local = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let place = usize::try_from(address).map_err(io::Error::other)?;
    let remote = libc::iovec { iov_base: std::ptr::without_provenance_mut(place), iov_len: bytes.len() };
    // SAFETY: the kernel reads the local bytes, which are live; the other address is in another process.
    let written = unsafe { libc::process_vm_writev(pid, &raw const local, 1, &raw const remote, 1, 0) };
    match usize::try_from(written) {
        Ok(count) if count == bytes.len() => Ok(()),
        Ok(_) => Err(io::ErrorKind::WriteZero.into()),
        Err(_) => Err(io::Error::last_os_error()),
    }
}
