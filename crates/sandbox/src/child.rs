//! A started shell: has it ended, how, and what did it start.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::imp::Member;
use crate::{Exit, Report, Signal, Temporary, Tree, Usage};

/// A started child. Its id stays its own until [`Child::wait`] reaps it, so signals cannot hit a stranger.
///
/// One in a room belongs to the room's own process, which reaps it when this is dropped.
#[derive(Debug)]
pub struct Child {
    pid: Pid,
    held: Held,
    tree: Tree,
    report: Report,
    reaped: Option<(Exit, Usage)>,
    temporary: Option<Temporary>,
}

/// By what we hold it.
#[derive(Debug)]
enum Held {
    /// Our own child: a descriptor that becomes readable when it has ended.
    Own(OwnedFd),
    /// Its room tells us.
    Room { member: Mutex<Member>, socket: Arc<OwnedFd>, pid: i32 },
}

impl Child {
    pub(crate) fn new(pid: Pid, exit_fd: OwnedFd, tree: Tree, report: Report) -> Self {
        Self { pid, held: Held::Own(exit_fd), tree, report, reaped: None, temporary: None }
    }

    #[cfg_attr(
        not(all(target_os = "linux", target_pointer_width = "64", not(feature = "portable"))),
        expect(dead_code, reason = "there are no rooms")
    )]
    pub(crate) fn in_room(pid: Pid, room_pid: i32, member: Member, tree: Tree, report: Report) -> Self {
        let socket = Arc::clone(member.socket());
        let held = Held::Room { member: Mutex::new(member), socket, pid: room_pid };
        Self { pid, held, tree, report, reaped: None, temporary: None }
    }

    /// The process id, which is also its process group and session.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// The same as the other commands of its room see it.
    #[must_use]
    pub fn room_pid(&self) -> Option<i32> {
        match self.held {
            Held::Own(_) => None,
            Held::Room { pid, .. } => Some(pid),
        }
    }

    /// The TCP ports that its room listened on when it ended.
    #[must_use]
    pub fn ports(&self) -> Vec<u16> {
        match &self.held {
            Held::Own(_) => vec![],
            Held::Room { member, .. } => {
                member.lock().unwrap_or_else(PoisonError::into_inner).ports().to_vec()
            }
        }
    }

    /// Returns true if its room has ended, and the command with it.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        match &self.held {
            Held::Own(_) => false,
            Held::Room { member, .. } => member.lock().unwrap_or_else(PoisonError::into_inner).is_lost(),
        }
    }

    /// The shell and everything it started.
    #[must_use]
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The same, to be changed.
    pub fn tree_mut(&mut self) -> &mut Tree {
        &mut self.tree
    }

    /// What the kernel holds it to.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Keeps its temporary directory until nothing is left of it.
    pub fn keep(&mut self, temporary: Option<Temporary>) {
        self.temporary = temporary;
    }

    /// Whether the shell has ended. It is not reaped by this.
    pub fn has_ended(&self) -> io::Result<bool> {
        if self.reaped.is_some() {
            return Ok(true);
        }
        if let Held::Room { member, .. } = &self.held {
            let mut member = member.lock().unwrap_or_else(PoisonError::into_inner);
            // When it is over its room says so, in a moment.
            let ended =
                if self.tree.shell_is_over() { member.wait().map(|_| true) } else { member.has_ended() }?;
            if member.is_clear() {
                self.tree.note_clear();
            }
            return Ok(ended);
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let status =
            rustix::io::retry_on_intr(|| waitid(WaitId::Pid(self.pid), options)).map_err(status_taken)?;
        Ok(status.is_some())
    }

    /// Whether [`Child::wait`] has returned, so that its id may be another's now.
    #[must_use]
    pub fn is_reaped(&self) -> bool {
        self.reaped.is_some()
    }

    /// Waits for the shell to end and reaps it. Stop the rest of the tree first, while the id is still taken.
    pub fn wait(&mut self) -> io::Result<(Exit, Usage)> {
        if let Some(ended) = self.reaped {
            return Ok(ended);
        }
        let ended = match &mut self.held {
            Held::Own(_) => reap(self.pid())?,
            Held::Room { member, .. } => {
                self.tree.wait_for_shell()?;
                member.get_mut().unwrap_or_else(PoisonError::into_inner).wait()?
            }
        };
        Ok(*self.reaped.insert(ended))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if let Held::Room { member, .. } = &mut self.held
            && self.reaped.is_some()
        {
            let member = member.get_mut().unwrap_or_else(PoisonError::into_inner);
            member.say_farewell(self.tree.leaves_group_clean());
        }
    }
}

impl AsRawFd for Child {
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}

impl AsFd for Child {
    /// A descriptor that becomes readable when the shell has ended.
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.held {
            Held::Own(fd) => fd.as_fd(),
            Held::Room { socket, .. } => socket.as_fd(),
        }
    }
}

#[expect(unsafe_code, reason = "no safe interface returns the resource usage of one child")]
fn reap(pid: i32) -> io::Result<(Exit, Usage)> {
    let mut status = 0;
    // SAFETY: `rusage` is plain numbers, for which zero is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both pointers are to live locals of the type the call writes.
        let result = unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) };
        if result == pid {
            return Ok((decode(status), measured(&usage)));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(status_taken(error));
        }
    }
}

fn decode(status: i32) -> Exit {
    if libc::WIFSIGNALED(status) {
        Exit::Signal(Signal::from_raw(libc::WTERMSIG(status)))
    } else {
        Exit::Code(libc::WEXITSTATUS(status))
    }
}

fn measured(usage: &libc::rusage) -> Usage {
    let time = |t: libc::timeval| {
        Duration::from_secs(t.tv_sec.unsigned_abs())
            + Duration::from_micros(u64::try_from(t.tv_usec).unwrap_or(0))
    };
    let rss = usage.ru_maxrss.unsigned_abs();
    let max_rss_kib = if cfg!(target_os = "macos") { rss / 1024 } else { rss };
    Usage { cpu: time(usage.ru_utime) + time(usage.ru_stime), max_rss_kib }
}

/// Says what "no child processes" means here.
fn status_taken(error: impl Into<io::Error>) -> io::Error {
    let error = error.into();
    if error.raw_os_error() != Some(libc::ECHILD) {
        return error;
    }
    io::Error::other(
        "the exit status was taken by someone else in this process: SIGCHLD is ignored, or something waits for any child",
    )
}
