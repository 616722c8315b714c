//! The Landlock ruleset of a confinement.

use std::os::fd::OwnedFd;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, Scope,
};
use rustix::fs::{Mode, OFlags};

use super::mounts::DEVICES;

/// What the ruleset grants. All else of its kind is refused.
#[derive(Debug)]
pub(super) struct Grants<'a> {
    /// What may be changed.
    pub(super) writable: Vec<&'a Path>,
    /// What may be read.
    pub(super) readable: Vec<&'a Path>,
    /// Whether TCP is refused.
    pub(super) no_tcp: bool,
}

/// The newest that this was written for. Older kernels hold less, and the report says what.
const NEWEST: ABI = ABI::V7;

/// None where the kernel has no Landlock.
pub(super) fn ruleset(grants: &Grants<'_>) -> Result<Option<OwnedFd>, RulesetError> {
    let read = BitFlags::from(AccessFs::ReadFile);
    let write = AccessFs::from_write(NEWEST);
    let handled = write | read;
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(handled)?
        .scope(Scope::from_all(NEWEST))?;
    if grants.no_tcp {
        ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST))?;
    }
    let mut ruleset = ruleset.create()?;
    let readable = grants.readable.iter().map(|path| (*path, read));
    let writable = grants.writable.iter().map(|path| (*path, handled));
    let devices = DEVICES.iter().map(|path| (Path::new(path), handled));
    for (path, access) in readable.chain(writable).chain(devices) {
        // What has vanished cannot be granted, and need not be.
        let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        if let Ok(fd) = rustix::fs::open(path, flags, Mode::empty()) {
            ruleset = ruleset.add_rule(PathBeneath::new(fd, access))?;
        }
    }
    Ok(ruleset.into())
}
