//! How the descendants of one command are told from all other processes.

use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::Arc;

use super::cgroup::{Cgroups, Lease};
use super::tag::Tag;

/// Something every descendant inherits, whatever it does to its session, parent or environment.
#[derive(Debug)]
pub(super) enum Mark {
    /// A control group of its own: killed at one stroke, and changes nothing that the command can see.
    Cgroup(Lease),
    /// An unusual value of a limit that limits nothing, for hosts where no control group can be made.
    Tag(Tag),
    /// Neither can be had: only the session, the process group and the line of parents are known.
    Kinship,
}

impl Mark {
    pub(super) fn strongest(cgroups: &Arc<Cgroups>) -> io::Result<Self> {
        Ok(cgroups.lease()?.map_or_else(Self::without_cgroup, Self::Cgroup))
    }

    pub(super) fn without_cgroup() -> Self {
        Tag::unique().map_or(Self::Kinship, Self::Tag)
    }

    pub(super) fn cgroup(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Cgroup(cgroup) => Some(cgroup.fd()),
            Self::Tag(_) | Self::Kinship => None,
        }
    }

    /// What looking at it needs.
    pub(super) fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        match self {
            Self::Cgroup(cgroup) => cgroup.descriptors().to_vec(),
            Self::Tag(_) | Self::Kinship => vec![],
        }
    }

    /// Where its control group is.
    pub(super) fn directory(&self) -> Option<&Path> {
        match self {
            Self::Cgroup(cgroup) => Some(cgroup.path()),
            Self::Tag(_) | Self::Kinship => None,
        }
    }

    pub(super) fn tag(&self) -> Option<u64> {
        match self {
            Self::Tag(tag) => Some(tag.value()),
            Self::Cgroup(_) | Self::Kinship => None,
        }
    }
}
