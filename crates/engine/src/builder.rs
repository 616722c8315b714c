//! Everything an engine can be told.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::engine::{Adopting, Settings};
use crate::ledger::{Books, Ledger};
use crate::tasks::TaskLimits;
use crate::{
    ApprovalLimits, Approver, Engine, EnvSettings, Leftovers, Limits, OutputSettings, Policy, Reader,
    SandboxSettings, Wording,
};

/// Settings for an [`Engine`].
#[derive(Debug, Clone, Default)]
pub struct Builder {
    settings: Settings,
    adopting: Adopting,
    books: Books,
    approver: Option<Arc<dyn Approver>>,
}

impl Builder {
    /// Times and sizes.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.settings.limits = limits;
        self
    }

    /// How strictly commands are judged before they run. By default by every built-in rule.
    ///
    /// ```
    /// use bashtion::{Engine, Policy, Request, Status, ToolContext};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), bashtion::Error> {
    /// let context = ToolContext::from_host("/tmp");
    /// let outcome = Engine::new().run(Request::new("rm -rf ~"), &context).await?;
    /// assert_eq!((outcome.status, outcome.pid), (Status::Refused, None));
    /// assert_eq!(outcome.verdict.findings[0].rule, "removes-root");
    ///
    /// let unguarded = Engine::builder().policy(Policy::off()).build();
    /// assert!(unguarded.run(Request::new("$UNSET true"), &context).await?.success());
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.settings.policy = policy;
        self
    }

    /// How long judging a command may take, by default 250 ms. What takes longer is asked about.
    #[must_use]
    pub fn judge_within(mut self, deadline: Duration) -> Self {
        self.settings.judge_within = deadline;
        self
    }

    /// How commands are confined. By default they may write the workspace only and have no network.
    #[must_use]
    pub fn sandbox(mut self, settings: SandboxSettings) -> Self {
        self.settings.sandbox = settings;
        self
    }

    /// How output is captured and cut.
    #[must_use]
    pub fn output(mut self, settings: OutputSettings) -> Self {
        self.settings.output = settings;
        self
    }

    /// How the environment of commands is made.
    #[must_use]
    pub fn env(mut self, settings: EnvSettings) -> Self {
        self.settings.env = settings;
        self
    }

    /// What happens to processes that outlive the shell, if the request does not say.
    #[must_use]
    pub fn leftovers(mut self, leftovers: Leftovers) -> Self {
        self.settings.leftovers = leftovers;
        self
    }

    /// How results are put into words, if somebody wants to read them.
    #[must_use]
    pub fn wording(mut self, wording: Wording) -> Self {
        self.settings.wording = wording;
        self
    }

    /// Who reads the results, so that advice names what they can do: options of the command line, or what a model can ask
    /// its user for. By default a model.
    ///
    /// ```
    /// use bashtion::{Engine, Reader, Request, ToolContext};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), bashtion::Error> {
    /// let dir = tempfile::tempdir().unwrap();
    /// let request = || Request::new("mkdir /opt/made-by-a-test");
    /// for (reader, advice) in [(Reader::CommandLine, "--writable /opt"), (Reader::Model, "ask your user")] {
    ///     let engine = Engine::builder().reader(reader).build();
    ///     let outcome = engine.run(request(), &ToolContext::from_host(dir.path())).await?;
    ///     assert!(outcome.denials.iter().all(|denial| denial.contains(advice)), "{:?}", outcome.denials);
    /// }
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn reader(mut self, reader: Reader) -> Self {
        self.settings.reader = reader;
        self
    }

    /// Demands that every request says what it is for.
    #[must_use]
    pub fn require_description(mut self) -> Self {
        self.settings.requires_description = true;
        self
    }

    /// Where output that was cut is kept whole, private to the user. By default a directory in `/tmp`.
    #[must_use]
    pub fn state_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.settings.state_dir = Some(dir.into());
        self
    }

    /// The bash to use. By default the first on the caller's `PATH`.
    #[must_use]
    pub fn shell(mut self, path: impl Into<PathBuf>) -> Self {
        self.settings.shell = Some(path.into());
        self
    }

    /// Makes this process the parent of processes that lost theirs, so that none of a command's gets away and none stays
    /// a zombie. Only for a program that exists to run one command at a time and has no other children; build the
    /// engine first of all.
    #[must_use]
    pub fn adopt_orphans(mut self) -> Self {
        self.adopting = Adopting::Orphans;
        self
    }

    /// Sets the number of shells that wait in a room for commands to come: one, which is the default, or none. After a command
    /// its room starts another shell with the same environment and directory; the next command that wants just that begins
    /// in a fraction of the time. The same as [`crate::RoomSettings::pool`].
    ///
    /// ```
    /// use bashtion::{Engine, Request, ToolContext};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), bashtion::Error> {
    /// let engine = Engine::builder().pool(0).build();
    /// for _ in 0..3 {
    ///     assert!(engine.run(Request::new("true"), &ToolContext::from_host("/tmp")).await?.success());
    /// }
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn pool(mut self, shells: usize) -> Self {
        self.settings.sandbox.room.pool = shells;
        self
    }

    /// How many background tasks there may be, and how much of them is kept.
    #[must_use]
    pub fn task_limits(mut self, limits: TaskLimits) -> Self {
        self.settings.tasks = limits;
        self
    }

    /// An installed `bashtion` that watches background tasks, for programs that do not call
    /// [`crate::supervise_if_asked`].
    #[must_use]
    pub fn supervisor(mut self, program: impl Into<PathBuf>) -> Self {
        self.settings.supervisor = Some(program.into());
        self
    }

    /// Writes everything down. What cannot be written down is not run.
    #[must_use]
    pub fn ledger(mut self, ledger: Arc<dyn Ledger>) -> Self {
        self.books = Books(Some(ledger));
        self
    }

    /// Whom to ask about what the guard does not decide. Without one, and without a queue, such commands are not run.
    ///
    /// What the guard denies is never asked about. See [`crate::approve_with`].
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }

    /// Keeps questions that nobody answers at once in the state directory: see [`crate::Approvals`].
    #[must_use]
    pub fn queue_approvals(mut self) -> Self {
        self.settings.approvals.get_or_insert_default();
        self
    }

    /// The same, with other limits.
    #[must_use]
    pub fn approval_limits(mut self, limits: ApprovalLimits) -> Self {
        self.settings.approvals = Some(limits);
        self
    }

    /// A text for the supervisors of background tasks: [`crate::supervise_if_asked`] makes their ledger from it.
    #[must_use]
    pub fn hand_down(mut self, text: impl Into<String>) -> Self {
        self.settings.hand_down = Some(text.into());
        self
    }

    /// The engine.
    #[must_use]
    pub fn build(self) -> Engine {
        Engine::from_settings(self.settings, self.adopting, self.books, self.approver)
    }
}
