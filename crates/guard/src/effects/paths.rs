//! Where the paths of a command lead, here or in a container.

use crate::analysis::{Found, Machine, Setting, Target};
use crate::paths::{Place, locate};
use crate::text::Text;
use crate::world::World;

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
