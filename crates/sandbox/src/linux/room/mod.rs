//! Rooms: the commands of one workspace share one world.
//!
//! ```text
//! whoever runs a command ──order, descriptors──▶ spawner (process 1 of the room) ──vfork, exec──▶ bash
//!                        ◀─process, groups, end──        │ link
//!                                                   keeper (on the host)
//! ```
//!
//! The **keeper** makes the room and holds what lies outside: control groups, exposed ports, a watch for new repositories.
//! The **spawner** is the room's first process. It has entered namespaces and one Landlock domain that all commands share,
//! and starts shells on order. When the keeper ends, however it ends, the kernel ends the spawner and all that runs inside.

mod first;
mod groups;
mod keeper;
mod kept;
mod link;
mod member;
mod order;
mod packet;
mod ports;
mod shared;
mod spawner;
mod visit;
mod watch;

pub use keeper::keep;
pub use kept::Room;
pub(super) use kept::sockets_of_room;
pub(crate) use member::Member;
pub use visit::{Visit, Waited};
