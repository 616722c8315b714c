//! Starting a child with the standard library, for systems other than 64-bit Linux.
//!
//! What it cannot do there: find a process that has left the session *and* lost its parents.
#![expect(unsafe_code, reason = "leaving the session is only possible between fork and exec")]

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;

use rustix::fs::{AtFlags, Dir, Mode, OFlags, openat, statat, unlinkat};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};

use crate::own_directory::{LISTED, is_directory};
use crate::room::{RoomFacts, RoomPlan, RoomStatus};
use crate::spec::{Output, Piping, Prepared, SpawnError, Step};
use crate::{
    Child, ConfineError, Confinement, Exit, Landlock, Limit, Mode as Confining, Network, OwnDirectory,
    Process, Report, Requirement, ResourceLimits, Restored, Stopped, Usage,
};

const NEEDS_LINUX: &str = "the sandbox needs Linux with Landlock; only off is possible here";

/// What Landlock can do here: nothing.
#[must_use]
pub fn landlock() -> Landlock {
    Landlock::Missing
}

/// Whether filters of system calls can be installed: not here.
#[must_use]
pub fn has_seccomp() -> bool {
    false
}

/// One command's confinement, of which nothing can be applied.
#[derive(Debug)]
pub struct Confined {
    mode: Confining,
}

impl Confined {
    /// A private temporary directory: there is none here.
    #[must_use]
    pub fn temporary(&self) -> Option<Temporary> {
        None
    }

    fn report(&self) -> Report {
        let reason = match self.mode {
            Confining::Off => return Report::unconfined(),
            Confining::Workspace | Confining::ReadOnly => NEEDS_LINUX,
        };
        Report { mode: self.mode, reason: Some(reason.to_owned()), ..Report::unconfined() }
    }
}

/// A room: there are none here.
#[derive(Debug)]
pub struct Room {
    facts: RoomFacts,
}

/// One command's stay in a room, of which there are none here.
#[derive(Debug, Clone)]
pub struct Visit {
    /// The room.
    pub room: Arc<Room>,
    /// The room's name in results.
    pub name: String,
    /// The network that the command has.
    pub network: Network,
    /// True if the caller outlives the command.
    pub attended: bool,
    /// Unix sockets of the host that it may connect to.
    pub sockets: Vec<PathBuf>,
    /// The command's limits.
    pub limits: ResourceLimits,
    /// The pipes of a shell that may have waited for it.
    pub again: Option<Piping>,
}

impl Visit {
    /// Everything that the command is held to.
    #[must_use]
    pub fn confinement(&self) -> Arc<Confinement> {
        Arc::new(self.room.facts.confinement.clone())
    }
}

impl Room {
    /// Finds a room: there are none here.
    pub fn find(_: &Path, _: &str) -> io::Result<Option<Self>> {
        Ok(None)
    }

    /// Removes what a killed keeper has left: there are none here.
    pub fn remove_if_dead(_: &Path, _: &str) {}

    /// Returns what its keeper has written down.
    #[must_use]
    pub fn facts(&self) -> &RoomFacts {
        &self.facts
    }

    /// Asks for its commands, processes and ports.
    pub fn status(&self) -> io::Result<RoomStatus> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Ends it if nothing runs in it.
    pub fn end_if_idle(&self) -> io::Result<bool> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Ends it.
    pub fn end(&self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Makes one of its ports reachable.
    pub fn expose(&self, _: u16, _: u16) -> io::Result<u16> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// A command in a shell that has waited for it: there are none here.
#[derive(Debug)]
pub struct Waited {
    /// The shell.
    pub child: Child,
    /// The end of the pipe that its standard output goes to.
    pub stdout: OwnedFd,
    /// And its standard error, if that is another.
    pub stderr: Option<OwnedFd>,
}

/// Removes a directory with all that is in it.
pub fn remove_tree(root: &Path) -> io::Result<()> {
    std::fs::remove_dir_all(root)
}

/// Removes everything in a directory, and follows no links.
pub(crate) fn empty_directory(directory: BorrowedFd<'_>) -> io::Result<()> {
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        if !is_directory(&statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?) {
            unlinkat(directory, name, AtFlags::empty())?;
            continue;
        }
        empty_directory(openat(directory, name, LISTED, Mode::empty())?.as_fd())?;
        unlinkat(directory, name, AtFlags::REMOVEDIR)?;
    }
    Ok(())
}

/// Keeps a room: that needs Linux.
pub fn keep(_: &RoomPlan, ready: impl FnOnce(Result<(), &SpawnError>)) -> io::Result<()> {
    ready(Err(&SpawnError::refused(Step::Namespaces, io::Error::from_raw_os_error(libc::ENOSYS))));
    Ok(())
}

/// A command in a room: there are none here.
#[derive(Debug)]
pub(crate) enum Member {}

impl Member {
    pub(crate) fn socket(&self) -> &Arc<OwnedFd> {
        match *self {}
    }

    pub(crate) fn has_ended(&mut self) -> io::Result<bool> {
        match *self {}
    }

