//! Descriptors on their way to a child.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

/// A descriptor that putting 0, 1 and 2 in place cannot overwrite: itself, or a copy where it is one of them.
pub(super) enum Above<'a> {
    Itself(&'a OwnedFd),
    Copy(OwnedFd),
}

impl<'a> Above<'a> {
    pub(super) fn stderr(fd: &'a OwnedFd) -> io::Result<Self> {
        if fd.as_raw_fd() > libc::STDERR_FILENO {
            return Ok(Self::Itself(fd));
        }
        Ok(Self::Copy(rustix::io::fcntl_dupfd_cloexec(fd, libc::STDERR_FILENO + 1)?))
    }

    pub(super) fn raw(&self) -> RawFd {
        match self {
            Self::Itself(fd) => fd.as_raw_fd(),
            Self::Copy(fd) => fd.as_raw_fd(),
        }
    }
}

/// Opens a directory to become the working directory, and tells where it really is. Reading it need not be allowed.
///
/// The kernel is asked for the path of what was opened, so no link can be turned in between.
pub fn open_directory(path: &Path) -> io::Result<(OwnedFd, PathBuf)> {
    let fd = rustix::fs::open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let real = std::fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd()));
    let real = real.or_else(|_| path.canonicalize())?;
    // It may have been removed since, and be called "/gone (deleted)".
    let (opened, named) = (rustix::fs::fstat(&fd)?, rustix::fs::stat(&real)?);
    if (opened.st_dev, opened.st_ino) != (named.st_dev, named.st_ino) {
        return Err(io::ErrorKind::NotFound.into());
    }
    Ok((fd, real))
}
