//! What would the command do, and may it?

use bashtion_guard::{Analysis, Policy, Verdict, World};

use crate::admit::Job;

/// Everything that the guard is told about where the command would run: it has the environment that the command gets.
pub(crate) fn world(job: &Job) -> World {
    let variables = job.env.iter().filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
    let home = variables.clone().find(|(name, _)| *name == "HOME").map_or("/root", |(_, value)| value);
    let world = World::new(job.cwd.to_string_lossy(), home);
    let world = if job.cwd.starts_with(&job.workspace) {
        world
    } else {
        world.moved_from(job.workspace.to_string_lossy())
    };
    let world = job.roots.iter().fold(world, |world, root| world.workspace(root.to_string_lossy()));
    variables.fold(world, |world, (name, value)| world.variable(name, value))
}

pub(crate) fn analyze(job: &Job, world: &World) -> Analysis {
    bashtion_guard::analyze(&job.command, world)
}

pub(crate) fn judge(analysis: &Analysis, world: &World, policy: &Policy) -> Verdict {
    policy.judge(analysis, world)
}
