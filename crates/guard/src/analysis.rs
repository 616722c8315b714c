//! What is found in a command: every simple command with its arguments and effects, and what cannot be understood.

use std::fmt;

use serde::Serialize;

use crate::paths::{Path, Place};
use crate::programs::Concern;
use crate::syntax::ast::Span;
use crate::text::Text;
use crate::trace::Step;
use crate::world::World;

/// Everything that a command would do, as far as it can be told.
#[derive(Debug, Clone, Serialize)]
pub struct Analysis {
    /// The text.
    #[serde(skip)]
    pub(crate) command: String,
    /// The simple commands in it, wherever they stand.
    pub commands: Vec<Found>,
    /// The parts that cannot be understood.
    pub opaque: Vec<Opaque>,
    /// Where the stages of the pipeline stand with which it ends; none if it ends otherwise.
    #[serde(skip)]
    pub last_pipeline: Vec<Span>,
    /// Dangers of the script as a whole.
    #[serde(skip)]
    pub(crate) shapes: Vec<Shape>,
    /// Everything that would run, be set or be written, for permissions.
    #[serde(skip)]
    pub(crate) steps: Vec<Step>,
}

/// A simple command.
#[derive(Debug, Clone, Serialize)]
pub struct Found {
    /// The name of the program without its directory. Empty for a redirection without a command.
    pub program: String,
    /// Its arguments, resolved.
    pub arguments: Vec<Text>,
    /// The programs through which it is started, the outermost first: `sudo`, `env`, `bash -c`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<String>,
    /// Where it stands in the text.
    pub span: Span,
    /// What it would do.
    pub effects: Vec<Effect>,
    #[serde(skip)]
    pub(crate) setting: Setting,
    /// What it reads.
    #[serde(skip)]
    pub(crate) input: Stream,
    /// Where the code that it executes comes from, if not from a file here.
    #[serde(skip)]
    pub(crate) feed: Option<Stream>,
    /// Variables set for it alone, and those that it exports.
    #[serde(skip)]
    pub(crate) environment: Vec<(String, Text)>,
    /// Redirections that connect it to another machine.
    #[serde(skip)]
    pub(crate) connected: bool,
    /// Matters for rules, by the page of the program.
    #[serde(skip)]
    pub(crate) concerns: Vec<Concern>,
    /// The secret that it is about, if any.
    #[serde(skip)]
    pub(crate) secret: Option<SecretUse>,
    /// The possible working directories.
    #[serde(skip)]
    pub(crate) cwds: Vec<Text>,
}

/// A secret file that a command names, or that it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SecretUse {
    /// The path, or what it is in words.
    pub(crate) path: String,
    /// True if its content is shown or copied, rather than used.
    pub(crate) is_read: bool,
    /// True if it lies where programs keep secrets of the user or the system, rather than in a project.
    pub(crate) is_kept: bool,
}

impl Found {
    /// As it would be typed.
    #[must_use]
    pub fn shown(&self) -> String {
        let words = self.arguments.iter().map(|argument| {
            let text = argument.to_string();
            let plain =
                !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || "'\"\\;&|<>()".contains(c));
            if plain { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
        });
        let name = if self.program.is_empty() { "(redirection)".to_owned() } else { self.program.clone() };
        [name].into_iter().chain(words).collect::<Vec<_>>().join(" ")
    }

    /// Returns true if it runs on this machine, not behind ssh or in a container.
    #[must_use]
    pub fn is_here(&self) -> bool {
        self.setting.machine == Machine::Here
    }

    /// Returns true if it changes this machine itself (packages, services, accounts) or acts as another user: no list of paths says
    /// what it needs.
    ///
    /// ```
    /// use bashtion_guard::{World, analyze};
    /// let world = World::new("/w", "/home/dev");
    /// let needs = |command: &str| analyze(command, &world).commands.iter().any(|found| found.needs_the_machine(&world));
    /// assert!(needs("apt-get install jq") && needs("sudo make install"));
    /// assert!(!needs("rm -r /srv/old") && !needs("ssh host sudo reboot"));
    /// ```
    #[must_use]
    pub fn needs_the_machine(&self, world: &World) -> bool {
        crate::rules::needs_the_machine(self, world)
    }

