//! Processes that lost their parents, in a program that exists to run one command at a time.
//!
//! As a *subreaper* such a program becomes their parent. Then none can get away unseen, by whatever means it left its
//! session, group or control group; and none stays a zombie, as under the process 1 of many containers.

use std::io;

use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, getpid, set_child_subreaper, waitid};

use super::exhaustion::unless_exhausted;
use super::processes;

/// Proof that orphans come to us, and that those that come are the command's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Orphans {
    host: Pid,
}

impl Orphans {
    /// None if we have children already, through `exec`: their orphans would look like the command's.
    pub(super) fn adopt() -> Option<Self> {
        let host = getpid();
        let any = waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT);
        if any.err() != Some(Errno::CHILD) {
            return None;
        }
        set_child_subreaper(Some(host)).ok()?;
        Some(Self { host })
    }

    /// Those that are alive. The others are reaped.
    pub(super) fn living(self, shell: Pid) -> io::Result<Vec<i32>> {
        const LOOKS: usize = 100;
        let mut alive = vec![];
        for _ in 0..LOOKS {
            let (gone, rest): (Vec<Pid>, Vec<Pid>) =
                self.children()?.into_iter().filter(|pid| *pid != shell).partition(|pid| reap(*pid));
            alive = rest.into_iter().map(|pid| pid.as_raw_nonzero().get()).collect();
            // One that has just gone may have left a child to us after the list was made.
            if gone.is_empty() || !alive.is_empty() {
                break;
            }
        }
        Ok(alive)
    }

    /// The kernel gives orphans to the first thread.
    fn children(self) -> io::Result<Vec<Pid>> {
        let first = self.host.as_raw_nonzero();
        let list = unless_exhausted(processes::read(format!("/proc/self/task/{first}/children")))?;
        let list = list.unwrap_or_default();
        Ok(list.split_ascii_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect())
    }
}

/// Whether it had ended.
fn reap(pid: Pid) -> bool {
    !matches!(waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG), Ok(None))
}
