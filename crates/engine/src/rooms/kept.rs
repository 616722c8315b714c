//! The rooms that are kept just now, for people who want to see or end them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bashtion_sandbox::{Room, RoomStatus, remove_tree};
use serde::{Serialize, Serializer};
use serde_json::json;

use super::{FOLDER, take_turn};
use crate::output::StateDir;

/// The rooms of a state directory.
///
/// ```
/// use bashtion::KeptRooms;
/// let dir = tempfile::tempdir().unwrap();
/// assert!(KeptRooms::new(Some(dir.path())).list()?.is_empty());
/// # Ok::<(), bashtion::RoomError>(())
/// ```
#[derive(Debug)]
pub struct KeptRooms {
    folder: PathBuf,
}

/// One room.
#[derive(Debug)]
pub struct KeptRoom {
    /// Its name.
    pub name: String,
    /// The workspaces whose commands share it.
    pub workspaces: Vec<PathBuf>,
    /// When it was made.
    pub started: SystemTime,
    /// Its commands, processes and ports.
    pub status: RoomStatus,
    room: Room,
}

/// An error about a room.
#[derive(Debug, thiserror::Error)]
pub enum RoomError {
    /// There is none of that name.
    #[error("there is no room {name}")]
    Unknown {
        /// The name.
        name: String,
    },
    /// None is kept for that workspace.
    #[error("no room is kept for {}", workspace.display())]
    NoneHere {
        /// The directory.
        workspace: PathBuf,
    },
    /// The room did not do what it was asked to.
    #[error("cannot {what} the room {name}")]
    Failed {
        /// The request.
        what: &'static str,
        /// Its name.
        name: String,
        /// Why.
        source: io::Error,
    },
    /// The state directory cannot be used.
    #[error("cannot use {}", path.display())]
    State {
        /// The directory.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
}

impl KeptRooms {
    /// Those of a state directory; the usual one if none is named.
    #[must_use]
    pub fn new(state_dir: Option<&Path>) -> Self {
        let state = StateDir::new(state_dir.map(Path::to_owned));
        Self { folder: state.path().join(FOLDER) }
    }

    /// All that are kept, by name.
    pub fn list(&self) -> Result<Vec<KeptRoom>, RoomError> {
        let mut rooms = vec![];
        for (name, room) in self.found()? {
            // One whose keeper was killed is none.
            let Ok(status) = room.status() else { continue };
            let workspaces = room.facts().confinement.workspaces.clone();
            let started = UNIX_EPOCH + Duration::from_millis(room.facts().started);
            rooms.push(KeptRoom { name, workspaces, started, status, room });
        }
        rooms.sort_by(|one, other| (&one.name, one.started).cmp(&(&other.name, other.started)));
        Ok(rooms)
    }

    /// All that a keeper of this version has written down, and their names. Not all of them need be there any more.
    fn found(&self) -> Result<Vec<(String, Room)>, RoomError> {
        let mut rooms = vec![];
        for name in self.names()? {
            let folder = self.folder.join(&name);
            for file in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let file = file.file_name();
                let Some(key) = file.to_str().and_then(|name| name.strip_suffix(".facts")) else { continue };
                if let Ok(Some(room)) = Room::find(&folder, key) {
                    rooms.push((name.clone(), room));
                }
            }
        }
        Ok(rooms)
    }

    /// Those of that name.
    pub fn named(&self, name: &str) -> Result<Vec<KeptRoom>, RoomError> {
        let rooms: Vec<_> = self.list()?.into_iter().filter(|room| room.name == name).collect();
        if rooms.is_empty() && !self.is_known(name) {
            return Err(RoomError::Unknown { name: name.to_owned() });
        }
        Ok(rooms)
    }

    /// Those whose workspace a directory lies in.
    pub fn of_directory(&self, directory: &Path) -> Result<Vec<KeptRoom>, RoomError> {
        let has = |room: &KeptRoom| room.workspaces.iter().any(|workspace| directory.starts_with(workspace));
        Ok(self.list()?.into_iter().filter(has).collect())
    }

    /// The names of those whose workspace a directory lies in, also if they do not answer.
    pub fn names_of_directory(&self, directory: &Path) -> Result<Vec<String>, RoomError> {
        let has = |room: &Room| {
            room.facts().confinement.workspaces.iter().any(|workspace| directory.starts_with(workspace))
        };
        let mut names: Vec<_> =
            self.found()?.into_iter().filter(|(_, room)| has(room)).map(|(name, _)| name).collect();
        names.dedup();
        Ok(names)
    }

    /// Ends all rooms of a name with everything that runs in them, and removes their files.
    ///
    /// A keeper of another version cannot be asked. It ends its room when it sees that the files are gone.
    pub fn end(&self, name: &str) -> Result<(), RoomError> {
        let failed = |source| RoomError::Failed { what: "end", name: name.to_owned(), source };
        if !self.is_known(name) {
            return Err(RoomError::Unknown { name: name.to_owned() });
        }
        let folder = self.folder.join(name);
        let _turn = take_turn(&folder).map_err(failed)?;
        for (_, room) in self.found()?.into_iter().filter(|(known, _)| known == name) {
            // It ends without its files, too.
            if let Err(error) = room.end() {
                tracing::debug!(name, %error, "a room did not answer");
            }
        }
        remove_tree(&folder).map_err(failed)
    }

    /// The names of all that have files, whether or not they are kept.
    pub fn names(&self) -> Result<Vec<String>, RoomError> {
        match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(vec![]),
            Err(source) => Err(RoomError::State { path: self.folder.clone(), source }),
            Ok(entries) => {
                let folders = entries.flatten().filter(|entry| entry.path().is_dir());
                let names = folders.map(|entry| entry.file_name().to_string_lossy().into_owned());
                let mut names: Vec<_> = names.filter(|name| !name.starts_with('.')).collect();
                names.sort();
                Ok(names)
            }
        }
    }

    fn is_known(&self, name: &str) -> bool {
        !name.is_empty() && !name.contains('/') && !name.starts_with('.') && self.folder.join(name).is_dir()
    }
}

impl KeptRoom {
    /// Makes one of its ports reachable on the host's loopback, and returns the port there. 0 is any that is free.
    pub fn expose(&self, port: u16, outside: u16) -> Result<u16, RoomError> {
        let failed = |source| RoomError::Failed { what: "expose a port of", name: self.name.clone(), source };
        self.room.expose(port, outside).map_err(failed)
    }
}

impl Serialize for KeptRoom {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let RoomStatus { commands, processes, ports, exposed, idle } = &self.status;
        let exposed: Vec<_> =
            exposed.iter().map(|(port, outside)| json!({ "port": port, "as": outside })).collect();
        json!({
            "room": self.name,
            "workspace": self.workspaces.first().map(|path| path.to_string_lossy()),
            "commands": commands,
            "processes": processes,
            "ports": ports,
            "exposed": exposed,
            "started": humantime::format_rfc3339_millis(self.started).to_string(),
            "idle_ms": u64::try_from(idle.as_millis()).unwrap_or(u64::MAX),
        })
        .serialize(serializer)
    }
}
