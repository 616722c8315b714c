//! Finding the room of a workspace, or making it.
//!
//! A room is a folder in `private/rooms`: its `tmp` and `var-tmp`, a lock under which it is made, and the sockets and facts
//! of those that are kept just now, each named by a key over everything that decides what the room is. A command whose
//! request differs in that has another key, and so another room, which shares the folder.

mod examine;
mod keeper;
mod kept;
mod settings;
mod temporary;
mod wanted;

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bashtion_sandbox::{Network, OwnFile, ResourceLimits, Room, SpawnError, Step, Visit, remove_tree};
use rustix::fs::{FlockOperation, flock};

pub use examine::RoomExamination;
pub(crate) use keeper::keep_if_asked;
pub use kept::{KeptRoom, KeptRooms, RoomError};
pub use settings::{RoomChoice, RoomSettings};
pub(crate) use temporary::SharedTemporary;
pub(crate) use wanted::Wanted;

use crate::output::StateDir;
use keeper::Assignment;

/// The folder of rooms, in what commands cannot see.
pub(crate) const FOLDER: &str = "private/rooms";

/// Rooms that this engine has used.
#[derive(Debug, Default)]
pub(crate) struct Rooms {
    known: Mutex<Vec<Known>>,
}

/// A room as it was found, and which file said so.
#[derive(Debug)]
struct Known {
    key: String,
    file: (u64, i64, i64),
    room: Arc<Room>,
}

/// A place in a room.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) room: Arc<Room>,
    /// The name of the room.
    pub(crate) name: String,
    /// The host's directory that is `/tmp` inside.
    pub(crate) temporary: PathBuf,
}

impl Entry {
    /// Returns the host's path of something in the room's own directories.
    pub(crate) fn on_host(&self, path: &Path, workspace: &Path) -> Option<PathBuf> {
        let own = [("/tmp", self.temporary.clone()), ("/var/tmp", self.temporary.with_file_name("var-tmp"))];
        let (inside, outside) = own.into_iter().find(|(inside, _)| path.starts_with(inside))?;
        may_be_of_room(path, workspace)
            .then(|| path.strip_prefix(inside).map_or_else(|_| outside.clone(), |rest| outside.join(rest)))
    }
}

/// Returns true if a path outside the workspaces lies in a directory that each room has of its own.
pub(crate) fn may_be_of_room(path: &Path, workspace: &Path) -> bool {
    let is_plain = path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    is_plain && ["/tmp", "/var/tmp"].iter().any(|own| path.starts_with(own)) && !path.starts_with(workspace)
}

/// Why there is no room. The command has a world of its own then.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoRoom {
    #[error("the folder of the room cannot be used")]
    Folder { source: io::Error },
    #[error("its keeper could not be started")]
    Keeper { source: io::Error },
    #[error("its keeper was ended before the room was ready")]
    KeeperKilled,
    #[error("this machine does not allow it")]
    Refused { source: SpawnError },
}

impl Rooms {
    /// The room that is wanted: the one that is kept, or a new one.
    pub(crate) fn enter(&self, wanted: &Wanted) -> Result<Entry, NoRoom> {
        let place = Place::of(wanted);
        if let Some(room) = self.find(&place).filter(|room| room.facts().is_current()) {
            return Ok(place.entry(room));
        }
        self.make(wanted, &place)
    }

    /// The same, after a room turned out to be gone.
    pub(crate) fn enter_again(&self, wanted: &Wanted) -> Result<Entry, NoRoom> {
        self.known().clear();
        let place = Place::of(wanted);
        self.make(wanted, &place)
    }

    /// Reads what the keeper wrote down, if it has changed since the last time.
    fn find(&self, place: &Place) -> Option<Arc<Room>> {
        const MOST: usize = 16;
        let metadata = fs::metadata(place.folder.join(format!("{}.facts", place.key))).ok()?;
        let file = (metadata.ino(), metadata.mtime(), metadata.mtime_nsec());
        let mut known = self.known();
        if let Some(known) = known.iter().find(|known| known.key == place.key && known.file == file) {
            return Some(Arc::clone(&known.room));
        }
        let room = Arc::new(Room::find(&place.folder, &place.key).ok()??);
        known.retain(|known| known.key != place.key);
        known.push(Known { key: place.key.clone(), file, room: Arc::clone(&room) });
        if known.len() > MOST {
            known.remove(0);
        }
        Some(room)
    }

