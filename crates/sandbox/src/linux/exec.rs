//! What the child does between its birth and the program: system calls, in this order, and nothing else.
//!
//! It runs in the parent's memory while the parent's thread is suspended. It must not allocate, lock, panic
//! or return; it shares `errno` with that thread, which does not look at it until the child has left.
#![expect(unsafe_code, reason = "raw system calls between clone and execve")]

use std::os::fd::RawFd;

use super::confine::{Orders, identity_of};
use crate::spec::Step;

/// All the child needs, made by the parent; and where it leaves word when it cannot go on.
pub(super) struct Image<'a> {
    pub(super) program: *const libc::c_char,
    pub(super) argv: *const *const libc::c_char,
    pub(super) envp: *const *const libc::c_char,
    /// The first descriptor that it does not need, if it begins with its parent's table: it takes those before it.
    pub(super) above: Option<RawFd>,
    /// To become 0, 1 and 2. Each is above 2.
    pub(super) streams: [RawFd; 3],
    pub(super) cwd: RawFd,
    /// A limit that marks the process and all its descendants.
    pub(super) tag: Option<u64>,
    /// The mode bits that new files shall not have, if not those of the parent.
    pub(super) umask: Option<u32>,
    /// Whether it ends when the thread that starts it does.
    pub(super) dies_with_us: bool,
    /// The path of that directory among the child's own mounts. None: the descriptor is used.
    pub(super) cwd_path: Option<*const libc::c_char>,
    /// The signals whose actions may not be the default ones: bit 0 is signal 1.
    pub(super) signals: u64,
    /// Everything that holds the child.
    pub(super) orders: Option<&'a Orders<'a>>,
    pub(super) failure: Option<Failure>,
}

#[derive(Clone, Copy)]
pub(super) struct Failure {
    pub(super) step: Step,
    pub(super) errno: i32,
}

/// The child's whole life as our code.
pub(super) extern "C" fn become_program(image: *mut Image<'_>) -> ! {
    // SAFETY: the parent passes a valid image and is suspended, so this is the only reference to it.
    let image = unsafe { &mut *image };
    image.failure = Some(try_to(image));
    // SAFETY: ends this process only; no destructor or exit handler of the parent runs.
    unsafe { libc::_exit(127) }
}

/// Returns only when a step was refused.
fn try_to(image: &Image<'_>) -> Failure {
    type Action = fn(&Image<'_>) -> bool;
    fn held<'a>(image: &Image<'a>, by: impl FnOnce(&'a Orders<'a>) -> bool) -> bool {
        image.orders.is_none_or(by)
    }
    let steps: [(Step, Action); 15] = [
        // Before anything is done to a descriptor.
        (Step::Streams, |image| image.above.is_none_or(take_own_table)),
        // A new session has no terminal, so `/dev/tty` does not open and nothing can wait for a password.
        (Step::Session, |_| call(libc::SYS_setsid, [0; 4])),
        (Step::Mark, |image| image.tag.is_none_or(set_tag)),
        (Step::Mark, |image| {
            let arguments = [libc::PR_SET_PDEATHSIG.into(), libc::SIGKILL.into(), 0, 0];
            !image.dies_with_us || call(libc::SYS_prctl, arguments)
        }),
        (Step::Streams, |image| {
            image.umask.is_none_or(|umask| call(libc::SYS_umask, [umask.into(), 0, 0, 0]))
        }),
        (Step::Streams, |image| {
            (0..).zip(image.streams).all(|(target, fd)| call(libc::SYS_dup3, [fd.into(), target, 0, 0]))
        }),
        // While it still has the right to.
        (Step::Limits, |image| held(image, Orders::join_groups)),
        (Step::Namespaces, |image| held(image, Orders::settle_in)),
        (Step::Mounts, |image| held(image, Orders::arrange_mounts)),
        (Step::Cwd, enter_cwd),
        (Step::Limits, |image| held(image, Orders::limit)),
        (Step::Privileges, |image| held(image, Orders::give_up_privileges)),
        (Step::Landlock, |image| held(image, Orders::apply_ruleset)),
        (Step::Filter, |image| {
            // After the last use of a descriptor, and before the mask opens: a handler must never run here.
            close_all_above_stderr(image.orders.and_then(|orders| orders.asking).map(|(_, channel)| channel));
            reset_signals(image.signals);
            held(image, Orders::apply_filter)
        }),
        (Step::Exec, |image| {
            call(libc::SYS_execve, [image.program as i64, image.argv as i64, image.envp as i64, 0])
        }),
    ];
    for (step, done) in steps {
        if !done(image) {
            // SAFETY: the location is valid for the life of the thread.
            return Failure { step, errno: unsafe { *libc::__errno_location() } };
        }
    }
    // Unreachable: a successful execve does not return.
    Failure { step: Step::Exec, errno: libc::EINVAL }
}

