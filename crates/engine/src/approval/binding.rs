//! What an answer is about: everything that decides what would happen.

use std::ffi::{OsStr, OsString};
use std::time::Duration;

use bashtion_guard::secrets::MovedPlace;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Grant;
use crate::admit::Job;
use crate::engine::Settings;
use crate::tasks::TASK_VARIABLE;
use crate::{KeepFile, Leftovers, OutputSettings, SandboxSettings};

/// A fingerprint of a request, of who makes it, and of the engine's settings: SHA-256, in hexadecimal digits.
///
/// Two calls have the same exactly if they would run the same thing in the same way. The description is not part of it,
/// because it changes nothing; nor is what differs between two calls that are alike, such as their names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Binding(String);

/// Where it would run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) enum Place {
    Foreground,
    Background,
}

/// In this order, which must stay.
#[derive(Serialize)]
struct Bound<'a> {
    version: u32,
    settings: &'a Settings,
    place: Place,
    session: Option<&'a str>,
    command: &'a str,
    cwd: &'a OsStr,
    /// Which directory that is: another one can take its name.
    cwd_file: Option<(u64, u64)>,
    workspace: &'a OsStr,
    roots: Vec<&'a OsStr>,
    home: Option<&'a OsStr>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    moved: &'a [MovedPlace],
    temporary: &'a OsStr,
    tells_temporary: bool,
    env: Vec<&'a (OsString, OsString)>,
    search_path: Option<&'a OsStr>,
    timeout: Option<Duration>,
    output: &'a OutputSettings,
    leftovers: Leftovers,
    keep_file: KeepFile,
    sandbox: Option<&'a SandboxSettings>,
    #[serde(skip_serializing_if = "Grant::is_empty")]
    grant: &'a Grant,
}

impl Binding {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn of(job: &Job, settings: &Settings, session: Option<&str>, place: Place) -> Self {
        let bound = Bound {
            version: 1,
            settings,
            place,
            session,
            command: &job.command,
            cwd: job.cwd.as_os_str(),
            cwd_file: job
                .cwd_fd
                .as_ref()
                .and_then(|cwd| rustix::fs::fstat(cwd).ok().map(|stat| (stat.st_dev, stat.st_ino))),
            workspace: job.workspace.as_os_str(),
            roots: job.roots.iter().map(AsRef::as_ref).collect(),
            home: job.home.as_deref().map(AsRef::as_ref),
            moved: &job.moved,
            temporary: job.temporary.as_os_str(),
            tells_temporary: job.tells_temporary,
            // A task is told its own name, which is always another.
            env: job.env.iter().filter(|(name, _)| name != TASK_VARIABLE).collect(),
            search_path: job.search_path.as_deref(),
            timeout: job.timeout,
            output: &job.output,
            leftovers: job.leftovers,
            keep_file: job.keep_file,
            sandbox: job.sandbox.as_ref(),
            grant: &job.grant,
        };
        let text = serde_json::to_vec(&bound).expect("the settings go to supervisors in the same way");
        Self(Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect())
    }
}
