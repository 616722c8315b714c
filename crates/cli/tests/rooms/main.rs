//! Ordinary programs in a room, the world that the commands of a workspace share.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod caches;
mod datagrams;
mod debuggers;
mod ending;
mod groups;
mod hosts;
mod killed_keepers;
mod languages;
mod place;
mod pool;
mod rooms;
mod servers;
mod settings;
mod sharing;
mod silence;
mod terminals;
mod users;
mod versions;
mod without_namespaces;
