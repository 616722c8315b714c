//! Making the kernel hold a command to a [`Confinement`](crate::Confinement).

mod account;
mod bpf;
mod child;
mod confined;
mod filter;
mod host;
mod mounts;
mod readable;
mod remove;
mod repositories;
mod rules;
mod ruleset;
mod scratch;
mod snapshot;
mod state;

pub(super) use account::TreeHeld;
pub(super) use child::{Identity, Orders, identity_of};
pub use confined::Confined;
pub(super) use confined::{Known, Surroundings};
pub(super) use host::may_mount;
pub use host::{has_seccomp, landlock};
pub(super) use rules::Hold;
pub use scratch::Temporary;
pub(super) use snapshot::Snapshot;
