//! Which secrets and caches there are on this host.

mod followed;
mod lists;
mod settings;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bashtion_sandbox::Mode;
use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::io::Errno;

use crate::SandboxSettings;
use crate::confine::expand;
use crate::plan::is_program;
pub(crate) use followed::followed;
use lists::{CACHES, MADE_IN, SECRETS, SETTINGS, SYSTEM_SECRETS, TOOL_HOMES, VARIABLES};
pub(crate) use settings::{FoundSettings, Seen, reads_settings};

/// Remembers what was found, for as long as nothing was added or removed beside it: looking for a hundred files before
/// every command would cost a tenth of it.
#[derive(Debug, Default)]
pub(crate) struct Places {
    found: Mutex<Option<(Key, Arc<Existing>)>>,
    /// By the path on which it was looked for.
    bash: Mutex<Option<(Option<OsString>, PathBuf)>>,
}

/// What exists, where it really is.
#[derive(Debug, Default)]
pub(crate) struct Existing {
    pub(crate) secrets: Vec<PathBuf>,
    pub(crate) caches: Vec<PathBuf>,
    /// Secrets that are not there, by the names that they would have.
    pub(crate) possible: Vec<PathBuf>,
    /// Settings files of package managers.
    pub(crate) settings: Vec<FoundSettings>,
    missing_settings: Vec<PathBuf>,
    watched: Vec<(PathBuf, Option<Stamp>)>,
}

/// What decides where to look.
#[derive(Debug, PartialEq, Eq)]
struct Key {
    mode: Mode,
    home: Option<PathBuf>,
    search_path: Option<OsString>,
    secrets: Vec<PathBuf>,
    readable: Vec<PathBuf>,
}

/// Changes when something is added to a directory or taken out.
type Stamp = (u64, u64, i64, i64);

impl Places {
    /// The bash of a search path, as it was found last time if it is still there.
    pub(crate) fn bash<E>(
        &self,
        path: Option<&OsString>,
        find: impl FnOnce(Option<&OsString>) -> Result<PathBuf, E>,
    ) -> Result<PathBuf, E> {
        let mut known = self.bash.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, bash)) = known.as_ref()
            && of.as_ref() == path
            && is_program(bash)
        {
            return Ok(bash.clone());
        }
        let found = find(path)?;
        *known = Some((path.cloned(), found.clone()));
        Ok(found)
    }

    pub(crate) fn existing(
        &self,
        home: Option<&Path>,
        search_path: Option<&OsString>,
        settings: &SandboxSettings,
    ) -> io::Result<Arc<Existing>> {
        let key = Key {
            mode: settings.mode,
            search_path: search_path.cloned(),
            home: home.map(Path::to_owned),
            secrets: settings.secrets.clone(),
            readable: settings.readable.clone(),
        };
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        match found.as_ref() {
            Some((known, existing)) if *known == key && existing.is_current() => Ok(Arc::clone(existing)),
            Some(_) | None => {
                let existing = Arc::new(Existing::look(&key)?);
                *found = Some((key, Arc::clone(&existing)));
                Ok(existing)
            }
        }
    }
}

