//! Ordinary programs in a room, the world that the commands of a workspace share.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod caches;
mod datagrams;
mod debuggers;
mod ending;
mod languages;
mod place;
mod rooms;
mod servers;
mod settings;
mod sharing;
mod terminals;
