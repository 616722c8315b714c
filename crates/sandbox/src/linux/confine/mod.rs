//! Making the kernel hold a command to a [`Confinement`](crate::Confinement).

mod account;
mod bpf;
mod calls;
mod cells;
mod child;
mod confined;
mod filter;
mod host;
mod identity;
mod mounting;
mod mounts;
mod names;
mod own_processes;
mod readable;
mod remove;
mod repositories;
mod room_filters;
mod rooms;
mod rules;
mod ruleset;
mod scratch;
mod snapshot;
mod state;

pub(super) use account::{NO_LISTENER, TreeHeld, room_report};
pub use cells::Temporary;
pub(super) use child::{Orders, raise_loopback};
pub use confined::Confined;
pub(super) use confined::{Known, Surroundings, capabilities};
pub use host::{has_seccomp, landlock};
pub(super) use host::{may_listen, may_mount};
pub(super) use identity::{IdMaps, Identity};
pub(super) use mounting::{identity_of, mount_cover, mount_proc, mount_shared_memory, mount_terminals};
pub(super) use mounts::Mounts;
pub(crate) use remove::empty_directory;
pub use remove::remove_tree;
pub(super) use repositories::open_beneath;
pub(super) use room_filters::Filters;
pub(super) use rooms::snapshot_of;
pub(super) use rooms::{Protected, RoomRules, RoomTree};
pub(super) use rules::Hold;
pub(super) use ruleset::{answered, marker};
pub(super) use snapshot::Snapshot;

/// A mount over a directory, if it is the one of that device and number, so that nothing in it can be changed.
pub(super) fn closed(path: &std::path::Path, file: (u64, u64)) -> Option<Mounts> {
    Mounts::of_one(path, file, mounts::Change::ReadOnly)
}

/// The same, so that everything in it can.
pub(super) fn opened(path: &std::path::Path, file: (u64, u64)) -> Option<Mounts> {
    Mounts::of_one(path, file, mounts::Change::Open)
}
