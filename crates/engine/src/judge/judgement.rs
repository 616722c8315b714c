//! A verdict on a request that nobody runs, with everything that led to it.

use std::path::PathBuf;

use bashtion_guard::{Analysis, PartDecision, Policy, Verdict, World, only_repairs};

use super::{Case, SyntaxError};
use crate::approval::{Grant, Place, circumstances};
use crate::engine::Settings;
use crate::{Decision, Network, SandboxMode};

/// What was decided about a request: the same as when it is run.
///
/// ```
/// use bashtion::{Decision, Engine, Request, ToolContext};
/// # fn main() -> Result<(), bashtion::Error> {
/// let context = ToolContext::from_host("/tmp");
/// let judgement = Engine::new().judge(Request::new("rm -rf $DIR").env("DIR", "/"), &context)?;
/// assert_eq!(judgement.verdict.decision, Decision::Deny);
/// # Ok(()) }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Judgement {
    /// What would run.
    pub command: String,
    /// Where, after symbolic links.
    pub cwd: PathBuf,
    /// What was decided.
    pub verdict: Verdict,
    /// Set if bash itself cannot read the text: nothing would be run, and nobody asked.
    pub syntax_error: Option<SyntaxError>,
    /// Every command in it with its effects, as far as they can be told.
    pub analysis: Analysis,
    /// How tightly it would be held.
    pub sandbox: SandboxMode,
    /// True if it could talk to other machines.
    pub network: Network,
    /// Under what circumstances it would run without an approval, in words; how it is confined first.
    pub circumstances: Vec<String>,
    /// What an approval would add.
    pub grant: Grant,
    world: World,
}

impl Judgement {
    pub(crate) fn new(case: Case, session: Option<&str>, settings: &Settings) -> Self {
        let Case { mut job, analysis, verdict, syntax_error, world, .. } = case;
        // Told apart: nobody has agreed yet.
        let grant = std::mem::take(&mut job.grant);
        let sandbox = job.sandbox.as_ref().unwrap_or(&settings.sandbox);
        Self {
            sandbox: sandbox.mode,
            network: match sandbox.mode {
                SandboxMode::Off => Network::On,
                SandboxMode::Workspace => sandbox.network,
                SandboxMode::ReadOnly => Network::Off,
            },
            circumstances: circumstances(&job, settings, session, Place::Foreground),
            grant,
            command: job.command,
            cwd: job.cwd,
            verdict,
            syntax_error,
            analysis,
            world,
        }
    }

    /// The decision, if there is one: a text that bash cannot read is neither allowed nor denied.
    #[must_use]
    pub fn decision(&self) -> Option<Decision> {
        self.syntax_error.is_none().then_some(self.verdict.decision)
    }

    /// What would have to be in `[guard] allow`; none if no entry allows it.
    #[must_use]
    pub fn permission(&self) -> Option<Vec<String>> {
        if self.syntax_error.is_some() {
            return None;
        }
        Policy::permission(&self.analysis, &self.verdict)
    }

    /// Each part of the command with what decided about it, by the permissions of a policy.
    #[must_use]
    pub fn explain(&self, policy: &Policy) -> Vec<PartDecision> {
        policy.explain(&self.analysis, &self.world)
    }

    /// Returns true if it does nothing but look at this file of settings, or repair it.
    #[must_use]
    pub fn only_repairs(&self, file: &str) -> bool {
        only_repairs(&self.analysis, file, &self.world)
    }
}
