//! Starting a room's keeper, which is this program again.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use bashtion_sandbox::{
    Confinement, KnownSettings, ResourceLimits, RoomPlan, Sandbox, SpawnError, Step, remove_tree,
};
use serde::{Deserialize, Serialize};

use super::temporary::KeptFiles;
use super::wanted::Wanted;
use super::{NoRoom, Place, RoomChoice};
use crate::confine::{expand, limits_or_usual};
use crate::places::{FoundSettings, Whereabouts, followed};
use crate::servant;

/// The first argument of a keeper. Nobody types it.
const ARGUMENT: &str = "__keep";

/// The instructions of a keeper: the room, and what becomes of its files.
#[derive(Debug)]
pub(super) struct Assignment {
    plan: RoomPlan,
    files: Files,
}

/// The fate of a room's files when it has ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Files {
    /// True if they are removed with the room.
    is_alone: bool,
    kept: KeptFiles,
}

/// The answer of a keeper.
#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Ready,
    Refused { step: String, errno: Option<i32>, message: String },
}

impl Assignment {
    /// Looks around: what is secret, what caches there are.
    pub(super) fn of(wanted: &Wanted, place: &Place) -> io::Result<Self> {
        let settings = &wanted.settings;
        let whereabouts = Whereabouts {
            home: wanted.home.as_deref(),
            moved: &wanted.moved,
            own: &wanted.own,
            writable: &wanted.workspaces,
        };
        let existing = wanted.places.existing(whereabouts, settings)?;
        let secrets = existing.secrets_of_room();
        let state = wanted.state.path();
        let own = state.join("private").canonicalize();
        let kept = settings.kept.iter().map(PathBuf::as_path).chain([state]);
        let room = &settings.room;
        let is_alone = room.choice == RoomChoice::Alone;
        let confinement = Confinement {
            mode: settings.mode,
            network: settings.network,
            writable: wanted.workspaces.iter().chain(&existing.caches).cloned().collect(),
            workspaces: wanted.workspaces.clone(),
            kept: kept.filter_map(|path| path.canonicalize().ok()).collect(),
            secrets: secrets.iter().chain(&existing.env_files).cloned().chain(own).collect(),
            settings: followed(),
            sockets: vec![],
            attended: true,
            temporary: PathBuf::from("/tmp"),
            // For those who say nothing about them.
            limits: limits_or_usual(ResourceLimits::default(), &Sandbox::new()),
            namespaces: settings.namespaces,
            requirement: settings.requirement,
        };
        let plan = RoomPlan {
            settings: copy_settings(&existing.settings, &secrets, place)?,
            confinement,
            key: place.key.clone(),
            directory: place.folder.canonicalize()?,
            temporary: place.temporary().canonicalize()?,
            var_temporary: place.var_temporary().canonicalize()?,
            shown: shown(wanted),
            possible_secrets: existing.possible_secrets_of_room(),
            covered: existing.env_files.clone(),
            watched: existing.beside.clone(),
            idle: if is_alone { Duration::ZERO } else { room.idle },
        };
        let files = Files { is_alone, kept: KeptFiles::of(room) };
        Ok(Self { plan, files })
    }

    /// Starts the keeper, and returns when the room can be entered.
    pub(super) fn start(&self, program: &Path) -> Result<(), NoRoom> {
        let failed = |source| NoRoom::Keeper { source };
        let mut message = serde_json::to_vec(&self.files).map_err(|error| failed(error.into()))?;
        message.push(b'\n');
        message.extend(self.plan.to_bytes());
        let answer = servant::start(program, ARGUMENT, &message).map_err(failed)?;
        if answer.is_empty() {
            return Err(NoRoom::KeeperKilled);
        }
        match serde_json::from_slice(&answer) {
            Ok(Answer::Ready) => Ok(()),
            Ok(Answer::Refused { errno: Some(errno), step, .. }) => {
                let source = io::Error::from_raw_os_error(errno);
                let step = if step == "namespaces" { Step::Namespaces } else { Step::Prepare };
                Err(NoRoom::Refused { source: SpawnError::Refused { step, source } })
            }
            Ok(Answer::Refused { message, .. }) => Err(failed(io::Error::other(message))),
            Err(_) => Err(failed(servant::nonsense("keeper"))),
        }
    }
}

