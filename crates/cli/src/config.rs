//! The user's configuration, and a project's, which can only make things stricter: the agent can write it.

mod remember;
mod repair;

use std::fs::{DirBuilder, File};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use bashtion::{AuditMode, Layers, Origin, Profile, ProfileError};
use bashtion_audit::is_secret_name;
use rustix::fs::{Mode, OFlags, open};

use crate::error::CliError;
use crate::state_dir::state_dir;
pub(crate) use remember::remember;
pub(crate) use repair::{load_for_answer, load_for_command, load_for_judging_command};

/// Everything that is configured for a directory.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) profile: Profile,
    /// None if nothing is written down.
    pub(crate) audit: Option<bashtion_audit::Settings>,
    /// The root of the repository that the directory belongs to.
    pub(crate) repository: Option<PathBuf>,
}

pub(crate) const PROJECT_FILE: &str = ".bashtion.toml";

/// More than anybody writes.
const LARGEST: u64 = 1 << 20;

/// How commands in this directory are judged, confined, run and reported.
pub(crate) fn load_for(cwd: &Path, profile: Option<&str>) -> Result<Loaded, CliError> {
    load_with(cwd, profile_for(cwd, profile)?)
}

fn load_with(cwd: &Path, profile: Profile) -> Result<Loaded, CliError> {
    let mut loaded = load_to_judge(cwd, profile)?;
    make_own_places(&loaded.profile.sandbox.kept, loaded.repository.as_deref().unwrap_or(cwd));
    loaded.audit = audit(&loaded.profile)?;
    Ok(loaded)
}

/// The same for somebody who only judges: nothing is made, and nothing written down.
fn load_to_judge(cwd: &Path, mut profile: Profile) -> Result<Loaded, CliError> {
    profile.sandbox.kept = own_files()?;
    Ok(Loaded { profile, audit: None, repository: repository(cwd) })
}

/// How commands in this directory are judged, if it does not depend on the command.
pub(crate) fn load_for_judging(cwd: &Path, profile: Option<&str>) -> Result<Loaded, CliError> {
    load_to_judge(cwd, profile_for(cwd, profile)?)
}

/// The profile alone.
pub(crate) fn profile_for(cwd: &Path, profile: Option<&str>) -> Result<Profile, CliError> {
    match layers(cwd, profile)? {
        Some(layers) => Ok(layers.profile()?),
        None => Ok(Profile::default()),
    }
}

/// Everything that has a say in this directory, on top of each other. None if nothing but the default profile has.
pub(crate) fn layers(cwd: &Path, profile: Option<&str>) -> Result<Option<Layers>, CliError> {
    let user = user_text()?;
    let project = match project_file(cwd) {
        Some(path) => load(&path, OFlags::NOFOLLOW)?.map(|text| (path, text)),
        None => None,
    };
    if user.is_none() && project.is_none() && profile.is_none() {
        return Ok(None);
    }
    let layers = under_project(user, profile)?;
    match project {
        Some((path, text)) => Ok(Some(layers.narrowed(&shown(&path), &text)?)),
        None => Ok(Some(layers)),
    }
}

/// The directory that was named, or this one.
pub(crate) fn directory(named: Option<&Path>) -> Result<PathBuf, CliError> {
    let here = || {
        std::env::current_dir().map_err(|error| {
            CliError::new("cannot tell the current directory")
                .caused_by(&error)
                .help("name an absolute one with --cwd")
        })
    };
    match named {
        Some(dir) if dir.is_absolute() => Ok(dir.to_owned()),
        Some(dir) => Ok(here()?.join(dir)),
        None => here(),
    }
}

/// What a project's file is laid over.
pub(crate) fn layers_of_user() -> Result<Layers, CliError> {
    under_project(user_text()?, None)
}

fn under_project(user: Option<(PathBuf, String)>, profile: Option<&str>) -> Result<Layers, CliError> {
    let Some((path, text)) = user else {
        return Ok(Layers::inheriting(profile.unwrap_or("default"), &read_profile)?);
    };
    let inherited = Layers::inherits(&shown(&path), &text)?;
    let base = profile.or(inherited.as_deref()).unwrap_or("default");
    Ok(Layers::inheriting(base, &read_profile)?.over(&shown(&path), &text)?)
}

