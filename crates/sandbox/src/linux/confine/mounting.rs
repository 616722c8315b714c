//! The calls that arrange a file tree: system calls only, as in `exec.rs`.
#![expect(unsafe_code, reason = "raw system calls between clone and execve")]

use std::ffi::CStr;
use std::os::fd::RawFd;

use libc::c_long;

use super::calls::{address, call, size};
use super::mounts::{Bind, Change, Mounts};

impl Mounts {
    /// Takes what stays as it is out of the tree, and copies that are laid over something, before all else is made
    /// read-only and hidden.
    pub(in super::super) fn clone_kept(&self) -> bool {
        let early = self.laid_over.iter().filter(|bind| bind.is_early);
        self.kept.iter().chain(early).all(|bind| match changed(bind) {
            Some(fd) => {
                bind.fd.set(fd);
                true
            }
            None => false,
        })
    }

    pub(super) fn arrange(&self) -> bool {
        self.put_kept() && (!self.own_proc || mount_proc(&[(c"hidepid", c"ptraceable")])) && self.lay_over()
    }

    /// Makes everything read-only and puts what stays as it is back in its place.
    pub(in super::super) fn put_kept(&self) -> bool {
        make_read_only() && self.kept.iter().all(|bind| put(bind.fd.get(), &bind.target))
    }

    /// Lays what is unchanged or hidden over the rest.
    pub(in super::super) fn lay_over(&self) -> bool {
        let copy = |bind: &Bind| if bind.is_early { Some(bind.fd.get()) } else { changed(bind) };
        self.laid_over.iter().all(|bind| copy(bind).is_some_and(|fd| put(fd, &bind.target)))
    }
}

/// Everything, with what is mounted beneath; devices too, of which a few are among those kept.
fn make_read_only() -> bool {
    let attributes = Attributes {
        set: ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV,
        propagation: libc::MS_PRIVATE,
        ..NO_CHANGE
    };
    set_attributes(libc::AT_FDCWD, c"/", RECURSIVE, attributes)
}

/// `AT_RECURSIVE`
const RECURSIVE: i32 = 0x8000;
const ATTR_RDONLY: u64 = 1;
const ATTR_NOSUID: u64 = 2;
const ATTR_NODEV: u64 = 4;
const ATTR_NOEXEC: u64 = 8;
const NO_CHANGE: Attributes = Attributes { set: 0, clear: 0, propagation: 0, user_namespace: 0 };
const MOUNT_SETATTR: c_long = 442;

/// `struct mount_attr` of the kernel.
#[repr(C)]
#[derive(Clone, Copy)]
struct Attributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

fn set_attributes(fd: RawFd, path: &CStr, flags: i32, attributes: Attributes) -> bool {
    let flags = i64::from(flags);
    call(MOUNT_SETATTR, [fd.into(), path.as_ptr() as i64, flags, address(&attributes), size(&attributes)])
        .is_some()
}

/// A copy, changed as it is to be.
fn changed(bind: &Bind) -> Option<RawFd> {
    let fd = clone_tree(bind)?;
    let set = match bind.change {
        None => return Some(fd),
        Some(Change::ReadOnly) => ATTR_RDONLY,
        Some(Change::Harmless) => ATTR_NOSUID | ATTR_NODEV,
        Some(Change::Open) => {
            let attributes = Attributes { set: ATTR_NOSUID | ATTR_NODEV, clear: ATTR_RDONLY, ..NO_CHANGE };
            // Where the host itself has it read-only, it stays so.
            set_attributes(fd, c"", libc::AT_EMPTY_PATH | RECURSIVE, attributes);
            return Some(fd);
        }
        Some(Change::Closed) => ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV,
        Some(Change::Scaffold) => {
            let attributes = Attributes { set: ATTR_RDONLY, ..NO_CHANGE };
            return set_attributes(fd, c"", libc::AT_EMPTY_PATH, attributes).then_some(fd);
        }
    };
    let flags = libc::AT_EMPTY_PATH | RECURSIVE;
    set_attributes(fd, c"", flags, Attributes { set, ..NO_CHANGE }).then_some(fd)
}

