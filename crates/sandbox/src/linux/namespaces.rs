//! Entering the namespaces of a room, or of a command that has its own.
#![expect(
    unsafe_code,
    reason = "entering a namespace, and a copy of this process to do so, have no safe interface"
)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// The namespaces in which somebody's mounts can be arranged.
#[derive(Debug)]
pub(super) struct Namespaces {
    /// None if it is ours.
    user: Option<File>,
    mounts: File,
}

impl Namespaces {
    /// Those of a process, which may close itself to everybody afterwards.
    pub(super) fn of(pid: i32) -> io::Result<Self> {
        let open = |name: &str| File::open(format!("/proc/{pid}/ns/{name}"));
        let name_of = |pid: &str| std::fs::read_link(format!("/proc/{pid}/ns/user"));
        let has_user = name_of(&pid.to_string())? != name_of("self")?;
        Ok(Self { user: has_user.then(|| open("user")).transpose()?, mounts: open("mnt")? })
    }

    /// Does something in there, in a process of its own, and says whether it could. Only system calls are allowed in it.
    pub(super) fn with(&self, act: impl Fn() -> bool) -> bool {
        let enter = |file: &File| {
            // SAFETY: takes two numbers.
            unsafe { libc::setns(file.as_raw_fd(), 0) == 0 }
        };
        in_a_copy(|| self.user.as_ref().is_none_or(enter) && enter(&self.mounts) && act())
    }
}

/// Does something in a copy of this process, and says whether it could. Only system calls are allowed in it.
pub(super) fn in_a_copy(act: impl Fn() -> bool) -> bool {
    // SAFETY: the copy makes system calls only and ends. It sends no signal, which the host might wait for.
    let pid = unsafe { libc::syscall(libc::SYS_clone, 0, 0_usize, 0_usize, 0_usize, 0_usize) };
    if pid == 0 {
        let done = act();
        // SAFETY: ends the copy only.
        unsafe { libc::_exit(i32::from(!done)) }
    }
    let Some(pid) = libc::pid_t::try_from(pid).ok().filter(|pid| *pid > 0) else { return false };
    let mut status = 0;
    // SAFETY: the pointer is to a live local.
    while unsafe { libc::waitpid(pid, &raw mut status, libc::__WALL) } != pid {
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return false;
        }
    }
    status == 0
}
