//! Confining and starting a child on Linux, without copying the caller's memory map.

mod apart;
mod cgroup;
mod clone;
mod confine;
mod descriptors;
mod exec;
mod exhaustion;
mod git;
mod hierarchies;
mod launch;
mod limits;
mod mark;
mod namespaces;
mod orphans;
mod processes;
mod room;
mod sockets;
mod tag;
mod tree;
mod wait;

pub(crate) use confine::empty_directory;
pub use confine::{Confined, Temporary, has_seccomp, landlock, remove_tree};
pub use descriptors::open_directory;
pub use launch::Sandbox;
pub(crate) use room::Member;
pub use room::{Room, Visit, Waited, keep};
pub use tree::Tree;
