//! Errors that say nothing about a file, only that this process or the machine has run out of something.

use std::io;

/// What could be had. None if the file is the reason that it could not, which is an answer; that we have run out is none, and
/// taken for one it would leave something unprotected, or have it put back as what it never was.
pub(super) fn unless_exhausted<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if is_exhaustion(&error) => Err(error),
        Err(_) => Ok(None),
    }
}

/// What could be had. None if nothing is there, or something else is on the way to it.
pub(super) fn if_there<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error)
            if [libc::ENOENT, libc::ENOTDIR, libc::ELOOP].map(Some).contains(&error.raw_os_error()) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Whether it is about descriptors or memory.
pub(super) fn is_exhaustion(error: &io::Error) -> bool {
    [libc::EMFILE, libc::ENFILE, libc::ENOMEM].map(Some).contains(&error.raw_os_error())
}
