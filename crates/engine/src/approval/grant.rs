//! What an approval makes possible: the sandbox would stop much of what is asked about, and whoever agrees wants it to happen.

mod needed;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use bashtion_guard::{Analysis, Decision, Finding, Span, Verdict, World};
use bashtion_sandbox::{Confinement, Mode, Requirement};
use serde::{Deserialize, Serialize};

use crate::SandboxSettings;
use crate::admit::Job;
use crate::engine::Settings;

/// What a command gets for one run, if somebody agrees to it, beside what every command has. The question names it, and the answer
/// holds for exactly that.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Grant {
    /// It runs outside of the sandbox, because no list of paths says what it needs.
    pub outside: bool,
    /// Files, and directories with everything in them, that it can change. Absolute, after symbolic links.
    pub writable: Vec<String>,
    /// The names of settings in its project that it can change, which others run or follow later.
    pub settings: Vec<String>,
}

/// Finds out what an approval would have to make possible, and keeps that with the job. What it cannot is refused, not asked.
pub(crate) fn foresee(
    job: &mut Job,
    analysis: &Analysis,
    verdict: Verdict,
    world: &World,
    settings: &Settings,
) -> Verdict {
    let sandbox = job.sandbox.as_ref().unwrap_or(&settings.sandbox);
    if verdict.decision != Decision::Ask || sandbox.mode == Mode::Off {
        return verdict;
    }
    let grant = needed::needed(job, analysis, world, sandbox, settings);
    match grant.obstacle(job, sandbox) {
        Some((message, help)) => impossible(verdict, &job.command, message, help),
        None => {
            job.grant = grant;
            verdict
        }
    }
}

impl Grant {
    /// Returns true if it is nothing but what every command has.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// In words, each on a line.
    #[must_use]
    pub fn in_words(&self) -> Vec<String> {
        let outside = self.outside.then(|| "it runs outside of the sandbox, this once".to_owned());
        let writable = self.writable.iter().map(|path| {
            let all = if Path::new(path).is_dir() { "everything in " } else { "" };
            format!("it can change {all}{path}, this once")
        });
        let settings =
            self.settings.iter().map(|name| format!("it can change settings named {name}, this once"));
        outside.into_iter().chain(writable).chain(settings).collect()
    }

    /// The reason that it cannot be given, and what to do about it.
    fn obstacle(&self, job: &Job, sandbox: &SandboxSettings) -> Option<(&'static str, &'static str)> {
        if self.is_empty() {
            return None;
        }
        if sandbox.mode == Mode::ReadOnly {
            return Some((
                "it would change what no approval opens: commands are read-only here (sandbox.mode)",
                "go on without it, or tell the user what should change",
            ));
        }
        if self.outside && sandbox.requirement == Requirement::Required {
            return Some((
                "it could only run outside of the sandbox, which is required here (sandbox.required), whoever agrees",
                "go on without it, or let the user run it themselves",
            ));
        }
        job.cwd_fd.is_none().then_some((
            "its working directory exists only in the room of the workspace, and it could not run there",
            "run it in a directory of the workspace",
        ))
    }

    /// The settings under which the command runs.
    pub(crate) fn applied_to<'a>(&self, settings: &'a SandboxSettings) -> Cow<'a, SandboxSettings> {
        if self.outside {
            Cow::Owned(SandboxSettings { mode: Mode::Off, ..settings.clone() })
        } else {
            Cow::Borrowed(settings)
        }
    }

    /// Opens what was named, and nothing that has taken its name since; what that was is returned in words.
    pub(crate) fn open(&self, confinement: &mut Confinement) -> Vec<String> {
        let mut notes = vec![];
        for path in self.writable.iter().map(PathBuf::from) {
            if path.canonicalize().is_ok_and(|real| real == path) {
                confinement.writable.push(path);
            } else {
                notes.push(format!(
                    "{} stays as it is: something else is there than when it was approved",
                    path.display()
                ));
            }
        }
        confinement
            .settings
            .retain(|setting| !self.settings.iter().any(|name| setting.as_os_str() == &**name));
        notes
    }
}

/// The verdict with the obstacle first, and why it would have been asked about after it.
fn impossible(mut verdict: Verdict, command: &str, message: &str, help: &str) -> Verdict {
    verdict.decision = Decision::Deny;
    verdict.findings.insert(
        0,
        Finding {
            rule: "sandbox".to_owned(),
            severity: Decision::Deny,
            message: message.to_owned(),
            span: Span { start: 0, end: command.len() },
            help: help.to_owned(),
        },
    );
    verdict
}
