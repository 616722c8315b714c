//! Rooms on this host, for people who want to know whether there can be any.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Arc;

use bashtion_sandbox::{landlock, remove_tree};

use super::{KeptRooms, RoomChoice, RoomSettings, Rooms, Wanted};
use crate::engine::Settings;
use crate::output::StateDir;
use crate::places::Places;
use crate::tasks::supervisor;
use crate::{SandboxSettings, causes};

/// Rooms on this host, found out by making one.
///
/// ```
/// let dir = tempfile::tempdir().unwrap();
/// let rooms = bashtion::RoomExamination::of_this_host(Some(dir.path()), dir.path());
/// assert_eq!(rooms.kept, 0);
/// assert_eq!(rooms.shared().len() + rooms.not_shared().len(), 5);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RoomExamination {
    /// Why no room can be made; none if one was.
    pub problem: Option<String>,
    /// The number of rooms that are kept now.
    pub kept: usize,
}

/// Everything that commands of a room share.
const SHARED: [&str; 5] = ["$TMPDIR", "/tmp", "/dev/shm", "loopback", "processes"];

impl RoomExamination {
    /// Makes a room for a workspace of its own in `temporary`, and ends it. Counts those of a state directory.
    #[must_use]
    pub fn of_this_host(state_dir: Option<&Path>, temporary: &Path) -> Self {
        let problem = match landlock().problem() {
            Some(problem) => Some(problem.to_owned()),
            None => make_one(temporary).err(),
        };
        Self { problem, kept: KeptRooms::new(state_dir).list().map_or(0, |rooms| rooms.len()) }
    }

    /// Lists what commands of one workspace share here.
    #[must_use]
    pub fn shared(&self) -> &'static [&'static str] {
        if self.problem.is_none() { &SHARED } else { &SHARED[..1] }
    }

    /// Lists what they would share in a room, and do not here.
    #[must_use]
    pub fn not_shared(&self) -> &'static [&'static str] {
        if self.problem.is_none() { &[] } else { &SHARED[1..] }
    }
}

fn make_one(temporary: &Path) -> Result<(), String> {
    let failed = |error: io::Error| causes(&error);
    // Whoever comes next removes it if this process is killed.
    let name = format!("bashtion-{}-{}", std::process::id(), crate::short_name::random("doctor-"));
    let directory = temporary.join(name);
    DirBuilder::new().mode(0o700).create(&directory).map_err(failed)?;
    let made = make_one_in(&directory);
    let _ = remove_tree(&directory);
    made
}

fn make_one_in(directory: &Path) -> Result<(), String> {
    let failed = |error: io::Error| causes(&error);
    let workspace = directory.join("work");
    fs::create_dir(&workspace).map_err(failed)?;
    let workspace = workspace.canonicalize().map_err(failed)?;
    let room = RoomSettings { choice: RoomChoice::Alone, ..RoomSettings::default() };
    let wanted = Wanted {
        settings: SandboxSettings { room, ..SandboxSettings::default() },
        state: StateDir::new(Some(directory.join("state"))),
        program: supervisor(&Settings::default()).map_err(|error| causes(&error))?,
        workspaces: vec![workspace.clone()],
        own: vec![],
        workspace,
        home: None,
        moved: vec![],
        search_path: None,
        shell: "/bin/bash".into(),
        places: Arc::new(Places::default()),
        attended: true,
        sockets: vec![],
        alone: Some("alone".to_owned()),
    };
    let entry = Rooms::default().enter(&wanted).map_err(|error| causes(&error))?;
    entry.room.end().map_err(failed)
}
