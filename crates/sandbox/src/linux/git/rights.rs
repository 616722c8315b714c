//! Acting as a command would: with its capabilities and its mask.
#![expect(unsafe_code, reason = "capabilities and file system attributes of a thread have no safe interface")]

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::fs::Mode;

use crate::imp::processes::umask_of;

/// The rights of a command, which this thread has until this is dropped.
#[derive(Debug)]
pub(super) struct Rights {
    /// What the thread had before, if it was more.
    effective: Option<[u32; 6]>,
}

const VERSION_3: u32 = 0x2008_0522;

impl Rights {
    /// Takes the capabilities that the command has, and none beside; none for a user who has none.
    pub(super) fn of_caller(capabilities: Option<u32>, mask: u32) -> Self {
        if HAS_OWN_MASK.get() {
            rustix::process::umask(Mode::from_raw_mode(mask));
        }
        let Some(capabilities) = capabilities else { return Self { effective: None } };
        let mut own = [0_u32; 6];
        let header = [VERSION_3, 0];
        // SAFETY: both point to live values of the layout that this version has.
        let known = unsafe { libc::syscall(libc::SYS_capget, header.as_ptr(), own.as_mut_ptr()) } == 0;
        let mut lowered = own;
        // Effective, permitted, inheritable; then the same for the upper half.
        (lowered[0], lowered[3]) = (own[1] & capabilities, 0);
        if known {
            set(&lowered);
        }
        Self { effective: known.then_some(own) }
    }
}

impl Drop for Rights {
    fn drop(&mut self) {
        if let Some(own) = &self.effective {
            set(own);
        }
    }
}

fn set(sets: &[u32; 6]) {
    let header = [VERSION_3, 0];
    // SAFETY: both point to live values of the layout that this version has.
    let done = unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), sets.as_ptr()) };
    debug_assert_eq!(done, 0, "a thread may have what it is permitted");
}

thread_local! {
    static HAS_OWN_MASK: Cell<bool> = const { Cell::new(false) };
}

/// Gives this thread a mask of its own, which other threads would share otherwise. Some containers refuse that: see [`Birth`].
pub(in super::super) fn separate() {
    // SAFETY: takes a number, and changes nothing but what this thread shares.
    HAS_OWN_MASK.set(unsafe { libc::unshare(libc::CLONE_FS) } == 0);
}

/// The mode of something new.
#[derive(Debug, Clone, Copy)]
pub(super) struct Birth {
    /// What the kernel is asked for.
    pub(super) mode: Mode,
    /// What must be set afterwards, because the mask of this process takes more away than the caller's.
    pub(super) repaired: Option<Mode>,
}

impl Birth {
    /// Something that a caller with this mask makes with this mode.
    pub(super) fn new(mode: u32, mask: u32) -> Self {
        static OWN: OnceLock<u32> = OnceLock::new();
        let mode = mode & 0o7777;
        if HAS_OWN_MASK.get() {
            return Self { mode: Mode::from_raw_mode(mode), repaired: None };
        }
        let own = *OWN.get_or_init(|| umask_of("self"));
        let wanted = Mode::from_raw_mode(mode & !mask);
        Self { mode: wanted, repaired: (wanted.as_raw_mode() & own != 0).then_some(wanted) }
    }
}

/// The masks of a command's processes. Asking the kernel takes longer than making a file.
#[derive(Debug, Default)]
pub(in super::super) struct Masks {
    /// True if a process has set its own.
    is_varied: AtomicBool,
    known: Mutex<HashMap<i32, u32>>,
}

impl Masks {
    /// The mask of a thread.
    pub(super) fn of(&self, thread: i32) -> u32 {
        /// Beside the first, whose number is no process's: the mask of all while nobody has set another.
        const MOST: usize = 256;
        let key = if self.is_varied.load(Ordering::Acquire) { thread } else { 0 };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() > MOST {
            known.clear();
        }
        *known.entry(key).or_insert_with(|| umask_of(&thread.to_string()))
    }

    /// Notes that a thread sets its mask.
    pub(in super::super) fn set(&self) {
        self.is_varied.store(true, Ordering::Release);
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