    pub(crate) fn wait(&mut self) -> io::Result<(Exit, Usage)> {
        match *self {}
    }

    pub(crate) fn ports(&self) -> &[u16] {
        match *self {}
    }

    pub(crate) fn is_clear(&self) -> bool {
        match *self {}
    }

    pub(crate) fn is_lost(&self) -> bool {
        match *self {}
    }

    pub(crate) fn say_farewell(&self, _: bool) {
        match *self {}
    }
}

/// The temporary directory of one command.
#[derive(Debug)]
pub struct Temporary {
    directory: OwnDirectory,
}

impl Temporary {
    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The directory itself.
    #[must_use]
    pub fn descriptor(&self) -> &Arc<OwnedFd> {
        self.directory.descriptor()
    }
}

/// Starts children.
#[derive(Debug, Default)]
pub struct Sandbox {}

impl Sandbox {
    /// One that needs nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same: orphans cannot be adopted here.
    #[must_use]
    pub fn adopting_orphans() -> Self {
        Self::default()
    }

    /// Whether memory and processes of a whole tree can be limited: not here.
    #[must_use]
    pub fn can_limit_trees(&self) -> bool {
        false
    }

    /// Whether namespaces can be had: not here.
    #[must_use]
    pub fn has_namespaces(&self) -> bool {
        false
    }

    /// Returns true if this host has refused namespaces: it was not asked.
    #[must_use]
    pub fn lacks_namespaces(&self) -> bool {
        false
    }

    /// Accepts what may be left undone, which is everything here.
    pub fn confine(&self, confinement: &Confinement) -> Result<Confined, ConfineError> {
        let mode = confinement.mode;
        if mode == Confining::ReadOnly
            || (mode != Confining::Off && confinement.requirement == Requirement::Required)
        {
            return Err(ConfineError::Unavailable { mode, why: NEEDS_LINUX.to_owned() });
        }
        Ok(Confined { mode })
    }

    /// What would be enforced for a command with this confinement.
    pub fn assess(&self, confinement: &Confinement) -> Result<Report, SpawnError> {
        Ok(self.confine(confinement)?.report())
    }

    /// Gives a command to a shell that has waited for it: there are none here.
    pub fn launch_in_waiting(&self, _: &Prepared, _: Option<&[u8]>) -> Result<Option<Waited>, SpawnError> {
        Ok(None)
    }

    /// Starts the child in a session of its own.
    pub fn launch(&self, prepared: &Prepared, output: &Output) -> Result<Child, SpawnError> {
        let failed = |source: io::Error| SpawnError::refused(Step::Prepare, source);
        let copy = |fd: &OwnedFd| fd.try_clone().map_err(failed);
        let text = |bytes: &std::ffi::CString| OsStr::from_bytes(bytes.as_bytes()).to_owned();
        let cwd = copy(&prepared.cwd)?;
        let (ended, notify) = io::pipe().map_err(failed)?;

        let mut command = Command::new(text(&prepared.program));
        if let [name, arguments @ ..] = prepared.args.as_slice() {
            command.arg0(text(name)).args(arguments.iter().map(text));
        }
        command.env_clear();
        for entry in prepared.variables() {
            let entry = entry.as_bytes();
            if let Some(equals) = entry.iter().position(|&byte| byte == b'=') {
                command.env(OsStr::from_bytes(&entry[..equals]), OsStr::from_bytes(&entry[equals + 1..]));
            }
        }
        command.stdin(Stdio::null()).stdout(copy(&output.stdout)?).stderr(copy(&output.stderr)?);
        let limit = highest_descriptor();
        // SAFETY: the closure makes system calls only; it neither allocates nor locks.
        unsafe {
            command.pre_exec(move || {
                rustix::process::setsid()?;
                rustix::process::fchdir(cwd.as_fd())?;
                for fd in 3..limit {
                    // Marked rather than closed: the standard library reports a failed exec through one of them.
                    libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC);
                }
                Ok(())
            });
        }
        let child = command.spawn().map_err(|source| SpawnError::refused(refused_step(prepared), source))?;
        let pid = Pid::from_child(&child);
        thread::spawn(move || {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            let _ = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(pid), options));
            drop(notify);
        });
        let report = prepared.world.confined().map_or_else(Report::unconfined, Confined::report);
        Ok(Child::new(pid, ended.into(), Tree { shell: pid }, report))
    }
}

/// The standard library does not say which step failed: the directory is the only one we can look at again.
fn refused_step(prepared: &Prepared) -> Step {
    match rustix::fs::access(prepared.cwd_path.as_c_str(), rustix::fs::Access::EXEC_OK) {
        Ok(()) => Step::Exec,
        Err(_) => Step::Cwd,
    }
}

fn highest_descriptor() -> i32 {
    const MOST: u64 = 65_536;
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    i32::try_from(limit.unwrap_or(MOST).min(MOST)).unwrap_or(i32::MAX)
}

