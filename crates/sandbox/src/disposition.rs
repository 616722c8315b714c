//! What this process does with a signal.
#![expect(unsafe_code, reason = "asking for it has no safe interface")]

use std::mem::MaybeUninit;
use std::ptr;

use crate::Signal;

impl Signal {
    /// Whether this process ignores it, as `nohup` has its programs ignore the hangup.
    #[must_use]
    pub fn is_ignored(self) -> bool {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: nothing is set, and what is written is as large as what it is written to.
        let asked = unsafe { libc::sigaction(self.as_raw(), ptr::null(), action.as_mut_ptr()) };
        // SAFETY: all zero is a valid value, and so is what the call has written.
        asked == 0 && unsafe { action.assume_init() }.sa_sigaction == libc::SIG_IGN
    }
}
