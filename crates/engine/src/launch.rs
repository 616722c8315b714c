//! From a plan to a running shell.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bashtion_sandbox::{
    Child, ConfineError, Confinement, Mode, Network, Output, Piping, Prepared, Sandbox, SpawnError, Spec,
    Step, Temporary, Waited, World,
};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use tokio::io::Interest;
use tokio::io::unix::{AsyncFd, AsyncFdRegisterError};

use crate::confine::{Confining, Shared, Way};
use crate::environment::{OFFLINE, ROOT_WITHOUT_POWERS};
use crate::output::Capture;
use crate::pipes::{Pipes, Readers};
use crate::places::caches_elsewhere;
use crate::plan::{Facts, Plan, Supervision};
use crate::rooms::{NoRoom, SharedTemporary};
use crate::session::{Desk, Epilogue, Session};
use crate::waiting::can_have_waited;
use crate::{Streams, stop};

/// A shell that runs, and all that watching it needs.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) facts: Facts,
    /// What it is held to, and what to say about it.
    pub(crate) confinement: Option<Arc<Confinement>>,
    pub(crate) notes: Vec<String>,
    pub(crate) shell: Shell,
    pub(crate) pipes: Pipes,
    pub(crate) capture: Capture,
    pub(crate) supervision: Supervision,
    pub(crate) started: Instant,
    pub(crate) epilogue: Option<Epilogue>,
    pub(crate) session: Option<Session>,
    /// In use until nothing is left of the command.
    pub(crate) _shared_temporary: Option<SharedTemporary>,
}

/// The shell itself. Dropping it before it was reaped ends its whole tree in the background.
#[derive(Debug)]
pub(crate) struct Shell {
    /// Taken only by drop.
    child: Option<AsyncFd<Child>>,
    grace: Duration,
}

/// The kernel did not start the command.
///
/// ```
/// use bashtion::{Engine, Error, LaunchError, Request, SpawnError, Step, ToolContext};
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let engine = Engine::builder().shell("/etc/passwd").build();
/// let error = engine.run(Request::new("true"), &ToolContext::from_host("/tmp")).await.unwrap_err();
/// let Error::Launch(LaunchError::Spawn { source: SpawnError::Refused { step, source }, .. }) = error else { panic!() };
/// assert_eq!((step, source.kind()), (Step::Exec, std::io::ErrorKind::PermissionDenied));
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// Each running command needs a few descriptors.
    #[error("no file descriptors are left for another command: this process may have {limit} open")]
    Descriptors {
        /// The soft limit of this process.
        limit: u64,
        /// What the kernel said.
        source: io::Error,
    },
    /// A pipe could not be made, or not be watched.
    #[error("cannot make a pipe for the output")]
    Pipe {
        /// What the kernel said.
        source: io::Error,
    },
    /// It cannot be confined as it must be.
    #[error(transparent)]
    Sandbox {
        /// What is missing.
        source: ConfineError,
    },
    /// It cannot have a temporary directory of its own.
    #[error("cannot make a private temporary directory")]
    Temporary {
        /// What the kernel said.
        source: io::Error,
    },
    /// The shell did not start.
    #[error("cannot start {program} in {cwd}")]
    Spawn {
        /// What was to be executed.
        program: String,
        /// Where.
        cwd: String,
        /// Which step failed, and why.
        source: SpawnError,
    },
}

