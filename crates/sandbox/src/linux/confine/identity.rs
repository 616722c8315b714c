//! The users that exist for a command in a user namespace.
#![expect(unsafe_code, reason = "a process that waits in a new namespace has no safe interface")]

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use rustix::process::{Pid, Signal, kill_process};

use super::calls::call;
use super::child::write_file;
use super::host::may_mount;

/// The user namespace of a command whose caller may not make mounts without one.
#[derive(Debug)]
pub(in super::super) enum Identity {
    /// A new one, in which only the caller exists.
    Own(IdMaps),
    /// One that was made before. Everybody exists in it whom the caller knows, so that capabilities reach their files.
    Joined(OwnedFd),
}

impl Identity {
    /// Returns the one that a command with these capabilities needs. None if it needs none.
    pub(in super::super) fn needed(capabilities: u32) -> io::Result<Option<Self>> {
        if may_mount() {
            return Ok(None);
        }
        Ok(Some(if capabilities == 0 { Self::Own(IdMaps::of_caller()) } else { Self::Joined(everybodys()?) }))
    }

    /// Takes this identity in the child. These are its new namespaces if it was not born in them.
    pub(super) fn take(&self, namespaces: libc::c_int) -> bool {
        match self {
            Self::Own(maps) => maps.write_own(),
            Self::Joined(namespace) => {
                let user = libc::CLONE_NEWUSER.into();
                call(libc::SYS_setns, [namespace.as_raw_fd().into(), user, 0, 0, 0]).is_some()
                    && call(libc::SYS_unshare, [namespaces.into(), 0, 0, 0, 0]).is_some()
            }
        }
    }
}

/// Lines for the kernel that say which ids of a user namespace are which outside; see `user_namespaces(7)`.
#[derive(Debug)]
pub(in super::super) struct IdMaps {
    users: Vec<u8>,
    groups: Vec<u8>,
}

impl IdMaps {
    /// Maps the caller to itself. Whoever enters a new namespace may write that.
    pub(in super::super) fn of_caller() -> Self {
        let line = |id: u32| format!("{id} {id} 1\n").into_bytes();
        let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
        Self { users: line(user.as_raw()), groups: line(group.as_raw()) }
    }

    /// Maps everybody to themselves. Only a parent with rights over ids may write that.
    pub(in super::super) fn of_everybody() -> io::Result<Self> {
        let whole = |name: &str| fs::read_to_string(format!("/proc/self/{name}")).map(|map| unchanged(&map));
        Ok(Self { users: whole("uid_map")?.into_bytes(), groups: whole("gid_map")?.into_bytes() })
    }

    /// Writes them for a process that was born in a new namespace.
    pub(in super::super) fn write_for(&self, pid: i32) -> io::Result<()> {
        fs::write(format!("/proc/{pid}/uid_map"), &self.users)?;
        fs::write(format!("/proc/{pid}/gid_map"), &self.groups)
    }

    fn write_own(&self) -> bool {
        write_file(c"/proc/self/setgroups", b"deny")
            && write_file(c"/proc/self/uid_map", &self.users)
            && write_file(c"/proc/self/gid_map", &self.groups)
    }
}

/// The same ids, each mapped to itself.
fn unchanged(map: &str) -> String {
    let line = |line: &str| {
        let mut numbers = line.split_whitespace();
        let (inside, _, count) = (numbers.next()?, numbers.next()?, numbers.next()?);
        Some(format!("{inside} {inside} {count}\n"))
    };
    map.lines().filter_map(line).collect()
}

/// Makes a user namespace in which everybody exists.
fn everybodys() -> io::Result<OwnedFd> {
    let maps = IdMaps::of_everybody()?;
    let waiting = Waiting::begin()?;
    maps.write_for(waiting.0)?;
    Ok(File::open(format!("/proc/{}/ns/user", waiting.0))?.into())
}

/// A copy of this process that waits in a new user namespace, until this is dropped.
struct Waiting(RawFd);

impl Waiting {
    fn begin() -> io::Result<Self> {
        let flags = libc::CLONE_NEWUSER;
        // SAFETY: the copy makes system calls only and never returns. It sends no signal, which the host might wait for.
        let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0_usize, 0_usize, 0_usize, 0_usize) };
        if pid == 0 {
            call(libc::SYS_prctl, [libc::PR_SET_PDEATHSIG.into(), libc::SIGKILL.into(), 0, 0, 0]);
            loop {
                // SAFETY: waits for a signal.
                unsafe { libc::pause() };
            }
        }
        match i32::try_from(pid) {
            Ok(pid) if pid > 0 => Ok(Self(pid)),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(pid) = Pid::from_raw(self.0) {
            let _ = kill_process(pid, Signal::KILL);
        }
        let mut status = 0;
        // SAFETY: the pointer is to a live local.
        while unsafe { libc::waitpid(self.0, &raw mut status, libc::__WALL) } == -1
            && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
        {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_that_change_nothing() {
        assert_eq!(unchanged("         0          0 4294967295\n"), "0 0 4294967295\n");
        assert_eq!(unchanged("0 100000 1000\n1000 1000 1\n"), "0 0 1000\n1000 1000 1\n");
    }
}