fn user_text() -> Result<Option<(PathBuf, String)>, CliError> {
    let Some(path) = user_file()? else { return Ok(None) };
    Ok(load(&path, OFlags::empty())?.map(|text| (path, text)))
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// A profile that is a file: by its path, or by its name in `profiles` beside the user's configuration.
pub(crate) fn read_profile(name: &str) -> Result<Origin, ProfileError> {
    let is_path = name.contains('/') || name.ends_with(".toml");
    let beside = || Some(config_directory()?.join("profiles").join(format!("{name}.toml")));
    let path = if is_path { Some(PathBuf::from(name)) } else { beside() };
    let found = path.as_ref().map(|path| load(path, OFlags::empty()));
    match (found, path) {
        (Some(Ok(Some(text))), Some(path)) => Ok((shown(&path), text)),
        (Some(Err(error)), _) => Err(ProfileError::unreadable(name, &error.told())),
        (_, Some(path)) if is_path => {
            Err(ProfileError::unreadable(name, &format!("there is no file {}", path.display())))
        }
        _ => Err(ProfileError::unknown(name)),
    }
}

/// What is to be written down, and where.
fn audit(profile: &Profile) -> Result<Option<bashtion_audit::Settings>, CliError> {
    let wanted = &profile.audit;
    let (mode, directory) = match (wanted.mode, state_dir()) {
        (AuditMode::Off, _) | (AuditMode::On, None) => return Ok(None),
        (AuditMode::Required, None) => {
            let message = "the audit log is required, and there is no state directory for it";
            return Err(CliError::new(message).help("name one with BASHTION_STATE_DIR"));
        }
        (AuditMode::On, Some(directory)) => (bashtion_audit::Mode::On, directory),
        (AuditMode::Required, Some(directory)) => (bashtion_audit::Mode::Required, directory),
    };
    Ok(Some(bashtion_audit::Settings {
        mode,
        keep_for: wanted.keep_for,
        keep_size: wanted.keep_size,
        secrets: secrets(),
        ..bashtion_audit::Settings::in_directory(directory.join("private/audit"))
    }))
}

/// The values of this process's variables that nobody should read.
fn secrets() -> Vec<(String, String)> {
    let text = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    text.filter(|(name, _)| is_secret_name(name)).collect()
}

/// Makes those of our own places in a project that are missing: only what exists can be kept.
fn make_own_places(places: &[PathBuf], project: &Path) {
    for place in places.iter().filter(|place| place.starts_with(project) && !place.exists()) {
        let _ = DirBuilder::new().recursive(true).mode(0o700).create(place);
    }
}

/// The paths of our configuration and state, which no command may change.
pub(crate) fn own_files() -> Result<Vec<PathBuf>, CliError> {
    let named = std::env::var_os("BASHTION_CONFIG").is_some_and(|name| !name.is_empty());
    let config = user_file()?.and_then(|path| std::path::absolute(path).ok());
    let config = if named { config } else { config.and_then(|path| path.parent().map(Path::to_owned)) };
    let places: Vec<PathBuf> = config.into_iter().chain(state_dir()).collect();
    // Also where they lead, if the user keeps them elsewhere.
    let files = user_file()?.into_iter().chain(places.clone());
    let led_to = files.filter_map(|place| place.canonicalize().ok()).filter(|real| !places.contains(real));
    Ok(places.iter().cloned().chain(led_to.collect::<Vec<_>>()).collect())
}

/// `$BASHTION_CONFIG`, which must exist then, else `bashtion/config.toml` in the user's configuration.
fn user_file() -> Result<Option<PathBuf>, CliError> {
    if let Some(named) = std::env::var_os("BASHTION_CONFIG").filter(|name| !name.is_empty()) {
        let path = PathBuf::from(named);
        if !path.exists() {
            let message = format!("there is no file {}, which BASHTION_CONFIG names", path.display());
            return Err(CliError::new(message).help("unset BASHTION_CONFIG, or write the file"));
        }
        return Ok(Some(path));
    }
    Ok(config_directory().map(|directory| directory.join("config.toml")))
}

/// `bashtion` in the user's configuration.
fn config_directory() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let directory =
        absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")))?;
    Some(directory.join("bashtion"))
}

/// The nearest one, from the working directory upwards.
fn project_file(cwd: &Path) -> Option<PathBuf> {
    real(cwd)
        .ancestors()
        .map(|directory| directory.join(PROJECT_FILE))
        .find(|path| path.symlink_metadata().is_ok())
}

/// A directory as it is named after symbolic links: what holds there does not depend on the way to it.
fn real(cwd: &Path) -> PathBuf {
    cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned())
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
    real(cwd).ancestors().find(is_root).map(Path::to_owned)
}

/// None if there is no such file. Neither a pipe nor, for a project, a link is read: it could hang, or show what is
/// not the project's.
pub(crate) fn load(path: &Path, flags: OFlags) -> Result<Option<String>, CliError> {
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
    Ok(Some(text))
}
