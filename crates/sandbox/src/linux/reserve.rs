//! A descriptor for looking at processes when there is no other: a tree that cannot be seen cannot be ended.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, PoisonError};

use rustix::fs::{Mode, OFlags};

use super::exhaustion::is_exhaustion;

static SPARE: Mutex<Option<OwnedFd>> = Mutex::new(None);

/// Keeps one from now on.
pub(super) fn keep() {
    let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
    *spare = spare.take().or_else(opened);
}

/// Does what needs a descriptor, in the place of the one that is kept if there is no other.
pub(super) fn with_spare<T>(act: impl Fn() -> io::Result<T>) -> io::Result<T> {
    let result = act();
    if !result.as_ref().is_err_and(is_exhaustion) {
        return result;
    }
    let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
    drop(spare.take());
    let result = act();
    *spare = opened();
    result
}

fn opened() -> Option<OwnedFd> {
    rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()
}
