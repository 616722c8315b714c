//! The path of one command, from request to outcome.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bashtion_guard::Analysis;
use bashtion_sandbox::Sandbox;
use serde::{Deserialize, Serialize};

use crate::admit::AdmitError;
use crate::approval::{ApprovalLimits, Approvals, Approver, Asking, Beforehand, Place, ask_beforehand};
use crate::conclude::{conclude, not_permitted};
use crate::event::EndTeller;
use crate::judge::{Case, Judgement, Purpose};
use crate::launch::{LaunchError, Running, launch};
use crate::ledger::{Books, LedgerError};
use crate::output::StateDir;
use crate::places::Places;
use crate::plan::{Means, Plan, PlanError};
use crate::rooms::Rooms;
use crate::session::{Session, SessionError};
use crate::settle::{Settled, settle, unreadable};
use crate::supervise::supervise;
use crate::tasks::{self, Log, Presence, TaskError, TaskLimits, Tasks};
use crate::{
    Builder, EnvSettings, Event, Leftovers, Limits, Outcome, OutputSettings, Policy, Reader, Request,
    SandboxSettings, ToolContext, Wording,
};

/// Runs commands. Knows nothing about its callers, so one serves any number of them at once; clones share it.
///
/// ```
/// use bashtion::{Engine, Limits};
/// use std::time::Duration;
///
/// let limits = Limits { timeout: Duration::from_secs(10), ..Limits::default() };
/// let engine = Engine::builder().limits(limits).state_dir("/tmp/my-agent").build();
/// let for_another_task = engine.clone();
/// ```
#[derive(Debug, Clone, Default)]
pub struct Engine {
    settings: Arc<Settings>,
    sandbox: Arc<Sandbox>,
    places: Arc<Places>,
    rooms: Arc<Rooms>,
    books: Books,
    approver: Option<Arc<dyn Approver>>,
}

/// Everything an engine can be told, also by another process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Settings {
    pub(crate) limits: Limits,
    pub(crate) tasks: TaskLimits,
    #[serde(with = "crate::raw")]
    pub(crate) state_dir: Option<PathBuf>,
    #[serde(with = "crate::raw")]
    pub(crate) shell: Option<PathBuf>,
    #[serde(with = "crate::raw")]
    pub(crate) supervisor: Option<PathBuf>,
    /// For the supervisor of a background task, from whoever builds engines in this program.
    pub(crate) hand_down: Option<String>,
    pub(crate) sandbox: SandboxSettings,
    pub(crate) output: OutputSettings,
    pub(crate) env: EnvSettings,
    pub(crate) leftovers: Leftovers,
    pub(crate) requires_description: bool,
    pub(crate) wording: Wording,
    pub(crate) policy: Policy,
    /// How long judging may take; what takes longer is asked about.
    pub(crate) judge_within: Duration,
    /// For whom results are put into words.
    pub(crate) reader: Reader,
    /// None: questions are not kept.
    pub(crate) approvals: Option<ApprovalLimits>,
}

/// How long judging may take if nobody says otherwise.
pub(crate) const USUAL_DEADLINE: Duration = Duration::from_millis(250);

impl Default for Settings {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            tasks: TaskLimits::default(),
            state_dir: None,
            shell: None,
            supervisor: None,
            hand_down: None,
            sandbox: SandboxSettings::default(),
            output: OutputSettings::default(),
            env: EnvSettings::default(),
            leftovers: Leftovers::default(),
            requires_description: false,
            wording: Wording::default(),
            policy: Policy::default(),
            judge_within: USUAL_DEADLINE,
            reader: Reader::default(),
            approvals: None,
        }
    }
}

/// Whose parent this process is.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum Adopting {
    #[default]
    Nobody,
    Orphans,
}

/// A command that was let through, or was not.
#[derive(Debug)]
pub(crate) enum Begun {
    Running(Box<Running>),
    NotRun(Box<Outcome>),
}

/// Bashtion itself failed. What the command does is never an error.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request cannot be run as it is.
    #[error(transparent)]
    Admit(#[from] AdmitError),
    /// The host lacks what is needed.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The kernel did not start it.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// It could not be written down.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// Its session cannot be used.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// It could not become a background task.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// It could not be made known as a command of its agent.
    #[error("cannot keep track of the agent's command, so it was not run")]
    Presence {
        /// Why.
        source: std::io::Error,
    },
    /// The kernel stopped answering about a running command; its processes are being ended in the background.
    #[error("lost sight of the running command")]
    Supervise {
        /// What the kernel said.
        source: std::io::Error,
    },
}

