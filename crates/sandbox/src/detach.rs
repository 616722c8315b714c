//! Leaving whoever started this process.
#![expect(unsafe_code, reason = "a process cannot leave its parent without forking")]

use std::io;

/// Goes on in a new process that belongs to nobody: no parent that waits, no terminal, a session of its own.
///
/// To be called first of all in `main`: only the calling thread goes on, so there must be no other.
pub fn detach() -> io::Result<()> {
    // SAFETY: by contract there is one thread, so no lock can be held by another that vanishes.
    match unsafe { libc::fork() } {
        -1 => return Err(io::Error::last_os_error()),
        0 => {}
        // SAFETY: ends this process without running the exit handlers that the other one will run.
        _ => unsafe { libc::_exit(0) },
    }
    rustix::process::setsid()?;
    Ok(())
}
