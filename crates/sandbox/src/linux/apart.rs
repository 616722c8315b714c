//! A table of descriptors of one's own, for when that of this process is full: a tree that cannot be seen cannot be ended,
//! and what cannot be opened cannot be put back.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::thread;

/// Does something in a thread that has only these descriptors and the standard streams, so that it has room for others,
/// whatever the rest of the process opens meanwhile. It must use no other that was open before.
pub(super) fn apart<T: Send>(
    kept: &[BorrowedFd<'_>],
    act: impl FnOnce() -> io::Result<T> + Send,
) -> io::Result<T> {
    let kept: Vec<RawFd> = kept.iter().map(AsRawFd::as_raw_fd).collect();
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("bashtion-apart".to_owned()).spawn_scoped(scope, || {
            leave_only(kept)?;
            act()
        })?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn leave_only(mut kept: Vec<RawFd>) -> io::Result<()> {
    kept.extend([libc::STDIN_FILENO, libc::STDOUT_FILENO, libc::STDERR_FILENO]);
    kept.sort_unstable();
    let ends = kept.iter().skip(1).copied().chain([RawFd::MAX]);
    for (before, after) in kept.iter().zip(ends) {
        if after > before + 1 {
            close_between(before + 1, after - 1)?;
        }
    }
    Ok(())
}

#[expect(unsafe_code, reason = "a system call without a safe interface")]
fn close_between(first: RawFd, last: RawFd) -> io::Result<()> {
    const UNSHARE: libc::c_uint = 2;
    // SAFETY: the table is this thread's own from the first call on, so nobody else's descriptor is closed; and this thread
    // uses none of those that are.
    match unsafe { libc::syscall(libc::SYS_close_range, first, last, UNSHARE) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Read;
    use std::os::fd::AsFd;

    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    #[test]
    fn there_is_room_in_it_and_nobody_else_s_is_closed() {
        let before = getrlimit(Resource::Nofile);
        let kept = File::open("/proc/self/status").unwrap();
        setrlimit(Resource::Nofile, Rlimit { current: Some(64), maximum: before.maximum }).unwrap();
        let hoard: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
        assert!(File::open("/dev/null").is_err());
        let read = apart(&[kept.as_fd()], || {
            let others: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
            assert!(others.len() > hoard.len() / 2);
            let mut text = String::new();
            (&kept).read_to_string(&mut text)?;
            Ok(text)
        });
        assert!(read.unwrap().starts_with("Name:"));
        assert!(hoard.iter().all(|file| file.metadata().is_ok()));
        drop(hoard);
        setrlimit(Resource::Nofile, before).unwrap();
    }
}