impl Engine {
    /// An engine with default settings.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An engine with other settings.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Runs one command to its end. Needs a tokio runtime with its I/O and time drivers.
    ///
    /// Dropping the future ends the command's processes as a cancellation would, in the background: SIGTERM,
    /// a grace period, SIGKILL.
    pub async fn run(&self, request: Request, context: &ToolContext) -> Result<Outcome, Error> {
        let entered = Presence::enter(&self.settings, &request.command, context);
        let entered = entered.map_err(|source| Error::Presence { source })?;
        let (present, context) = match &entered {
            Some((present, context)) => (Some(present), context),
            None => (None, context),
        };
        // Boxed, because little of it is left when the command runs, and a caller may hold thousands of these futures.
        match Box::pin(self.begin(request, context, None)).await? {
            Begun::NotRun(outcome) => Ok(*outcome),
            Begun::Running(running) => {
                present.iter().for_each(|present| present.runs(&running, context));
                Ok(self.finish(running, context).await?.0)
            }
        }
    }

    /// Judges a command without running it, exactly as [`Self::run`] would: in the same directory, with the same environment, the same
    /// session and the same confinement. Nobody is asked, and nothing is written down.
    ///
    /// The directory need not exist. It takes a few microseconds, and no longer than the deadline ([`Builder::judge_within`]) and a
    /// second more for a text that only bash can say something about.
    ///
    /// ```
    /// use bashtion::{Decision, Engine, Request, ToolContext};
    /// # fn main() -> Result<(), bashtion::Error> {
    /// let judgement = Engine::new().judge(Request::new("git reset --hard"), &ToolContext::from_host("/tmp"))?;
    /// assert_eq!(judgement.decision(), Some(Decision::Ask));
    /// # Ok(()) }
    /// ```
    pub fn judge(&self, request: Request, context: &ToolContext) -> Result<Judgement, Error> {
        let session = request.session.clone();
        let case = Case::new(request, context, Purpose::Judging, &self.settings, &self.places)?;
        Ok(Judgement::new(case, session.as_deref(), &self.settings))
    }

    /// Starts a command that outlives this process, and returns when it runs. Its outcome says [`crate::Status::Running`] and
    /// names the task; [`Tasks`] knows the rest.
    ///
    /// It is watched by a process of its own: see [`crate::supervise_if_asked`]. If somebody has to agree, the approver is asked
    /// here, before that. Events and cancellation of the context end with this call. Needs a tokio runtime.
    pub async fn start(&self, request: Request, context: &ToolContext) -> Result<Outcome, Error> {
        let request = request.into_task();
        // What is wrong with the request is told here, in full.
        let case = Case::new(request.clone(), context, Purpose::Running, &self.settings, &self.places)?;
        let foregone = match &self.approver {
            None => None,
            Some(approver) => match ask_beforehand(approver.as_ref(), case, context, &self.settings).await {
                Beforehand::Nothing => None,
                Beforehand::Answered(foregone) => Some(foregone),
                Beforehand::Cancelled(outcome) => return Ok(*outcome),
            },
        };
        let (settings, caller) = (Arc::clone(&self.settings), context.caller(&self.settings.env));
        let started = tokio::task::spawn_blocking(move || tasks::start(&settings, request, caller, foregone));
        let started = started.await.map_err(|source| Error::Supervise { source: source.into() })?;
        Ok(started?)
    }

    /// The same engine for a caller of its own, who is asked about what the guard does not decide. Shares everything else.
    ///
    /// ```
    /// use bashtion::{Answer, Engine, approve_with};
    /// let for_everybody = Engine::builder().queue_approvals().build();
    /// let for_one_call = for_everybody.with_approver(approve_with(|_| async { Answer::NoAnswer }));
    /// ```
    #[must_use]
    pub fn with_approver(&self, approver: Arc<dyn Approver>) -> Self {
        Self { approver: Some(approver), ..self.clone() }
    }

