//! The mode bits that new files shall not have.

use std::sync::OnceLock;

use rustix::fs::Mode;

static KNOWN: OnceLock<u32> = OnceLock::new();

/// Notes this program's own, for as long as it lives. To be called before there is a second thread, by a program that does
/// not change it: the only call that tells it sets it.
pub fn note_umask() {
    let umask = rustix::process::umask(Mode::empty());
    rustix::process::umask(umask);
    let _ = KNOWN.set(umask.bits());
}

/// None if nobody has noted it.
#[cfg_attr(
    not(all(target_os = "linux", target_pointer_width = "64", not(feature = "portable"))),
    expect(dead_code, reason = "there are no rooms")
)]
pub(crate) fn known() -> Option<u32> {
    KNOWN.get().copied()
}
