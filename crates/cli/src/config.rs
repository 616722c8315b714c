//! The user's configuration, and a project's, which can only make things stricter: the agent can write it.

mod audit;
mod remember;
mod sandbox;
mod tasks;

use std::fs::{DirBuilder, File};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use bashtion::{GuardSettings, Policy, PolicyError, SandboxSettings, TaskLimits};
use rustix::fs::{Mode, OFlags, open};
use serde::Deserialize;

use crate::error::CliError;
use crate::state_dir::state_dir;
use audit::Audit;
pub(crate) use remember::remember;
use sandbox::Sandbox;
use tasks::Tasks;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
struct Config {
    guard: GuardSettings,
    sandbox: Sandbox,
    tasks: Option<Tasks>,
    audit: Audit,
}

/// Everything that is configured for a directory.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) policy: Policy,
    pub(crate) sandbox: SandboxSettings,
    pub(crate) tasks: TaskLimits,
    /// None if nothing is written down.
    pub(crate) audit: Option<bashtion_audit::Settings>,
}

const PROJECT_FILE: &str = ".bashtion.toml";

/// More than anybody writes.
const LARGEST: u64 = 1 << 20;

/// How commands in this directory are judged and confined.
pub(crate) fn load_for(cwd: &Path) -> Result<Loaded, CliError> {
    let Loaded { mut policy, mut sandbox, mut tasks, .. } = Loaded::default();
    let unset = || Audit::default().settings(state_dir()).map_err(CliError::new);
    let mut audit = unset()?;
    if let Some(path) = user_file()?
        && let Some(config) = load(&path, OFlags::empty())?
    {
        audit = config.audit.settings(state_dir()).map_err(|error| wrong_value(&path, &error))?;
        policy = Policy::new(&config.guard).map_err(|error| wrong(&path, &error))?;
        sandbox = config.sandbox.settings().map_err(|error| wrong_value(&path, &error))?;
        tasks = config.tasks.unwrap_or_default().limits().map_err(|error| wrong_value(&path, &error))?;
    }
    if let Some(path) = project_file(cwd)
        && let Some(config) = load(&path, OFlags::NOFOLLOW)?
    {
        policy = policy.narrow(&config.guard).map_err(|error| wrong(&path, &error))?;
        sandbox = config.sandbox.narrow(sandbox).map_err(|error| wrong_value(&path, &error))?;
        audit = config.audit.narrow(audit).map_err(|error| wrong_value(&path, &error))?;
        if config.tasks.is_some() {
            return Err(wrong_value(&path, "only the user's own configuration can set [tasks]"));
        }
    }
    sandbox.kept = own_places(cwd)?;
    Ok(Loaded { policy, sandbox, tasks, audit })
}

/// Where our configuration and state are, which no command may change. In a project they are made if they are missing:
/// only what exists can be kept.
fn own_places(cwd: &Path) -> Result<Vec<PathBuf>, CliError> {
    let project = repository(cwd).unwrap_or_else(|| cwd.to_owned());
    let named = std::env::var_os("BASHTION_CONFIG").is_some_and(|name| !name.is_empty());
    let config = user_file()?.and_then(|path| std::path::absolute(path).ok());
    let config = if named { config } else { config.and_then(|path| path.parent().map(Path::to_owned)) };
    let places: Vec<PathBuf> = config.into_iter().chain(state_dir()).collect();
    for place in places.iter().filter(|place| place.starts_with(&project) && !place.exists()) {
        let _ = DirBuilder::new().recursive(true).mode(0o700).create(place);
    }
    Ok(places)
}

/// `$BASHTION_CONFIG`, which must exist then, else `bashtion/config.toml` in the user's configuration.
fn user_file() -> Result<Option<PathBuf>, CliError> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(named) = std::env::var_os("BASHTION_CONFIG").filter(|name| !name.is_empty()) {
        let path = PathBuf::from(named);
        if !path.exists() {
            let message = format!("there is no file {}, which BASHTION_CONFIG names", path.display());
            return Err(CliError::new(message).help("unset BASHTION_CONFIG, or write the file"));
        }
        return Ok(Some(path));
    }
    let directory = absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")));
    Ok(directory.map(|directory| directory.join("bashtion/config.toml")))
}

/// The nearest one, from the working directory upwards.
fn project_file(cwd: &Path) -> Option<PathBuf> {
    cwd.ancestors().map(|directory| directory.join(PROJECT_FILE)).find(|path| path.symlink_metadata().is_ok())
}

/// The root of the repository that a directory belongs to. It must belong to whom the directory belongs: anybody can make
/// a repository in a directory that all share.
pub(crate) fn repository(cwd: &Path) -> Option<PathBuf> {
    let owner = cwd.metadata().ok()?.uid();
    let is_root = |directory: &&Path| {
        let git = directory.join(".git");
        let own = |path: &Path| path.symlink_metadata().is_ok_and(|metadata| metadata.uid() == owner);
        let is_repository =
            git.join("HEAD").is_file() || git.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
        is_repository && own(&git) && own(directory)
    };
    cwd.ancestors().find(is_root).map(Path::to_owned)
}

/// None if there is no such file. Neither a pipe nor, for a project, a link is read: it could hang, or show what is
/// not the project's.
fn load(path: &Path, flags: OFlags) -> Result<Option<Config>, CliError> {
    let failed = |error: std::io::Error| {
        CliError::new(format!("cannot read {}", path.display()))
            .caused_by(&error)
            .help("make it a file that you can read")
    };
    let file = match open(path, flags | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(error) if std::io::Error::from(error).kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error.into())),
    };
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() || metadata.len() > LARGEST {
        let message = format!("{} is not a file of at most {LARGEST} bytes", path.display());
        return Err(CliError::new(message));
    }
    let mut text = String::new();
    file.take(LARGEST).read_to_string(&mut text).map_err(failed)?;
    toml::from_str(&text).map(Some).map_err(|error| {
        CliError::new(format!(
            "{} is not a valid configuration: {}",
            path.display(),
            error.to_string().trim_end()
        ))
        .help("`docs/configuration.md` lists what can be set")
    })
}

fn wrong_value(path: &Path, error: &str) -> CliError {
    CliError::new(format!("{} is not a valid configuration: {error}", path.display()))
        .help("`docs/configuration.md` lists what can be set")
}

fn wrong(path: &Path, error: &PolicyError) -> CliError {
    CliError::new(format!("{} is not a valid configuration: {error}", path.display()))
        .help("`bashtion check --list-rules` shows the rules and their names")
}
