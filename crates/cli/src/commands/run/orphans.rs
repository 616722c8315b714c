//! Processes that lost their parent become our children, so that none stays a zombie.
//!
//! The kernel would give them to process 1, which in many containers reaps nothing, until no process can be
//! started any more.

use std::fs;
use std::io;

use rustix::process::{Pid, WaitId, WaitIdOptions, getpid, set_child_subreaper, waitid};
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

use super::interrupt::forward;

/// From now on orphans come to us, and are reaped while the runtime runs.
pub(super) fn adopt(runtime: &Runtime) -> io::Result<()> {
    set_child_subreaper(Some(getpid()))?;
    let _entered = runtime.enter();
    // Handling SIGCHLD matters for the shell too: whoever started us may have ignored it, and then the kernel
    // would throw the exit code away.
    runtime.spawn(forward(signal(SignalKind::child())?, reap_all_but_the_shell));
    Ok(())
}

/// After the shell was reaped, every child left is an orphan.
pub(super) fn reap_all() {
    while reap(WaitId::All) {}
}

/// The shell is the engine's to reap. It is the first child that we ever had.
fn reap_all_but_the_shell() {
    let own = getpid().as_raw_nonzero();
    let children = fs::read_to_string(format!("/proc/self/task/{own}/children")).unwrap_or_default();
    for pid in children.split_ascii_whitespace().skip(1).filter_map(|pid| pid.parse().ok()) {
        if let Some(pid) = Pid::from_raw(pid) {
            reap(WaitId::Pid(pid));
        }
    }
}

/// Whether one was reaped.
fn reap(which: WaitId<'_>) -> bool {
    matches!(waitid(which, WaitIdOptions::EXITED | WaitIdOptions::NOHANG), Ok(Some(_)))
}
