//! What must be the same in a git directory after a command as before, where nothing keeps it from being changed.
//!
//! Everything is done relative to the directory that was opened before the command, and no link is followed: a path may
//! lead anywhere by then, and we may do more than the command may.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, Stat, fchmod, fstat, lstat, mkdirat, openat, readlinkat, renameat,
    statat, symlinkat,
};
use rustix::io::Errno;

use super::super::exhaustion::{if_there, unless_exhausted};
use super::remove::{open_up, remove_at};
use super::repositories::{GitDirectory, GitFile, Repositories, open_beneath};
use crate::Restored;

/// How some git directories were before the command.
#[derive(Debug, Default)]
pub(in super::super) struct Snapshot {
    directories: Vec<Before>,
}

/// Some files of a directory, and where the directory is to be.
#[derive(Debug)]
struct Before {
    directory: Arc<OwnedFd>,
    /// Its permissions; without them nothing in it can be looked at.
    mode: Mode,
    path: PathBuf,
    files: Vec<(&'static str, State)>,
    place: Option<Place>,
}

#[derive(Debug)]
struct Place {
    parent: Arc<OwnedFd>,
    name: CString,
    root: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    Absent,
    File {
        bytes: Vec<u8>,
        mode: u32,
    },
    /// Only what is directly in it: git looks no deeper for hooks.
    Directory(BTreeMap<CString, State>),
    Link(CString),
    /// A device, a file too large to hold or one that cannot be read: that it is there is all that is known.
    Other,
}

/// What git follows or runs.
const ALL: [&str; 5] = ["commondir", "config", "config.worktree", "hooks", "info/attributes"];
/// What no mount can keep, because it must not be there at all.
const MUST_NOT_APPEAR: [&str; 3] = ["commondir", "config.worktree", "info/attributes"];

/// Hooks and configuration are small; a larger file is not read into memory for every command.
const LARGEST: u64 = 1 << 20;

impl Snapshot {
    /// Everything that git follows or runs. An error only if something has run out.
    pub(super) fn of_all(repositories: &Repositories) -> io::Result<Self> {
        let git = repositories.git.iter().map(|git| Before::of(git, states(git.fd.as_fd(), &ALL)?));
        let links = repositories.links.iter().filter_map(|link| Before::of_link(link).transpose());
        Ok(Self { directories: git.chain(links).collect::<io::Result<_>>()? })
    }

    /// Only what must not appear; the rest is kept by mounts.
    pub(super) fn of_absent(repositories: &Repositories) -> io::Result<Self> {
        let before = repositories.git.iter().map(|git| {
            let hooks = git.without_hooks.then_some("hooks");
            let names: Vec<_> = MUST_NOT_APPEAR.into_iter().chain(hooks).collect();
            let mut states = states(git.fd.as_fd(), &names)?;
            states.retain(|(_, state)| *state == State::Absent);
            Before::of(git, states)
        });
        Ok(Self { directories: before.collect::<io::Result<_>>()? })
    }

    /// Puts back what has changed, and says what that was. Call it when no process of the command is alive.
    pub(in super::super) fn restore(&self) -> Vec<Restored> {
        let mut told: Vec<_> = self.directories.iter().flat_map(Before::restore).collect();
        if told.iter().any(|restored| !restored.put_back) {
            // There may be room now that the rest is gone.
            let failed: Vec<_> = self.directories.iter().flat_map(Before::restore).collect();
            let fails = |path: &Path| failed.iter().any(|again| again.path == path && !again.put_back);
            told.iter_mut().for_each(|restored| restored.put_back |= !fails(&restored.path));
        }
        told
    }
}

fn states(git: BorrowedFd<'_>, names: &[&'static str]) -> io::Result<Vec<(&'static str, State)>> {
    names.iter().map(|name| Ok((*name, State::of(git, name)?))).collect()
}

