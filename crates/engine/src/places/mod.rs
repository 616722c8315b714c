//! Which secrets and caches there are on this host.

mod followed;
mod lists;
mod neighbours;
mod search;
mod settings;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bashtion_guard::secrets::{MovedPlace, SecretKind, in_home, of_system};
use bashtion_sandbox::{Mode, Stamp};
use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::io::Errno;

use crate::SandboxSettings;
use crate::confine::{expand, outermost};
use crate::plan::is_program;
pub(crate) use followed::followed;
use lists::{CACHES, MADE_IN, SETTINGS, TOOL_HOMES, VARIABLES};
use neighbours::Neighbours;
use search::Search;
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
    /// `.env` files of other projects.
    pub(crate) env_files: Vec<PathBuf>,
    /// The same files as they were, and the folders in which other projects may appear.
    pub(crate) beside: Vec<(PathBuf, Stamp)>,
    pub(crate) caches: Vec<PathBuf>,
    /// Secrets that are not there, by the names that they would have.
    pub(crate) possible: Vec<PathBuf>,
    /// Settings files of package managers.
    pub(crate) settings: Vec<FoundSettings>,
    missing_settings: Vec<PathBuf>,
    watched: Vec<(PathBuf, Option<Stamp>)>,
}

/// The caller's part of what decides where to look.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Whereabouts<'a> {
    pub(crate) home: Option<&'a Path>,
    /// Places that variables of the caller name.
    pub(crate) moved: &'a [MovedPlace],
    /// Directories of the task, as they were named. Other projects are beside them.
    pub(crate) own: &'a [PathBuf],
    /// Directories that may be written. `.env` files in them may be read, too.
    pub(crate) writable: &'a [PathBuf],
}

