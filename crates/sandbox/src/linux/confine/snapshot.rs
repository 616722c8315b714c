//! What must be the same in a git directory after a command as before, where nothing keeps it from being changed.
//!
//! Everything is done relative to the directory that was opened before the command, and no link is followed: a path may
//! lead anywhere by then, and we may do more than the command may.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, Stat, fchmod, fstat, lstat, mkdirat, openat, renameat, statat,
};

use super::remove::remove_at;
use crate::Restored;

use super::repositories::{GitDirectory, Repositories, open_beneath};

/// How some git directories were before the command.
#[derive(Debug, Default)]
pub(in super::super) struct Snapshot {
    directories: Vec<Before>,
}

/// Some files of a directory, and where the directory is to be.
#[derive(Debug)]
struct Before {
    directory: OwnedFd,
    /// Its permissions; without them nothing in it can be looked at.
    mode: Mode,
    path: PathBuf,
    files: Vec<(&'static str, State)>,
    place: Option<Place>,
}

#[derive(Debug)]
struct Place {
    parent: OwnedFd,
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
    /// A link, a device or a file too large to hold: that it is there is all that is known.
    Other,
}

/// What git follows or runs.
const ALL: [&str; 5] = ["commondir", "config", "config.worktree", "hooks", "info/attributes"];
/// What no mount can keep, because it must not be there at all.
const MUST_NOT_APPEAR: [&str; 3] = ["commondir", "config.worktree", "info/attributes"];

/// Hooks and configuration are small; a larger file is not read into memory for every command.
const LARGEST: u64 = 1 << 20;

impl Snapshot {
    /// Everything that git follows or runs.
    pub(super) fn of_all(repositories: &Repositories) -> Self {
        let mut snapshot =
            Self::take(&repositories.git, |git| ALL.map(|name| (name, State::of(git, name))).to_vec());
        snapshot.directories.extend(repositories.links.iter().filter_map(|link| {
            let directory = link.parent.try_clone().ok()?;
            let files = vec![(".git", State::of(directory.as_fd(), ".git"))];
            let mode = mode_of(directory.as_fd())?;
            Some(Before { directory, mode, path: link.path.parent()?.to_owned(), files, place: None })
        }));
        snapshot
    }

    /// Only what must not appear; the rest is kept by mounts.
    pub(super) fn of_absent(repositories: &Repositories) -> Self {
        Self::take(&repositories.git, |git| {
            let states = MUST_NOT_APPEAR.map(|name| (name, State::of(git, name)));
            states.into_iter().filter(|(_, state)| *state == State::Absent).collect()
        })
    }

    fn take(
        directories: &[GitDirectory],
        look: impl Fn(BorrowedFd<'_>) -> Vec<(&'static str, State)>,
    ) -> Self {
        let before = directories.iter().filter_map(|git| {
            let directory = git.fd.try_clone().ok()?;
            let mut files = look(directory.as_fd());
            // Without it git looks for a repository around this one.
            files.extend(
                Some(State::of(directory.as_fd(), "HEAD")).filter(State::is_file).map(|head| ("HEAD", head)),
            );
            let place = git.parent.as_ref().and_then(|parent| {
                let name = CString::new(git.path.file_name()?.as_bytes()).ok()?;
                Some(Place { parent: parent.try_clone().ok()?, name, root: git.root.clone() })
            });
            let mode = mode_of(directory.as_fd())?;
            Some(Before { directory, mode, path: git.path.clone(), files, place })
        });
        Self { directories: before.collect() }
    }