impl Before {
    fn of(git: &GitDirectory, mut files: Vec<(&'static str, State)>) -> io::Result<Self> {
        let directory = Arc::clone(&git.fd);
        // Without it git looks for a repository around this one.
        let head = State::of(directory.as_fd(), "HEAD")?;
        files.extend(head.is_file().then_some(("HEAD", head)));
        let place = git.parent.as_ref().and_then(|parent| {
            let name = CString::new(git.path.file_name()?.as_bytes()).ok()?;
            Some(Place { parent: Arc::clone(parent), name, root: git.root.clone() })
        });
        Ok(Self { mode: mode_of(directory.as_fd())?, directory, path: git.path.clone(), files, place })
    }

    fn of_link(link: &GitFile) -> io::Result<Option<Self>> {
        let directory = Arc::clone(&link.parent);
        let (mode, files) = (mode_of(directory.as_fd())?, states(directory.as_fd(), &[".git"])?);
        let path = link.path.parent().map(Path::to_owned);
        Ok(path.map(|path| Self { directory, mode, path, files, place: None }))
    }

    fn restore(&self) -> Vec<Restored> {
        let mut told = vec![];
        if mode_of(self.directory.as_fd()).is_ok_and(|mode| mode != self.mode) {
            let _ = fchmod(&self.directory, self.mode);
        }
        for (name, before) in &self.files {
            match before.put_back(self.directory.as_fd(), name) {
                Ok(true) => told.push(Restored { path: self.path.join(name), put_back: true }),
                Ok(false) => {}
                Err(error) => {
                    tracing::warn!(path = %self.path.join(name).display(), %error, "cannot put back what a command has changed");
                    told.push(Restored { path: self.path.join(name), put_back: false });
                }
            }
        }
        let is_in_place = || is_same(lstat(&self.path), fstat(&self.directory));
        let was_removed = fstat(&self.directory).is_ok_and(|stat| stat.st_nlink == 0);
        let is_gone = self.path.symlink_metadata().is_err();
        if !(is_in_place() || was_removed && is_gone) {
            self.place.iter().for_each(|place| place.bring_back(self.directory.as_fd()));
            told.push(Restored { path: self.path.clone(), put_back: is_in_place() });
        }
        told
    }
}

fn mode_of(directory: BorrowedFd<'_>) -> io::Result<Mode> {
    Ok(Mode::from_raw_mode(fstat(directory)?.st_mode & 0o7777))
}

impl Place {
    /// Moves a directory back to where it was, and what is there now aside. Nothing is lost, whoever made it.
    fn bring_back(&self, directory: BorrowedFd<'_>) {
        let found = fs::read_link(format!("/proc/self/fd/{}", directory.as_raw_fd()));
        let moved = found.ok().and_then(|path| {
            let name = CString::new(path.file_name()?.as_bytes()).ok()?;
            let parent = open_beneath(&self.root, path.parent()?).ok()?;
            is_same(statat(&parent, &name, AtFlags::SYMLINK_NOFOLLOW), fstat(directory))
                .then_some((parent, name))
        });
        let Some((parent, name)) = moved else { return };
        for number in 1..100 {
            let aside = format!("{}.exchanged-{number}", self.name.to_string_lossy());
            if statat(&self.parent, &aside, AtFlags::SYMLINK_NOFOLLOW).is_err() {
                let _ = renameat(&self.parent, &self.name, &self.parent, &aside);
                break;
            }
        }
        let _ = renameat(&parent, &name, &self.parent, &self.name);
    }
}

fn is_same(one: rustix::io::Result<Stat>, other: rustix::io::Result<Stat>) -> bool {
    one.is_ok_and(|one| other.is_ok_and(|other| (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)))
}

impl State {
    fn is_file(&self) -> bool {
        matches!(self, Self::File { .. })
    }

    fn of(git: BorrowedFd<'_>, name: &str) -> io::Result<Self> {
        match name.split_once('/') {
            None => Self::at(git, &c_name(name), 0),
            Some((directory, name)) => match if_there(open_directory(git, &c_name(directory))) {
                Ok(Some(inner)) => Self::at(inner.as_fd(), &c_name(name), 0),
                Ok(None) => Ok(Self::Absent),
                Err(error) => Self::unknown(error),
            },
        }
    }

    fn at(directory: BorrowedFd<'_>, name: &CStr, depth: usize) -> io::Result<Self> {
        let found = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).map_err(io::Error::from);
        let state = if_there(found).and_then(|stat| match stat {
            Some(stat) => Self::read(directory, name, &stat, depth),
            None => Ok(Self::Absent),
        });
        state.or_else(Self::unknown)
    }

