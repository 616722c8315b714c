//! Descriptors for when there are no others: a tree that cannot be seen cannot be ended, and what cannot be opened not be
//! put back.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, PoisonError};

use rustix::fs::{Mode, OFlags};

use super::exhaustion::is_exhaustion;

static SPARE: Mutex<Vec<OwnedFd>> = Mutex::new(vec![]);

/// Keeps some from now on.
pub(super) fn keep() {
    fill(&mut SPARE.lock().unwrap_or_else(PoisonError::into_inner));
}

/// Does what needs a descriptor, in the place of one that is kept if there is no other.
pub(super) fn with_spare<T>(act: impl Fn() -> io::Result<T>) -> io::Result<T> {
    let result = act();
    if !result.as_ref().is_err_and(is_exhaustion) {
        return result;
    }
    let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
    drop(spare.pop());
    let result = act();
    fill(&mut spare);
    result
}

fn fill(spare: &mut Vec<OwnedFd>) {
    /// A directory, its list, and a file in it.
    const ENOUGH: usize = 3;
    while spare.len() < ENOUGH
        && let Ok(opened) = rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
    {
        spare.push(opened);
    }
}