/// Everything that decides where to look.
#[derive(Debug, PartialEq, Eq)]
struct Key {
    mode: Mode,
    home: Option<PathBuf>,
    moved: Vec<MovedPlace>,
    own: Vec<PathBuf>,
    writable: Vec<PathBuf>,
    secrets: Vec<PathBuf>,
    readable: Vec<PathBuf>,
}

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
        whereabouts: Whereabouts<'_>,
        settings: &SandboxSettings,
    ) -> io::Result<Arc<Existing>> {
        let key = Key {
            mode: settings.mode,
            home: whereabouts.home.map(Path::to_owned),
            moved: whereabouts.moved.to_vec(),
            own: whereabouts.own.to_vec(),
            writable: whereabouts.writable.to_vec(),
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
        home.into_iter().filter(|_| key.mode == Mode::Workspace).for_each(make_missing_caches);
        let search = key.search_for_secrets()?;
        let mut caches = Search::default();
        home.into_iter().for_each(|home| caches.beneath(home, CACHES));
        let own = outermost(real(key.own.iter().cloned()));
        let neighbours = Neighbours::of(&own);
        let named: Vec<PathBuf> = key.secrets.iter().map(|path| expand(path, home)).collect();
        let others: Vec<PathBuf> = key.others().chain(named.iter().cloned()).collect();
        let settings_paths: Vec<PathBuf> =
            SETTINGS.iter().flat_map(|settings| key.places_of(settings.path)).collect();

        // First, so that what is added meanwhile is found out next time.
        let parents: BTreeSet<&Path> =
            others.iter().chain(&settings_paths).filter_map(|path| path.parent()).collect();
        let directories: BTreeSet<PathBuf> = parents.into_iter().filter_map(nearest_directory).collect();
        let mut watched = search.listed;
        watched.extend(caches.listed);
        watched.extend(
            directories.into_iter().map(|path| (stamp(&path), path)).map(|(stamp, path)| (path, stamp)),
        );
        let of_neighbours = neighbours.parents.iter().chain(&neighbours.folders);
        watched.extend(of_neighbours.map(|(path, stamp)| (path.clone(), Some(*stamp))));

        let readable: Vec<PathBuf> = key.readable.iter().map(|path| expand(path, home)).collect();
        let real_readable = readable.iter().filter_map(|path| path.canonicalize().ok());
        let readable: Vec<PathBuf> = real_readable.chain(readable.iter().cloned()).collect();
        let is_readable = |path: &Path| readable.iter().any(|readable| path.starts_with(readable));
        let is_named = |path: &Path| named.iter().any(|secret| path.starts_with(secret));
        let settings =
            FoundSettings::look(|path| key.places_of(path), |path| is_readable(path) || is_named(path));
        watched.extend(settings.iter().map(|found| (found.real.clone(), Some(found.stamp))));
        let missing_settings =
            settings_paths.into_iter().filter(|path| path.symlink_metadata().is_err() && !is_readable(path));
        let missing_settings = missing_settings.collect();

        let (there, missing): (Vec<_>, Vec<_>) =
            others.into_iter().partition(|path| path.symlink_metadata().is_ok());
        let possible = search.missing.into_iter().chain(missing).filter(|path| !is_readable(path)).collect();
        // Most settings hold no secret.
        let harmful = settings.iter().filter(|found| !found.is_harmless).map(|found| found.real.clone());
        let mut secrets = real(search.found.into_iter().chain(there).chain(harmful));
        secrets.retain(|path| !is_readable(path) && !key.is_wide(path));
        let is_own = |path: &Path| own.iter().chain(&key.writable).any(|own| path.starts_with(own));
        let mut env_files = real(neighbours.env_files.into_iter());
        env_files.retain(|path| !is_readable(path) && !is_own(path));
        let mut beside = neighbours.parents;
        beside.extend(env_files.iter().filter_map(|path| Some((path.clone(), stamp(path)?))));
        // What is granted is what is named: a command may have put a link there, to what it wants to write next.
        let is_itself = |path: &PathBuf| path.canonicalize().is_ok_and(|real| real == *path);
        let caches = caches.found.into_iter().filter(is_itself).collect();
        Ok(Self { secrets, env_files, beside, caches, possible, settings, missing_settings, watched })
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

impl Key {
    /// Looks for what is on the list: in the caller's home, in that of the user, and where variables say.
    fn search_for_secrets(&self) -> io::Result<Search> {
        let secrets: Vec<&str> = stored().collect();
        let mut search = Search::default();
        // Whoever sets HOME for us does not give away their own.
        let other = home_of_user()?.filter(|other| Some(other.as_path()) != self.home.as_deref());
        for home in self.home.iter().chain(other) {
            search.beneath(home, &secrets);
        }
        for moved in &self.moved {
            let below: Vec<&str> = secrets.iter().filter_map(|path| rest_of(path, moved.from)).collect();
            if !below.is_empty() && moved.to.is_dir() {
                search.beneath(&moved.to, &below);
            }
        }
        Ok(search)
    }

    /// Secrets of the system, and whatever a variable names as one.
    fn others(&self) -> impl Iterator<Item = PathBuf> {
        let system = of_system().map(PathBuf::from).filter(|path| may_be_open_to_us(path));
        let is_secret = |moved: &&MovedPlace| {
            stored().any(|path| moved.in_place_of(path).as_ref() == Some(&moved.to))
                && !self.is_wide(&moved.to)
        };
        system.chain(self.moved.iter().filter(is_secret).map(|moved| moved.to.clone()))
    }

    /// The places of a path that is usually in the home directory.
    fn places_of(&self, path: &str) -> Vec<PathBuf> {
        let moved = self.moved.iter().filter_map(|moved| moved.in_place_of(path));
        self.home.iter().map(|home| home.join(path)).chain(moved).collect()
    }

    /// Returns true for a home, or a directory that holds one: it is no secret, whatever a variable says.
    fn is_wide(&self, path: &Path) -> bool {
        self.home.iter().chain(&self.own).any(|own| own.starts_with(path))
    }
}

/// Secrets in a home, but for settings, which are looked at one by one.
fn stored() -> impl Iterator<Item = &'static str> {
    in_home().filter(|secret| secret.kind != SecretKind::Settings).map(|secret| secret.path)
}

fn rest_of<'a>(path: &'a str, directory: &str) -> Option<&'a str> {
    path.strip_prefix(directory)?.strip_prefix('/')
}

/// The paths after links. A link is found by its name and kept by where it leads.
fn real(paths: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut real: Vec<PathBuf> = paths.filter_map(|path| path.canonicalize().ok()).collect();
    real.sort();
    real.dedup();
    real
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
    let is_missing = |name: &str| {
        let path = home.join(name);
        // A directory that cannot be written, with what the tool was told in it.
        let is_tool_home = || TOOL_HOMES.contains(&name) && path.exists();
        !writable.iter().any(|root| path.starts_with(root)) && !is_tool_home()
    };
    let missing = VARIABLES.iter().filter(|(name, ..)| is_missing(name));
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
mod tests;
