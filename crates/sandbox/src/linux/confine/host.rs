//! What this kernel offers, asked once.
#![expect(unsafe_code, reason = "these questions have no safe interface")]

use std::sync::OnceLock;

use super::bpf::ALLOW;
use super::child::install;
use crate::Landlock;
use crate::imp::namespaces::in_a_copy;

/// What Landlock can do on the running kernel.
#[must_use]
pub fn landlock() -> Landlock {
    static FOUND: OnceLock<Landlock> = OnceLock::new();
    *FOUND.get_or_init(|| {
        const VERSION: u32 = 1;
        // SAFETY: with this flag the call takes no attributes and only returns a number.
        let answer = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, 0_usize, 0_usize, VERSION) };
        match (u32::try_from(answer), std::io::Error::last_os_error().raw_os_error()) {
            (Ok(abi), _) => Landlock::Abi(abi),
            (Err(_), Some(libc::EOPNOTSUPP)) => Landlock::Disabled,
            (Err(_), _) => Landlock::Missing,
        }
    })
}

/// Returns true if this process may arrange mounts and a network without a user namespace around them. Containers give one of
/// these rights without the other; in a user namespace a process has both.
pub(in super::super) fn may_mount() -> bool {
    const NET_ADMIN: u32 = 12;
    const SYS_ADMIN: u32 = 21;
    const NEEDED: u64 = (1 << NET_ADMIN) | (1 << SYS_ADMIN);
    effective_capabilities() & NEEDED == NEEDED
}

/// The capabilities that this process can use, a bit each; see `capabilities(7)`.
pub(super) fn effective_capabilities() -> u64 {
    const VERSION_3: u32 = 0x2008_0522;
    let mut header = [VERSION_3, 0];
    let mut sets = [0_u32; 6];
    // SAFETY: both point to live values of the layout that this version has.
    let result = unsafe { libc::syscall(libc::SYS_capget, header.as_mut_ptr(), sets.as_mut_ptr()) };
    if result == 0 { u64::from(sets[0]) | (u64::from(sets[3]) << 32) } else { 0 }
}

/// Returns true if somebody can answer for system calls of a command. The kernel allows one who does, and that may be a
/// program around this one.
pub(in super::super) fn may_listen() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| {
        const NEW_LISTENER: i64 = 8;
        // SAFETY: takes numbers.
        let settle = || unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 };
        in_a_copy(|| settle() && install(&[ALLOW], NEW_LISTENER).is_some())
    })
}

/// Whether filters of system calls can be installed.
#[must_use]
pub fn has_seccomp() -> bool {
    const GET_ACTION_AVAIL: u32 = 2;
    let action = libc::SECCOMP_RET_ERRNO;
    // SAFETY: the action is read from a live integer; nothing is installed.
    unsafe { libc::syscall(libc::SYS_seccomp, GET_ACTION_AVAIL, 0, &raw const action) == 0 }
}
