//! Deeds of a command on files that agents, editors or Bashtion itself run or follow later.

use crate::analysis::{Effect, Found, Target};
use crate::effects::written;
use crate::paths::Place;
use crate::settings_files::{settings_file_at, settings_file_below};
use crate::world::World;

/// A change of something that is run or followed later.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) path: String,
    /// In words: change, remove, move away.
    pub(super) verb: &'static str,
    pub(super) whose: Whose,
}

/// The program that a settings file belongs to.
#[derive(Debug)]
pub(super) enum Whose {
    /// Bashtion's configuration, state or program: without them nothing guards.
    Guard,
    /// Settings of this program.
    Program(&'static str),
}

/// All changes that a command would make.
pub(super) fn changes(found: &Found, world: &World) -> Vec<Change> {
    // Empty directories hold no settings.
    let empty = matches!(found.program.as_str(), "mkdir" | "rmdir");
    let written: Vec<Target> = if empty { vec![] } else { written(found, world) };
    let written = written.iter().map(|target| (target, "change", Reach::Named));
    let others = found.effects.iter().filter_map(|effect| match effect {
        Effect::Delete { .. } if empty => None,
        Effect::Delete { target, recursive: true } => Some((target, "remove", Reach::Everything)),
        Effect::Delete { target, recursive: false } => Some((target, "remove", Reach::Named)),
        Effect::Move { target } => Some((target, "move away", Reach::Everything)),
        Effect::Permissions { target, recursive: true } => {
            Some((target, "change the permissions of", Reach::Everything))
        }
        Effect::Permissions { target, recursive: false } => {
            Some((target, "change the permissions of", Reach::Named))
        }
        Effect::Write { .. } | Effect::Execute { .. } | Effect::Connect { .. } => None,
    });
    let change = |(target, verb, reach): (&Target, &'static str, Reach)| {
        let whose = whose(target, reach, world)?;
        Some(Change { path: target.path.clone(), verb, whose })
    };
    written.chain(others).filter_map(change).collect()
}

/// The extent of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    Named,
    Everything,
}

fn whose(target: &Target, reach: Reach, world: &World) -> Option<Whose> {
    let path = target.path.as_str();
    // In a container that is thrown away, or a command's own.
    if target.place == Place::Harmless || is_temporary_of_room(path) {
        return None;
    }
    let is_inside = |path: &str, directory: &str| {
        path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    // Other rules refuse these, and say more.
    let refused = matches!(
        target.place,
        Place::Root
            | Place::System
            | Place::Home
            | Place::OtherHome
            | Place::WorkspaceRoot
            | Place::TemporaryRoot
    );
    let reach = if refused { Reach::Named } else { reach };
    let takes = |own: &String| is_inside(path, own) || reach == Reach::Everything && is_inside(own, path);
    if world.own_files().iter().any(takes) || is_own_by_name(target) {
        return Some(Whose::Guard);
    }
    // A project that is made to be thrown away is nobody's.
    if target.place == Place::Temporary {
        return None;
    }
    let around = || (reach == Reach::Everything).then(|| settings_file_below(path, world.home())).flatten();
    let file = settings_file_at(path, world.home()).or_else(around)?;
    Some(if file.is_guard() { Whose::Guard } else { Whose::Program(file.owner) })
}

/// Returns true for temporary files of commands that Bashtion keeps in its state directory.
fn is_temporary_of_room(path: &str) -> bool {
    let rest = path.split_once("/private/rooms/").map_or("", |(_, rest)| rest);
    let parts: Vec<&str> = rest.split('/').collect();
    parts.len() > 2 && matches!(parts[1], "tmp" | "var-tmp")
}

/// Bashtion's files where only their names tell: below a variable that is not known, and the program where programs are.
fn is_own_by_name(target: &Target) -> bool {
    let path = target.path.as_str();
    match target.place {
        Place::Unknown => {
            let below = |name: &str| path.starts_with(&format!("${{{name}}}"));
            let beside = |name: &str| path.starts_with(&format!("${{{name}}}/bashtion"));
            below("BASHTION_CONFIG")
                || below("BASHTION_STATE_DIR")
                || beside("XDG_CONFIG_HOME")
                || beside("XDG_STATE_HOME")
        }
        Place::Workspace | Place::Temporary => false,
        _ => path.ends_with("/bin/bashtion"),
    }
}