pub(crate) fn launch(plan: Plan, sandbox: &Sandbox) -> Result<Running, LaunchError> {
    let Plan { facts, program, args, mut env, cwd, confining, streams, capture, supervision, .. } = plan;
    let Held { mut world, confinement, notes, temporary, shared_temporary, desk, shared } =
        Held::by(confining, sandbox, &mut env)?;
    let epilogue = plan.questions.map(|questions| {
        let desk = desk.unwrap_or_else(|| Desk::beside_others(&plan.temporary));
        Epilogue::prepare(questions, &desk, &env)
    });
    let epilogue = epilogue.transpose().map_err(temporary_failed)?;

    let failed = |source| spawn_failed(source, &program, &facts);
    let not_entered = |source| failed(SpawnError::Refused { step: Step::Cwd, source });
    let cwd = match cwd {
        Some(cwd) => cwd,
        None => in_room(shared.as_deref(), &facts)
            .unwrap_or_else(|| Err(io::ErrorKind::NotFound.into()))
            .map_err(not_entered)?,
    };
    if let World::Room(visit) = &mut world
        && shared.as_deref().is_some_and(Shared::lets_shells_wait)
        && plan.may_have_waited
        && can_have_waited(&facts.command, &env)
    {
        visit.again = Some(streams.into());
    }
    let spec = Spec { program: program.clone(), args, env, cwd, cwd_path: facts.cwd.clone(), world };
    let mut prepared = spec.prepare().map_err(failed)?;
    let started = Instant::now();
    let prelude = epilogue.as_ref().map(|epilogue| epilogue.prelude.as_bytes());
    let waited = match sandbox.launch_in_waiting(&prepared, prelude) {
        Err(error) if error.may_have_begun() => return Err(failed(error)),
        waited => waited.ok().flatten(),
    };
    let (mut child, pipes) = match waited {
        Some(Waited { child, stdout, stderr }) => {
            (child, Readers::of(stdout, stderr).watch().map_err(pipe_failed)?)
        }
        None => {
            if let Some(epilogue) = &epilogue {
                let written = epilogue.write_prelude().map_err(temporary_failed)?;
                prepared = prepared.reading_first(written).map_err(failed)?;
            }
            let (readers, output) = Readers::new(streams).map_err(pipe_failed)?;
            // Watched before the shell exists: a runtime that cannot watch them must not leave one behind.
            let pipes = readers.watch().map_err(pipe_failed)?;
            let child = start(prepared, &output, shared.as_deref(), sandbox, &facts).map_err(failed)?;
            (child, pipes)
        }
    };
    child.keep(temporary);
    tracing::debug!(pid = child.pid(), found_by = child.tree().method(), "started");
    let shell = Shell::watch(child, supervision.limits.grace).map_err(pipe_failed)?;
    let session = plan.session;
    let running = Running {
        facts,
        confinement,
        notes,
        shell,
        pipes,
        capture,
        supervision,
        started,
        epilogue,
        session,
        _shared_temporary: shared_temporary,
    };
    Ok(running)
}

impl From<Streams> for Piping {
    fn from(streams: Streams) -> Self {
        match streams {
            Streams::Separate => Self::Separate,
            Streams::Combined => Self::Combined,
        }
    }
}

/// Starts a shell.
fn start(
    mut prepared: Prepared,
    output: &Output,
    shared: Option<&Shared>,
    sandbox: &Sandbox,
    facts: &Facts,
) -> Result<Child, SpawnError> {
    let mut child = sandbox.launch(&prepared, output);
    // A room may end at any time. As long as nothing was run, another one will do.
    for _ in 0..ROOM_TRIES {
        match (&child, shared) {
            (Err(SpawnError::NoRoom { .. }), Some(shared)) => {
                let visit = shared.again().map_err(|error| room_failed(&error))?;
                prepared = prepared.in_world(World::Room(visit));
                child = sandbox.launch(&prepared, output);
            }
            _ => break,
        }
    }
    // Its session has gone to the room's own directory of that name.
    if let Err(SpawnError::Refused { step: Step::Cwd, .. }) = &child
        && let Some(directory) = in_room(shared, facts)
    {
        let directory = directory.map_err(|source| SpawnError::Refused { step: Step::Cwd, source })?;
        prepared = prepared.in_directory(directory);
        child = sandbox.launch(&prepared, output);
    }
    child
}

/// The working directory, if the room alone has it.
fn in_room(shared: Option<&Shared>, facts: &Facts) -> Option<io::Result<OwnedFd>> {
    shared.and_then(|shared| shared.directory(&facts.cwd))
}

const ROOM_TRIES: usize = 3;

fn room_failed(error: &NoRoom) -> SpawnError {
    SpawnError::NoRoom { source: io::Error::other(crate::causes(error)) }
}

/// The world of a command, and the desk where it leaves its answers.
struct Held {
    world: World,
    confinement: Option<Arc<Confinement>>,
    notes: Vec<String>,
    temporary: Option<Temporary>,
    shared_temporary: Option<SharedTemporary>,
    desk: Option<Desk>,
    shared: Option<Box<Shared>>,
}

impl Held {
    /// Makes what has to be made, and tells the command by its environment.
    fn by(
        confining: Option<Confining>,
        sandbox: &Sandbox,
        env: &mut Vec<(OsString, OsString)>,
    ) -> Result<Self, LaunchError> {
        let Some(Confining { way, notes, sets_variables, home }) = confining else {
            return Ok(Self {
                world: World::Host,
                confinement: None,
                notes: vec![],
                temporary: None,
                shared_temporary: None,
                desk: None,
                shared: None,
            });
        };
        let directory: Option<PathBuf>;
        let mut shared_temporary = None;
        let (world, confinement, temporary, desk, shared) = match way {
            Way::Alone { confinement, temporary: with_others } => {
                let made = sandbox.confine(&confinement).map_err(sandbox_failed)?;
                let temporary = made.temporary();
                let desk = temporary.as_ref().map(Desk::within);
                let own = temporary.as_ref().map(|temporary| temporary.path().to_owned());
                directory = with_others.as_ref().map(|shared| shared.path.clone()).or(own);
                shared_temporary = with_others;
                (World::Alone(made), Arc::from(confinement), temporary, desk, None)
            }
            Way::Room(shared) => {
                let visit = shared.visit.clone();
                let confinement = visit.confinement();
                let desk = Desk::in_room(&shared.entry.temporary, &confinement.workspaces);
                directory = Some(ROOMS_TEMPORARY.into());
                (World::Room(visit), confinement, None, Some(desk), Some(shared))
            }
        };
        if let Some(directory) = directory.filter(|_| sets_variables) {
            set(env, "TMPDIR", &directory);
            let variables = variables(&confinement, home.as_deref(), &directory);
            for (name, value) in variables {
                if !env.iter().any(|(known, _)| *known == name) {
                    env.push((name, value));
                }
            }
        }
        Ok(Self { world, confinement: Some(confinement), notes, temporary, shared_temporary, desk, shared })
    }
}

