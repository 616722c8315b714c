//! What must be the same in a git directory after a command as before, where nothing keeps it from being changed.
//!
//! Everything is done relative to the directory that was opened before the command, and no link is followed: a path may
//! lead anywhere by then, and we may do more than the command may.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use rustix::fs::{AtFlags, Mode, Stat, fchmod, fstat, lstat, renameat, statat};

use super::super::apart::apart;
use super::repositories::{GitDirectory, GitFile, Repositories, open_beneath};
use super::state::{HEAD, State};
use crate::{Restored, Restoring};

/// How some git directories were before the command.
#[derive(Debug, Default)]
pub(in super::super) struct Snapshot {
    directories: Vec<Before>,
}

/// Some files of a directory, and where the directory is to be.
#[derive(Debug)]
struct Before {
    directory: Arc<OwnedFd>,
    path: PathBuf,
    content: Arc<Content>,
    place: Option<Place>,
}

#[derive(Debug)]
struct Content {
    /// The directory's own permissions; without them nothing in it can be looked at.
    mode: Mode,
    files: Vec<(&'static str, State)>,
}

#[derive(Debug)]
struct Place {
    parent: Arc<OwnedFd>,
    name: CString,
    root: PathBuf,
}

/// What git follows or runs.
const ALL: &[&str] = &["commondir", "config", "config.worktree", "hooks", "info/attributes", HEAD];
/// What no mount can keep, because it must not be there at all.
const MUST_NOT_APPEAR: [&str; 3] = ["commondir", "config.worktree", "info/attributes"];

impl Snapshot {
    /// Everything that git follows or runs. An error only if something has run out.
    pub(super) fn of_all(repositories: &Repositories) -> io::Result<Self> {
        let git = repositories.git.iter().map(|git| {
            let content = Content::as_first_seen(git.fd.as_fd(), ALL)?;
            Ok(Before::of(git, content))
        });
        let links = repositories.links.iter().filter_map(|link| Before::of_link(link).transpose());
        Ok(Self { directories: git.chain(links).collect::<io::Result<_>>()? })
    }

    /// Only what must not appear; the rest is kept by mounts.
    pub(super) fn of_absent(repositories: &Repositories) -> io::Result<Self> {
        let before = repositories.git.iter().map(|git| {
            let hooks = git.without_hooks.then_some("hooks");
            let names: Vec<_> = MUST_NOT_APPEAR.into_iter().chain(hooks).chain([HEAD]).collect();
            let mut content = Content::of(git.fd.as_fd(), &names)?;
            content.files.retain(|(name, state)| *state == State::Absent || *name == HEAD);
            Ok(Before::of(git, Arc::new(content)))
        });
        Ok(Self { directories: before.collect::<io::Result<_>>()? })
    }

    /// Puts back what has changed, and says what that was. Call it when no process of the command is alive.
    pub(in super::super) fn restore(&self) -> Vec<Restored> {
        let look = || self.directories.iter().flat_map(Before::restore).collect::<Vec<_>>();
        let mut told = look();
        if told.iter().all(|restored| restored.how == Restoring::PutBack) {
            return told;
        }
        // There may be room now that the rest is gone, and there certainly are descriptors.
        let kept: Vec<_> = self.directories.iter().flat_map(Before::descriptors).collect();
        let now = apart(&kept, || Ok(look())).unwrap_or_else(|_| look());
        told.retain_mut(|restored| {
            restored.how = match (now.iter().find(|now| now.path == restored.path), restored.how) {
                (Some(now), _) => now.how,
                // It turns out that nothing was wrong with it.
                (None, Restoring::NotChecked) => return false,
                (None, Restoring::PutBack | Restoring::NotPutBack) => Restoring::PutBack,
            };
            true
        });
        told
    }
}

impl Content {
    fn of(directory: BorrowedFd<'_>, names: &[&'static str]) -> io::Result<Self> {
        let state = |name: &&'static str| Ok((*name, State::of(directory, name)?));
        let mut files = names.iter().map(state).collect::<io::Result<Vec<_>>>()?;
        // Without it git looks for a repository around this one; where there is none, this is no repository.
        files.retain(|(name, state)| *name != HEAD || state.is_file());
        Ok(Self { mode: mode_of(directory)?, files })
    }

