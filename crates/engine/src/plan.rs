//! Exactly what will be executed.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bashtion_guard::Analysis;
use bashtion_sandbox::Sandbox;
use rustix::fs::{Access, access};

use crate::admit::Job;
use crate::approval::Grant;
use crate::confine::{Confining, Tools};
use crate::denials::Wishes;
use crate::engine::Settings;
use crate::output::{Capture, Sink, StateDir};
use crate::places::Places;
use crate::quote::quote_path;
use crate::rooms::Rooms;
use crate::session::{Questions, Session};
use crate::settle::{Approved, Permit};
use crate::tasks::{Log, supervisor};
use crate::{Leftovers, Limits, Streams, Verdict};

/// Exact argv, environment, directory, streams and deadline. Made of a [`Permit`], and of nothing less.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) facts: Facts,
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<OsString>,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) cwd: Option<OwnedFd>,
    pub(crate) confining: Option<Confining>,
    pub(crate) streams: Streams,
    pub(crate) capture: Capture,
    pub(crate) supervision: Supervision,
    /// What the shell is to say at its end, and where it can.
    pub(crate) questions: Option<Questions>,
    pub(crate) temporary: PathBuf,
    pub(crate) session: Option<Session>,
    /// True if its shell may be one that has waited: it is no task, and neither it nor a session has variables of its own, which
    /// no other command should be able to see.
    pub(crate) may_have_waited: bool,
}

/// What an engine has for every command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Means<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) sandbox: &'a Sandbox,
    pub(crate) places: &'a Arc<Places>,
    pub(crate) rooms: &'a Arc<Rooms>,
}

/// What the result repeats of the request.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) command: String,
    pub(crate) display: String,
    pub(crate) description: Option<String>,
    pub(crate) cwd: PathBuf,
    /// The caller's.
    pub(crate) home: Option<PathBuf>,
    pub(crate) verdict: Verdict,
    /// Who agreed, if somebody had to.
    pub(crate) approval: Option<Approved>,
    /// What it has got by that.
    pub(crate) grant: Grant,
    pub(crate) wishes: Wishes,
    /// The stages of the pipeline with which it ends, as they are written.
    pub(crate) stages: Vec<String>,
}

impl Facts {
    /// For whoever reads the result.
    pub(crate) fn approved_by(&self) -> Option<String> {
        let approval = self.approval.as_ref()?;
        let given: String = self.grant.in_words().iter().map(|words| format!("; {words}")).collect();
        Some(format!("approved by {}{given}", approval.by))
    }
}

/// How the running command is watched.
#[derive(Debug)]
pub(crate) struct Supervision {
    pub(crate) timeout: Option<Duration>,
    pub(crate) leftovers: Leftovers,
    pub(crate) limits: Limits,
    /// Holds the text of a command too long for an argument, until the command has ended.
    #[expect(dead_code, reason = "kept for its destructor")]
    pub(crate) script: Option<Script>,
}

/// What the host lacks.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// No bash on the caller's path.
    #[error("there is no bash in {searched}")]
    NoBash {
        /// Where it was looked for.
        searched: String,
    },
    /// Where the user's home is could not be read.
    #[error("cannot look for the user's secrets: the list of users cannot be read")]
    Secrets {
        /// What the kernel said.
        source: io::Error,
    },
    /// A very long command has to go through a file.
    #[error("cannot write the command, which is too long for an argument, to {}", path.display())]
    Script {
        /// Where.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
}

