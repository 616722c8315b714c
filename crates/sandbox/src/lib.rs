//! Spawns one command and keeps hold of every process it starts.
//!
//! Responsible for everything between "this is what shall run" ([`Spec`]) and "nothing of it is alive":
//! the child's session, descriptors, signals and working directory; the exact error when it cannot start;
//! finding, signalling and killing its whole [`Tree`]. All unsafe code of the workspace is in this crate.
//!
//! Not responsible for deadlines, output or policy: those are the engine's. It knows no async runtime.
//!
//! ```
//! use bashtion_sandbox::{Exit, Output, Sandbox, Spec, World};
//! use std::{ffi::OsString, fs::File, io::Read};
//!
//! let (mut read, write) = std::io::pipe()?;
//! let spec = Spec {
//!     program: "/bin/bash".into(),
//!     args: ["bash", "-c", "echo hello"].map(OsString::from).to_vec(),
//!     env: vec![],
//!     cwd: File::open("/")?.into(),
//!     cwd_path: "/".into(),
//!     world: World::Host,
//! };
//! let output = Output { stdout: write.try_clone()?.into(), stderr: write.into() };
//! let mut child = Sandbox::new().launch(&spec.prepare()?, &output)?;
//! drop(output);
//! let mut text = String::new();
//! read.read_to_string(&mut text)?;
//! assert_eq!(text, "hello\n");
//! assert_eq!(child.wait()?.0, Exit::Code(0));
//! assert!(child.tree().members()?.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod child;
mod confinement;
mod detach;
mod disposition;
mod exit;
mod own_directory;
mod own_file;
mod report;
#[cfg_attr(
    not(all(target_os = "linux", target_pointer_width = "64", not(feature = "portable"))),
    expect(dead_code, reason = "there are no rooms")
)]
mod room;
mod spec;
mod umask;
#[cfg_attr(
    not(all(target_os = "linux", target_pointer_width = "64", not(feature = "portable"))),
    expect(dead_code, reason = "there are no rooms")
)]
mod wire;

#[cfg(all(target_os = "linux", target_pointer_width = "64", not(feature = "portable")))]
#[path = "linux/mod.rs"]
mod imp;
#[cfg(not(all(target_os = "linux", target_pointer_width = "64", not(feature = "portable"))))]
#[path = "portable.rs"]
mod imp;

pub use child::Child;
pub use confinement::{
    ConfineError, Confinement, Limit, Mode, Namespaces, Network, Requirement, ResourceLimits, Restored,
    Restoring, Stopped, StoppedBy,
};
pub use detach::detach;
pub use exit::{Exit, Signal, UnknownSignal, Usage};
pub use imp::{
    Confined, Room, Sandbox, Temporary, Tree, Visit, Waited, has_seccomp, keep, landlock, open_directory,
    remove_tree,
};
pub use own_directory::OwnDirectory;
pub use own_file::{OwnFile, check_own_file};
pub use report::{Enforced, Landlock, Report};
pub use room::{KnownRepository, KnownSettings, ROOM_VERSION, RoomFacts, RoomPlan, RoomStatus, Stamp};
pub use spec::{Output, Piping, Prepared, Process, SpawnError, Spec, Step, World};
pub use umask::note_umask;