/// Writes the copies of settings files that the room shows in place of secrets. The folder is new each time: a room that
/// has just ended may still show those of before.
fn copy_settings(
    found: &[FoundSettings],
    secrets: &[PathBuf],
    place: &Place,
) -> io::Result<Vec<KnownSettings>> {
    let folder = place.folder.join(format!("{}.settings", place.key));
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => DirBuilder::new().mode(0o700).create(&folder)?,
    }
    let folder = folder.canonicalize()?;
    let mut known = vec![];
    for (index, settings) in found.iter().enumerate() {
        let copy = match settings.text.as_ref().filter(|_| secrets.contains(&settings.real)) {
            None => None,
            Some(text) => {
                let path = folder.join(index.to_string());
                let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
                file.write_all(text.as_bytes())?;
                Some(path)
            }
        };
        known.push(KnownSettings { path: settings.real.clone(), stamp: settings.stamp, copy });
    }
    Ok(known)
}

/// Lists paths that a command needs to see even if they lie in the host's temporary directories.
fn shown(wanted: &Wanted) -> Vec<PathBuf> {
    let search_path = wanted.search_path.as_ref().map(std::env::split_paths).into_iter().flatten();
    let home = wanted.home.clone();
    let readable = wanted.settings.readable.iter().map(|path| expand(path, wanted.home.as_deref()));
    let outputs = ["task-output", "output", "commands"].map(|folder| wanted.state.path().join(folder));
    outputs.iter().for_each(|path| drop(fs::create_dir_all(path)));
    let shell = wanted.shell.parent().map(Path::to_owned);
    let named = home.into_iter().chain(search_path).chain(readable).chain(shell);
    // A command may run Bashtion itself.
    let all = named.chain([wanted.workspace.clone(), wanted.program.clone()]).chain(outputs);
    all.filter(|path| path.is_absolute()).filter_map(|path| path.canonicalize().ok()).collect()
}

/// Makes this process a keeper, if it was started as one.
pub(crate) fn keep_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_none_or(|first| first != ARGUMENT) || arguments.next().is_some() {
        return None;
    }
    if bashtion_sandbox::detach().is_err() {
        return Some(ExitCode::FAILURE);
    }
    Some(if keep().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn keep() -> io::Result<()> {
    let mut message = vec![];
    io::stdin().lock().read_to_end(&mut message)?;
    let nonsense = || io::Error::from(io::ErrorKind::InvalidData);
    let end = message.iter().position(|byte| *byte == b'\n').ok_or_else(nonsense)?;
    let files: Files = serde_json::from_slice(&message[..end])?;
    let plan = RoomPlan::from_bytes(&message[end + 1..]).ok_or_else(nonsense)?;
    drop(message);
    let kept = bashtion_sandbox::keep(&plan, answer);
    files.tidy(&plan);
    kept
}

fn answer(made: Result<(), &SpawnError>) {
    let answer = match made {
        Ok(()) => Answer::Ready,
        Err(SpawnError::Refused { step, source }) => Answer::Refused {
            step: if matches!(step, Step::Clone | Step::Namespaces) { "namespaces" } else { "other" }
                .to_owned(),
            errno: source.raw_os_error(),
            message: format!("cannot {step}: {source}"),
        },
        Err(error) => {
            Answer::Refused { step: "other".to_owned(), errno: None, message: crate::causes(error) }
        }
    };
    // If nobody hears it, nobody waits for it.
    let _ = servant::answer(&answer);
}

impl Files {
    fn tidy(&self, plan: &RoomPlan) {
        if self.is_alone {
            let _ = remove_tree(&plan.directory);
        } else {
            self.kept.tidy(&plan.directory, &[&plan.temporary, &plan.var_temporary]);
        }
    }
}
