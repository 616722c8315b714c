//! Who calls: everything about the caller that one command needs.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bashtion_guard::secrets;
use bashtion_sandbox::Signal;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::{EnvSettings, Event, EventSender};

/// The context of one call. The engine itself remembers nothing about its callers.
///
/// ```
/// use bashtion::{CancellationToken, ToolContext};
///
/// let cancel = CancellationToken::new();
/// let context = ToolContext::new("/srv/project")
///     .roots(["/srv/project", "/srv/shared"])
///     .env("PATH", "/usr/bin:/bin")
///     .cancel(cancel.clone())
///     .operation_id("turn-42");
/// assert_eq!(context.id(), "turn-42");
/// ```
#[derive(Debug, Clone)]
pub struct ToolContext {
    working_dir: PathBuf,
    roots: Roots,
    workspaces: Vec<PathBuf>,
    env: BTreeMap<OsString, OsString>,
    cancel: CancellationToken,
    kill: CancellationToken,
    operation_id: Arc<str>,
    agent: Option<String>,
    events: Vec<EventSender>,
    signals: Arc<Signals>,
    notes_repetition: bool,
}

/// Signals for the command, on their way.
#[derive(Debug, Default)]
struct Signals {
    waiting: Mutex<Vec<Signal>>,
    came: Notify,
}

/// The part of a context that can be told to another process.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Caller {
    #[serde(with = "crate::raw")]
    working_dir: PathBuf,
    /// None: any.
    #[serde(with = "crate::raw")]
    roots: Option<Vec<PathBuf>>,
    #[serde(with = "crate::raw")]
    workspaces: Vec<PathBuf>,
    env: Vec<(OsString, OsString)>,
    operation_id: String,
    agent: Option<String>,
}

/// The part of the caller's environment that a supervisor has to know, whatever the command sees: the places of bash, of
/// temporary files and, with the variables that move some, of the caller's secrets.
const NEEDED: [&str; 3] = ["PATH", "HOME", "TMPDIR"];

#[derive(Debug, Clone)]
pub(crate) enum Roots {
    Any,
    Within(Vec<PathBuf>),
}

impl Roots {
    /// Whether a directory, named as it really is, lies in one of them. A root that does not exist contains nothing.
    pub(crate) fn contain(&self, real: &Path) -> bool {
        match self {
            Self::Any => true,
            Self::Within(roots) => {
                let has = |root: &PathBuf| root.canonicalize().is_ok_and(|root| real.starts_with(root));
                roots.iter().any(|root| root == real || has(root))
            }
        }
    }
}

impl ToolContext {
    /// A caller in `working_dir`, which is also the only root, with an empty environment.
    pub fn new(working_dir: impl Into<PathBuf>) -> Self {
        let working_dir = working_dir.into();
        Self {
            roots: Roots::Within(vec![working_dir.clone()]),
            workspaces: vec![],
            working_dir,
            env: BTreeMap::new(),
            cancel: CancellationToken::new(),
            kill: CancellationToken::new(),
            operation_id: random_id(),
            agent: None,
            events: vec![],
            signals: Arc::default(),
            notes_repetition: true,
        }
    }

    pub(crate) fn from_caller(caller: Caller) -> Self {
        let roots = caller.roots.map_or(Roots::Any, Roots::Within);
        Self {
            roots,
            workspaces: caller.workspaces,
            env: caller.env.into_iter().collect(),
            operation_id: caller.operation_id.into(),
            agent: caller.agent,
            ..Self::new(caller.working_dir)
        }
    }

    /// Of the environment only what a command may see.
    pub(crate) fn caller(&self, settings: &EnvSettings) -> Caller {
        Caller {
            working_dir: self.working_dir.clone(),
            roots: match &self.roots {
                Roots::Any => None,
                Roots::Within(roots) => Some(roots.clone()),
            },
            workspaces: self.workspaces.clone(),
            env: self
                .env
                .iter()
                .filter(|(name, _)| {
                    let mut needed = NEEDED.into_iter().chain(secrets::variables());
                    settings.lets_through(name) || needed.any(|needed| *name == needed)
                })
                .map(|(n, v)| (n.clone(), v.clone()))
                .collect(),
            operation_id: self.operation_id.to_string(),
            agent: self.agent.clone(),
        }
    }

    /// The same caller for another call, which has a name of its own.
    ///
    /// ```
    /// use bashtion::ToolContext;
    /// let first = ToolContext::from_host("/srv/project");
    /// assert_ne!(first.again().id(), first.id());
    /// ```
    #[must_use]
    pub fn again(&self) -> Self {
        Self { operation_id: random_id(), signals: Arc::default(), ..self.clone() }
    }

