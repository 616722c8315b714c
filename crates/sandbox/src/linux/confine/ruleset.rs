//! The Landlock ruleset of a confinement.

use std::error::Error;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::{io, iter};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, Scope,
};
use rustix::fs::{Mode, OFlags};

use super::super::exhaustion::{is_exhaustion, unless_exhausted};
use super::mounting::identity_of;
use super::mounts::DEVICES;
use crate::imp::git::Fence;
use crate::{ConfineError, Confinement};

/// What the ruleset grants. All else of its kind is refused.
#[derive(Debug)]
pub(super) struct Grants<'a> {
    /// What may be changed.
    pub(super) writable: Vec<&'a Path>,
    /// Of these, where the host makes names and opens files for writing, and the command itself cannot.
    pub(super) answered: &'a [PathBuf],
    /// The layer that keeps what must stay there.
    pub(super) fence: Fence,
    /// What may be read.
    pub(super) readable: Vec<&'a Path>,
    /// Copies that may be read, each if it is the file of that device and number.
    pub(super) copies: Vec<(&'a Path, (u64, u64))>,
    /// Whether TCP is refused.
    pub(super) no_tcp: bool,
}

/// The newest that this was written for. Older kernels hold less, and the report says what.
const NEWEST: ABI = ABI::V7;

/// None where the kernel has no Landlock.
pub(super) fn ruleset(grants: &Grants<'_>) -> Result<Option<OwnedFd>, ConfineError> {
    ruleset_with(grants, &[])
}

/// The same, with directories that may be changed whatever their paths lead to by now.
pub(super) fn ruleset_with(
    grants: &Grants<'_>,
    own: &[BorrowedFd<'_>],
) -> Result<Option<OwnedFd>, ConfineError> {
    let read = BitFlags::from(AccessFs::ReadFile);
    let write = AccessFs::from_write(NEWEST);
    let handled = write | read;
    let by_the_host = by_the_host(grants.fence);
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(handled)?
        .scope(Scope::from_all(NEWEST))?;
    if grants.no_tcp {
        ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST))?;
    }
    let mut ruleset = ruleset.create()?;
    let writable = grants.writable.iter().copied().chain(DEVICES.iter().map(Path::new));
    for path in writable {
        if let Some(fd) = opened(path)? {
            let is_answered = grants.answered.iter().any(|answered| answered == path);
            let rights = if is_answered { handled & !by_the_host } else { handled };
            ruleset = ruleset.add_rule(PathBeneath::new(fd, rights))?;
        }
    }
    for directory in own {
        ruleset = ruleset.add_rule(PathBeneath::new(directory, handled))?;
    }
    let ruleset: Option<OwnedFd> = ruleset.into();
    if let Some(ruleset) = &ruleset {
        for path in &grants.readable {
            opened(path)?.iter().for_each(|fd| allow_reading(ruleset, fd));
        }
        for (path, copy) in &grants.copies {
            let opened = opened(path)?;
            let found = opened.iter().filter(|fd| identity_of(fd.as_raw_fd()) == Some(*copy));
            found.for_each(|fd| allow_reading(ruleset, fd));
        }
    }
    Ok(ruleset)
}

/// What commands may not do by themselves where the host answers for names. Sockets are bound without asking.
fn by_the_host(fence: Fence) -> BitFlags<AccessFs> {
    let names = AccessFs::MakeReg | AccessFs::MakeDir | AccessFs::MakeSym | AccessFs::MakeFifo;
    let written = names | AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::WriteFile | AccessFs::Truncate;
    match fence {
        // Mounts keep what must stay, and a command removes the rest by itself.
        Fence::Mounts => written,
        Fence::Landlock => written | AccessFs::RemoveFile | AccessFs::RemoveDir,
    }
}

/// The writable directories in which the host makes names and opens files for writing in a command's place: workspaces, what lies
/// in them, and what they lie in, for Landlock grants a right that any directory around a file has.
pub(in super::super) fn answered(confinement: &Confinement, fence: Fence) -> Vec<PathBuf> {
    // In a file tree of its own these are a command's, and the host's otherwise.
    let own: &[&str] = match fence {
        Fence::Mounts => &["/tmp", "/var/tmp"],
        Fence::Landlock => &[],
    };
    let is_near = |path: &PathBuf| {
        let mut workspaces = confinement.workspaces.iter();
        workspaces.any(|root| path.starts_with(root) || root.starts_with(path))
    };
    let writable = confinement.writable.iter().cloned().chain(own.iter().map(PathBuf::from));
    writable.filter(is_near).collect()
}

/// A layer that refuses nothing that anybody could do, but makes a domain of its own: its processes cannot trace those
/// outside of it. None where the kernel has no Landlock.
pub(in super::super) fn marker() -> Result<Option<OwnedFd>, ConfineError> {
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::MakeBlock | AccessFs::Refer)?
        .create()?;
    // Moving files between directories is refused by every layer that does not grant it:
    // https://docs.kernel.org/userspace-api/landlock.html#filesystem-flags
    if let Some(root) = opened(Path::new("/"))? {
        ruleset = ruleset.add_rule(PathBeneath::new(root, AccessFs::Refer))?;
    }
    Ok(ruleset.into())
}

/// None if it has vanished: it cannot be granted then, and need not be.
fn opened(path: &Path) -> Result<Option<OwnedFd>, ConfineError> {
    let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let opened = rustix::fs::open(path, flags, Mode::empty()).map_err(io::Error::from);
    unless_exhausted(opened).map_err(|source| ConfineError::Exhausted { source })
}

impl From<RulesetError> for ConfineError {
    fn from(error: RulesetError) -> Self {
        let causes = iter::successors(Some(&error as &dyn Error), |&error| error.source());
        let mut codes = causes.filter_map(|error| error.downcast_ref::<io::Error>()?.raw_os_error());
        match codes.next().map(io::Error::from_raw_os_error).filter(is_exhaustion) {
            Some(source) => Self::Exhausted { source },
            None => Self::Rules { what: error.to_string() },
        }
    }
}

/// There are hundreds of these, and the crate would look at each file first to see which rights it can have.
#[expect(unsafe_code, reason = "a system call without a safe interface")]
fn allow_reading(ruleset: &OwnedFd, file: &OwnedFd) {
    let beneath = Beneath::reading(file.as_raw_fd());
    // SAFETY: the attribute is a live value of the layout that the kernel documents.
    let result = unsafe {
        libc::syscall(libc::SYS_landlock_add_rule, ruleset.as_raw_fd(), PATH_BENEATH, &raw const beneath, 0)
    };
    debug_assert_eq!(result, 0, "reading is a right that every version knows");
}

/// `struct landlock_path_beneath_attr` of the kernel.
#[repr(C, packed)]
pub(super) struct Beneath {
    allowed: u64,
    file: RawFd,
}

pub(super) const PATH_BENEATH: libc::c_int = 1;

impl Beneath {
    pub(super) fn reading(file: RawFd) -> Self {
        const READ_FILE: u64 = 4;
        Self { allowed: READ_FILE, file }
    }
}