    /// The background tasks of this engine's state directory.
    #[must_use]
    pub fn tasks(&self) -> Tasks {
        Tasks::new(self.settings.state_dir.as_deref())
    }

    /// The questions that wait in this engine's state directory.
    #[must_use]
    pub fn approvals(&self) -> Approvals {
        Approvals::with_books(self.settings.state_dir.as_deref(), self.books.clone())
    }

    pub(crate) async fn begin(
        &self,
        request: Request,
        context: &ToolContext,
        log: Option<Log>,
    ) -> Result<Begun, Error> {
        let settings = &self.settings;
        // Admitted: cwd open, limits clamped, inputs valid. Judged: allow, ask, deny, or nothing that bash can read.
        let case = Case::new(request, context, Purpose::Running, settings, &self.places)?;
        let Case { job, session, analysis, verdict, syntax_error, .. } = case;
        self.books.record(|| Event::judged(&job, &verdict, context))?; // no record, no run
        context.notify(|| Event::judged(&job, &verdict, context));
        let end = EndTeller::new(context, &self.books); // if this is dropped while somebody is asked, or fails to start
        let asking = self.asking(&analysis, session.as_ref(), log.as_ref(), context);
        let settled = match syntax_error {
            Some(_) => unreadable(job, verdict),
            None => settle(job, verdict, asking).await?,
        };
        let permit = match settled {
            Settled::Permitted(permit) => permit, // nothing else makes one
            Settled::NotPermitted(refusal) => {
                let mut outcome = not_permitted(*refusal);
                outcome.text = self.in_words(&outcome);
                end.tell(&mut outcome, &StateDir::new(self.settings.state_dir.clone()));
                return Ok(Begun::NotRun(Box::new(outcome)));
            }
        };
        let means = Means { settings, sandbox: &self.sandbox, places: &self.places, rooms: &self.rooms };
        let plan = Plan::new(*permit, &analysis, session, log, means)?; // exact argv, environment, confinement, deadlines
        let running = launch(plan, &self.sandbox)?; // the shell is running from here on
        end.goes_on();
        let _ = self.books.record_afterwards(|| Event::started(&running, context)); // the end tells, if it fails too
        context.notify(|| Event::started(&running, context));
        Ok(Begun::Running(Box::new(running)))
    }

    /// Whom to ask, and about what exactly.
    fn asking<'a>(
        &'a self,
        analysis: &'a Analysis,
        session: Option<&'a Session>,
        log: Option<&Log>,
        context: &'a ToolContext,
    ) -> Asking<'a> {
        let place = if log.is_some() { Place::Background } else { Place::Foreground };
        let limits = self.settings.approvals.as_ref();
        Asking {
            approver: self.approver.as_deref(),
            queue: limits.map(|limits| (Approvals::new(self.settings.state_dir.as_deref()), limits)),
            analysis,
            settings: &self.settings,
            session: session.map(Session::name),
            place,
            context,
            books: &self.books,
        }
    }

    pub(crate) async fn finish(
        &self,
        running: Box<Running>,
        context: &ToolContext,
    ) -> Result<(Outcome, Option<Log>), Error> {
        let end = EndTeller::new(context, &self.books); // tells the observers, whatever happens
        // Boxed for the same reason.
        let ended =
            Box::pin(supervise(*running, context)).await.map_err(|source| Error::Supervise { source })?;
        let (mut outcome, log) = conclude(ended, self.settings.reader);
        outcome.text = self.in_words(&outcome);
        end.tell(&mut outcome, &StateDir::new(self.settings.state_dir.clone()));
        Ok((outcome, log))
    }

    pub(crate) fn in_words(&self, outcome: &Outcome) -> Option<String> {
        self.settings.wording.own_words(outcome)
    }

    pub(crate) fn from_settings(
        settings: Settings,
        orphans: Adopting,
        books: Books,
        approver: Option<Arc<dyn Approver>>,
    ) -> Self {
        let sandbox = match orphans {
            Adopting::Nobody => Sandbox::new(),
            Adopting::Orphans => Sandbox::adopting_orphans(),
        };
        Self {
            settings: Arc::new(settings),
            sandbox: Arc::new(sandbox),
            places: Arc::default(),
            rooms: Arc::default(),
            books,
            approver,
        }
    }
}