    /// Puts back what has changed, and says what that was. Call it when no process of the command is alive.
    pub(in super::super) fn restore(&self) -> Vec<Restored> {
        self.directories.iter().flat_map(Before::restore).collect()
    }
}

impl Before {
    fn restore(&self) -> Vec<Restored> {
        let mut told = vec![];
        if mode_of(self.directory.as_fd()) != Some(self.mode) {
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

fn mode_of(directory: BorrowedFd<'_>) -> Option<Mode> {
    fstat(directory).ok().map(|stat| Mode::from_raw_mode(stat.st_mode & 0o7777))
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

    fn of(git: BorrowedFd<'_>, name: &str) -> Self {
        match name.split_once('/') {
            None => Self::at(git, &c_name(name), 0),
            Some((directory, name)) => match open_directory(git, &c_name(directory)) {
                Ok(inner) => Self::at(inner.as_fd(), &c_name(name), 0),
                Err(_) => Self::Absent,
            },
        }
    }

    fn at(directory: BorrowedFd<'_>, name: &CString, depth: usize) -> Self {
        let Ok(stat) = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) else { return Self::Absent };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile if stat.st_size.unsigned_abs() <= LARGEST => {
                let mut bytes = vec![];
                let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
                let file =
                    openat(directory, name, flags, Mode::empty()).map(File::from).map_err(io::Error::from);
                match file.and_then(|file| file.take(LARGEST).read_to_end(&mut bytes)) {
                    Ok(_) => Self::File { bytes, mode: stat.st_mode & 0o7777 },
                    Err(_) => Self::Other,
                }
            }
            FileType::Directory if depth == 0 => {
                let Ok(inner) = open_directory(directory, name) else { return Self::Other };
                let names = names_in(inner.as_fd());
                Self::Directory(
                    names.into_iter().map(|name| (name.clone(), Self::at(inner.as_fd(), &name, 1))).collect(),
                )
            }
            _ => Self::Other,
        }
    }

    /// Whether there was anything to put back.
    fn put_back(&self, git: BorrowedFd<'_>, name: &str) -> io::Result<bool> {
        let now = Self::of(git, name);
        // What the branch is called is the command's business.
        if now == *self || (name == "HEAD" && now.is_file()) {
            return Ok(false);
        }
        match name.split_once('/') {
            None => self.write(git, &c_name(name))?,
            Some((directory, name)) => {
                let directory = c_name(directory);
                let inner = open_directory(git, &directory).or_else(|_| {
                    remove_at(git, &directory)?;
                    mkdirat(git, &directory, Mode::from_raw_mode(0o755))?;
                    open_directory(git, &directory)
                })?;
                self.write(inner.as_fd(), &c_name(name))?;
            }
        }
        Ok(true)
    }

    fn write(&self, directory: BorrowedFd<'_>, name: &CString) -> io::Result<()> {
        match self {
            Self::Absent => remove_at(directory, name),
            Self::File { bytes, mode } => {
                remove_at(directory, name)?;
                let flags =
                    OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let file = openat(directory, name, flags, Mode::RUSR | Mode::WUSR)?;
                fchmod(&file, Mode::from_raw_mode(*mode))?;
                File::from(file).write_all(bytes)
            }
            Self::Directory(entries) => {
                let inner = open_directory(directory, name).or_else(|_| {
                    remove_at(directory, name)?;
                    mkdirat(directory, name, Mode::from_raw_mode(0o755))?;
                    open_directory(directory, name)
                })?;
                for extra in names_in(inner.as_fd()).into_iter().filter(|name| !entries.contains_key(name)) {
                    remove_at(inner.as_fd(), &extra)?;
                }
                for (name, before) in entries {
                    if Self::at(inner.as_fd(), name, 1) != *before {
                        before.write(inner.as_fd(), name)?;
                    }
                }
                Ok(())
            }
            Self::Other => Ok(()),
        }
    }
}

fn open_directory(at: BorrowedFd<'_>, name: &CString) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(at, name, flags, Mode::empty())?)
}

fn names_in(directory: BorrowedFd<'_>) -> Vec<CString> {
    let entries = Dir::read_from(directory).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.file_name().to_owned())
        .filter(|name| ![c".", c".."].contains(&name.as_c_str()))
        .collect()
}

fn c_name(name: &str) -> CString {
    CString::new(name).expect("the names are ours")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;

    fn only(path: &Path) -> Repositories {
        let fd = File::open(path).unwrap().into();
        let git = GitDirectory { path: path.to_owned(), fd, parent: None, root: path.to_owned() };
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
        let snapshot = Snapshot::of_all(&only(root.path()));
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
    fn a_path_that_leads_elsewhere_by_then_is_not_followed() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::create_dir_all(at("work/git")).unwrap();
        fs::create_dir_all(at("victim/hooks")).unwrap();
        fs::write(at("work/git/config"), "planted before").unwrap();
        for name in ["victim/config", "victim/commondir", "victim/hooks/own"] {
            fs::write(at(name), "the victim's").unwrap();
        }
        let snapshot = Snapshot::of_all(&only(&at("work/git")));
        fs::rename(at("work/git"), at("work/moved")).unwrap();
        symlink(at("victim"), at("work/git")).unwrap();
        assert_eq!(snapshot.restore(), [Restored { path: at("work/git"), put_back: false }], "it is told");
        for name in ["victim/config", "victim/commondir", "victim/hooks/own"] {
            assert_eq!(fs::read_to_string(at(name)).unwrap(), "the victim's");
        }
    }
}