/// A copy of the mount, and of those beneath it, that is nowhere yet. None also if another file is there by now.
fn clone_tree(bind: &Bind) -> Option<RawFd> {
    let fd = clone_path(&bind.source)?;
    if bind.file.is_some_and(|file| identity_of(fd) != Some(file)) {
        // SAFETY: the location is valid for the life of the thread.
        unsafe { *libc::__errno_location() = libc::ESTALE };
        return None;
    }
    Some(fd)
}

fn clone_path(path: &CStr) -> Option<RawFd> {
    const CLONE: i64 = 1;
    const RECURSIVE: i64 = 0x8000;
    let flags = CLONE | RECURSIVE | i64::from(libc::O_CLOEXEC | libc::AT_SYMLINK_NOFOLLOW);
    let fd = call(libc::SYS_open_tree, [libc::AT_FDCWD.into(), path.as_ptr() as i64, flags, 0, 0])?;
    RawFd::try_from(fd).ok()
}

/// The device and number of an open file.
pub(in super::super) fn identity_of(fd: RawFd) -> Option<(u64, u64)> {
    // SAFETY: plain numbers, for which zero is a value.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    call(libc::SYS_fstat, [fd.into(), (&raw mut stat) as i64, 0, 0, 0])?;
    Some((stat.st_dev, stat.st_ino))
}

fn put(fd: RawFd, target: &CStr) -> bool {
    const FROM_DESCRIPTOR: i64 = 4;
    let arguments =
        [fd.into(), c"".as_ptr() as i64, libc::AT_FDCWD.into(), target.as_ptr() as i64, FROM_DESCRIPTOR];
    let moved = call(libc::SYS_move_mount, arguments).is_some();
    // There are hundreds of them where there are many repositories.
    moved && call(libc::SYS_close, [fd.into(), 0, 0, 0, 0]).is_some()
}

/// A process table of one's own, for reading.
pub(in super::super) fn mount_proc(options: &[(&CStr, &CStr)]) -> bool {
    let attributes = ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV | ATTR_NOEXEC;
    new_file_system(c"proc", options, attributes).is_some_and(|fd| put(fd, c"/proc"))
}

/// The mount point of the cover for hidden directories, until shared memory is mounted over it.
pub(super) const COVER: &CStr = c"/dev/shm";

/// An empty directory that nobody can enter.
pub(in super::super) fn mount_cover() -> bool {
    let options = [(c"mode", c"000"), (c"size", c"4k")];
    let attributes = ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV;
    new_file_system(c"tmpfs", &options, attributes).is_some_and(|fd| put(fd, COVER))
}

/// Memory as files, for all that is shared.
pub(in super::super) fn mount_shared_memory() -> bool {
    let options = [(c"mode", c"1777"), (c"size", c"25%")];
    new_file_system(c"tmpfs", &options, ATTR_NOSUID | ATTR_NODEV).is_some_and(|fd| put(fd, COVER))
}

/// Pseudo-terminals of one's own. The device that makes them is the one in there, not the host's.
pub(in super::super) fn mount_terminals() -> bool {
    let options = [(c"ptmxmode", c"0666"), (c"mode", c"0620")];
    let mounted = new_file_system(c"devpts", &options, ATTR_NOSUID | ATTR_NOEXEC);
    mounted.is_some_and(|fd| put(fd, c"/dev/pts"))
        && clone_path(c"/dev/pts/ptmx").is_some_and(|fd| put(fd, c"/dev/ptmx"))
}

/// A new file system that is nowhere yet.
fn new_file_system(kind: &CStr, options: &[(&CStr, &CStr)], attributes: u64) -> Option<RawFd> {
    const SET_STRING: i64 = 1;
    const CREATE: i64 = 6;
    const CLOEXEC: i64 = 1;
    let context = call(libc::SYS_fsopen, [kind.as_ptr() as i64, CLOEXEC, 0, 0, 0])?;
    for (name, value) in options {
        let option = [context, SET_STRING, name.as_ptr() as i64, value.as_ptr() as i64, 0];
        call(libc::SYS_fsconfig, option)?;
    }
    call(libc::SYS_fsconfig, [context, CREATE, 0, 0, 0])?;
    let fd = call(libc::SYS_fsmount, [context, CLOEXEC, attributes.cast_signed(), 0, 0])?;
    call(libc::SYS_close, [context, 0, 0, 0, 0]);
    RawFd::try_from(fd).ok()
}
