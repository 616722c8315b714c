//! Background tasks: commands that outlive whoever started them.
//!
//! Each has a supervisor process of its own ([`supervise_if_asked`]), which holds the tree, the output file and the
//! record. Everything about a task is in its folder in the state directory, so every process of the user can see it, read
//! it, wait for it and end it, and no server has to run.

mod control;
mod ending;
mod folder;
mod id;
mod index;
mod listing;
mod log;
mod order;
mod passage;
mod presence;
mod processes;
mod reading;
mod start;
mod supervisor;
mod wire;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bashtion_sandbox::{Process, Signal};
use serde::{Deserialize, Serialize};

use crate::Outcome;
use crate::engine::Settings;
use crate::output::StateDir;
use crate::seal::Flaw;
use control::Order;
use folder::Folder;
pub use id::{InvalidTaskId, TaskId};
pub(crate) use log::Log;
use log::Outputs;
pub use passage::Passage;
pub(crate) use presence::Presence;
pub use processes::Live;
pub(crate) use processes::VARIABLE as TASK_VARIABLE;
pub use reading::Chunk;
pub(crate) use start::{start, supervisor};
pub use supervisor::{supervise_if_asked, supervise_if_asked_with};

/// How many tasks there may be, and how much of them is kept.
///
/// ```
/// use bashtion::{Engine, TaskLimits};
/// let engine = Engine::builder().task_limits(TaskLimits { most: 4, ..TaskLimits::default() }).build();
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskLimits {
    /// How many may run at once.
    pub most: usize,
    /// How many bytes of one task's output are kept: half from its beginning, half from its end.
    pub output_size: u64,
    /// How long finished tasks are remembered.
    pub keep_for: Duration,
    /// How many bytes they may take together; the oldest go first.
    pub keep_size: u64,
}

impl Default for TaskLimits {
    fn default() -> Self {
        Self {
            most: 64,
            output_size: 256 << 20,
            keep_for: Duration::from_secs(7 * 24 * 60 * 60),
            keep_size: 4 << 30,
        }
    }
}

/// What went wrong about a task.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// This program has not said that it can be one.
    #[error(
        "background tasks need a supervisor: call bashtion::supervise_if_asked() first of all in main, or name an installed bashtion"
    )]
    NoSupervisor,
    /// The supervisor did not start.
    #[error("cannot start the supervisor {program}")]
    Supervisor {
        /// What was to be started.
        program: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// It could not start the command.
    #[error("{message}")]
    Start {
        /// What went wrong.
        message: String,
        /// Why.
        causes: Vec<String>,
    },
    /// As many run as may.
    #[error("{} background tasks are running, and at most {most} may", live.len())]
    TooMany {
        /// How many may.
        most: usize,
        /// Which do.
        live: Vec<TaskId>,
    },
    /// There is none of that name.
    #[error("there is no task {id}")]
    Unknown {
        /// The name.
        id: TaskId,
    },
    /// It has ended, so it cannot be told anything.
    #[error("the task {id} is not running any more")]
    NotRunning {
        /// Which.
        id: TaskId,
    },
    /// The state directory cannot be used.
    #[error("cannot use {}", path.display())]
    State {
        /// Where.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// A record that was changed by something else, so nothing in it can be believed.
    #[error("{} does not count: {flaw}", path.display())]
    Untrusted {
        /// Which file.
        path: PathBuf,
        /// The flaw of its seal.
        flaw: Flaw,
    },
    /// A file that was not written by this version, or was damaged.
    #[error("cannot read {}: {problem}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
}

/// The background tasks of a state directory.
///
/// ```
/// use bashtion::Tasks;
/// let dir = tempfile::tempdir().unwrap();
/// let tasks = Tasks::new(Some(dir.path()));
/// assert!(tasks.list()?.tasks.is_empty());
/// # Ok::<(), bashtion::TaskError>(())
/// ```
#[derive(Debug)]
pub struct Tasks {
    state: StateDir,
    placed: Placed,
}

/// Where commands run that are remembered here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Placed {
    /// On their own.
    #[default]
    Background,
    /// Under a caller that waits for them. Only those of an agent are known, and only while they run.
    Foreground,
}

