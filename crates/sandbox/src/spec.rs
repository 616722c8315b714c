//! What to spawn, and why it could not be.

use std::ffi::{CString, OsString};
use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{ConfineError, Confined, Visit};

/// Everything one child gets. Nothing is inherited beyond it but the umask, the limits and the credentials.
#[derive(Debug)]
pub struct Spec {
    /// The absolute path of the executable.
    pub program: PathBuf,
    /// Its arguments, beginning with its own name.
    pub args: Vec<OsString>,
    /// Its whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// Its working directory, open, so that a path swapped after it was checked changes nothing.
    pub cwd: OwnedFd,
    /// Where that is, for a child with a file tree of its own.
    pub cwd_path: PathBuf,
    /// The world that it runs in.
    pub world: World,
}

/// The output of a child. Its input is empty.
#[derive(Debug)]
pub struct Output {
    /// Its standard output.
    pub stdout: OwnedFd,
    /// Its standard error.
    pub stderr: OwnedFd,
}

/// The pipes that the output of a child goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piping {
    /// One for standard output, and another for standard error.
    Separate,
    /// One for both.
    Combined,
}

/// The world of a child: where it runs, and what holds it.
#[derive(Debug)]
pub enum World {
    /// The caller's own, with all that the caller may do.
    Host,
    /// By itself, held to a confinement.
    Alone(Confined),
    /// In a room, with the other commands of its workspace.
    Room(Visit),
}

impl World {
    pub(crate) fn confined(&self) -> Option<&Confined> {
        match self {
            Self::Alone(confined) => Some(confined),
            Self::Host | Self::Room(_) => None,
        }
    }
}

impl Spec {
    /// Does all allocation and conversion, so that launching only makes system calls.
    pub fn prepare(self) -> Result<Prepared, SpawnError> {
        let program = c_string(self.program.into_os_string(), "the program's path")?;
        let args = self.args.into_iter().map(|arg| c_string(arg, "an argument")).collect::<Result<_, _>>()?;
        let env = self
            .env
            .into_iter()
            .map(|(mut entry, value)| {
                entry.push("=");
                entry.push(value);
                c_string(entry, "an environment variable")
            })
            .collect::<Result<_, _>>()?;
        let cwd_path = c_string(self.cwd_path.into_os_string(), "the working directory's path")?;
        let Self { cwd, world, .. } = self;
        Ok(Prepared { program, args, env, prelude: None, cwd, cwd_path, world })
    }
}

/// A [`Spec`] in the form that the kernel takes; see [`crate::Sandbox::launch`].
#[derive(Debug)]
pub struct Prepared {
    pub(crate) program: CString,
    pub(crate) args: Vec<CString>,
    pub(crate) env: Vec<CString>,
    /// The variable that names what bash reads first.
    pub(crate) prelude: Option<CString>,
    pub(crate) cwd: OwnedFd,
    pub(crate) cwd_path: CString,
    pub(crate) world: World,
}

impl Prepared {
    /// The same in another world.
    #[must_use]
    pub fn in_world(self, world: World) -> Self {
        Self { world, ..self }
    }

    /// The same for a bash that reads this file first. It finds its name in `BASH_ENV`.
    pub fn reading_first(self, file: &Path) -> Result<Self, SpawnError> {
        let mut variable = OsString::from("BASH_ENV=");
        variable.push(file);
        Ok(Self { prelude: Some(c_string(variable, "the path of what bash reads first")?), ..self })
    }

    /// Everything that it finds in its environment.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &CString> {
        self.env.iter().chain(&self.prelude)
    }

    /// The same with another directory at the path of its working directory.
    #[must_use]
    pub fn in_directory(self, cwd: OwnedFd) -> Self {
        Self { cwd, ..self }
    }
}

/// A living process of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: i32,
    /// Its command line, or its name in brackets where it has none.
    pub command: String,
}

/// Why a child could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// A string for the kernel has a NUL byte inside.
    #[error("{what} contains a NUL byte")]
    Nul {
        /// Which string.
        what: &'static str,
    },
    /// It cannot be confined as it must be.
    #[error(transparent)]
    Confine(#[from] ConfineError),
    /// The room has ended meanwhile. Nothing was run.
    #[error("the room has ended")]
    NoRoom {
        /// What the kernel said.
        source: io::Error,
    },
    /// The room ended before it said whether the command runs.
    #[error(
        "the room ended while the command was being started; it may have begun, and has been ended with the room"
    )]
    RoomLost {
        /// What the kernel said.
        source: io::Error,
    },
    /// The room did not say in time whether the command runs.
    #[error(
        "the room has not answered for {} seconds: its keeper is stopped, or this machine is too busy; if the command begins \
         after all, it is ended at once; `bashtion rooms end` ends the room",
        after.as_secs()
    )]
    RoomSilent {
        /// The time that was waited.
        after: Duration,
    },
    /// The kernel refused one step of the start.
    #[error("cannot {step}")]
    Refused {
        /// Which step.
        step: Step,
        /// The kernel's own error.
        source: io::Error,
    },
}

impl SpawnError {
    /// Returns true if the command may have begun. Otherwise it can be started again.
    #[must_use]
    pub fn may_have_begun(&self) -> bool {
        matches!(self, Self::RoomLost { .. } | Self::RoomSilent { .. })
    }

    pub(crate) fn refused(step: Step, source: impl Into<io::Error>) -> Self {
        Self::Refused { step, source: source.into() }
    }
}

/// A step on the way to a running program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Step {
    /// OwnFile `/dev/null`, copying descriptors, making a stack: all that is done beforehand.
    Prepare,
    /// Making the process.
    Clone,
    /// Leaving the caller's session.
    Session,
    /// Marking the process so that its descendants can be found.
    Mark,
    /// Putting standard input, output and error in place.
    Streams,
    /// Joining control groups, and setting limits.
    Limits,
    /// Settling in namespaces of its own.
    Namespaces,
    /// Arranging a file tree of its own.
    Mounts,
    /// Entering the working directory.
    Cwd,
    /// Giving up capabilities.
    Privileges,
    /// Applying the Landlock rules.
    Landlock,
    /// Installing the filter of system calls.
    Filter,
    /// Becoming the program.
    Exec,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Prepare => "prepare a process",
            Self::Clone => "create a process",
            Self::Session => "start a session",
            Self::Mark => "mark the process",
            Self::Streams => "connect standard input and output",
            Self::Limits => "set the limits",
            Self::Namespaces => "set up namespaces",
            Self::Mounts => "arrange the file tree of the sandbox",
            Self::Privileges => "give up privileges",
            Self::Landlock => "apply the Landlock rules",
            Self::Filter => "install the filter of system calls",
            Self::Cwd => "enter the working directory",
            Self::Exec => "execute the program",
        })
    }
}

fn c_string(text: OsString, what: &'static str) -> Result<CString, SpawnError> {
    CString::new(text.into_vec()).map_err(|_| SpawnError::Nul { what })
}
