//! Somebody who is asked, what they are told, and what they say.

use std::collections::HashSet;
use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use bashtion_guard::Analysis;
use serde::{Deserialize, Serialize};

use super::circumstances::circumstances;
use super::{ApprovalId, Binding, Grant, Place};
use crate::admit::Job;
use crate::engine::Settings;
use crate::{Suggestion, ToolContext, Verdict};

/// Somebody who can be asked whether a command may run, while it waits.
///
/// Whoever cancels the call, or drops its future, drops the future of the question too, and nothing is run.
/// [`approve_with`] makes one of a closure.
///
/// ```
/// use bashtion::{Answer, Answering, Approver, Engine, Question};
/// use std::sync::Arc;
///
/// #[derive(Debug)]
/// struct Nobody;
///
/// impl Approver for Nobody {
///     fn ask<'a>(&'a self, question: &'a Question) -> Answering<'a> {
///         Box::pin(async move {
///             let reason = format!("nobody is here to look at {}", question.display);
///             Answer::Denied { by: "the night watch".to_owned(), reason }
///         })
///     }
/// }
///
/// let engine = Engine::builder().approver(Arc::new(Nobody)).build();
/// ```
pub trait Approver: fmt::Debug + Send + Sync {
    /// Asks, and waits for the answer.
    fn ask<'a>(&'a self, question: &'a Question) -> Answering<'a>;
}

/// An answer on its way.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;

/// What is asked: may this run?
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Question {
    /// The call's name.
    pub operation_id: Arc<str>,
    /// The same question in the queue, if it waits there already.
    pub approval_id: Option<ApprovalId>,
    /// What would run, in full.
    pub command: String,
    /// The same without a redundant `cd`.
    pub display: String,
    /// What it is for, in the words of whoever wants to run it.
    pub description: Option<String>,
    /// Where it would run.
    pub cwd: PathBuf,
    /// Why it is asked about.
    pub verdict: Verdict,
    /// What it would do, in words, as far as it can be told.
    pub effects: Vec<String>,
    /// Under what circumstances, in words: how it is confined, what variables it gets, how long it may take.
    pub circumstances: Vec<String>,
    /// What it gets for this one run if somebody agrees, beside what every command has.
    pub grant: Grant,
    /// What could be permitted for good, so that it is not asked about again.
    pub suggestion: Option<Suggestion>,
    /// Everything that the answer is about.
    pub(crate) binding: Binding,
}

/// What somebody says to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// It may run, this once, and gets what the question names.
    Approved {
        /// Who says so.
        by: String,
    },
    /// It may run, this once, confined as every other: nobody has looked at it, so it gets nothing that the question names.
    Waived {
        /// Who says so.
        by: String,
    },
    /// It may not.
    Denied {
        /// Who says so.
        by: String,
        /// Why, for whoever wanted to run it. May be empty.
        reason: String,
    },
    /// Nobody is there to say. It waits in the queue, if there is one.
    NoAnswer,
}

/// Who wants to run a command, and how.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asker<'a> {
    pub(super) context: &'a ToolContext,
    pub(super) settings: &'a Settings,
    pub(super) session: Option<&'a str>,
    pub(super) place: Place,
}

impl Question {
    /// Names everything that the answer is about: command, directory, environment, session, confinement, limits and policy. Two
    /// questions have the same exactly if they ask about the same thing.
    #[must_use]
    pub fn fingerprint(&self) -> &str {
        self.binding.as_str()
    }

    pub(super) fn new(job: &Job, verdict: &Verdict, analysis: &Analysis, asker: Asker<'_>) -> Self {
        let Asker { context, settings, session, place } = asker;
        Self {
            operation_id: context.shared_id(),
            approval_id: None,
            command: job.command.clone(),
            display: job.display.clone(),
            description: job.description.clone(),
            cwd: job.cwd.clone(),
            verdict: verdict.clone(),
            effects: effects(analysis),
            circumstances: circumstances(job, settings, session, place),
            grant: job.grant.clone(),
            // What is allowed from now on would run as confined as ever, and fail.
            suggestion: job.grant.is_empty().then(|| settings.policy.suggest(analysis, verdict)).flatten(),
            binding: Binding::of(job, settings, session, place),
        }
    }
}

/// What it would do, each thing once, as much as anybody reads.
fn effects(analysis: &Analysis) -> Vec<String> {
    const MOST: usize = 200;
    let (mut effects, mut known) = (vec![], HashSet::new());
    let done = analysis.commands.iter().flat_map(|found| &found.effects).map(ToString::to_string);
    let unknown = analysis.opaque.iter().map(|opaque| format!("not understood: {}", opaque.reason));
    for words in unknown.chain(done) {
        if known.insert(words.clone()) {
            effects.push(words);
        }
    }
    if effects.len() > MOST {
        let more = effects.len() - MOST;
        effects.truncate(MOST);
        effects.push(format!("and {more} more"));
    }
    effects
}

/// An approver made of an async closure.
///
/// ```
/// use bashtion::{Answer, Engine, Request, Status, ToolContext, approve_with};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), bashtion::Error> {
/// let approver = approve_with(|question| async move {
///     if question.command.starts_with("git stash") {
///         Answer::Approved { by: "the example".to_owned() }
///     } else {
///         Answer::Denied { by: "the example".to_owned(), reason: "only stashes today".to_owned() }
///     }
/// });
/// let engine = Engine::builder().approver(approver).build();
/// let outcome = engine.run(Request::new("git reset --hard"), &ToolContext::from_host("/")).await?;
/// assert_eq!(outcome.status, Status::Refused);
/// assert_eq!(outcome.verdict.findings[0].message, "the example has refused it: only stashes today");
/// # Ok(()) }
/// ```
pub fn approve_with<F, A>(ask: F) -> Arc<dyn Approver>
where
    F: Fn(Question) -> A + Send + Sync + 'static,
    A: Future<Output = Answer> + Send + 'static,
{
    Arc::new(Closure(ask))
}

struct Closure<F>(F);

impl<F> fmt::Debug for Closure<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Closure")
    }
}

impl<F, A> Approver for Closure<F>
where
    F: Fn(Question) -> A + Send + Sync,
    A: Future<Output = Answer> + Send + 'static,
{
    fn ask<'a>(&'a self, question: &'a Question) -> Answering<'a> {
        Box::pin(self.0(question.clone()))
    }
}

/// An answer that was given before the question is asked, by another process: to that very question, and to no other.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Foregone {
    pub(super) binding: Binding,
    pub(super) answer: Answer,
}

impl Approver for Foregone {
    fn ask<'a>(&'a self, question: &'a Question) -> Answering<'a> {
        let fits = question.binding == self.binding;
        let answer = if fits { self.answer.clone() } else { Answer::NoAnswer };
        Box::pin(std::future::ready(answer))
    }
}
