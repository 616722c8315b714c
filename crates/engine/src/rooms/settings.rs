//! Settings of rooms.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Settings for the rooms of confined commands.
///
/// ```
/// use bashtion::{RoomChoice, RoomSettings, SandboxSettings};
/// let room = RoomSettings { choice: RoomChoice::Named("review".into()), ..RoomSettings::default() };
/// let settings = SandboxSettings { room, ..SandboxSettings::default() };
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoomSettings {
    /// Which room a command runs in.
    pub choice: RoomChoice,
    /// The time that a room is kept with nothing in it.
    pub idle: Duration,
    /// The time that unused files in its `/tmp` are kept.
    pub keep_tmp: Duration,
    /// The bytes that they may take; the oldest go first.
    pub keep_tmp_size: u64,
    /// The shells that wait in it for the next command: one, or none.
    pub pool: usize,
    /// Ports that are reachable on the host's loopback when the room is made.
    pub expose: Vec<u16>,
}

/// Which room a command runs in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RoomChoice {
    /// That of its workspace.
    #[default]
    OfWorkspace,
    /// Another one of its workspace.
    Named(String),
    /// One for this command alone, which ends with it.
    Alone,
}

impl Default for RoomSettings {
    fn default() -> Self {
        Self {
            choice: RoomChoice::default(),
            idle: Duration::from_secs(10 * 60),
            keep_tmp: Duration::from_secs(7 * 24 * 60 * 60),
            keep_tmp_size: 8 << 30,
            pool: 1,
            expose: vec![],
        }
    }
}