/// One background task.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Task {
    /// Its name.
    pub id: TaskId,
    /// What was asked for.
    pub command: String,
    /// The same without a redundant `cd`.
    pub display: String,
    /// What it is for.
    pub description: Option<String>,
    /// The agent that it belongs to.
    pub agent: Option<String>,
    /// Whether somebody waits for it.
    pub placed: Placed,
    /// Where it runs.
    pub cwd: PathBuf,
    /// Where whoever started it was: in a session it may run elsewhere.
    pub origin: PathBuf,
    /// When it was started.
    pub started: SystemTime,
    /// When it ended, if it has.
    pub ended: Option<SystemTime>,
    /// The shell's process id, which is also its process group.
    pub pid: i32,
    /// The same as the other commands of its room know it.
    pub room_pid: Option<i32>,
    /// The room that it runs in, if it is confined.
    pub room: Option<String>,
    /// TCP ports that its processes listen on.
    pub ports: Vec<u16>,
    /// What it prints.
    pub output_file: PathBuf,
    /// How many bytes that were so far.
    pub output_bytes: u64,
    /// The last of it that is not blank.
    pub last_line: String,
    /// Whether it runs.
    pub state: TaskState,
}

/// Whether a task runs, and how it ended.
#[derive(Debug, Clone)]
pub enum TaskState {
    /// It runs.
    Running(Live),
    /// It has ended.
    Ended(Box<Outcome>),
    /// It is over, and whoever waited for it knows how.
    Over,
    /// Its supervisor is gone and could not say how it ended.
    Lost {
        /// Why.
        reason: &'static str,
        /// Processes of it that still run.
        survivors: Vec<Process>,
    },
}

/// All tasks, and what could not be read.
#[derive(Debug)]
pub struct TaskList {
    /// The latest first.
    pub tasks: Vec<Task>,
    /// Records that are damaged or of a newer version.
    pub problems: Vec<TaskError>,
}

/// How to end a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kill {
    /// SIGTERM, a grace period, SIGKILL.
    Gently,
    /// With this signal. One that usually ends a program is followed by SIGTERM and SIGKILL; others are just sent.
    With(Signal),
}

impl Kill {
    /// Whether the task is gone after it.
    #[must_use]
    pub fn ends(self) -> bool {
        match self {
            Self::Gently => true,
            Self::With(signal) => [Signal::TERM, Signal::KILL].contains(&signal) || usually_ends(signal),
        }
    }
}

impl Tasks {
    /// The tasks in a state directory; by default the one in `/tmp`.
    #[must_use]
    pub fn new(state_dir: Option<&Path>) -> Self {
        Self { state: StateDir::new(state_dir.map(Path::to_owned)), placed: Placed::Background }
    }

    /// The commands of agents that somebody waits for.
    #[must_use]
    pub fn in_foreground(state_dir: Option<&Path>) -> Self {
        Self { placed: Placed::Foreground, ..Self::new(state_dir) }
    }

    fn of(settings: &Settings, placed: Placed) -> Self {
        Self { placed, ..Self::new(settings.state_dir.as_deref()) }
    }

    /// At most so many bytes of what it printed, from this offset on.
    pub fn read(&self, id: &TaskId, since: u64, most: usize) -> Result<Chunk, TaskError> {
        let folder = self.folder(id);
        let unknown = || TaskError::Unknown { id: id.clone() };
        let layout = folder.layout()?;
        let record = folder.record()?.ok_or_else(unknown)?;
        reading::read(&folder, &record, layout, since, most)
            .map_err(|source| TaskError::State { path: folder.output(), source })
    }

