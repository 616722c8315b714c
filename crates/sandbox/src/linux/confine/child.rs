//! What a confined child does to itself before it becomes the program: system calls only, as in `exec.rs`.
#![expect(unsafe_code, reason = "raw system calls between clone and execve")]

use std::ffi::CStr;
use std::os::fd::RawFd;

use libc::c_long;

use super::mounts::{Bind, Change, Mounts};
use super::ruleset::{Beneath, PATH_BENEATH};

/// Everything that holds one child, made by the parent.
#[derive(Debug)]
pub(in super::super) struct Orders<'a> {
    /// Files of control groups to join.
    pub(in super::super) groups: Vec<RawFd>,
    /// The lines that make it itself in a user namespace.
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

/// Who we are, for a user namespace in which we are the same.
#[derive(Debug)]
pub(in super::super) struct Identity {
    users: Vec<u8>,
    groups: Vec<u8>,
}

impl Identity {
    pub(in super::super) fn of_this_process() -> Self {
        let line = |id: u32| format!("{id} {id} 1\n").into_bytes();
        let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
        Self { users: line(user.as_raw()), groups: line(group.as_raw()) }
    }
}

impl Orders<'_> {
    pub(in super::super) fn join_groups(&self) -> bool {
        self.groups.iter().all(|&fd| write(fd, b"0"))
    }

    /// First steps in new namespaces. Refused where the host lets us make them and then gives no rights in them.
    pub(in super::super) fn settle_in(&self) -> bool {
        let known = self.identity.is_none_or(|identity| {
            write_file(c"/proc/self/setgroups", b"deny")
                && write_file(c"/proc/self/uid_map", &identity.users)
                && write_file(c"/proc/self/gid_map", &identity.groups)
        });
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

fn install(filter: &[libc::sock_filter], flags: i64) -> Option<i64> {
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

impl Mounts {
    /// Takes what stays as it is out of the tree, before all else is made read-only.
    fn clone_kept(&self) -> bool {
        self.kept.iter().all(|bind| match changed(bind) {
            Some(fd) => {
                bind.fd.set(fd);
                true
            }
            None => false,
        })
    }

    fn arrange(&self) -> bool {
        make_read_only()
            && self.kept.iter().all(|bind| put(bind.fd.get(), &bind.target))
            && (!self.own_proc || mount_proc())
            && self.laid_over.iter().all(|bind| changed(bind).is_some_and(|fd| put(fd, &bind.target)))
    }
}

/// Everything, with what is mounted beneath; devices too, of which a few are among those kept.
fn make_read_only() -> bool {
    let attributes = Attributes {
        set: ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV,
        propagation: libc::MS_PRIVATE,
        ..NO_CHANGE
    };
    set_attributes(libc::AT_FDCWD, c"/", 0, attributes)
}

const ATTR_RDONLY: u64 = 1;
const ATTR_NOSUID: u64 = 2;
const ATTR_NODEV: u64 = 4;
const ATTR_NOEXEC: u64 = 8;
const NO_CHANGE: Attributes = Attributes { set: 0, clear: 0, propagation: 0, user_namespace: 0 };
const MOUNT_SETATTR: c_long = 442;

/// `struct mount_attr` of the kernel.
#[repr(C)]
#[derive(Clone, Copy)]
struct Attributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

fn set_attributes(fd: RawFd, path: &CStr, flags: i32, attributes: Attributes) -> bool {
    const RECURSIVE: i32 = 0x8000;
    let flags = i64::from(flags | RECURSIVE);
    call(MOUNT_SETATTR, [fd.into(), path.as_ptr() as i64, flags, address(&attributes), size(&attributes)])
        .is_some()
}

/// A copy, changed as it is to be.
fn changed(bind: &Bind) -> Option<RawFd> {
    let fd = clone_tree(bind)?;
    let set = match bind.change {
        None => return Some(fd),
        Some(Change::ReadOnly) => ATTR_RDONLY,
        Some(Change::Harmless) => ATTR_NOSUID | ATTR_NODEV,
        Some(Change::Closed) => ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV,
    };
    set_attributes(fd, c"", libc::AT_EMPTY_PATH, Attributes { set, ..NO_CHANGE }).then_some(fd)
}

/// A copy of the mount, and of those beneath it, that is nowhere yet. None also if another file is there by now.
fn clone_tree(bind: &Bind) -> Option<RawFd> {
    const CLONE: i64 = 1;
    const RECURSIVE: i64 = 0x8000;
    let flags = CLONE | RECURSIVE | i64::from(libc::O_CLOEXEC | libc::AT_SYMLINK_NOFOLLOW);
    let fd = call(libc::SYS_open_tree, [libc::AT_FDCWD.into(), bind.source.as_ptr() as i64, flags, 0, 0])?;
    let fd = RawFd::try_from(fd).ok()?;
    if identity_of(fd) != Some(bind.file) {
        // SAFETY: the location is valid for the life of the thread.
        unsafe { *libc::__errno_location() = libc::ESTALE };
        return None;
    }
    Some(fd)
}

/// The device and number of an open file.
pub(in super::super) fn identity_of(fd: RawFd) -> Option<(u64, u64)> {
    // SAFETY: plain numbers, for which zero is a value.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    call(libc::SYS_fstat, [fd.into(), (&raw mut stat) as i64, 0, 0, 0])?;
    Some((stat.st_dev, stat.st_ino))
}

fn put(fd: RawFd, target: &CStr) -> bool {
    const FROM_DESCRIPTOR: i64 = 4;
    let arguments =
        [fd.into(), c"".as_ptr() as i64, libc::AT_FDCWD.into(), target.as_ptr() as i64, FROM_DESCRIPTOR];
    let moved = call(libc::SYS_move_mount, arguments).is_some();
    // There are hundreds of them where there are many repositories.
    moved && call(libc::SYS_close, [fd.into(), 0, 0, 0, 0]).is_some()
}

/// A process table that shows what may be traced: with Landlock, the command's own processes.
fn mount_proc() -> bool {
    const SET_STRING: i64 = 1;
    const CREATE: i64 = 6;
    const CLOEXEC: i64 = 1;
    let opened = || {
        let context = call(libc::SYS_fsopen, [c"proc".as_ptr() as i64, CLOEXEC, 0, 0, 0])?;
        call(
            libc::SYS_fsconfig,
            [context, SET_STRING, c"hidepid".as_ptr() as i64, c"ptraceable".as_ptr() as i64, 0],
        )?;
        call(libc::SYS_fsconfig, [context, CREATE, 0, 0, 0])?;
        let attributes = (ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV | ATTR_NOEXEC).cast_signed();
        call(libc::SYS_fsmount, [context, CLOEXEC, attributes, 0, 0])
    };
    opened().and_then(|fd| RawFd::try_from(fd).ok()).is_some_and(|fd| put(fd, c"/proc"))
}

/// So that a test server can be reached by its test.
fn raise_loopback() -> bool {
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

fn write_file(path: &CStr, text: &[u8]) -> bool {
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

fn address<T>(value: &T) -> i64 {
    (&raw const *value) as i64
}

fn size<T>(_: &T) -> i64 {
    i64::try_from(size_of::<T>()).unwrap_or(0)
}

/// What the kernel answered; none if it refused, with the reason in `errno`.
fn call(number: c_long, arguments: [i64; 5]) -> Option<i64> {
    let [first, second, third, fourth, fifth] = arguments;
    // SAFETY: each caller passes the arguments that this call takes, with pointers to what outlives it.
    match unsafe { libc::syscall(number, first, second, third, fourth, fifth) } {
        -1 => None,
        answer => Some(answer),
    }
}