    /// As it was before any of the commands that are at work there now: what one of them has changed is not what another
    /// one is to put back.
    fn as_first_seen(directory: BorrowedFd<'_>, names: &'static [&'static str]) -> io::Result<Arc<Self>> {
        type Key = (u64, u64, &'static [&'static str]);
        static SEEN: Mutex<Vec<(Key, Weak<Content>)>> = Mutex::new(vec![]);
        let stat = fstat(directory)?;
        let key = (stat.st_dev, stat.st_ino, names);
        let now = Self::of(directory, names)?;
        let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
        seen.retain(|(_, content)| content.strong_count() > 0);
        let first = seen.iter().find(|(known, _)| *known == key).and_then(|(_, content)| content.upgrade());
        Ok(first.unwrap_or_else(|| {
            let now = Arc::new(now);
            seen.push((key, Arc::downgrade(&now)));
            now
        }))
    }
}

impl Before {
    fn of(git: &GitDirectory, content: Arc<Content>) -> Self {
        let place = git.parent.as_ref().and_then(|parent| {
            let name = CString::new(git.path.file_name()?.as_bytes()).ok()?;
            Some(Place { parent: Arc::clone(parent), name, root: git.root.clone() })
        });
        Self { directory: Arc::clone(&git.fd), path: git.path.clone(), content, place }
    }

    fn of_link(link: &GitFile) -> io::Result<Option<Self>> {
        const LINK: &[&str] = &[".git"];
        let directory = Arc::clone(&link.parent);
        let content = Content::as_first_seen(directory.as_fd(), LINK)?;
        let path = link.path.parent().map(Path::to_owned);
        Ok(path.map(|path| Self { directory, path, content, place: None }))
    }

    fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let parent = self.place.as_ref().map(|place| place.parent.as_fd());
        parent.into_iter().chain([self.directory.as_fd()])
    }

    fn restore(&self) -> Vec<Restored> {
        let mut told = vec![];
        let Content { mode, files } = &*self.content;
        if mode_of(self.directory.as_fd()).is_ok_and(|now| now != *mode) {
            let _ = fchmod(&self.directory, *mode);
        }
        for (name, before) in files {
            let path = self.path.join(name);
            let problem = |error: &io::Error| {
                tracing::warn!(path = %path.display(), %error, "cannot put back what a command has changed");
            };
            let how = match before.differs(self.directory.as_fd(), name) {
                Ok(false) => continue,
                Ok(true) => match before.put_back(self.directory.as_fd(), name).inspect_err(problem) {
                    Ok(()) => Restoring::PutBack,
                    Err(_) => Restoring::NotPutBack,
                },
                Err(_) => Restoring::NotChecked,
            };
            told.push(Restored { path, how });
        }
        let is_in_place = || is_same(lstat(&self.path), fstat(&self.directory));
        let was_removed = fstat(&self.directory).is_ok_and(|stat| stat.st_nlink == 0);
        let is_gone = self.path.symlink_metadata().is_err();
        if !(is_in_place() || was_removed && is_gone) {
            self.place.iter().for_each(|place| place.bring_back(self.directory.as_fd()));
            let how = if is_in_place() { Restoring::PutBack } else { Restoring::NotPutBack };
            told.push(Restored { path: self.path.clone(), how });
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
        let found = fs::read_link(format!("/proc/thread-self/fd/{}", directory.as_raw_fd()));
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, Permissions};
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
        let put_back = ["commondir", "config", "hooks", "HEAD"]
            .map(|name| Restored { path: at(name), how: Restoring::PutBack });
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
        assert!(snapshot.restore().iter().all(|restored| restored.how == Restoring::PutBack));
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
        let content = Content { mode: Mode::RWXU, files: vec![("config", State::Other)] };
        let before = Before {
            directory: OwnedFd::from(File::open(root.path()).unwrap()).into(),
            path: root.path().to_owned(),
            content: content.into(),
            place: None,
        };
        fs::write(root.path().join("config"), "something").unwrap();
        let told = Restored { path: root.path().join("config"), how: Restoring::NotPutBack };
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
        assert_eq!(
            snapshot.restore(),
            [Restored { path: at("work/git"), how: Restoring::NotPutBack }],
            "it is told"
        );
        for name in ["victim/config", "victim/commondir", "victim/hooks/own"] {
            assert_eq!(fs::read_to_string(at(name)).unwrap(), "the victim's");
        }
    }
}