    /// How many bytes it has printed so far.
    pub fn output_bytes(&self, id: &TaskId) -> Result<u64, TaskError> {
        self.read(id, u64::MAX, 0).map(|chunk| chunk.offset)
    }

    /// Whether it has ended, or is lost: no more output comes. Cheaper than [`Tasks::get`].
    pub fn is_over(&self, id: &TaskId) -> Result<bool, TaskError> {
        let folder = self.folder(id);
        if folder.is_claimed()? {
            return Ok(false);
        }
        folder.record()?.map(|_| true).ok_or_else(|| TaskError::Unknown { id: id.clone() })
    }

    /// Waits until it has ended.
    pub async fn wait(&self, id: &TaskId) -> Result<Task, TaskError> {
        const SHORTEST: Duration = Duration::from_millis(5);
        const LONGEST: Duration = Duration::from_millis(100);
        let mut pause = SHORTEST;
        while !self.is_over(id)? {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST);
        }
        self.get(id)
    }

    /// Ends it, or sends it a signal. It takes a moment: [`Tasks::wait`] for it.
    pub fn kill(&self, id: &TaskId, how: Kill) -> Result<(), TaskError> {
        let folder = self.folder(id);
        if folder.record()?.is_none() {
            return Err(TaskError::Unknown { id: id.clone() });
        }
        let order = match how {
            Kill::Gently => Order::Stop,
            Kill::With(Signal::KILL) => Order::Kill,
            Kill::With(Signal::TERM) => Order::Stop,
            Kill::With(signal) if usually_ends(signal) => Order::End(signal),
            Kill::With(signal) => Order::Signal(signal),
        };
        let path = folder.control();
        let failed = |source| TaskError::State { path: path.clone(), source };
        // One that has said how it ended may still listen for a moment.
        if folder.is_claimed()? && control::give(&path, order).map_err(failed)? {
            return Ok(());
        }
        // Nobody is left to be gentle.
        if processes::kill_survivors(id) { Ok(()) } else { Err(TaskError::NotRunning { id: id.clone() }) }
    }

    /// Forgets a task that has ended, with its output.
    pub fn remove(&self, id: &TaskId) -> Result<(), TaskError> {
        let folder = self.folder(id);
        if self.is_over(id)? {
            let path = folder.path();
            folder
                .remove(&Outputs::default())
                .map_err(|source| TaskError::State { path: path.to_owned(), source })?;
        }
        Ok(())
    }

    fn make_directories(&self) -> Result<(PathBuf, PathBuf), TaskError> {
        let made = |kind| {
            let path = self.state.path().join(kind);
            self.state.folder(kind).map_err(|source| TaskError::State { path, source })
        };
        Ok((made(self.kind())?, made(OUTPUTS)?))
    }

    fn directory(&self) -> PathBuf {
        self.state.path().join(self.kind())
    }

    fn kind(&self) -> &'static str {
        match self.placed {
            Placed::Background => KIND,
            Placed::Foreground => RUNNING,
        }
    }

    fn folder(&self, id: &TaskId) -> Folder {
        Folder::at(&self.directory(), &self.state.path().join(OUTPUTS), id)
    }

    /// Where nothing was ever started there are none.
    fn folders(&self) -> Result<Vec<Folder>, TaskError> {
        let path = self.directory();
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
            Err(source) => return Err(TaskError::State { path, source }),
        };
        let named = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<TaskId>().ok());
        Ok(named.map(|id| self.folder(&id)).collect())
    }
}

/// What no command may see: others could be told what to do, and held up.
const KIND: &str = "private/tasks";
const RUNNING: &str = "private/running";
/// What commands may read.
const OUTPUTS: &str = "task-output";

/// Signals whose default is to end, and that programs are used to being ended by.
fn usually_ends(signal: Signal) -> bool {
    ["SIGHUP", "SIGINT", "SIGQUIT", "SIGABRT"].contains(&signal.to_string().as_str())
}

fn time(milliseconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(milliseconds)
}