    /// One at a time, so that of any number of processes one makes it.
    fn make(&self, wanted: &Wanted, place: &Place) -> Result<Entry, NoRoom> {
        let folder = |source| NoRoom::Folder { source };
        let refusal = Refusal::of(wanted.state.path());
        if let Some(source) = refusal.fresh().filter(|_| self.find(place).is_none()) {
            return Err(NoRoom::Refused { source });
        }
        place.prepare(&wanted.state).map_err(folder)?;
        let _turn = place.take_turn().map_err(folder)?;
        if let Some(room) = self.find(place) {
            let alive = room.status().is_ok();
            let can_serve = wanted.settings.network == Network::Off || place.has_spawner("host");
            // What is new on the host is seen by a new room only; but not for that is ended what runs in this one.
            if alive && !can_serve {
                room.end_if_idle().map_err(folder)?;
            }
            if alive && can_serve && (room.facts().is_current() || !room.end_if_idle().unwrap_or(true)) {
                return Ok(place.entry(room));
            }
        }
        self.known().retain(|known| known.key != place.key);
        let assignment = Assignment::of(wanted, place).map_err(folder)?;
        start(&assignment, &wanted.program).inspect_err(|error| {
            refusal.remember(error);
            if wanted.alone.is_some() {
                let _ = remove_tree(&place.folder);
            }
        })?;
        place.end_idle_others();
        let room = self.find(place).ok_or(NoRoom::Keeper { source: io::ErrorKind::NotFound.into() })?;
        for port in &wanted.settings.room.expose {
            if let Err(error) = room.expose(*port, *port) {
                tracing::warn!(port, %error, "cannot make a port of the room reachable");
            }
        }
        Ok(place.entry(room))
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Vec<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts a keeper; another one if somebody kills it before anything could run in its room.
fn start(assignment: &Assignment, program: &Path) -> Result<(), NoRoom> {
    const TRIES: usize = 3;
    let mut started = assignment.start(program);
    for _ in 1..TRIES {
        if !matches!(started, Err(NoRoom::KeeperKilled)) {
            break;
        }
        started = assignment.start(program);
    }
    started
}

/// Returns true if this machine lets nobody have namespaces, by a note that was made when it refused a room. `probe` finds
/// out whether a command by itself lacks them, too, once.
pub(crate) fn lacks_namespaces(state: &StateDir, probe: impl FnOnce() -> bool) -> bool {
    Refusal::of(state.path()).is_of_all(probe)
}

/// A note that this machine lets nobody have namespaces, so that not every command tries in vain.
struct Refusal(PathBuf);

impl Refusal {
    fn of(state: &Path) -> Self {
        Self(state.join(FOLDER).join(".refused"))
    }

    /// The refusal, if it is not long ago.
    fn fresh(&self) -> Option<SpawnError> {
        const HOLDS: Duration = Duration::from_secs(10 * 60);
        let age = fs::metadata(&self.0).ok()?.modified().ok()?.elapsed().ok()?;
        let source = io::ErrorKind::PermissionDenied.into();
        (age < HOLDS).then_some(SpawnError::Refused { step: Step::Namespaces, source })
    }

    /// Returns true if not even a command by itself can have any. Containers often allow namespaces and refuse `/proc`.
    fn is_of_all(&self, probe: impl FnOnce() -> bool) -> bool {
        const NONE: &str = "none";
        const SOME: &str = "some";
        let mut known = String::new();
        let read = OwnFile::Reading.open(&self.0).and_then(|mut file| file.read_to_string(&mut known));
        match read.map(|_| known.as_str()) {
            Ok("") => {
                let lacks_all = probe();
                self.write(if lacks_all { NONE } else { SOME });
                lacks_all
            }
            Ok(known) => known == NONE,
            Err(_) => false,
        }
    }

    /// Not one that may be over in a moment, such as too many in use.
    fn remember(&self, error: &NoRoom) {
        if let NoRoom::Refused { source: SpawnError::Refused { step: Step::Namespaces, source } } = error
            && matches!(source.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported)
        {
            self.write("");
        }
    }

    fn write(&self, text: &str) {
        let _ = OwnFile::Replacing.open(&self.0).and_then(|mut file| file.write_all(text.as_bytes()));
    }
}

/// The place of a room: its folder, its name and its key.
#[derive(Debug)]
struct Place {
    folder: PathBuf,
    name: String,
    key: String,
}

impl Place {
    fn of(wanted: &Wanted) -> Self {
        let name = wanted.room_name();
        Self { folder: wanted.state.path().join(FOLDER).join(&name), key: wanted.key(), name }
    }

    fn entry(&self, room: Arc<Room>) -> Entry {
        Entry { room, name: self.name.clone(), temporary: self.temporary() }
    }

    fn temporary(&self) -> PathBuf {
        self.folder.join("tmp")
    }

    fn var_temporary(&self) -> PathBuf {
        self.folder.join("var-tmp")
    }

    fn prepare(&self, state: &StateDir) -> io::Result<()> {
        state.folder("private")?;
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        for path in [self.temporary(), self.var_temporary()] {
            match DirBuilder::new().mode(0o700).create(&path) {
                // As programs expect it. Nobody else comes as far as here.
                Ok(()) => fs::set_permissions(&path, fs::Permissions::from_mode(0o1777))?,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Returns true if commands on that network can be started in it.
    fn has_spawner(&self, kind: &str) -> bool {
        self.folder.join(format!("{}.{kind}", self.key)).exists()
    }

    fn take_turn(&self) -> io::Result<File> {
        take_turn(&self.folder)
    }

    /// Rooms of the same folder that nobody will enter any more, unless something runs in them.
    fn end_idle_others(&self) {
        for file in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = file.file_name();
            let key = name.to_str().and_then(|name| name.strip_suffix(".facts"));
            if let Some(key) = key.filter(|key| *key != self.key) {
                // Those of other versions end by themselves.
                if let Ok(Some(room)) = Room::find(&self.folder, key) {
                    let _ = room.end_if_idle();
                }
                Room::remove_if_dead(&self.folder, key);
            }
        }
    }
}

fn take_turn(folder: &Path) -> io::Result<File> {
    let file = OwnFile::Keeping.open(&folder.join("lock"))?;
    rustix::io::retry_on_intr(|| flock(&file, FlockOperation::LockExclusive))?;
    Ok(file)
}

impl Wanted {
    /// A command's stay in the room.
    pub(crate) fn visit(&self, entry: &Entry) -> Visit {
        // What is usual here was found out when the room was made.
        let (said, usual) = (self.settings.limits, entry.room.facts().confinement.limits);
        Visit {
            room: Arc::clone(&entry.room),
            name: entry.name.clone(),
            network: self.settings.network,
            attended: self.attended,
            sockets: self.sockets.clone(),
            limits: ResourceLimits {
                memory: said.memory.or(usual.memory),
                processes: said.processes.or(usual.processes),
                ..said
            },
            again: None,
        }
    }
}
