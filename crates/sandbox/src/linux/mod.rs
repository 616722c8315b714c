//! Starting a child on Linux without copying the caller's memory map.

mod cgroup;
mod clone;
mod exec;
mod mark;
mod orphans;
mod processes;
mod tag;
mod tree;

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};

use crate::Child;
use crate::spec::{Prepared, SpawnError, Step};
use cgroup::Cgroups;
use exec::Image;
use mark::Mark;
use orphans::Orphans;
pub use tree::Tree;

/// Starts children, and keeps what can serve more than one of them.
#[derive(Debug, Default)]
pub struct Sandbox {
    cgroups: Arc<Cgroups>,
    orphans: Option<Orphans>,
}

impl Sandbox {
    /// One that looks at what the host offers when the first child is started.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// One for a program that exists to run one command at a time: it becomes the parent of all orphans, so that none
    /// gets away or stays a zombie. Not for a host with other children, or with several commands at once.
    #[must_use]
    pub fn adopting_orphans() -> Self {
        Self { orphans: Orphans::adopt(), ..Self::default() }
    }

    /// Starts a child, and returns once it has become the program or has said why it cannot.
    ///
    /// Each way that the kernel or a container refuses is followed by the next plainer one.
    pub fn launch(&self, prepared: &Prepared) -> Result<Child, SpawnError> {
        let failed = |source| SpawnError::refused(Step::Prepare, source);
        let null = rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
            .map_err(|e| failed(e.into()))?;
        let null = Above::stderr(&null).map_err(failed)?;
        let stdout = Above::stderr(&prepared.stdout).map_err(failed)?;
        let stderr = Above::stderr(&prepared.stderr).map_err(failed)?;
        let cwd = Above::stderr(&prepared.cwd).map_err(failed)?;
        let argv = pointers(&prepared.args);
        let envp = pointers(&prepared.env);
        let image = |mark: &Mark| Image {
            program: prepared.program.as_ptr(),
            argv: argv.as_ptr(),
            envp: envp.as_ptr(),
            streams: [null.raw(), stdout.raw(), stderr.raw()],
            cwd: cwd.raw(),
            tag: mark.tag(),
            failure: None,
        };

        let mut mark = Mark::strongest(&self.cgroups);
        let (mut born, mut failure) = clone::start(image(&mark), mark.cgroup());
        if born.is_err() && mark.cgroup().is_some() {
            mark = Mark::without_cgroup();
            (born, failure) = clone::start(image(&mark), None);
        }
        let (pid, pidfd) = born.map_err(|e| SpawnError::refused(Step::Clone, e))?;
        let mut child = Child::new(pid, pidfd, Tree::new(pid, mark, self.orphans));
        if let Some(failure) = failure {
            // It has exited already; unreaped it would stay a zombie.
            let _ = child.wait();
            return Err(SpawnError::refused(failure.step, io::Error::from_raw_os_error(failure.errno)));
        }
        // Now, because the child takes a moment to get going anyway.
        self.cgroups.remove_those_of_dead_hosts();
        Ok(child)
    }
}

/// A descriptor that putting 0, 1 and 2 in place cannot overwrite: itself, or a copy where it is one of them.
enum Above<'a> {
    Itself(&'a OwnedFd),
    Copy(OwnedFd),
}

impl<'a> Above<'a> {
    fn stderr(fd: &'a OwnedFd) -> io::Result<Self> {
        if fd.as_raw_fd() > libc::STDERR_FILENO {
            return Ok(Self::Itself(fd));
        }
        Ok(Self::Copy(rustix::io::fcntl_dupfd_cloexec(fd, libc::STDERR_FILENO + 1)?))
    }

    fn raw(&self) -> RawFd {
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

fn pointers(strings: &[std::ffi::CString]) -> Vec<*const libc::c_char> {
    strings.iter().map(|s| s.as_ptr()).chain([ptr::null()]).collect()
}
