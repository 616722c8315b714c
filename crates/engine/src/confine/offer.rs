//! The part of its world that a command shares with the others of its workspace.

use std::path::PathBuf;
use std::sync::Arc;

use bashtion_sandbox::{Mode, Namespaces, SpawnError, Step, landlock};

use super::{SandboxSettings, Shared, Tools, alone, sockets};
use crate::Leftovers;
use crate::admit::Job;
use crate::rooms::{NoRoom, RoomChoice, SharedTemporary, Wanted, lacks_namespaces};

/// The part of the world that a command can share with others of its workspace.
pub(super) enum Offer {
    Room(Box<Shared>),
    Temporary(SharedTemporary),
    Nothing,
}

/// A place in the room of the workspace, or what can be had of it.
pub(super) fn offer(
    job: &Job,
    settings: &SandboxSettings,
    tools: Tools<'_>,
    workspaces: &[PathBuf],
    notes: &mut Vec<String>,
) -> Offer {
    let Some(program) = tools.keeper.filter(|_| settings.mode == Mode::Workspace) else {
        return Offer::Nothing;
    };
    let wanted = Wanted {
        program: program.to_owned(),
        settings: settings.clone(),
        state: tools.state.clone(),
        workspace: job.workspace.clone(),
        own: job.own_directories(),
        workspaces: workspaces.to_vec(),
        home: job.home.clone(),
        moved: job.moved.clone(),
        search_path: job.search_path.clone(),
        shell: tools.shell.to_owned(),
        places: Arc::clone(tools.places),
        attended: job.leftovers == Leftovers::End,
        sockets: sockets(job, settings),
        alone: (settings.room.choice == RoomChoice::Alone).then(|| crate::short_name::random("alone-")),
    };
    if settings.namespaces == Namespaces::Never {
        return without_room(&wanted, "the configuration allows no namespaces", notes);
    }
    if !tools.sandbox.lacks_namespaces() {
        if landlock().problem().is_some() || !tools.sandbox.has_namespaces() {
            return Offer::Nothing;
        }
        match tools.rooms.enter(&wanted) {
            Ok(entry) => {
                let (visit, rooms) = (wanted.visit(&entry), Arc::clone(tools.rooms));
                return Offer::Room(Box::new(Shared { entry, visit, wanted, rooms }));
            }
            Err(NoRoom::Refused { source }) if is_about_namespaces(&source) => {
                let probe = || {
                    let confinement = alone(job, settings, tools, workspaces.to_vec());
                    confinement.is_ok_and(|confinement| tools.sandbox.assess(&confinement).is_ok())
                        && tools.sandbox.lacks_namespaces()
                };
                if !lacks_namespaces(tools.state, probe) {
                    notes.push(format!("{NOTHING_SHARED}, because this machine allows no room for them"));
                    return Offer::Nothing;
                }
            }
            Err(error) => {
                let why = crate::causes(&error);
                notes.push(format!(
                    "no room could be made for this workspace, so the command runs alone: {why}"
                ));
                return Offer::Nothing;
            }
        }
    }
    without_room(&wanted, "this machine allows no namespaces", notes)
}

const NOTHING_SHARED: &str = "commands of this workspace share no /tmp, loopback or processes";

/// The shared temporary directory, unless the command wants to be alone.
fn without_room(wanted: &Wanted, why: &str, notes: &mut Vec<String>) -> Offer {
    if wanted.settings.room.choice == RoomChoice::Alone {
        return Offer::Nothing;
    }
    match SharedTemporary::of(wanted) {
        Ok(temporary) => {
            notes.push(format!("{NOTHING_SHARED}, only $TMPDIR, because {why}"));
            Offer::Temporary(temporary)
        }
        Err(error) => {
            notes.push(format!("{NOTHING_SHARED}, nor $TMPDIR, because {why}: {error}"));
            Offer::Nothing
        }
    }
}

fn is_about_namespaces(error: &SpawnError) -> bool {
    matches!(error, SpawnError::Refused { step: Step::Namespaces | Step::Clone, .. })
}
