//! The low descriptors in which a new process finds what it needs.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use rustix::io::{DupFlags, dup3, fcntl_dupfd_cloexec};

use super::super::shared::Shared;
use crate::Network;
use crate::imp::exec::signals_with_actions;
use crate::imp::limits::limit_of;

/// Descriptors of low numbers. A new process begins with the spawner's table and takes these out of it: a copy of the whole
/// takes longer with every command that runs.
#[derive(Debug)]
pub(super) struct Slots {
    null: OwnedFd,
    low: Vec<OwnedFd>,
    shared: Shared,
    network: Network,
    signals: u64,
    limits: OwnLimits,
}

/// The limits of this process, which never changes them: a child begins with them.
#[derive(Debug)]
pub(super) struct OwnLimits(Vec<Option<(u64, u64)>>);

impl OwnLimits {
    fn look() -> Self {
        const RESOURCES: u32 = 16;
        Self((0..RESOURCES).map(limit_of).collect())
    }

    /// The soft and the hard limit of a resource, if it is known.
    pub(super) fn of(&self, resource: u32) -> Option<(u64, u64)> {
        usize::try_from(resource).ok().and_then(|at| *self.0.get(at)?)
    }
}

/// Standard streams, directory, channel, and files of control groups.
const COUNT: usize = 8;
/// Above what a spawner has open from the start.
const FIRST: RawFd = 32;

impl Slots {
    pub(super) fn new(null: &OwnedFd, shared: Shared, network: Network) -> io::Result<Self> {
        let low = (0..COUNT).map(|_| fcntl_dupfd_cloexec(null, FIRST)).collect::<Result<_, _>>()?;
        let (signals, limits) = (signals_with_actions(), OwnLimits::look());
        Ok(Self { null: null.try_clone()?, low, shared, network, signals, limits })
    }

    /// Returns the signals for which this process does not have the default action. It changes none of them any more.
    pub(super) fn signals(&self) -> u64 {
        self.signals
    }

    pub(super) fn limits(&self) -> &OwnLimits {
        &self.limits
    }

    pub(super) fn has_nested(&self) -> bool {
        self.shared.has_nested()
    }

    /// Returns the first number that is above all of them.
    pub(super) fn above(&self) -> RawFd {
        self.low.last().map_or(FIRST, AsRawFd::as_raw_fd) + 1
    }

    /// Puts these into the slots for as long as `act` runs, which is told their numbers and starts a process. The keeper sees to
    /// it if that takes long.
    pub(super) fn with<T>(
        &mut self,
        wanted: &[BorrowedFd<'_>],
        act: impl FnOnce(&[RawFd]) -> T,
    ) -> io::Result<T> {
        let count = wanted.len();
        let slots = self.low.get_mut(..count).ok_or(io::ErrorKind::InvalidInput)?;
        let put = |(wanted, slot): (&BorrowedFd<'_>, &mut OwnedFd)| dup3(wanted, slot, DupFlags::CLOEXEC);
        let filled = wanted.iter().zip(slots.iter_mut()).try_for_each(put);
        let numbers: Vec<RawFd> = slots.iter().map(AsRawFd::as_raw_fd).collect();
        self.shared.begin_starting(self.network);
        let done = filled.map(|()| act(&numbers));
        self.shared.end_starting(self.network);
        // What is in them would stay open: pipes, for one.
        for slot in slots {
            // A process may run by now, so this must not look like a failure to start it.
            let _ = dup3(self.null.as_fd(), slot, DupFlags::CLOEXEC);
        }
        Ok(done?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{Mode, OFlags};

    #[test]
    fn what_was_in_a_slot_is_closed_afterwards() {
        let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).unwrap();
        let mut slots = Slots::new(&null, Shared::new().unwrap(), Network::Off).unwrap();
        let (read, write) = io::pipe().unwrap();
        let above = slots.above();
        assert!(slots.with(&[write.as_fd()], |numbers| numbers.iter().all(|fd| *fd < above)).unwrap());
        drop(write);
        assert_eq!(rustix::io::read(read, &mut [0]), Ok(0), "nobody else can write into it");
        assert!(slots.with(&[null.as_fd(); COUNT + 1], |_| ()).is_err());
    }
}
