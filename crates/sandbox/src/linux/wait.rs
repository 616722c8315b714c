//! The end of a child, asked about without reaping it.
#![expect(unsafe_code, reason = "no safe interface returns the id and the usage of a child that stays")]

use std::time::Duration;

use crate::{Exit, Signal, Usage};

/// A child that has ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ended {
    pub(super) pid: i32,
    pub(super) exit: Exit,
    pub(super) usage: Usage,
}

/// Which child.
#[derive(Debug, Clone, Copy)]
pub(super) enum Whose {
    Any,
    This(i32),
}

/// One that has ended, if there is any. It is not reaped.
pub(super) fn look(whose: Whose) -> Option<Ended> {
    wait(whose, libc::WEXITED | libc::WNOHANG | libc::WNOWAIT)
}

/// Reaps one that has ended; false if it has not.
pub(super) fn reap(pid: i32) -> bool {
    wait(Whose::This(pid), libc::WEXITED | libc::WNOHANG).is_some()
}

fn wait(whose: Whose, options: i32) -> Option<Ended> {
    let (kind, id) = match whose {
        Whose::Any => (libc::P_ALL, 0),
        Whose::This(pid) => (libc::P_PID, pid),
    };
    // SAFETY: plain numbers, for which zero is a value.
    let (mut info, mut usage) =
        unsafe { (std::mem::zeroed::<libc::siginfo_t>(), std::mem::zeroed::<libc::rusage>()) };
    // SAFETY: both pointers are to live locals of the types that the call writes.
    let result = unsafe { libc::syscall(libc::SYS_waitid, kind, id, &raw mut info, options, &raw mut usage) };
    // SAFETY: the call fills in the fields of a child, or leaves zeros.
    let (pid, status) = unsafe { (info.si_pid(), info.si_status()) };
    if result != 0 || pid == 0 {
        return None;
    }
    let exit = match info.si_code {
        libc::CLD_EXITED => Exit::Code(status),
        _ => Exit::Signal(Signal::from_raw(status)),
    };
    let time = |time: libc::timeval| {
        let (seconds, micros) = (time.tv_sec.unsigned_abs(), time.tv_usec.unsigned_abs());
        Duration::from_secs(seconds) + Duration::from_micros(micros)
    };
    let cpu = time(usage.ru_utime) + time(usage.ru_stime);
    Some(Ended { pid, exit, usage: Usage { cpu, max_rss_kib: usage.ru_maxrss.unsigned_abs() } })
}
