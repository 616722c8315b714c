//! What a person or a model is told when Bashtion itself failed: what, why, and what to do.

use std::error::Error;
use std::io;

use bashtion::{
    AdmitError, LaunchError, PlanError, ProfileError, RoomError, SessionError, SpawnError, TaskError,
};

use crate::exit_code::{BASHTION_FAILED, FAILURE};

/// A message with its causes, a hint and an exit code.
#[derive(Debug)]
pub(crate) struct CliError {
    pub(crate) message: String,
    pub(crate) causes: Vec<String>,
    pub(crate) help: Option<String>,
    pub(crate) exit_code: u8,
}

impl CliError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), causes: vec![], help: None, exit_code: FAILURE }
    }

    /// Bashtion could not do its work.
    pub(crate) fn failed(message: impl Into<String>, cause: &dyn Error) -> Self {
        Self { exit_code: BASHTION_FAILED, ..Self::new(message).caused_by(cause) }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// In one line.
    pub(crate) fn told(&self) -> String {
        [&self.message].into_iter().chain(&self.causes).map(String::as_str).collect::<Vec<_>>().join(": ")
    }

    /// In one line, with what to do.
    pub(crate) fn told_with_help(&self) -> String {
        self.help.as_ref().map_or_else(|| self.told(), |help| format!("{}; {help}", self.told()))
    }

    pub(crate) fn caused_by(mut self, cause: &dyn Error) -> Self {
        let mut next = Some(cause);
        while let Some(cause) = next {
            self.causes.push(cause.to_string());
            next = cause.source();
        }
        self
    }
}

impl From<bashtion::Error> for CliError {
    fn from(error: bashtion::Error) -> Self {
        if let bashtion::Error::Task(error) = error {
            return error.into();
        }
        let message = error.to_string();
        let mut told = match error.source() {
            Some(source) => Self::failed(message, source),
            None => Self { exit_code: BASHTION_FAILED, ..Self::new(message) },
        };
        told.help = hint(&error);
        told
    }
}

impl From<ProfileError> for CliError {
    fn from(error: ProfileError) -> Self {
        let help = match &error {
            ProfileError::Policy { .. } => "`bashtion check --list-rules` shows the rules and their names",
            ProfileError::Unknown { .. } => {
                "`bashtion config list` names those that are built in; a file is named by its path"
            }
            ProfileError::Widens { .. } => {
                "an agent can write that file; set it in your own configuration instead"
            }
            ProfileError::TooDeep { .. }
            | ProfileError::Unreadable { .. }
            | ProfileError::Permission { .. }
            | ProfileError::Syntax { .. }
            | ProfileError::Value { .. } => {
                "`bashtion config show --profile default` shows all that can be set"
            }
        };
        Self::new(error.to_string()).help(help)
    }
}

impl From<TaskError> for CliError {
    fn from(error: TaskError) -> Self {
        let mut told = match (&error, error.source()) {
            (TaskError::Start { message, causes }, _) => {
                Self { causes: causes.clone(), ..Self::new(message) }
            }
            (_, Some(source)) => Self::new(error.to_string()).caused_by(source),
            (_, None) => Self::new(error.to_string()),
        };
        told.exit_code = if is_about_starting(&error) { BASHTION_FAILED } else { FAILURE };
        told.help = match &error {
            TaskError::TooMany { live, .. } => {
                let names: Vec<_> = live.iter().map(ToString::to_string).collect();
                Some(format!("end some with `bashtion kill`: {}", names.join(", ")))
            }
            TaskError::Unknown { .. } => Some("`bashtion tasks` shows those there are".to_owned()),
            TaskError::NotRunning { id } => Some(format!("`bashtion wait {id}` says how it ended")),
            TaskError::State { .. } => {
                Some("name a directory of your own with BASHTION_STATE_DIR".to_owned())
            }
            TaskError::Unreadable { path, .. } | TaskError::Untrusted { path, .. } => {
                path.parent().map(|folder| format!("if it is of no use, remove {}", folder.display()))
            }
            TaskError::NoSupervisor | TaskError::Supervisor { .. } | TaskError::Start { .. } => None,
        };
        told
    }
}

