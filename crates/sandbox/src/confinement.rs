//! What a command may touch: plain data, nothing enforced yet.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What one command may touch. Compared by value: equal ones share what the kernel needs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Confinement {
    /// How tightly it is held.
    pub mode: Mode,
    /// Whether it may talk to other machines.
    pub network: Network,
    /// Directories, and files, that it may change in [`Mode::Workspace`]. Absolute, after symbolic links.
    pub writable: Vec<PathBuf>,
    /// Of these, the ones whose repositories are looked for, so that their hooks and configuration stay as they are.
    pub workspaces: Vec<PathBuf>,
    /// Files and directories that it may not change, though they may lie in what is writable. Absolute; those that
    /// don't exist are passed over.
    pub kept: Vec<PathBuf>,
    /// Files and directories that it may not read. Absolute; those that don't exist are passed over.
    pub secrets: Vec<PathBuf>,
    /// Files and directories in the workspaces, by the last parts of their paths, that an agent, an editor or a tool of the user runs
    /// or follows: those that exist stay as they are, and none can be made.
    pub settings: Vec<PathBuf>,
    /// Unix sockets of the host that it may connect to in [`Mode::Workspace`], or directories of such. Absolute.
    pub sockets: Vec<PathBuf>,
    /// Whether it ends before its starter does. What outlives it has nobody who answers for its connections, and can have
    /// no unix sockets.
    pub attended: bool,
    /// The place of private temporary directories: nowhere in what it may change.
    pub temporary: PathBuf,
    /// How much it may use.
    pub limits: ResourceLimits,
    /// Whether namespaces may be used.
    pub namespaces: Namespaces,
    /// What to do where this host cannot hold it.
    pub requirement: Requirement,
}

/// How tightly a command is held.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Not at all.
    Off,
    /// It may write the workspace and its own temporary directory, and read all but secrets.
    #[default]
    Workspace,
    /// It may write its own temporary directory only, and has no network.
    ReadOnly,
}

/// Whether a command may talk to other machines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Network {
    /// Internet protocols as the host has them. Sockets of the host's own daemons stay closed.
    On,
    /// None; between its own processes where a network namespace can be had.
    #[default]
    Off,
}

/// Whether namespaces may be used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Namespaces {
    /// In [`Mode::Workspace`], where the host allows it.
    #[default]
    WherePossible,
    /// Never: it starts faster, and what only they can hold is reported.
    Never,
}

/// What to do where a host has no Landlock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Requirement {
    /// Run with what can be had, and report it.
    #[default]
    BestEffort,
    /// Run nothing.
    Required,
}

/// How much a command may use. What is none is not limited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ResourceLimits {
    /// Bytes of memory, all its processes together.
    pub memory: Option<u64>,
    /// Processes and threads at once, all together.
    pub processes: Option<u64>,
    /// Processor time of each process.
    pub cpu: Option<Duration>,
    /// Open files of each process.
    pub open_files: Option<u64>,
    /// Bytes of each file that it writes.
    pub file_size: Option<u64>,
}

/// Something of a repository that a command changed and may not change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// What it was.
    pub path: PathBuf,
    /// What came of it.
    pub how: Restoring,
}

/// Whether something is as before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restoring {
    /// It is again.
    PutBack,
    /// It is not: there is no room for it, or what was there could not be read beforehand.
    NotPutBack,
    /// It could not be looked at.
    NotChecked,
}

/// A name that a command was kept from making or changing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// The place that it would have been at.
    pub path: PathBuf,
    /// The reason.
    pub why: StoppedBy,
}

/// The reason why a name is not for a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoppedBy {
    /// A key of git's configuration that holds a command or leads elsewhere.
    Key(String),
    /// Git would run or follow it outside.
    Git,
    /// A directory would become a repository that nobody has looked at.
    Repository,
    /// An agent, an editor or a tool would run or follow it outside.
    Settings,
}

/// A limit that a command has run into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Of memory: some of its processes were killed.
    Memory,
    /// Of processes: some could not be started.
    Processes,
}

impl ResourceLimits {
    /// Whether nothing is limited.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::Workspace => "workspace",
            Self::ReadOnly => "read-only",
        })
    }
}

/// Why a command cannot be confined as it must be.
#[derive(Debug, thiserror::Error)]
pub enum ConfineError {
    /// The kernel has no Landlock, and it is required.
    #[error("the sandbox mode {mode} cannot be enforced here: {why}")]
    Unavailable {
        /// What was asked for.
        mode: Mode,
        /// What is missing.
        why: String,
    },
    /// A private temporary directory could not be made.
    #[error("cannot make a private temporary directory in {}", path.display())]
    Temporary {
        /// Where.
        path: PathBuf,
        /// What the kernel said.
        source: std::io::Error,
    },
    /// The command could exchange its private temporary directory for something else.
    #[error("no private temporary directory can be made in {}: the command may change {}", path.display(), root.display())]
    TemporaryInside {
        /// The place of private temporary directories.
        path: PathBuf,
        /// The directory that the command may change.
        root: PathBuf,
    },
    /// Somebody moves things about in the workspace.
    #[error("a repository in the workspace changes while it is looked at")]
    Changing,
    /// Descriptors or memory have run out, so it cannot be said what is there to protect.
    #[error("cannot prepare the sandbox")]
    Exhausted {
        /// What the kernel said.
        source: std::io::Error,
    },
    /// The kernel refused the rules.
    #[error("cannot build the rules of the sandbox: {what}")]
    Rules {
        /// Which ones, and why.
        what: String,
    },
}
