//! What programs do to files and to other machines, by their arguments.

mod files;
mod git;
mod network;

use crate::analysis::{Effect, Found, Machine, Setting, Target};
use crate::paths::{Place, locate};
use crate::scope::{File, Scope};
use crate::text::Text;
use crate::world::World;

pub(crate) use network::hosts;

/// The effects of a program.
pub(crate) fn of(found: &Found, world: &World) -> Vec<Effect> {
    let mut effects = files::of(found, world);
    effects.extend(network::of(found, world));
    effects
}

/// Everything that a command makes, replaces or fills, also by putting files into a directory.
pub(crate) fn written(found: &Found, world: &World) -> Vec<Target> {
    let named = found.effects.iter().filter_map(|effect| match effect {
        Effect::Write { target } => Some(target.clone()),
        Effect::Delete { .. }
        | Effect::Move { .. }
        | Effect::Permissions { .. }
        | Effect::Execute { .. }
        | Effect::Connect { .. } => None,
    });
    let inside = files::names_in_directory(found);
    named.chain(inside.iter().flat_map(|path| targets(path, found, world))).collect()
}

/// Where a path leads for this command.
pub(crate) fn targets(path: &Text, found: &Found, world: &World) -> Vec<Target> {
    located(path, &found.setting, &found.cwds, world)
}

/// Where a path leads under these circumstances.
pub(crate) fn located(path: &Text, setting: &Setting, cwds: &[Text], world: &World) -> Vec<Target> {
    let there = locate(path, cwds, world);
    if setting.machine != Machine::Container {
        return there.into_iter().map(Target::from).collect();
    }
    // In a container only what is mounted is ours.
    let mut ours = vec![];
    for path in there {
        let mounted = setting.mounts.iter().find_map(|(host, mount)| {
            let rest = path.name.strip_prefix(mount.trim_end_matches('/'))?;
            (rest.is_empty() || rest.starts_with('/')).then(|| {
                let mut whole = host.clone();
                whole.push_str(rest);
                whole
            })
        });
        // The root of the container takes what is mounted with it.
        let whole = mounted.or_else(|| {
            (path.place == Place::Root)
                .then(|| setting.mounts.first().map(|(host, _)| host.clone()))
                .flatten()
        });
        match whole {
            Some(host) => ours.extend(
                locate(&crate::expand::with_patterns(&host), cwds, world).into_iter().map(Target::from),
            ),
            // A device is the same one wherever it is opened.
            None if path.place == Place::RawDevice => ours.push(path.into()),
            None => ours.push(Target { path: path.name, place: Place::Harmless, reason: None }),
        }
    }
    ours
}

/// What later commands of the script should know: where programs were copied to, and what was downloaded into what.
pub(crate) fn remember(found: &Found, world: &World, scope: &mut Scope) {
    if let Some((source, copies)) = files::copied(found) {
        let name = source.rough();
        let base = name.rsplit('/').next().unwrap_or_default().to_owned();
        let file =
            locate(source, &found.cwds, world).into_iter().find_map(|path| scope.file(&path.name).cloned());
        let from_system = ["/bin/", "/usr/", "/sbin/"].iter().any(|directory| name.starts_with(directory));
        let file = file.or(from_system.then_some(File::Program(base)));
        for path in copies.iter().flat_map(|copy| locate(copy, &found.cwds, world)) {
            scope.write_file(&path.name, file.clone());
        }
    }
    for path in network::downloaded(found).iter().flat_map(|file| locate(file, &found.cwds, world)) {
        scope.write_file(&path.name, Some(File::Downloaded));
    }
    if found.program == "tee"
        && let Some(file) = crate::walk::as_file(found.input.clone())
    {
        for path in found.arguments.iter().flat_map(|argument| locate(argument, &found.cwds, world)) {
            scope.write_file(&path.name, Some(file.clone()));
        }
    }
}
