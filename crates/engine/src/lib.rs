//! Runs shell commands for AI agents: one [`Request`] in, one [`Outcome`] out, [`Event`]s on the way.
//!
//! ```
//! use bashtion::{Engine, Request, Status, ToolContext};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), bashtion::Error> {
//! let engine = Engine::new();
//! let context = ToolContext::from_host("/tmp");
//!
//! let outcome = engine.run(Request::new("echo hello; echo oops >&2; exit 3"), &context).await?;
//! assert_eq!(outcome.status, Status::Exited(3));
//! assert_eq!(outcome.output.stdout(), "hello\n");
//! assert_eq!(outcome.output.stderr(), "oops\n");
//! # Ok(()) }
//! ```
//!
//! A non-zero exit, a signal, a timeout, a cancellation and a refusal are results and carry all output up to that moment.
//! An [`Error`] means that Bashtion itself failed, and that nothing was run or nothing can be said about it.
//!
//! The engine keeps no state between calls: everything about the caller is in the [`ToolContext`].

mod admit;
mod approval;
mod builder;
pub mod calls;
mod causes;
mod conclude;
mod confine;
mod context;
mod convenience;
mod denials;
mod describe;
mod display;
mod engine;
mod environment;
mod event;
mod examine;
mod judge;
mod launch;
mod ledger;
mod limits;
mod outcome;
mod output;
mod pipes;
mod places;
mod plan;
mod profile;
pub mod quantities;
mod quote;
mod raw;
mod repetition;
mod request;
mod rooms;
mod seal;
mod servant;
mod session;
mod settle;
mod short_name;
mod stop;
mod supervise;
mod tasks;
mod visible;
mod waiting;

pub use admit::AdmitError;
pub use approval::{
    Answer, Answering, Approval, ApprovalError, ApprovalId, ApprovalLimits, ApprovalList, ApprovalState,
    Approvals, Approver, Grant, InvalidApprovalId, Question, approve_with,
};
pub use bashtion_guard::{
    Analysis, CustomRule, DecidedBy, Decision, Effect, Finding, Found, Opaque, PartDecision, PermissionError,
    PermissionSettings, Permissions, Policy, PolicyError, Settings as GuardSettings, Span, Suggestion,
    Target, TextRule, Verdict, nearest_rule, rules,
};
pub use bashtion_sandbox::{
    ConfineError, Enforced, Exit, Landlock, Mode as SandboxMode, Namespaces, Network, OwnFile, Process,
    Report, Requirement, ResourceLimits, RoomStatus, Signal, SpawnError, Step, UnknownSignal, Usage,
    check_own_file, note_umask,
};
pub use builder::Builder;
pub use causes::causes;
pub use confine::{SandboxSettings, usual_limits};
pub use context::ToolContext;
pub use convenience::{ShellError, bash, bash_sequence, bash_success};
pub use denials::Reader;
pub use engine::{Engine, Error};
pub use environment::{Base, EnvSettings, Home};
pub use event::{Event, EventSender, Events, Stream};
pub use examine::{Examination, landlock_lacks};
pub use judge::{Judgement, SyntaxError};
pub use launch::LaunchError;
pub use ledger::{Attempt, LastEnd, Ledger, LedgerError};
pub use limits::{Beyond, Limits};
pub use outcome::{Fate, Leftover, Outcome, Status};
pub use output::{Captures, Cut, Decoder, Ends, Output, OutputSettings, Text, Unit, temporary_directory};
pub use plan::PlanError;
pub use profile::{
    AuditMode, AuditSettings, Hint, Layers, Origin, Profile, ProfileError, Setting, ToolFormat, ToolSettings,
    UnknownFormat, Wording,
};
pub use quote::{build_safe_command, escape_arg};
pub use request::{KeepFile, Leftovers, Mode, Request, Streams};
pub use rooms::{KeptRoom, KeptRooms, RoomChoice, RoomError, RoomExamination, RoomSettings};
pub use seal::Flaw;
pub use session::{SessionError, Sessions};
pub use stop::wait_for_stopping;
pub use tasks::{
    Chunk, InvalidTaskId, Kill, Live, Passage, Placed, Task, TaskError, TaskId, TaskLimits, TaskList,
    TaskState, Tasks, supervise_if_asked, supervise_if_asked_with,
};
pub use tokio_util::sync::CancellationToken;
pub use visible::{show_character, visible};