/// The temporary directory of every room, as its commands see it.
pub(crate) const ROOMS_TEMPORARY: &str = "/tmp";

/// Lists variables that make programs work in a sandbox. Those that are set already stay as they are.
fn variables(confinement: &Confinement, home: Option<&Path>, temporary: &Path) -> Vec<(OsString, OsString)> {
    let offline = OFFLINE.iter().filter(|_| confinement.network == Network::Off);
    let root = Some(&ROOT_WITHOUT_POWERS).filter(|_| rustix::process::geteuid().is_root());
    let fixed = offline.chain(root).map(|(name, value)| (name.into(), value.into()));
    let caches = match confinement.mode {
        Mode::Workspace => caches_elsewhere(home, &confinement.writable, temporary),
        Mode::Off | Mode::ReadOnly => vec![],
    };
    fixed.chain(caches).collect()
}

fn set(env: &mut Vec<(OsString, OsString)>, name: &str, value: &Path) {
    env.retain(|(known, _)| known != name);
    env.push((name.into(), value.into()));
}

fn spawn_failed(source: SpawnError, program: &Path, facts: &Facts) -> LaunchError {
    match source {
        SpawnError::Refused { source, .. } if is_out_of_descriptors(&source) => pipe_failed(source),
        SpawnError::Confine(source) => sandbox_failed(source),
        SpawnError::Refused { .. }
        | SpawnError::Nul { .. }
        | SpawnError::NoRoom { .. }
        | SpawnError::RoomLost { .. }
        | SpawnError::RoomSilent { .. } => LaunchError::Spawn {
            program: program.display().to_string(),
            cwd: facts.cwd.display().to_string(),
            source,
        },
    }
}

fn sandbox_failed(source: ConfineError) -> LaunchError {
    match source {
        ConfineError::Exhausted { source } if is_out_of_descriptors(&source) => pipe_failed(source),
        source => LaunchError::Sandbox { source },
    }
}

fn temporary_failed(source: io::Error) -> LaunchError {
    if is_out_of_descriptors(&source) { pipe_failed(source) } else { LaunchError::Temporary { source } }
}

fn pipe_failed(source: io::Error) -> LaunchError {
    if !is_out_of_descriptors(&source) {
        return LaunchError::Pipe { source };
    }
    LaunchError::Descriptors { limit: getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX), source }
}

fn is_out_of_descriptors(error: &io::Error) -> bool {
    [Errno::MFILE, Errno::NFILE].iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// Has the runtime watch a descriptor until it can be read.
#[expect(deprecated, reason = "its successor is unsafe for types that do not own what they watch; these do")]
pub(crate) fn watched<T: AsRawFd>(owner: T) -> Result<AsyncFd<T>, (T, io::Error)> {
    AsyncFd::try_with_interest(owner, Interest::READABLE).map_err(AsyncFdRegisterError::into_parts)
}

impl Shell {
    fn watch(child: Child, grace: Duration) -> io::Result<Self> {
        match watched(child) {
            Ok(child) => Ok(Self { child: Some(child), grace }),
            Err((child, source)) => {
                stop::in_background(child, grace);
                Err(source)
            }
        }
    }

    pub(crate) fn child(&self) -> &Child {
        self.child.as_ref().expect("present until dropped").get_ref()
    }

    pub(crate) fn child_mut(&mut self) -> &mut Child {
        self.child.as_mut().expect("present until dropped").get_mut()
    }

    /// Waits until the shell has ended.
    pub(crate) async fn ended(&self) -> io::Result<()> {
        self.child
            .as_ref()
            .expect("present until dropped")
            .readable()
            .await
            .map(|mut ready| ready.clear_ready())
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        if let Some(child) = self.child.take().map(AsyncFd::into_inner)
            && !child.is_reaped()
        {
            stop::in_background(child, self.grace);
        }
    }
}