impl Existing {
    fn look(key: &Key) -> io::Result<Self> {
        let home = key.home.as_deref();
        let in_home = |names: &[&str]| -> Vec<PathBuf> {
            home.into_iter().flat_map(|home| names.iter().map(move |name| home.join(name))).collect()
        };
        let expanded =
            |paths: &[PathBuf]| -> Vec<PathBuf> { paths.iter().map(|path| expand(path, home)).collect() };
        home.into_iter().filter(|_| key.mode == Mode::Workspace).for_each(make_missing_caches);
        let caches = in_home(CACHES);
        let mut secrets = in_home(SECRETS);
        // Whoever sets HOME for us does not give away their own.
        let other = home_of_user()?.filter(|other| Some(other.as_path()) != home);
        secrets.extend(other.iter().flat_map(|home| SECRETS.iter().map(|name| home.join(name))));
        secrets.extend(SYSTEM_SECRETS.iter().map(PathBuf::from).filter(|path| may_be_open_to_us(path)));
        secrets.extend(expanded(&key.secrets));

        // First, so that what is added meanwhile is found out next time.
        let names: Vec<&str> = SETTINGS.iter().map(|settings| settings.path).collect();
        let settings = in_home(&names);
        let parents: BTreeSet<&Path> =
            secrets.iter().chain(&caches).chain(&settings).filter_map(|path| path.parent()).collect();
        let watched: BTreeSet<PathBuf> = parents.into_iter().filter_map(nearest_directory).collect();
        let mut watched: Vec<(PathBuf, Option<Stamp>)> =
            watched.into_iter().map(|path| (stamp(&path), path)).map(|(stamp, path)| (path, stamp)).collect();

        let readable = expanded(&key.readable);
        let readable: Vec<PathBuf> = readable
            .iter()
            .filter_map(|path| path.canonicalize().ok())
            .chain(readable.iter().cloned())
            .collect();
        // A link is found by its name and kept by where it leads.
        let real = |paths: Vec<PathBuf>| -> Vec<PathBuf> {
            let existing = paths.iter().filter(|path| path.symlink_metadata().is_ok());
            let mut real: Vec<PathBuf> = existing.filter_map(|path| path.canonicalize().ok()).collect();
            real.sort();
            real.dedup();
            real
        };
        let is_readable = |path: &Path| readable.iter().any(|readable| path.starts_with(readable));
        let named = expanded(&key.secrets);
        let is_named = |path: &Path| named.iter().any(|secret| path.starts_with(secret));
        let settings = home.map(|home| FoundSettings::look(home, |path| is_readable(path) || is_named(path)));
        let settings = settings.unwrap_or_default();
        watched.extend(settings.iter().map(|found| (found.real.clone(), Some(found.stamp))));
        // Most of them hold no secret.
        secrets.extend(settings.iter().filter(|found| !found.is_harmless).map(|found| found.real.clone()));
        let missing_settings =
            in_home(&names).into_iter().filter(|path| path.symlink_metadata().is_err() && !is_readable(path));
        let missing_settings = missing_settings.collect();
        let missing = secrets.iter().filter(|path| path.symlink_metadata().is_err() && !is_readable(path));
        let possible = missing.cloned().collect();
        let mut secrets = real(secrets);
        secrets.retain(|path| !is_readable(path));
        // What is granted is what is named: a command may have put a link there, to what it wants to write next.
        let caches =
            caches.into_iter().filter(|path| path.canonicalize().is_ok_and(|real| real == *path)).collect();
        Ok(Self { secrets, caches, possible, settings, missing_settings, watched })
    }

    /// Everything that is secret in a room, which is kept: also settings files without a secret, for one may be written
    /// into them meanwhile. A copy is shown.
    pub(crate) fn secrets_of_room(&self) -> Vec<PathBuf> {
        let harmless = self.settings.iter().filter(|found| found.is_harmless).map(|found| found.real.clone());
        self.secrets.iter().cloned().chain(harmless).collect()
    }

    /// Everything that may become secret in it.
    pub(crate) fn possible_secrets_of_room(&self) -> Vec<PathBuf> {
        self.possible.iter().chain(&self.missing_settings).cloned().collect()
    }

    /// Says which settings files these programs would read and do not see.
    pub(crate) fn hidden_settings(&self, programs: &[&str], seen: impl Fn(&Path) -> Seen) -> Vec<String> {
        let hidden = self.settings.iter().filter(|found| {
            self.secrets.contains(&found.real) || (found.is_harmless && seen(&found.real) != Seen::Nothing)
        });
        hidden.filter_map(|found| found.told(programs, seen(&found.real))).collect()
    }

    fn is_current(&self) -> bool {
        self.watched.iter().all(|(path, seen)| stamp(path) == *seen)
    }
}

/// Makes the directories that a tool makes in its own when it first runs: in a sandbox it could not.
fn make_missing_caches(home: &Path) {
    for (directory, caches) in MADE_IN {
        let directory = home.join(directory);
        let is_itself = directory.is_dir() && directory.canonicalize().is_ok_and(|real| real == directory);
        for cache in caches.iter().filter(|_| is_itself) {
            // It may exist, and what is in its place is not ours to touch.
            let _ = fs::create_dir(directory.join(cache));
        }
    }
}

/// The variables that lead a tool to a cache in the temporary directory, for those that it has none of in the home directory.
pub(crate) fn caches_elsewhere(
    home: Option<&Path>,
    writable: &[PathBuf],
    temporary: &Path,
) -> Vec<(OsString, OsString)> {
    let Some(home) = home else { return vec![] };
    let is_missing = |path: &Path| match path.extension() {
        _ if writable.iter().any(|root| path.starts_with(root)) => false,
        // A directory that cannot be written, with what the tool was told in it.
        _ => !TOOL_HOMES.iter().any(|tool| path == home.join(tool)) || !path.exists(),
    };
    let missing = VARIABLES.iter().filter(|(path, ..)| is_missing(&home.join(path)));
    let set = missing.map(|(_, name, value)| {
        let mut text = OsString::new();
        for (index, part) in value.split("{}").enumerate() {
            if index > 0 {
                text.push(temporary);
            }
            text.push(part);
        }
        (OsString::from(name), text)
    });
    set.collect()
}

