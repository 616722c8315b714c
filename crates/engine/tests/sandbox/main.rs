//! Confinement with the real kernel: what gets out without a sandbox must not get out of it, and work must go on.
//!
//! Every escape is first seen to succeed without the sandbox. What happened is looked at from outside.
// Without the real thing nothing would be held, and these commands are not to be let loose.
#![cfg(all(target_os = "linux", not(feature = "portable")))]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[macro_use]
mod scene;

mod descriptors;
mod files;
mod git;
mod kernel;
mod limits;
mod narrowing;
mod network;
mod planting;
mod processes;
mod racing;
mod scratch;
mod secrets;
mod stops;
mod told;
mod usability;
mod words;

use scene::{Hold, Scene};