    /// The same with the environment of this process. Only what the allow-list names reaches a command.
    pub fn from_host(working_dir: impl Into<PathBuf>) -> Self {
        Self::new(working_dir).envs(std::env::vars_os())
    }

    /// The directories that a command's working directory must lie in, after symbolic links.
    #[must_use]
    pub fn roots<P: Into<PathBuf>>(mut self, roots: impl IntoIterator<Item = P>) -> Self {
        self.roots = Roots::Within(roots.into_iter().map(Into::into).collect());
        self
    }

    /// A directory that belongs to the task beside the working directory, such as the root of its repository: the guard
    /// does not ask about what is deleted in it.
    #[must_use]
    pub fn workspace(mut self, dir: impl Into<PathBuf>) -> Self {
        self.workspaces.push(dir.into());
        self
    }

    /// Lets a command start in any directory.
    #[must_use]
    pub fn any_root(mut self) -> Self {
        self.roots = Roots::Any;
        self
    }

    /// Adds one variable of the caller's environment.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// Adds many.
    #[must_use]
    pub fn envs(mut self, vars: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        self.env.extend(vars);
        self
    }

    /// Ends the command when this token is cancelled.
    #[must_use]
    pub fn cancel(mut self, token: CancellationToken) -> Self {
        self.cancel = token;
        self
    }

    /// Ends it without a grace period when this token is cancelled: for whoever asks a second time.
    #[must_use]
    pub fn kill(mut self, token: CancellationToken) -> Self {
        self.kill = token;
        self
    }

    /// A name for this call, in events and logs. By default a random one.
    #[must_use]
    pub fn operation_id(mut self, id: impl Into<Arc<str>>) -> Self {
        self.operation_id = id.into();
        self
    }

    /// The agent that the command belongs to: its commands can be listed and ended together, see [`crate::Tasks`].
    #[must_use]
    pub fn agent(mut self, name: impl Into<String>) -> Self {
        self.agent = Some(name.into());
        self
    }

    /// Leaves out the note that a command has failed as it did before: a person knows.
    #[must_use]
    pub fn without_repetition_notes(mut self) -> Self {
        self.notes_repetition = false;
        self
    }

    /// Sends the command's events there too.
    #[must_use]
    pub fn events(mut self, sender: EventSender) -> Self {
        self.events.push(sender);
        self
    }

    /// The name of this call.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.operation_id
    }

    pub(crate) fn notes_repetition(&self) -> bool {
        self.notes_repetition
    }

    pub(crate) fn agent_name(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    pub(crate) fn working_dir(&self) -> &Path {
        &self.working_dir
    }

    pub(crate) fn allowed_roots(&self) -> &Roots {
        &self.roots
    }

    /// Everything that belongs to the task.
    pub(crate) fn own_directories(&self) -> Vec<PathBuf> {
        let roots = match &self.roots {
            Roots::Any => &[],
            Roots::Within(roots) => roots.as_slice(),
        };
        roots.iter().chain(&self.workspaces).cloned().collect()
    }

    pub(crate) fn var(&self, name: &str) -> Option<&OsStr> {
        self.env.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    pub(crate) fn vars(&self) -> impl Iterator<Item = (&OsString, &OsString)> {
        self.env.iter()
    }

    pub(crate) fn token(&self) -> &CancellationToken {
        &self.cancel
    }

    pub(crate) fn kill_token(&self) -> &CancellationToken {
        &self.kill
    }

    pub(crate) fn shared_id(&self) -> Arc<str> {
        Arc::clone(&self.operation_id)
    }

    /// Sends a signal to all processes of the command.
    pub(crate) fn send_signal(&self, signal: Signal) {
        self.signals.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(signal);
        self.signals.came.notify_one();
    }

    pub(crate) async fn signals_to_send(&self) -> Vec<Signal> {
        loop {
            let came = self.signals.came.notified();
            let waiting =
                std::mem::take(&mut *self.signals.waiting.lock().unwrap_or_else(PoisonError::into_inner));
            if !waiting.is_empty() {
                return waiting;
            }
            came.await;
        }
    }

    /// An observer that has to catch up before more is read, if there is one.
    pub(crate) fn slowest(&self) -> Option<&EventSender> {
        self.events.iter().find(|sender| !sender.has_room())
    }

    /// Makes the event only if somebody listens.
    pub(crate) fn notify(&self, event: impl Fn() -> Event) {
        for sender in &self.events {
            sender.send(event());
        }
    }
}

fn random_id() -> Arc<str> {
    format!("op-{:016x}", RandomState::new().hash_one(0)).into()
}