fn call(number: libc::c_long, [a, b, c, d]: [i64; 4]) -> bool {
    // SAFETY: each caller passes the arguments that this call takes, with pointers the parent keeps valid.
    unsafe { libc::syscall(number, a, b, c, d) != -1 }
}

/// By its descriptor; among mounts of its own by its path, for the descriptor leads to the host's, where more is writable.
fn enter_cwd(image: &Image<'_>) -> bool {
    let Some(path) = image.cwd_path else {
        return call(libc::SYS_fchdir, [image.cwd.into(), 0, 0, 0]);
    };
    let here = || {
        let flags = libc::O_PATH | libc::O_CLOEXEC;
        // SAFETY: the path is a constant; closed with all others.
        let fd = unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, c".".as_ptr(), flags) };
        RawFd::try_from(fd).ok().and_then(identity_of)
    };
    if !call(libc::SYS_chdir, [path as i64, 0, 0, 0]) {
        return false;
    }
    if here() == identity_of(image.cwd) {
        return true;
    }
    // SAFETY: the location is valid for the life of the thread.
    unsafe { *libc::__errno_location() = libc::ESTALE };
    false
}

/// Makes a table of its own with the descriptors before this one; see close_range(2), `CLOSE_RANGE_UNSHARE`. Kernels
/// before 5.9 copy all of them.
fn take_own_table(above: RawFd) -> bool {
    const UNSHARE: i64 = 1 << 1;
    call(libc::SYS_close_range, [above.into(), u32::MAX.into(), UNSHARE, 0])
        || call(libc::SYS_unshare, [libc::CLONE_FILES.into(), 0, 0, 0])
}

fn set_tag(tag: u64) -> bool {
    let limit = libc::rlimit { rlim_cur: tag, rlim_max: tag };
    call(libc::SYS_prlimit64, [0, super::tag::RESOURCE, (&raw const limit) as i64, 0])
}

/// Kernels before 5.9 and some filters have no `close_range`; then each possible descriptor is closed by hand.
fn close_all_above_stderr(but: Option<RawFd>) {
    const FIRST: i64 = 3;
    const MOST: i64 = 65_536;
    let close = |first: i64, last: i64| {
        if first <= last && !call(libc::SYS_close_range, [first, last, 0, 0]) {
            for fd in first..=last.min(MOST) {
                call(libc::SYS_close, [fd, 0, 0, 0]);
            }
        }
    };
    let end = u32::MAX.into();
    match but.map(i64::from) {
        Some(kept) => {
            close(FIRST, kept - 1);
            close(kept + 1, end);
        }
        None => close(FIRST, end),
    }
}

/// All signals, for a host that may do anything with any of them.
pub(super) const ALL_SIGNALS: u64 = u64::MAX;
const KERNEL_SIGNALS: i64 = 64;
const SIGSET_SIZE: i64 = 8;

/// Finds the signals for which this process does not have the default action.
pub(super) fn signals_with_actions() -> u64 {
    let has_action = |signal: i64| {
        // At least as long as the kernel's `struct sigaction`, which begins with the handler; SIG_DFL is 0.
        let mut action = [0_u64; 4];
        let known = call(libc::SYS_rt_sigaction, [signal, 0, (&raw mut action) as i64, SIGSET_SIZE]);
        !known || action[0] != 0
    };
    (1..=KERNEL_SIGNALS).filter(|signal| has_action(*signal)).fold(0, |all, signal| all | 1 << (signal - 1))
}

/// These signals back to their default actions, also those that the host ignores; then none blocked.
fn reset_signals(signals: u64) {
    // The kernel's `struct sigaction` with SIG_DFL: all zero, on every architecture at most this long.
    let default = [0_u64; 4];
    for signal in (1..=KERNEL_SIGNALS).filter(|signal| signals >> (signal - 1) & 1 == 1) {
        call(libc::SYS_rt_sigaction, [signal, (&raw const default) as i64, 0, SIGSET_SIZE]);
    }
    let none = 0_u64;
    call(libc::SYS_rt_sigprocmask, [libc::SIG_SETMASK.into(), (&raw const none) as i64, 0, SIGSET_SIZE]);
}
