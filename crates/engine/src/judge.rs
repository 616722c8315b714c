//! What would the command do, and may it? The one way from a request to a verdict, for whoever judges and whoever runs.

mod deadline;
mod judgement;
mod syntax;

use std::ffi::OsString;
use std::sync::Arc;

use bashtion_guard::{Analysis, Confined, Decision, Finding, Policy, Verdict, World};
use bashtion_sandbox::{Mode, landlock};

use crate::admit::{Absent, Job};
use crate::approval::foresee;
use crate::engine::Settings;
use crate::output::StateDir;
use crate::places::Places;
use crate::plan::shell;
use crate::session::{Session, Sessions};
use crate::{Error, Request, SandboxSettings, ToolContext};
use deadline::within;
pub use judgement::Judgement;
pub use syntax::SyntaxError;

/// A request that was admitted and judged.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) job: Job,
    pub(crate) session: Option<Session>,
    pub(crate) analysis: Analysis,
    pub(crate) verdict: Verdict,
    /// Set if bash itself cannot read the text; the verdict says so then, and nothing else.
    pub(crate) syntax_error: Option<SyntaxError>,
    pub(crate) world: World,
}

/// What a request is judged for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It is to run if the verdict lets it.
    Running,
    /// Somebody wants to know the verdict. Nothing is made or changed, and the directory need not exist.
    Judging,
}

impl Case {
    /// Admits and judges a request. It takes no longer than the deadline of the settings, and what bash needs to read a text that
    /// the guard cannot.
    pub(crate) fn new(
        request: Request,
        context: &ToolContext,
        purpose: Purpose,
        settings: &Arc<Settings>,
        places: &Places,
    ) -> Result<Self, Error> {
        let given = request.own_variables();
        let sessions = Sessions::new(settings.state_dir.as_deref());
        let (request, session, absent) = match purpose {
            Purpose::Running => {
                let (request, session) = sessions.enter(request, context)?;
                (request, session, Absent::Refused)
            }
            Purpose::Judging => (sessions.preview(request, context)?, None, Absent::Imagined),
        };
        let mut job = Job::admit(request, context, settings, absent)?;
        job.given = given;
        let world = world(&job, settings);
        let (analysis, verdict) = match within(settings.judge_within, &job, &world, settings) {
            Some(judged) => judged,
            None => deadline::too_slow(&job, &world, settings),
        };
        // What is denied stays so, whatever bash would say to it.
        if !analysis.opaque.is_empty()
            && verdict.decision != Decision::Deny
            && let Ok(bash) = shell(&job, settings, places)
            && let Some(error) = SyntaxError::found_by(&bash, &job.command)
        {
            let verdict = error.verdict();
            return Ok(Self { job, session, analysis, verdict, syntax_error: Some(error), world });
        }
        let verdict = foresee(&mut job, &analysis, verdict, &world, settings);
        let (verdict, world) = outside(&job, &analysis, verdict, world, &settings.policy);
        Ok(Self { job, session, analysis, verdict, syntax_error: None, world })
    }
}

/// A command that an approval would let out of the sandbox is asked about everything that it could do there.
fn outside(
    job: &Job,
    analysis: &Analysis,
    verdict: Verdict,
    world: World,
    policy: &Policy,
) -> (Verdict, World) {
    if !job.grant.outside {
        return (verdict, world);
    }
    let world = world.confined(Confined::Unknown);
    (judge(analysis, job, &world, policy), world)
}

/// Everything that the guard is told about where the command would run: it has the environment that the command gets.
fn world(job: &Job, settings: &Settings) -> World {
    let variables = job.env.iter().filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
    let home = variables.clone().find(|(name, _)| *name == "HOME").map_or("/root", |(_, value)| value);
    let world = World::new(job.cwd.to_string_lossy(), home);
    let world = world.moved_places(job.moved.clone());
    let world = world.confined(confined(job.sandbox.as_ref().unwrap_or(&settings.sandbox)));
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

/// A room is one Landlock domain, and so is a command by itself: from this version on the kernel lets neither signal anything
/// outside (https://docs.kernel.org/userspace-api/landlock.html#ipc-scoping). With an older one it depends on namespaces, which
/// nobody knows before they are made.
fn confined(settings: &SandboxSettings) -> Confined {
    const HOLDS_SIGNALS: u32 = 6;
    match settings.mode {
        Mode::Workspace | Mode::ReadOnly if landlock().abi() >= HOLDS_SIGNALS => Confined::Room,
        Mode::Workspace | Mode::ReadOnly | Mode::Off => Confined::Unknown,
    }
}

/// The text, and the variables that were given with it.
fn judge(analysis: &Analysis, job: &Job, world: &World, policy: &Policy) -> Verdict {
    judge_with(analysis, &variables_to_judge(job), world, policy)
}

/// The variables that came with the request. The caller's own path changes nothing.
fn variables_to_judge(job: &Job) -> Vec<(OsString, OsString)> {
    let own =
        |(name, value): &&(OsString, OsString)| name == "PATH" && Some(value) == job.search_path.as_ref();
    job.given.iter().filter(|variable| !own(variable)).cloned().collect()
}

fn judge_with(
    analysis: &Analysis,
    given: &[(OsString, OsString)],
    world: &World,
    policy: &Policy,
) -> Verdict {
    let verdict = policy.judge(analysis, world);
    let given = given.iter().map(|(name, value)| (name.to_string_lossy(), value.to_string_lossy()));
    let objections: Vec<Finding> =
        given.flat_map(|(name, value)| policy.judge_variable(&name, &value, world)).collect();
    if objections.is_empty() {
        return verdict;
    }
    Verdict::new(verdict.findings.into_iter().chain(objections).collect())
}
