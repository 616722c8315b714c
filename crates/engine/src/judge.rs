//! What would the command do, and may it?

use std::ffi::OsString;

use bashtion_guard::{Analysis, Finding, Policy, Verdict, World};

use crate::admit::Job;
use crate::engine::Settings;
use crate::output::StateDir;

/// Everything that the guard is told about where the command would run: it has the environment that the command gets.
pub(crate) fn world(job: &Job, settings: &Settings) -> World {
    let variables = job.env.iter().filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
    let home = variables.clone().find(|(name, _)| *name == "HOME").map_or("/root", |(_, value)| value);
    let world = World::new(job.cwd.to_string_lossy(), home);
    let world = world.moved_places(job.moved.clone());
    let world = if job.cwd.starts_with(&job.workspace) {
        world
    } else {
        world.moved_from(job.workspace.to_string_lossy())
    };
    let state = StateDir::new(settings.state_dir.clone());
    let own = settings.sandbox.kept.iter().map(AsRef::as_ref).chain([state.path()]);
    let world = own.fold(world, |world, path| world.own_file(path.to_string_lossy()));
    let world = job.roots.iter().fold(world, |world, root| world.workspace(root.to_string_lossy()));
    variables.fold(world, |world, (name, value)| world.variable(name, value))
}

pub(crate) fn analyze(job: &Job, world: &World) -> Analysis {
    bashtion_guard::analyze(&job.command, world)
}

/// The text, and the variables that were given with it.
pub(crate) fn judge(analysis: &Analysis, job: &Job, world: &World, policy: &Policy) -> Verdict {
    let verdict = policy.judge(analysis, world);
    // The caller's own path changes nothing.
    let own =
        |(name, value): &&(OsString, OsString)| name == "PATH" && Some(value) == job.search_path.as_ref();
    let given = job.given.iter().filter(|variable| !own(variable));
    let given = given.map(|(name, value)| (name.to_string_lossy(), value.to_string_lossy()));
    let objections: Vec<Finding> =
        given.flat_map(|(name, value)| policy.judge_variable(&name, &value, world)).collect();
    if objections.is_empty() {
        return verdict;
    }
    Verdict::new(verdict.findings.into_iter().chain(objections).collect())
}