    /// Returns true if it would show or copy a secret that programs keep for the user, which a sandbox hides.
    #[must_use]
    pub fn reads_secret(&self) -> bool {
        self.secret.as_ref().is_some_and(|secret| secret.is_read && secret.is_kept)
    }

    /// Whether an argument is exactly this.
    pub(crate) fn has(&self, argument: &str) -> bool {
        self.arguments.iter().any(|own| own.value() == Some(argument))
    }

    /// Returns true if the page of the program says this of it.
    pub(crate) fn is_about(&self, concern: Concern) -> bool {
        self.concerns.contains(&concern)
    }

    /// The argument at this place, if it is known.
    pub(crate) fn argument(&self, index: usize) -> Option<&str> {
        self.arguments.get(index)?.value()
    }
}

/// Under what circumstances a command runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Setting {
    pub(crate) via: Vec<String>,
    /// As another user, usually root.
    pub(crate) elevated: bool,
    pub(crate) machine: Machine,
    /// In a container: directories of ours, and where they are there.
    pub(crate) mounts: Vec<(Text, String)>,
    pub(crate) input: Stream,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Machine {
    #[default]
    Here,
    /// Behind ssh.
    Remote,
    /// In a container that is made for it: its files are not ours.
    Container,
    /// In a container that was there before: what is in it may be needed.
    RunningContainer,
}

/// What flows through a pipe, or is in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Stream {
    #[default]
    Nothing,
    Known(Text),
    /// Names of files, as paths with patterns in them.
    Names(Vec<Text>),
    /// From another machine.
    Downloaded,
    /// Decoded or unpacked.
    Decoded,
    /// A secret of the user.
    Secret,
    /// Settings for a shell, from a program that is made for it: `direnv hook bash`.
    Setup,
    /// The file of this program.
    Program(String),
    /// What this program prints.
    Unknown(String),
}

/// Something that a command does to the world.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Effect {
    /// Removes a file, or a directory with all that is in it.
    Delete {
        /// What is removed.
        #[serde(flatten)]
        target: Target,
        /// With everything in it.
        recursive: bool,
    },
    /// Moves a file away.
    Move {
        /// What is moved.
        #[serde(flatten)]
        target: Target,
    },
    /// Makes, replaces or extends a file, or puts files into a directory.
    Write {
        /// What is written.
        #[serde(flatten)]
        target: Target,
    },
    /// Changes who may do what with a file, or whose it is.
    Permissions {
        /// Whose permissions change.
        #[serde(flatten)]
        target: Target,
        /// With everything in it.
        recursive: bool,
    },
    /// Executes a file.
    Execute {
        /// The file.
        #[serde(flatten)]
        target: Target,
    },
    /// Talks to another machine.
    Connect {
        /// Its name or address, as far as known.
        host: String,
    },
}

/// In words, for whoever is asked about it.
impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Delete { target, recursive: true } => write!(f, "deletes {target} and everything in it"),
            Self::Delete { target, recursive: false } => write!(f, "deletes {target}"),
            Self::Move { target } => write!(f, "moves {target} away"),
            Self::Write { target } => write!(f, "writes {target}"),
            Self::Permissions { target, .. } => write!(f, "changes permissions of {target}"),
            Self::Execute { target } => write!(f, "executes {target}"),
            Self::Connect { host } => write!(f, "talks to {host}"),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.path, self.place)
    }
}

/// A path and what kind of place it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Target {
    /// Absolute and normalised if known.
    pub path: String,
    /// The kind of place.
    pub place: Place,
    /// Why the place is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl From<Path> for Target {
    fn from(path: Path) -> Self {
        Self { path: path.name, place: path.place, reason: path.why.map(|why| why.to_string()) }
    }
}

/// A part of a command that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Opaque {
    /// Why.
    pub reason: String,
    /// Where it stands.
    pub span: Span,
}

/// A danger that lies in how commands are put together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shape {
    ForkBomb(Span),
}