impl From<RoomError> for CliError {
    fn from(error: RoomError) -> Self {
        let told = match error.source() {
            Some(source) => Self::new(error.to_string()).caused_by(source),
            None => Self::new(error.to_string()),
        };
        match error {
            RoomError::Unknown { .. } | RoomError::NoneHere { .. } => {
                told.help("`bashtion rooms` shows those there are")
            }
            RoomError::Failed { .. } => told,
            RoomError::State { .. } => told.help("name a directory of your own with BASHTION_STATE_DIR"),
        }
    }
}

fn is_about_starting(error: &TaskError) -> bool {
    matches!(
        error,
        TaskError::NoSupervisor
            | TaskError::Supervisor { .. }
            | TaskError::Start { .. }
            | TaskError::TooMany { .. }
            | TaskError::State { .. }
    )
}

fn hint(error: &bashtion::Error) -> Option<String> {
    let hint = match error {
        bashtion::Error::Admit(AdmitError::EmptyCommand) => "give one in quotes: bashtion run 'echo hello'",
        bashtion::Error::Admit(AdmitError::NulInCommand { .. }) => "let the command make it: printf '\\0'",
        bashtion::Error::Admit(AdmitError::Cwd { .. }) => {
            "name an existing directory that you may enter with --cwd"
        }
        bashtion::Error::Admit(AdmitError::MaxOutput { .. }) => "take the whole from the output file instead",
        bashtion::Error::Session(SessionError::Elsewhere { .. }) => {
            "use another name, or begin it anew with --reset"
        }
        bashtion::Error::Session(SessionError::Gone { .. }) => {
            "go elsewhere with --cwd DIR, or begin the session anew with --reset"
        }
        bashtion::Error::Session(SessionError::Untrusted { .. }) => {
            "begin the session anew with --reset; if no update explains it, look for what wrote the file"
        }
        bashtion::Error::Session(SessionError::State { .. }) => {
            "begin the session anew with --reset, or name a directory of your own with BASHTION_STATE_DIR"
        }
        bashtion::Error::Plan(PlanError::NoBash { .. }) => "install bash, or add its directory to PATH",
        bashtion::Error::Plan(PlanError::Script { .. }) => {
            "name a directory of your own with BASHTION_STATE_DIR"
        }
        bashtion::Error::Launch(LaunchError::Sandbox { .. }) => {
            "`bashtion doctor` says what this machine can enforce; without a sandbox: --sandbox off"
        }
        bashtion::Error::Plan(PlanError::Secrets { .. }) => {
            "make /etc/passwd readable; if files are the cause, run fewer commands at once, or raise the limit with `ulimit -n`"
        }
        bashtion::Error::Launch(LaunchError::Descriptors { .. }) => {
            "run fewer commands at once, or raise the limit with `ulimit -n`"
        }
        bashtion::Error::Launch(LaunchError::Spawn {
            source: SpawnError::Refused { step, source }, ..
        }) => {
            return spawn_hint(*step, source);
        }
        _ => return None,
    };
    Some(hint.to_owned())
}

fn spawn_hint(step: bashtion::Step, source: &io::Error) -> Option<String> {
    let hint = match (step, source.kind()) {
        (bashtion::Step::Cwd, _) => "name a directory that you may enter with --cwd",
        (bashtion::Step::Exec, io::ErrorKind::ArgumentListTooLong) => {
            "the environment is too large: pass less with --env"
        }
        (bashtion::Step::Mounts | bashtion::Step::Landlock | bashtion::Step::Filter, _) => {
            "`bashtion doctor` says what this machine can enforce; without a sandbox: --sandbox off"
        }
        (bashtion::Step::Clone, io::ErrorKind::WouldBlock) => {
            "the limit of processes is reached: end some, or raise it with `ulimit -u`"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}