/// As the system knows it. That its list cannot be read says nothing about it.
fn home_of_user() -> io::Result<Option<&'static PathBuf>> {
    static HOME: OnceLock<Option<PathBuf>> = OnceLock::new();
    if let Some(known) = HOME.get() {
        return Ok(known.as_ref());
    }
    let users = match fs::read("/etc/passwd") {
        Err(error) if error.kind() == io::ErrorKind::NotFound => vec![],
        users => users?,
    };
    let user = rustix::process::geteuid().as_raw().to_string();
    // Names may be in any encoding.
    let fields = |line: &'_ [u8], index| line.split(|byte| *byte == b':').nth(index).map(<[u8]>::to_vec);
    let mut lines = users.split(|byte| *byte == b'\n');
    let line = lines.find(|line| fields(line, 2).as_deref() == Some(user.as_bytes()));
    let home = line.and_then(|line| fields(line, 5)).map(|home| PathBuf::from(OsString::from_vec(home)));
    Ok(HOME.get_or_init(|| home.filter(|home| home.is_absolute())).as_ref())
}

/// Whether it is ours, or we can look into it. What the system's users keep from us need not be hidden, and a rule for
/// each of its neighbours in `/etc` would cost more than all others.
fn may_be_open_to_us(path: &Path) -> bool {
    let may = |access| accessat(CWD, path, access, AtFlags::EACCESS) != Err(Errno::ACCESS);
    let is_ours = |metadata: fs::Metadata| metadata.uid() == rustix::process::geteuid().as_raw();
    path.metadata().is_ok_and(is_ours) || may(Access::READ_OK) || may(Access::EXEC_OK)
}

/// The directory, or the one that it would have to be made in.
fn nearest_directory(path: &Path) -> Option<PathBuf> {
    path.ancestors().find(|directory| directory.is_dir()).map(Path::to_owned)
}

fn stamp(directory: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(directory).ok()?;
    Some((metadata.dev(), metadata.ino(), metadata.mtime(), metadata.mtime_nsec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_that_appears_is_found() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let places = Places::default();
        let settings = SandboxSettings::default();
        let secrets = || places.existing(Some(&home), None, &settings).unwrap().secrets.clone();
        assert!(!secrets().iter().any(|path| path.starts_with(&home)));
        fs::create_dir_all(home.join(".config/gh")).unwrap();
        assert!(secrets().contains(&home.join(".config/gh")));
        fs::create_dir(home.join(".config/gcloud")).unwrap();
        assert!(secrets().contains(&home.join(".config/gcloud")));
    }

    #[test]
    fn nothing_appears_in_a_fresh_home() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let settings = SandboxSettings::default();
        let found = Places::default().existing(Some(&home), None, &settings).unwrap();
        assert!(found.caches.is_empty() && fs::read_dir(&home).unwrap().next().is_none());
        fs::create_dir(home.join(".cargo")).unwrap();
        let found = Places::default().existing(Some(&home), None, &settings).unwrap();
        assert!(found.caches.contains(&home.join(".cargo/registry")));
    }

    #[test]
    fn a_missing_cache_is_elsewhere() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let variables = |writable: &[PathBuf]| caches_elsewhere(Some(&home), writable, Path::new("/tmp"));
        let npm = (OsString::from("npm_config_cache"), OsString::from("/tmp/.cache/npm"));
        assert!(variables(&[]).contains(&npm));
        assert!(!variables(&[home.join(".npm")]).contains(&npm));
        let cargo =
            |variables: Vec<(OsString, OsString)>| variables.iter().any(|(name, _)| name == "CARGO_HOME");
        assert!(cargo(variables(&[])));
        fs::create_dir(home.join(".cargo")).unwrap();
        assert!(!cargo(variables(&[])), "what is in it would be hidden");
    }

    #[test]
    fn a_secret_may_be_named_readable_and_another_named_secret() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        fs::create_dir(home.join(".aws")).unwrap();
        fs::write(home.join("mine"), "").unwrap();
        let settings = SandboxSettings {
            readable: vec!["~/.aws".into()],
            secrets: vec!["~/mine".into()],
            ..SandboxSettings::default()
        };
        let secrets = Places::default().existing(Some(&home), None, &settings).unwrap().secrets.clone();
        assert!(secrets.contains(&home.join("mine")) && !secrets.contains(&home.join(".aws")));
    }
}
