//! What a confined child does to itself before it becomes the program: system calls only, as in `exec.rs`.
#![expect(unsafe_code, reason = "raw system calls between clone and execve")]

use std::ffi::CStr;
use std::os::fd::RawFd;

use super::calls::{address, call};
use super::identity::Identity;
use super::mounts::Mounts;
use super::ruleset::{Beneath, PATH_BENEATH};

/// Everything that holds one child, made by the parent.
#[derive(Debug)]
pub(in super::super) struct Orders<'a> {
    /// Files of control groups to join.
    pub(in super::super) groups: Vec<RawFd>,
    /// Who it is in a user namespace; none if it is in the caller's.
    pub(in super::super) identity: Option<&'a Identity>,
    /// Whether it has a network of its own, which begins with everything down.
    pub(in super::super) own_network: bool,
    pub(in super::super) mounts: Option<&'a Mounts>,
    pub(in super::super) limits: &'a [(u32, libc::rlimit)],
    /// The capabilities that it keeps; none if it is not held but just limited.
    pub(in super::super) capabilities: Option<u32>,
    pub(in super::super) ruleset: Option<RawFd>,
    pub(in super::super) filter: &'a [libc::sock_filter],
    /// The same for a command whose connections are answered for, and where to send what asks.
    pub(in super::super) asking: Option<(&'a [libc::sock_filter], RawFd)>,
}

impl Orders<'_> {
    pub(in super::super) fn join_groups(&self) -> bool {
        self.groups.iter().all(|&fd| write(fd, b"0"))
    }

    /// First steps in new namespaces. Refused where the host lets us make them and then gives no rights in them.
    pub(in super::super) fn settle_in(&self) -> bool {
        let network = if self.own_network { libc::CLONE_NEWNET } else { 0 };
        let namespaces = libc::CLONE_NEWNS | libc::CLONE_NEWIPC | network;
        let known = self.identity.is_none_or(|identity| identity.take(namespaces));
        known && (!self.own_network || raise_loopback()) && self.mounts.is_none_or(Mounts::clone_kept)
    }

    pub(in super::super) fn arrange_mounts(&self) -> bool {
        self.mounts.is_none_or(|mounts| mounts.arrange() && (!mounts.own_proc || self.grant_proc()))
    }

    /// The process table is this child's own, so the rules cannot have known it.
    fn grant_proc(&self) -> bool {
        let Some(ruleset) = self.ruleset else { return true };
        let flags = i64::from(libc::O_PATH | libc::O_CLOEXEC);
        let opened = call(libc::SYS_openat, [libc::AT_FDCWD.into(), c"/proc".as_ptr() as i64, flags, 0, 0]);
        opened.and_then(|fd| RawFd::try_from(fd).ok()).is_some_and(|directory| {
            let beneath = Beneath::reading(directory);
            let arguments = [ruleset.into(), PATH_BENEATH.into(), address(&beneath), 0, 0];
            call(libc::SYS_landlock_add_rule, arguments).is_some()
        })
    }

    pub(in super::super) fn limit(&self) -> bool {
        self.limits.iter().all(|(resource, limit)| {
            call(libc::SYS_prlimit64, [0, (*resource).into(), address(limit), 0, 0]).is_some()
        })
    }

    /// No way back to any privilege, not even for root.
    pub(in super::super) fn give_up_privileges(&self) -> bool {
        /// `SECBIT_NOROOT`, `SECBIT_NO_SETUID_FIXUP`, `SECBIT_NO_CAP_AMBIENT_RAISE`, each with its lock.
        const SECURE_BITS: i64 = 0b1100_1111;
        const CAPABILITY_VERSION_3: u32 = 0x2008_0522;
        let Some(capabilities) = self.capabilities else { return true };
        if capabilities == 0 {
            // Refused to those who have no privilege to give up.
            let _ = call(libc::SYS_prctl, [libc::PR_SET_SECUREBITS.into(), SECURE_BITS, 0, 0, 0]);
        }
        let header = [CAPABILITY_VERSION_3, 0];
        // Effective and permitted; a program gets no more than its starter had, because of "no new privileges".
        let sets = [capabilities, capabilities, 0, 0, 0, 0];
        call(libc::SYS_prctl, [libc::PR_SET_NO_NEW_PRIVS.into(), 1, 0, 0, 0]).is_some()
            && call(
                libc::SYS_prctl,
                [libc::PR_CAP_AMBIENT.into(), libc::PR_CAP_AMBIENT_CLEAR_ALL.into(), 0, 0, 0],
            )
            .is_some()
            && call(libc::SYS_capset, [address(&header), address(&sets), 0, 0, 0]).is_some()
    }

    pub(in super::super) fn apply_ruleset(&self) -> bool {
        self.ruleset
            .is_none_or(|fd| call(libc::SYS_landlock_restrict_self, [fd.into(), 0, 0, 0, 0]).is_some())
    }

    /// Last of all: what it forbids may be needed before. Where nobody can be asked, the plain filter refuses.
    pub(in super::super) fn apply_filter(&self) -> bool {
        /// Only death interrupts a call that waits for an answer: it may have been done already.
        const NEW_LISTENER: i64 = 1 << 3;
        const WAIT_KILLABLE: i64 = 1 << 5;
        if let Some((filter, channel)) = self.asking
            && let Some(listener) = install(filter, NEW_LISTENER | WAIT_KILLABLE)
        {
            return RawFd::try_from(listener).is_ok_and(|listener| send(channel, listener));
        }
        self.filter.is_empty() || install(self.filter, 0).is_some()
    }
}

