//! Exactly what happened.

mod wire;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use bashtion_sandbox::{Exit, Report, Signal, Usage};
use serde::{Deserialize, Serialize};

use crate::approval::ApprovalId;
use crate::tasks::TaskId;
use crate::{Output, Verdict};

/// The result of one command. As JSON it has the names of the command line's `--json`.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use bashtion::{Engine, ToolContext, bash};
/// let outcome = bash(&Engine::new(), &ToolContext::from_host("/tmp"), "kill -9 $$").await?;
/// let json = serde_json::to_value(&outcome)?;
/// assert_eq!(json["status"], "signaled");
/// assert_eq!(json["signal"], "SIGKILL");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Outcome {
    /// How it ended.
    pub status: Status,
    /// What was asked for.
    pub command: String,
    /// The same without a redundant `cd`.
    pub display: String,
    /// What it was for.
    pub description: Option<String>,
    /// Where it ran, after symbolic links.
    pub cwd: PathBuf,
    /// Where the shell was at its end, if that was asked for and it could say so.
    pub cwd_after: Option<PathBuf>,
    /// The session that it belongs to.
    pub session: Option<String>,
    /// How the shell itself ended, whatever the status; none if it could not be killed.
    pub exit: Option<Exit>,
    /// From the start to the end of the shell.
    pub duration: Duration,
    /// What it printed.
    pub output: Output,
    /// Where all of it is, byte for byte, when the text is not that.
    pub output_file: Option<PathBuf>,
    /// How many bytes are in that file; fewer than were printed if its size cap was reached.
    pub output_file_bytes: Option<u64>,
    /// The background task that it is or was.
    pub task_id: Option<TaskId>,
    /// The question that it waits for, or whose answer it has used.
    pub approval_id: Option<ApprovalId>,
    /// The shell's process id, which was also its process group; none if nothing was run.
    pub pid: Option<i32>,
    /// The same as the other commands of its room know it, and can signal it.
    pub room_pid: Option<i32>,
    /// TCP ports that something in its room listens on.
    pub ports: Vec<u16>,
    /// What was decided before it ran.
    pub verdict: Verdict,
    /// What the kernel held it to.
    pub sandbox: Report,
    /// What the sandbox stopped, in words, and how to allow it.
    pub denials: Vec<String>,
    /// All of it in words, if the profile has its own.
    pub text: Option<String>,
    /// What else its reader should know.
    pub notes: Vec<String>,
    /// The exit codes of all stages of the last pipeline, if there was one and the shell could say so.
    pub pipe_status: Option<Vec<i32>>,
    /// What it used.
    pub usage: Usage,
    /// How the command's processes were told from others: cgroup, limit tag or kinship, the strongest first; none if nothing was
    /// run.
    pub tracking: Option<&'static str>,
    /// How many processes did not end on SIGTERM and were killed.
    pub killed: usize,
    /// Processes that outlived the shell.
    pub leftovers: Vec<Leftover>,
}

/// How a command ended.
///
/// ```
/// use bashtion::{Engine, Request, Status, ToolContext};
/// use std::time::Duration;
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), bashtion::Error> {
/// let request = Request::new("echo begun; sleep 60").timeout(Duration::from_millis(200));
/// let outcome = Engine::new().run(request, &ToolContext::from_host("/tmp")).await?;
/// assert_eq!(outcome.status.to_string(), "timed out after 200ms");
/// assert!(matches!(outcome.status, Status::TimedOut { killed: false, .. }));
/// assert_eq!(outcome.output.stdout(), "begun\n");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal, which was not ours.
    Signaled(Signal),
    /// It ran out of time.
    TimedOut {
        /// How long it had.
        after: Duration,
        /// Whether anything had to be killed after the grace period.
        killed: bool,
    },
    /// The caller cancelled it.
    Cancelled,
    /// It was judged too dangerous: nothing was run.
    Refused,
    /// Somebody has to agree first: nothing was run.
    NeedsApproval,
    /// Bash itself cannot read it: nothing was run, and nobody was asked.
    Invalid,
    /// It goes on in the background.
    Running,
}

/// A process that outlived the shell.
///
/// ```
/// use bashtion::{Engine, Fate, Request, ToolContext};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), bashtion::Error> {
/// let request = Request::new("(setsid sleep 60 &) ; echo started");
/// let outcome = Engine::new().run(request, &ToolContext::from_host("/tmp")).await?;
/// let leftover = &outcome.leftovers[0];
/// assert_eq!((leftover.command.as_str(), leftover.fate), ("sleep 60", Fate::Terminated));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leftover {
    /// Its id.
    pub pid: i32,
    /// Its command line.
    pub command: String,
    /// What was done with it.
    #[serde(rename = "action")]
    pub fate: Fate,
}

/// What was done with a leftover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It ended on SIGTERM.
    Terminated,
    /// It had to be killed.
    Killed,
    /// It was left running, as the request asked.
    Kept,
    /// It could not be killed.
    Alive,
}

impl Outcome {
    /// The id by which the next command can signal this one: that of the room, if it runs in one.
    #[must_use]
    pub fn pid_to_kill(&self) -> Option<i32> {
        self.room_pid.or(self.pid)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exit {code}"),
            Self::Signaled(signal) => write!(f, "ended by {signal}"),
            Self::TimedOut { after, .. } => write!(f, "timed out after {after:?}"),
            Self::Cancelled => f.write_str("cancelled"),
            Self::Refused => f.write_str("refused"),
            Self::NeedsApproval => f.write_str("needs approval"),
            Self::Invalid => f.write_str("invalid"),
            Self::Running => f.write_str("running"),
        }
    }
}

impl Status {
    /// As it is called in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Exited(_) => "exited",
            Self::Signaled(_) => "signaled",
            Self::TimedOut { .. } => "timed_out",
            Self::Cancelled => "cancelled",
            Self::Refused => "refused",
            Self::NeedsApproval => "needs_approval",
            Self::Invalid => "invalid",
            Self::Running => "running",
        }
    }
}
