//! For tests only: a sealed world, probes of processes, a kernel that refuses.

pub mod bench;
mod cli;
mod probe;
mod refuse;

pub use cli::{Finished, Run, World};
pub use probe::{
    Life, descriptors, living_with, resident_kib, state_of, wait_until, waiting_shell, zombie_children,
};
pub use refuse::{
    in_a_thread_without_clone3, in_a_thread_without_landlock, in_a_thread_without_namespaces, in_ci,
};