    fn read(directory: BorrowedFd<'_>, name: &CStr, stat: &Stat, depth: usize) -> io::Result<Self> {
        Ok(match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile if stat.st_size.unsigned_abs() <= LARGEST => {
                let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
                let file = File::from(openat(directory, name, flags, Mode::empty())?);
                let mut bytes = vec![];
                file.take(LARGEST).read_to_end(&mut bytes)?;
                Self::File { bytes, mode: stat.st_mode & 0o7777 }
            }
            FileType::Symlink => Self::Link(readlinkat(directory, name, vec![])?),
            FileType::Directory if depth == 0 => {
                let inner = open_directory(directory, name)?;
                let states = names_in(inner.as_fd())?.into_iter().map(|name| {
                    let state = Self::at(inner.as_fd(), &name, 1)?;
                    Ok((name, state))
                });
                Self::Directory(states.collect::<io::Result<_>>()?)
            }
            _ => Self::Other,
        })
    }

    /// What cannot be looked at is not absent: it would be removed then. That something has run out says nothing about it.
    fn unknown(error: io::Error) -> io::Result<Self> {
        unless_exhausted::<Self>(Err(error)).map(|state| state.unwrap_or(Self::Other))
    }

    /// Whether there was anything to put back.
    fn put_back(&self, git: BorrowedFd<'_>, name: &str) -> io::Result<bool> {
        let now = Self::of(git, name)?;
        // What the branch is called is the command's business.
        if now == *self || (name == "HEAD" && now.is_file()) {
            return Ok(false);
        }
        match name.split_once('/') {
            None => self.write(git, &c_name(name))?,
            Some((directory, name)) => {
                let inner = open_or_make_directory(git, &c_name(directory))?;
                self.write(inner.as_fd(), &c_name(name))?;
            }
        }
        Ok(true)
    }

    fn write(&self, directory: BorrowedFd<'_>, name: &CStr) -> io::Result<()> {
        match self {
            Self::Absent => remove_at(directory, name),
            Self::File { bytes, mode } => replace(directory, name, |draft| {
                let flags =
                    OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let mut file = File::from(openat(directory, draft, flags, Mode::RUSR | Mode::WUSR)?);
                file.write_all(bytes)?;
                Ok(fchmod(&file, Mode::from_raw_mode(*mode))?)
            }),
            Self::Link(target) => replace(directory, name, |draft| Ok(symlinkat(target, directory, draft)?)),
            Self::Directory(entries) => {
                let inner = open_or_make_directory(directory, name)?;
                let names = names_in(inner.as_fd())?;
                let extra = names.iter().filter(|name| !entries.contains_key(*name));
                let removed = extra.map(|extra| remove_at(inner.as_fd(), extra));
                let written = entries.iter().map(|(name, before)| {
                    if Self::at(inner.as_fd(), name, 1)? == *before {
                        return Ok(());
                    }
                    before.write(inner.as_fd(), name)
                });
                // Each of them, whatever becomes of the others.
                removed.chain(written).fold(Ok(()), Result::and)
            }
            Self::Other => Err(io::Error::other("what was there could not be looked at")),
        }
    }
}

/// All of it or nothing: what is there goes only when there is something to take its place.
fn replace(
    directory: BorrowedFd<'_>,
    name: &CStr,
    make: impl FnOnce(&CStr) -> io::Result<()>,
) -> io::Result<()> {
    let draft = c_name(&format!(".put-back-{:016x}", RandomState::new().hash_one(name)));
    let put_back = make(&draft).and_then(|()| {
        let put = || renameat(directory, &draft, directory, name);
        Ok(match put() {
            Err(Errno::ISDIR | Errno::EXIST | Errno::NOTEMPTY) => {
                remove_at(directory, name)?;
                put()
            }
            done => done,
        }?)
    });
    if put_back.is_err() {
        let _ = remove_at(directory, &draft);
    }
    put_back
}

fn open_directory(at: BorrowedFd<'_>, name: &CStr) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(at, name, flags, Mode::empty())?)
}

fn open_or_make_directory(at: BorrowedFd<'_>, name: &CStr) -> io::Result<OwnedFd> {
    if let Some(found) = if_there(open_up(at, name))? {
        return Ok(found);
    }
    remove_at(at, name)?;
    mkdirat(at, name, Mode::from_raw_mode(0o755))?;
    open_directory(at, name)
}

fn names_in(directory: BorrowedFd<'_>) -> io::Result<Vec<CString>> {
    let mut names = vec![];
    for entry in Dir::read_from(directory)? {
        names.push(entry?.file_name().to_owned());
    }
    names.retain(|name| ![c".", c".."].contains(&name.as_c_str()));
    Ok(names)
}