/// Opens a directory to become the working directory, and tells where it really is.
pub fn open_directory(path: &Path) -> io::Result<(OwnedFd, PathBuf)> {
    let fd = rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let real = path.canonicalize()?;
    let (opened, named) = (rustix::fs::fstat(&fd)?, rustix::fs::lstat(&real)?);
    if (opened.st_dev, opened.st_ino) != (named.st_dev, named.st_ino) {
        return Err(io::ErrorKind::NotFound.into());
    }
    Ok((fd, real))
}

/// Every process of one command, as far as its process group, its session and the line of parents tell.
#[derive(Debug)]
pub struct Tree {
    shell: Pid,
}

impl Tree {
    /// Returns false: never asked here.
    #[expect(clippy::unused_self, reason = "the same name as on Linux")]
    pub(crate) fn shell_is_over(&self) -> bool {
        false
    }

    /// Returns false: it has no group.
    #[expect(clippy::unused_self, reason = "the same name as on Linux")]
    pub(crate) fn leaves_group_clean(&self) -> bool {
        false
    }

    /// How descendants are told apart on this host, for logs and reports.
    #[must_use]
    pub fn method(&self) -> &'static str {
        "kinship"
    }

    /// None, because none is held for all of them together here.
    #[must_use]
    pub fn limits_reached(&self) -> Vec<Limit> {
        vec![]
    }

    /// A descriptor that can be read when they want a connection: nobody has to be asked here.
    #[must_use]
    pub fn asks(&self) -> Option<OwnedFd> {
        None
    }

    /// Waits for the shell of a room: there are none here.
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as where there are rooms")]
    pub(crate) fn wait_for_shell(&self) -> io::Result<()> {
        Ok(())
    }

    /// Nothing can come of it any more: nobody else finds that out here.
    #[expect(clippy::unused_self, reason = "as where there are rooms")]
    pub(crate) fn note_clear(&self) {}

    /// Answers them: there is nothing to answer here.
    pub fn answer(&mut self) {}

    /// None, because none is refused here.
    #[must_use]
    pub fn refused_sockets(&self) -> Vec<String> {
        vec![]
    }

    /// Nothing, because nothing is kept from them here.
    #[must_use]
    pub fn stopped(&self) -> Vec<Stopped> {
        vec![]
    }

    /// Nothing, because nothing is put back here.
    #[must_use]
    pub fn restore(&self) -> Vec<Restored> {
        vec![]
    }

    /// Whether nothing is alive.
    pub fn is_clear(&self) -> io::Result<bool> {
        Ok(self.members()?.is_empty())
    }

    /// Nothing to do here.
    pub fn reap_orphans(&self) {}

    /// The processes that are alive, the shell included.
    pub fn members(&self) -> io::Result<Vec<Process>> {
        let listing = Command::new("ps").args(["-A", "-o", "pid=,ppid=,pgid=,stat=,command="]).output()?;
        let shell = self.shell.as_raw_nonzero().get();
        let mut rest: Vec<Row> =
            String::from_utf8_lossy(&listing.stdout).lines().filter_map(Row::parse).collect();
        let mut known = BTreeSet::from([shell]);
        loop {
            let before = known.len();
            let kin = |row: &Row| row.group == shell || known.contains(&row.parent);
            let found: Vec<i32> = rest.iter().filter(|row| kin(row)).map(|row| row.process.pid).collect();
            known.extend(found);
            if known.len() == before {
                break;
            }
        }
        rest.retain(|row| row.alive && known.contains(&row.process.pid));
        Ok(rest.into_iter().map(|row| row.process).collect())
    }

    /// Asks all of them to end.
    pub fn terminate(&self) -> io::Result<()> {
        self.send(Signal::TERM)?;
        self.send(Signal::CONT)
    }

    /// Sends a signal to all of them.
    pub fn signal(&self, signal: crate::Signal) -> io::Result<()> {
        match Signal::from_named_raw(signal.as_raw()) {
            Some(signal) => self.send(signal),
            None => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// Kills all that are alive now.
    pub fn kill(&self) -> io::Result<()> {
        self.send(Signal::KILL)
    }

    fn send(&self, signal: Signal) -> io::Result<()> {
        let members = self.members();
        let _ = kill_process_group(self.shell, signal);
        for pid in members?.iter().filter_map(|member| Pid::from_raw(member.pid)) {
            if rustix::process::getpgid(Some(pid)).is_ok_and(|group| group != self.shell) {
                let _ = kill_process(pid, signal);
            }
        }
        Ok(())
    }
}

struct Row {
    process: Process,
    parent: i32,
    group: i32,
    alive: bool,
}

impl Row {
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split_ascii_whitespace();
        let mut id = || fields.next()?.parse::<i32>().ok();
        let (pid, parent, group) = (id()?, id()?, id()?);
        let alive = !fields.next()?.starts_with('Z');
        let command = fields.collect::<Vec<_>>().join(" ");
        Some(Self { process: Process { pid, command }, parent, group, alive })
    }
}