impl Plan {
    pub(crate) fn new(
        permit: Permit,
        analysis: &Analysis,
        session: Option<Session>,
        log: Option<Log>,
        means: Means<'_>,
    ) -> Result<Self, PlanError> {
        let Means { settings, sandbox, places, rooms } = means;
        let (job, verdict, approval) = permit.into_parts();
        let stages: Vec<String> = analysis
            .last_pipeline
            .iter()
            .filter_map(|span| job.command.get(span.start..span.end).map(|stage| stage.trim().to_owned()))
            .collect();
        // A background task changes nothing about its session.
        let state = session.is_some() && log.is_none();
        let questions = Questions::about(&job.command, state, !stages.is_empty());
        let may_have_waited = job.given.is_empty() && session.is_none() && log.is_none();
        let state = StateDir::new(settings.state_dir.clone());
        let program = shell(&job, settings, places)?;
        let script = Script::if_too_long(&job.command, &state)?;
        let text = script.as_ref().map_or_else(|| OsString::from(&job.command), Script::invocation);
        let limits = settings.limits.clone();
        let keeper = supervisor(settings).ok();
        let tools =
            Tools { sandbox, places, rooms, state: &state, keeper: keeper.as_deref(), shell: &program };
        let wanted = job.grant.applied_to(job.sandbox.as_ref().unwrap_or(&settings.sandbox));
        let programs: Vec<&str> = analysis.commands.iter().map(|found| found.program.as_str()).collect();
        let confining = Confining::new(&job, &wanted, tools, &programs)
            .map_err(|source| PlanError::Secrets { source })?;
        Ok(Self {
            confining,
            program,
            // The dashes, because a command may begin with one and would be taken for an option.
            args: vec!["bash".into(), "-c".into(), "--".into(), text],
            env: job.env,
            cwd: job.cwd_fd,
            streams: job.output.streams,
            capture: Capture::new(
                job.output,
                log.map_or_else(|| Sink::file(job.keep_file, state, &limits), Sink::Log),
            ),
            facts: Facts {
                command: job.command,
                display: job.display,
                description: job.description,
                cwd: job.cwd,
                home: job.home,
                verdict,
                approval,
                grant: job.grant,
                wishes: Wishes::of(analysis),
                stages,
            },
            questions,
            temporary: job.temporary,
            session,
            may_have_waited,
            supervision: Supervision { timeout: job.timeout, leftovers: job.leftovers, limits, script },
        })
    }
}

/// The bash that runs a command.
pub(crate) fn shell(job: &Job, settings: &Settings, places: &Places) -> Result<PathBuf, PlanError> {
    match &settings.shell {
        Some(path) => Ok(path.clone()),
        None => places.bash(job.search_path.as_ref(), find_bash),
    }
}

fn find_bash(path: Option<&OsString>) -> Result<PathBuf, PlanError> {
    let standard = ["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from);
    let named = path.map(|path| std::env::split_paths(path).collect::<Vec<_>>()).unwrap_or_default();
    // A relative entry would mean another program in every directory.
    let folders: Vec<_> = named.into_iter().filter(|dir| dir.is_absolute()).chain(standard).collect();
    let found = folders.iter().map(|dir| dir.join("bash")).find(|file| is_program(file));
    found.ok_or_else(|| {
        let searched: Vec<_> = folders.iter().map(|dir| dir.display().to_string()).collect();
        PlanError::NoBash { searched: searched.join(", ") }
    })
}

pub(crate) fn is_program(file: &Path) -> bool {
    access(file, Access::EXEC_OK).is_ok() && file.is_file()
}

/// A command longer than the kernel takes as one argument, in a private file that is removed afterwards.
#[derive(Debug)]
pub(crate) struct Script {
    path: PathBuf,
}

impl Script {
    /// The kernel's limit for one argument with its closing NUL: 32 pages of at least 4 KiB.
    const LONGEST_ARGUMENT: usize = 32 * 4096;
    const KIND: &str = "commands";

    fn if_too_long(command: &str, state: &StateDir) -> Result<Option<Self>, PlanError> {
        if command.len() < Self::LONGEST_ARGUMENT {
            return Ok(None);
        }
        let failed = |path: &Path, source| PlanError::Script { path: path.to_owned(), source };
        state.prune(Self::KIND, Duration::from_secs(24 * 60 * 60), u64::MAX);
        let (mut file, path) = state.create_file(Self::KIND).map_err(|e| failed(state.path(), e))?;
        let script = Self { path };
        file.write_all(command.as_bytes()).map_err(|e| failed(&script.path, e))?;
        Ok(Some(script))
    }

    /// Evaluated rather than executed as a file, so that `$0`, `return` and `$BASH_SOURCE` mean what they always do.
    ///
    /// Without the test, a file that cannot be read would be an empty command, and that succeeds.
    fn invocation(&self) -> OsString {
        let file = quote_path(self.path.as_os_str());
        let parts: [&OsStr; 5] =
            ["[ -r ".as_ref(), &file, " ] || exit 125; eval -- \"$(<".as_ref(), &file, ")\"".as_ref()];
        parts.into_iter().collect()
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(path = %self.path.display(), %error, "cannot remove the file of a long command");
        }
    }
}