fn c_name(name: &str) -> CString {
    CString::new(name).expect("the names are ours")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};
    fn only(path: &Path) -> Repositories {
        let fd = OwnedFd::from(File::open(path).unwrap());
        let git = GitDirectory {
            path: path.to_owned(),
            fd: fd.into(),
            parent: None,
            root: path.to_owned(),
            without_hooks: false,
        };
        let mut found = Repositories::default();
        found.git.push(git);
        found
    }

    #[test]
    fn what_was_changed_added_or_removed_is_put_back() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::create_dir(at("hooks")).unwrap();
        fs::write(at("hooks/a"), "one").unwrap();
        fs::write(at("config"), "two").unwrap();
        fs::write(at("HEAD"), "ref: refs/heads/main").unwrap();
        let snapshot = Snapshot::of_all(&only(root.path())).unwrap();
        assert_eq!(snapshot.restore(), Vec::<Restored>::new());

        fs::write(at("hooks/pre-commit"), "evil").unwrap();
        fs::set_permissions(at("hooks/a"), Permissions::from_mode(0o777)).unwrap();
        fs::remove_file(at("config")).unwrap();
        symlink("/etc/passwd", at("config")).unwrap();
        fs::write(at("commondir"), "evil").unwrap();
        fs::remove_file(at("HEAD")).unwrap();
        let put_back =
            ["commondir", "config", "hooks", "HEAD"].map(|name| Restored { path: at(name), put_back: true });
        assert_eq!(snapshot.restore(), put_back);
        assert!(!at("hooks/pre-commit").exists() && !at("commondir").exists());
        assert_ne!(fs::metadata(at("hooks/a")).unwrap().permissions().mode() & 0o777, 0o777);
        assert_eq!(fs::read_to_string(at("config")).unwrap(), "two");
        fs::write(at("HEAD"), "ref: refs/heads/other").unwrap();
        assert_eq!(snapshot.restore(), Vec::<Restored>::new());
    }

    #[test]
    fn links_long_names_and_what_is_in_the_way_of_a_file() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        let long = format!("hooks/{}", "l".repeat(255));
        fs::create_dir(at("hooks")).unwrap();
        symlink("../shared-hook", at("hooks/pre-commit")).unwrap();
        fs::write(at(&long), "one").unwrap();
        fs::write(at("hooks/update"), "two").unwrap();
        fs::write(at("config"), "three").unwrap();
        fs::write(at("config.put-back"), "the user's own").unwrap();
        let snapshot = Snapshot::of_all(&only(root.path())).unwrap();

        fs::remove_file(at("hooks/pre-commit")).unwrap();
        for name in ["hooks/pre-commit", &long, "hooks/update"] {
            fs::write(at(name), "evil").unwrap();
        }
        fs::remove_file(at("config")).unwrap();
        fs::create_dir_all(at("config/deep/er")).unwrap();
        fs::create_dir(at("info")).unwrap();
        fs::write(at("info/exclude"), "the user's own").unwrap();
        fs::write(at("info/attributes"), "evil").unwrap();
        fs::set_permissions(at("info"), Permissions::from_mode(0o000)).unwrap();
        assert!(snapshot.restore().iter().all(|restored| restored.put_back));
        assert_eq!(fs::read_link(at("hooks/pre-commit")).unwrap(), Path::new("../shared-hook"));
        let read = |name: &str| fs::read_to_string(at(name)).unwrap();
        assert_eq!([read(&long), read("hooks/update"), read("config")], ["one", "two", "three"]);
        assert_eq!([read("config.put-back"), read("info/exclude")], ["the user's own"; 2]);
        assert!(!at("info/attributes").exists());
        assert_eq!(fs::read_dir(at("hooks")).unwrap().count(), 3);
    }

    #[test]
    fn what_could_not_be_looked_at_is_not_removed() {
        let root = tempfile::tempdir().unwrap();
        let before = Before {
            directory: OwnedFd::from(File::open(root.path()).unwrap()).into(),
            mode: Mode::from_raw_mode(0o700),
            path: root.path().to_owned(),
            files: vec![("config", State::Other)],
            place: None,
        };
        fs::write(root.path().join("config"), "something").unwrap();
        let told = Restored { path: root.path().join("config"), put_back: false };
        assert_eq!(Snapshot { directories: vec![before] }.restore(), [told]);
        assert_eq!(fs::read_to_string(root.path().join("config")).unwrap(), "something");
    }

    #[test]
    fn a_path_that_leads_elsewhere_by_then_is_not_followed() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::create_dir_all(at("work/git")).unwrap();
        fs::create_dir_all(at("victim/hooks")).unwrap();
        fs::write(at("work/git/config"), "planted before").unwrap();
        for name in ["victim/config", "victim/commondir", "victim/hooks/own"] {
            fs::write(at(name), "the victim's").unwrap();
        }
        let snapshot = Snapshot::of_all(&only(&at("work/git"))).unwrap();
        fs::rename(at("work/git"), at("work/moved")).unwrap();
        symlink(at("victim"), at("work/git")).unwrap();
        assert_eq!(snapshot.restore(), [Restored { path: at("work/git"), put_back: false }], "it is told");
        for name in ["victim/config", "victim/commondir", "victim/hooks/own"] {
            assert_eq!(fs::read_to_string(at(name)).unwrap(), "the victim's");
        }
    }
}
