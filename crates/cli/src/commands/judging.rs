//! The engine and the caller of `run`, `check` and hooks: the same for all, so that all judge alike.

use std::path::{Path, PathBuf};

use bashtion::{Builder, Engine, Profile, Sessions, ToolContext};

use crate::config;
use crate::error::CliError;
use crate::state_dir::state_dir;

/// The directory that was named, else the one where the session was begun, else this one.
pub(crate) fn directory(named: Option<&Path>, session: Option<&str>) -> Result<PathBuf, CliError> {
    if let (None, Some(name)) = (named, session)
        && let Some(workspace) =
            Sessions::new(state_dir().as_deref()).workspace(name).map_err(bashtion::Error::from)?
    {
        return Ok(workspace);
    }
    config::directory(named)
}

/// An engine that does as a profile says.
pub(crate) fn engine(profile: &Profile) -> Builder {
    let engine = Engine::builder().profile(profile);
    match state_dir() {
        Some(dir) => engine.state_dir(dir),
        None => engine,
    }
}

/// Whoever has started this program, in a directory that belongs to this repository.
pub(crate) fn context(cwd: &Path, repository: Option<&Path>) -> ToolContext {
    let context = ToolContext::from_host(cwd).any_root();
    repository.into_iter().fold(context, ToolContext::workspace)
}
