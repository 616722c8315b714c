//! A page of memory that the keeper and the room's spawners share.
#![expect(unsafe_code, reason = "memory that several processes see has no safe interface")]

use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use crate::Network;
use rustix::mm::{MapFlags, ProtFlags};
use rustix::time::{ClockId, clock_gettime};

/// The activity of a room, known to all processes that serve it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shared {
    page: NonNull<Page>,
}

#[repr(C)]
struct Page {
    /// Commands that run.
    running: AtomicU32,
    /// 1 if a repository has appeared that is not protected yet.
    unprotected: AtomicU32,
    /// 1 if something has appeared that was not looked at yet.
    dirty: AtomicU32,
    /// Shells that wait for their commands.
    waiting: AtomicU32,
    /// Events after which a shell that has waited is not given a command any more.
    changes: AtomicU32,
    /// 1 if processes were kept that belong to no command any more.
    strays: AtomicU32,
    /// 1 if there are repositories that can be removed as a whole.
    nested: AtomicU32,
    /// When something last ran, by the clock that goes on.
    active: AtomicU64,
    /// When each spawner began to start the process that it waits for; 0 if it does not.
    starting: [AtomicU64; 2],
}

impl Shared {
    /// A new one, which children inherit. It stays for as long as the process lives.
    pub(super) fn new() -> io::Result<Self> {
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: a new anonymous mapping at an address of the kernel's choice touches nothing that exists.
        let page = unsafe {
            rustix::mm::mmap_anonymous(std::ptr::null_mut(), size_of::<Page>(), protection, flags)?
        };
        let page = NonNull::new(page.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        let shared = Self { page };
        shared.touch();
        Ok(shared)
    }

    fn page(&self) -> &Page {
        // SAFETY: the mapping is never removed, is zero at first, which every atomic can be, and is only used through these.
        unsafe { self.page.as_ref() }
    }

    /// Counts one more command.
    pub(super) fn begin(self) {
        self.page().running.fetch_add(1, Ordering::AcqRel);
        self.touch();
    }

    /// Counts one less.
    pub(super) fn end(self) {
        self.page().running.fetch_sub(1, Ordering::AcqRel);
        self.touch();
    }

    pub(super) fn running(self) -> u32 {
        self.page().running.load(Ordering::Acquire)
    }

    /// Counts a shell that waits.
    pub(super) fn begin_waiting(self) {
        self.page().waiting.fetch_add(1, Ordering::AcqRel);
    }

    /// Counts one that has gone, or does not wait any more.
    pub(super) fn end_waiting(self) {
        self.page().waiting.fetch_sub(1, Ordering::AcqRel);
    }

    pub(super) fn waiting(self) -> u32 {
        self.page().waiting.load(Ordering::Acquire)
    }

    /// A shell that waits may be in a directory that was covered just now, or a command that has ended may have made
    /// something else of it.
    pub(super) fn note_change(self) {
        self.page().changes.fetch_add(1, Ordering::AcqRel);
    }

    pub(super) fn changes(self) -> u32 {
        self.page().changes.load(Ordering::Acquire)
    }

    pub(super) fn set_strays(self, strays: bool) {
        self.page().strays.store(strays.into(), Ordering::Release);
    }

    pub(super) fn has_strays(self) -> bool {
        self.page().strays.load(Ordering::Acquire) != 0
    }

    /// The spawner on that network waits for a process to become its program, until [`Self::end_starting`].
    pub(super) fn begin_starting(self, network: Network) {
        self.starting(network).store(now().max(1), Ordering::Release);
    }

    pub(super) fn end_starting(self, network: Network) {
        self.starting(network).store(0, Ordering::Release);
    }

    /// Returns for how long a spawner has waited for a process to become its program.
    pub(super) fn longest_start(self) -> Duration {
        let since = |network| match self.starting(network).load(Ordering::Acquire) {
            0 => 0,
            begun => now().saturating_sub(begun),
        };
        Duration::from_millis(since(Network::Off).max(since(Network::On)))
    }

    fn starting(&self, network: Network) -> &AtomicU64 {
        &self.page().starting[usize::from(network == Network::On)]
    }

    pub(super) fn set_unprotected(self, unprotected: bool) {
        self.page().unprotected.store(unprotected.into(), Ordering::Release);
    }

    pub(super) fn has_unprotected(self) -> bool {
        self.page().unprotected.load(Ordering::Acquire) != 0
    }

    pub(super) fn set_nested(self, nested: bool) {
        self.page().nested.store(nested.into(), Ordering::Release);
    }

    /// Returns true if commands are asked about each file that they remove. It would cost those who remove many.
    pub(super) fn has_nested(self) -> bool {
        self.page().nested.load(Ordering::Acquire) != 0
    }

    pub(super) fn set_dirty(self, dirty: bool) {
        self.page().dirty.store(dirty.into(), Ordering::Release);
    }

    pub(super) fn is_dirty(self) -> bool {
        self.page().dirty.load(Ordering::Acquire) != 0
    }

    /// Something goes on just now.
    pub(super) fn touch(self) {
        self.page().active.store(now(), Ordering::Release);
    }

    /// For how long nothing has.
    pub(super) fn idle(self) -> Duration {
        if self.running() > 0 {
            return Duration::ZERO;
        }
        Duration::from_millis(now().saturating_sub(self.page().active.load(Ordering::Acquire)))
    }
}

fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec.unsigned_abs() * 1000 + time.tv_nsec.unsigned_abs() / 1_000_000
}