pub(super) fn install(filter: &[libc::sock_filter], flags: i64) -> Option<i64> {
    let program =
        libc::sock_fprog { len: u16::try_from(filter.len()).ok()?, filter: filter.as_ptr().cast_mut() };
    call(libc::SYS_seccomp, [libc::SECCOMP_SET_MODE_FILTER.into(), flags, address(&program), 0, 0])
}

/// Sends a descriptor along.
fn send(channel: RawFd, descriptor: RawFd) -> bool {
    /// `struct cmsghdr` of the kernel with one descriptor.
    #[repr(C)]
    struct Rights {
        length: usize,
        level: i32,
        kind: i32,
        descriptor: RawFd,
    }
    let rights = Rights {
        length: std::mem::offset_of!(Rights, descriptor) + size_of::<RawFd>(),
        level: libc::SOL_SOCKET,
        kind: libc::SCM_RIGHTS,
        descriptor,
    };
    let byte = libc::iovec { iov_base: c".".as_ptr().cast_mut().cast(), iov_len: 1 };
    // SAFETY: plain numbers and pointers, for which zero is a value.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = (&raw const byte).cast_mut();
    message.msg_iovlen = 1;
    message.msg_control = (&raw const rights).cast_mut().cast();
    message.msg_controllen = size_of::<Rights>();
    call(libc::SYS_sendmsg, [channel.into(), address(&message), 0, 0, 0]).is_some()
}

/// So that a test server can be reached by its test.
pub(in super::super) fn raise_loopback() -> bool {
    const UP_AND_RUNNING: libc::c_short = 0x41;
    let Some(socket) = call(
        libc::SYS_socket,
        [libc::AF_INET.into(), i64::from(libc::SOCK_DGRAM | libc::SOCK_CLOEXEC), 0, 0, 0],
    ) else {
        return false;
    };
    // SAFETY: plain numbers, for which zero is a value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    request.ifr_name[0] = b'l'.cast_signed();
    request.ifr_name[1] = b'o'.cast_signed();
    request.ifr_ifru.ifru_flags = UP_AND_RUNNING;
    let raised =
        call(libc::SYS_ioctl, [socket, libc::SIOCSIFFLAGS.cast_signed(), address(&request), 0, 0]).is_some();
    call(libc::SYS_close, [socket, 0, 0, 0, 0]);
    raised
}

pub(super) fn write_file(path: &CStr, text: &[u8]) -> bool {
    let flags = i64::from(libc::O_WRONLY | libc::O_CLOEXEC);
    let fd = call(libc::SYS_openat, [libc::AT_FDCWD.into(), path.as_ptr() as i64, flags, 0, 0]);
    fd.and_then(|fd| RawFd::try_from(fd).ok()).is_some_and(|fd| {
        let written = write(fd, text);
        // At once: a file that is open for writing keeps its mount from becoming read-only.
        call(libc::SYS_close, [fd.into(), 0, 0, 0, 0]);
        written
    })
}

fn write(fd: RawFd, text: &[u8]) -> bool {
    call(libc::SYS_write, [fd.into(), text.as_ptr() as i64, i64::try_from(text.len()).unwrap_or(0), 0, 0])
        .is_some()
}
