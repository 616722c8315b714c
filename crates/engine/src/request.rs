//! What to run.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Captures, SandboxSettings};

/// One command, and how it differs from the engine's defaults.
///
/// ```
/// use bashtion::{Request, Streams};
/// use std::time::Duration;
///
/// let request = Request::new("make test")
///     .description("Run the tests")
///     .cwd("backend")
///     .env("RUST_BACKTRACE", "1")
///     .timeout(Duration::from_secs(300))
///     .streams(Streams::Combined);
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Request {
    pub(crate) command: String,
    pub(crate) description: Option<String>,
    #[serde(with = "crate::raw")]
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) base_env: BaseEnv,
    pub(crate) mode: Mode,
    pub(crate) timeout: Timeout,
    pub(crate) max_output: Option<usize>,
    pub(crate) capture: Option<Captures>,
    pub(crate) streams: Option<Streams>,
    pub(crate) leftovers: Option<Leftovers>,
    pub(crate) keep_file: KeepFile,
    pub(crate) sandbox: Option<SandboxSettings>,
    pub(crate) session: Option<String>,
    pub(crate) resets_session: bool,
    /// Variables that the session has taken away.
    pub(crate) unset: Vec<OsString>,
    /// Whether the working directory is where the session went by itself.
    pub(crate) moved: bool,
}

/// How patient to be when no timeout is given.
///
/// ```
/// use bashtion::{Mode, Request};
/// let build = Request::new("make world").mode(Mode::Slow);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    /// [`crate::Limits::timeout`].
    #[default]
    Default,
    /// [`crate::Limits::slow_timeout`], for builds and test suites.
    Slow,
}

/// How standard output and standard error are captured.
///
/// ```
/// use bashtion::{Engine, Request, Streams, ToolContext};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), bashtion::Error> {
/// let request = Request::new("echo out; echo err >&2").streams(Streams::Combined);
/// let outcome = Engine::new().run(request, &ToolContext::from_host("/tmp")).await?;
/// assert_eq!(outcome.output.stdout(), "out\nerr\n");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Streams {
    /// One pipe each. Which of two lines on different streams came first is not known.
    #[default]
    Separate,
    /// One pipe for both, so the order is the one in which they were written.
    Combined,
}

/// What happens to processes that outlive the shell.
///
/// ```
/// use bashtion::{Engine, Fate, Leftovers, Request, ToolContext};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), bashtion::Error> {
/// let request = Request::new("sleep 0.7 & true").leftovers(Leftovers::Keep);
/// let outcome = Engine::new().run(request, &ToolContext::from_host("/tmp")).await?;
/// assert_eq!(outcome.leftovers[0].command, "sleep 0.7");
/// assert_eq!(outcome.leftovers[0].fate, Fate::Kept);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Leftovers {
    /// They are ended, and named in the result.
    #[default]
    End,
    /// They run on, and are named in the result. Nobody reads their output any more.
    Keep,
}

/// When the raw output is kept in a file.
///
/// ```
/// use bashtion::{Engine, KeepFile, Request, ToolContext};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), bashtion::Error> {
/// let request = Request::new("seq 1 100000").keep_file(KeepFile::Never);
/// let outcome = Engine::new().run(request, &ToolContext::from_host("/tmp")).await?;
/// assert!(outcome.output.is_truncated());
/// assert_eq!(outcome.output_file, None);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum KeepFile {
    /// When the text in the result is not all of it, or not byte for byte the same.
    #[default]
    WhenTextDiffers,
    /// Never: somebody has taken all of it from the events.
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Timeout {
    OfMode,
    /// A background task takes as long as it takes, also where a foreground command may not.
    OfTask,
    After(Duration),
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum BaseEnv {
    OfEngine,
    Empty,
}

impl Request {
    /// Runs `command` with `bash -c`.
    pub fn new(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            description: None,
            cwd: None,
            env: vec![],
            base_env: BaseEnv::OfEngine,
            mode: Mode::default(),
            timeout: Timeout::OfMode,
            max_output: None,
            capture: None,
            streams: None,
            leftovers: None,
            keep_file: KeepFile::default(),
            sandbox: None,
            session: None,
            resets_session: false,
            unset: vec![],
            moved: false,
        }
    }

    /// What the command is for, in words; it comes back in the result.
    #[must_use]
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.description = Some(text.into());
        self
    }

    /// Where it runs; relative to the context's working directory.
    #[must_use]
    pub fn cwd(mut self, dir: impl Into<PathBuf>) -> Self {
        self.cwd = Some(dir.into());
        self
    }

    /// Sets one variable, over everything else.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Sets many.
    #[must_use]
    pub fn envs<N: Into<OsString>, V: Into<OsString>>(
        mut self,
        vars: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        self.env.extend(vars.into_iter().map(|(name, value)| (name.into(), value.into())));
        self
    }

    /// Passes only the variables set on this request: neither the caller's nor the non-interactive defaults.
    #[must_use]
    pub fn clear_env(mut self) -> Self {
        self.base_env = BaseEnv::Empty;
        self
    }

    /// How patient to be when no timeout is given.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Ends the command after this long.
    #[must_use]
    pub fn timeout(mut self, after: Duration) -> Self {
        self.timeout = Timeout::After(after);
        self
    }

    /// Lets it run for as long as it takes.
    #[must_use]
    pub fn no_timeout(mut self) -> Self {
        self.timeout = Timeout::Never;
        self
    }

    /// How many characters of one stream are kept, from the beginning and from the end as the engine says.
    #[must_use]
    pub fn max_output(mut self, characters: usize) -> Self {
        self.max_output = Some(characters);
        self
    }

    /// Whether the text of the output is kept at all; by default as the engine says.
    #[must_use]
    pub fn capture(mut self, capture: Captures) -> Self {
        self.capture = Some(capture);
        self
    }

    /// Separate or combined output.
    #[must_use]
    pub fn streams(mut self, streams: Streams) -> Self {
        self.streams = Some(streams);
        self
    }

    /// What happens to processes that outlive the shell.
    #[must_use]
    pub fn leftovers(mut self, leftovers: Leftovers) -> Self {
        self.leftovers = Some(leftovers);
        self
    }

    /// How it is confined, if not as the engine says.
    #[must_use]
    pub fn sandbox(mut self, settings: SandboxSettings) -> Self {
        self.sandbox = Some(settings);
        self
    }

    /// Goes on where the last command of this session left off: its working directory and exported variables.
    ///
    /// In the background it begins there, and changes nothing about it.
    #[must_use]
    pub fn session(mut self, name: impl Into<String>) -> Self {
        self.session = Some(name.into());
        self
    }

    /// Begins the session anew.
    #[must_use]
    pub fn reset_session(mut self) -> Self {
        self.resets_session = true;
        self
    }

    /// The same in the background, where nobody waits for it.
    pub(crate) fn into_task(self) -> Self {
        match self.timeout {
            Timeout::OfMode => Self { timeout: Timeout::OfTask, ..self },
            Timeout::OfTask | Timeout::After(_) | Timeout::Never => self,
        }
    }

    /// What it sets, but for the name that a task is told.
    pub(crate) fn own_variables(&self) -> Vec<(OsString, OsString)> {
        self.env.iter().filter(|(name, _)| name != crate::tasks::TASK_VARIABLE).cloned().collect()
    }

    /// When the raw output is kept in a file.
    #[must_use]
    pub fn keep_file(mut self, keep: KeepFile) -> Self {
        self.keep_file = keep;
        self
    }
}
