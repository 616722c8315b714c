//! Control groups of a room's commands: made by the keeper, used by a spawner again and again.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;

use super::link::{ToKeeper, ToSpawner, receive_long, send_long};
use super::order::Started;
use crate::imp::cgroup::Cgroups;
use crate::imp::confine::TreeHeld;
use crate::imp::exhaustion::is_exhaustion;
use crate::imp::limits::{Limiters, TreeLimits};
use crate::imp::mark::Mark;
use crate::{Mode, ResourceLimits};

/// The keeper's side.
#[derive(Debug, Default)]
pub(super) struct GroupMaker {
    cgroups: Arc<Cgroups>,
    limiters: Arc<Limiters>,
    /// Kept for their destructors, which remove them.
    lent: HashMap<u64, (Mark, TreeLimits)>,
    next: u64,
    /// The number of times that groups of killed keepers were looked for.
    looks: u32,
}

impl GroupMaker {
    /// Makes groups with these limits and sends them. What cannot be had here is left out.
    pub(super) fn lend(
        &mut self,
        link: &OwnedFd,
        memory: Option<u64>,
        processes: Option<u64>,
    ) -> io::Result<()> {
        let limits = ResourceLimits { memory, processes, ..ResourceLimits::default() };
        let lease = match self.cgroups.lease() {
            Err(error) if is_exhaustion(&error) && self.limiters.give_up_idle() => self.cgroups.lease(),
            lease => lease,
        };
        let mark = match lease? {
            Some(lease) => Mark::Cgroup(lease),
            None => Mark::Kinship,
        };
        let held = self.limiters.hold(&limits, Mode::Workspace, mark.directory(), &self.cgroups)?;
        self.next += 1;
        let joins = held.to_join_files();
        let answer = ToSpawner::Groups {
            id: self.next,
            path: mark.directory().map(PathBuf::from),
            joins: joins.len() as u64,
            memory: held.memory.is_some(),
            processes: held.processes.is_some(),
        };
        let descriptors = mark.descriptors().into_iter().chain(joins);
        let descriptors: Vec<_> = descriptors.chain(held.counters().into_iter().flatten()).collect();
        send_long(link, &answer.to_bytes(), &descriptors)?;
        self.lent.insert(self.next, (mark, held));
        if self.looks == 0 {
            // Now, because the command takes a moment to get going anyway.
            self.tidy();
        }
        Ok(())
    }

    /// Removes the groups of keepers that were killed. What has run in them may still be about to end, so this is tried
    /// more than once, and not for ever: something may have been left in them on purpose.
    pub(super) fn tidy(&mut self) {
        const MOST_LOOKS: u32 = 5;
        if self.looks < MOST_LOOKS {
            self.looks = if self.cgroups.remove_those_of_dead_hosts() { MOST_LOOKS } else { self.looks + 1 };
        }
    }

    /// Removes them. Those that could serve again are kept by their spawner.
    pub(super) fn take_back(&mut self, id: u64) {
        if let Some((Mark::Cgroup(lease), _)) = self.lent.remove(&id) {
            lease.discard();
        }
    }
}

/// The groups of one command, as its spawner has them.
#[derive(Debug)]
pub(super) struct Groups {
    id: u64,
    memory_limit: Option<u64>,
    processes_limit: Option<u64>,
    path: Option<PathBuf>,
    /// Directory, events, kill.
    unified: Option<[OwnedFd; 3]>,
    joins: Vec<OwnedFd>,
    memory: Option<OwnedFd>,
    processes: Option<OwnedFd>,
}

impl Groups {
    /// Asks the keeper, and waits.
    pub(super) fn ask_for(link: &OwnedFd, memory: Option<u64>, processes: Option<u64>) -> io::Result<Self> {
        send_long(link, &ToKeeper::Groups { memory, processes }.to_bytes(), &[])?;
        let (bytes, descriptors) = receive_long(link)?.ok_or(io::ErrorKind::BrokenPipe)?;
        let answer = ToSpawner::from_bytes(&bytes).ok_or(io::ErrorKind::InvalidData)?;
        let exhausted = || io::Error::from_raw_os_error(libc::EMFILE);
        let ToSpawner::Groups { id, path, joins, memory: has_memory, processes: has_processes } = answer
        else {
            return Err(exhausted());
        };
        let mut descriptors = descriptors.into_iter();
        let mut next = || descriptors.next();
        let sort = || {
            Some(Self {
                id,
                memory_limit: memory,
                processes_limit: processes,
                unified: if path.is_some() { Some([next()?, next()?, next()?]) } else { None },
                path,
                joins: (0..joins).map(|_| next()).collect::<Option<_>>()?,
                memory: if has_memory { Some(next()?) } else { None },
                processes: if has_processes { Some(next()?) } else { None },
            })
        };
        // The kernel leaves out those that there is no room for here: unix(7), MSG_CTRUNC.
        sort().ok_or_else(|| {
            let _ = send_long(link, &ToKeeper::Drop { id }.to_bytes(), &[]);
            exhausted()
        })
    }

    pub(super) fn give_back(self, link: &OwnedFd) -> io::Result<()> {
        send_long(link, &ToKeeper::Drop { id: self.id }.to_bytes(), &[])
    }

    /// Returns true if they have these limits.
    pub(super) fn fit(&self, memory: Option<u64>, processes: Option<u64>) -> bool {
        (self.memory_limit, self.processes_limit) == (memory, processes)
    }

    /// Returns true if nobody is in them.
    pub(super) fn are_empty(&self) -> bool {
        let read = |file: &OwnedFd| {
            let mut text = [0; 64];
            rustix::io::pread(file, &mut text, 0).map(|count| text[..count].to_vec()).ok()
        };
        let unified = self.unified.as_ref();
        unified.is_none_or(|[_, events, _]| read(events).as_deref() == Some(b"populated 0\nfrozen 0\n"))
            && self.joins.iter().all(|tasks| read(tasks).as_deref() == Some(b""))
    }

    /// Kills all that are in the group; false if there is none.
    pub(super) fn kill(&self) -> bool {
        let kill = self.unified.as_ref().map(|[_, _, kill]| rustix::io::write(kill, b"1"));
        kill.is_some_and(|written| written.is_ok())
    }

    pub(super) fn directory(&self) -> Option<BorrowedFd<'_>> {
        self.unified.as_ref().map(|[directory, ..]| directory.as_fd())
    }

    pub(super) fn to_join(&self) -> Vec<BorrowedFd<'_>> {
        self.joins.iter().map(AsFd::as_fd).collect()
    }

    pub(super) fn held(&self) -> TreeHeld {
        TreeHeld { memory: self.memory.is_some(), processes: self.processes.is_some() }
    }

    /// Makes the message for whoever runs the command, and its descriptors.
    pub(super) fn told(&self) -> (Started, Vec<BorrowedFd<'_>>) {
        let started = Started {
            group: self.path.clone(),
            memory: self.memory.is_some(),
            processes: self.processes.is_some(),
            ..Started::default()
        };
        let counters = self.memory.iter().chain(&self.processes);
        (started, self.unified.iter().flatten().chain(counters).map(AsFd::as_fd).collect())
    }
}
