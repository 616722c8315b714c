//! Where a link or an address leads whoever follows it outside, and files of a workspace that git follows.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, readlinkat, statat};

use super::Ground;
use super::config::paths_that_are_followed;
use super::deed::read;

impl Ground {
    /// Returns true if a link would lead to what a command can have written as it likes, hooks included, or to a directory
    /// around that from where another link could go on.
    pub(super) fn link_leads_astray(&self, directory: &Path, text: &[u8]) -> bool {
        let path = directory.join(OsStr::from_bytes(text));
        let is_astray = |place: &PathBuf| {
            let is_around = self.own.iter().any(|own| own.starts_with(place));
            let is_git = place.file_name() == Some(OsStr::new(".git")) || self.known.contains(place);
            self.is_hidden(place) || is_git || is_around && self.workspace_of(place).is_none()
        };
        [without_dots(&path), followed(&path)].iter().any(is_astray)
    }

    /// Returns true for the address of a repository that a command can have written as it likes.
    pub(super) fn address_leads_astray(&self, path: &Path) -> bool {
        let is_kernels = |place: &PathBuf| place.starts_with("/proc") || place.starts_with("/dev");
        let places = [without_dots(path), followed(path)];
        places.iter().any(|place| is_kernels(place) || self.is_free(place))
    }

    /// Returns true for a file that git runs or reads as its configuration, or a directory of such files.
    pub(super) fn is_followed(&self, path: &Path) -> bool {
        self.followed.iter().any(|followed| path.starts_with(followed))
    }

    /// Returns true for a directory that such a file lies in: put there as a whole, it would bring one along.
    pub(super) fn leads_to_followed(&self, path: &Path) -> bool {
        self.followed.iter().any(|followed| followed.starts_with(path))
    }
}

/// Finds the files of workspaces that these repositories name as hooks or as configuration.
pub(super) fn followed_by(repositories: &[PathBuf], workspaces: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = vec![];
    for git in repositories {
        let files = git.parent().unwrap_or(git);
        found.extend(named_in(git).into_iter().map(|(from, path)| match from {
            From::Files => files.join(path),
            From::Repository => git.join(path),
        }));
    }
    let is_inside = |path: &PathBuf| {
        let mut roots = workspaces.iter();
        roots.any(|root| path.starts_with(root) && path != root) && !path.iter().any(|part| part == ".git")
    };
    let places = found.iter().flat_map(|path| [without_dots(path), followed(path)]);
    let mut places: Vec<PathBuf> = places.filter(is_inside).collect();
    places.sort();
    places.dedup();
    places
}

/// The directory that a relative path begins in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    /// The one of the files that belong to the repository.
    Files,
    /// The git directory.
    Repository,
}

fn named_in(git: &Path) -> Vec<(From, PathBuf)> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let Ok(directory) = openat(CWD, git, flags, Mode::empty()) else { return vec![] };
    let config = read(&directory, "config").unwrap_or_default();
    let mut named = paths_that_are_followed(&config);
    let Ok(hooks) = openat(&directory, "hooks", flags, Mode::empty()) else { return named };
    for entry in Dir::read_from(&hooks).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let stat = statat(&hooks, name, AtFlags::SYMLINK_NOFOLLOW);
        let is_link = stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink);
        if let Some(text) = is_link.then(|| readlinkat(&hooks, name, vec![]).ok()).flatten() {
            let path = Path::new("hooks").join(OsStr::from_bytes(text.as_bytes()));
            named.push((From::Repository, path));
        }
    }
    named
}

/// Follows links as far as a path exists. The rest stays as it is.
fn followed(path: &Path) -> PathBuf {
    let real = path.ancestors().find_map(|around| {
        let real = around.canonicalize().ok()?;
        Some(real.join(path.strip_prefix(around).ok()?))
    });
    without_dots(&real.unwrap_or_else(|| path.to_owned()))
}

pub(super) fn without_dots(path: &Path) -> PathBuf {
    let mut place = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(place.pop()),
            Component::CurDir => {}
            part => place.push(part),
        }
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_lead_astray() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let (work, own) = (root.join("work"), root.join("state"));
        std::fs::create_dir_all(work.join("a/.git/objects")).unwrap();
        std::fs::create_dir_all(own.join("rooms/x/tmp")).unwrap();
        std::os::unix::fs::symlink(".git", work.join("a/l")).unwrap();
        std::os::unix::fs::symlink("..", work.join("up")).unwrap();
        let ground = Ground { workspaces: vec![work.clone()], own: vec![own.clone()], ..Ground::default() };
        for text in ["../state/rooms", "..", "../..", "/", "up/state/x", "a/.git", "a/l/objects/e"] {
            assert!(ground.link_leads_astray(&work, text.as_bytes()), "{text}");
        }
        for text in ["a", "../other", "/usr/bin/env", "a/nothing/yet", "./a/../b"] {
            assert!(!ground.link_leads_astray(&work, text.as_bytes()), "{text}");
        }
        let root = root.to_str().unwrap();
        for path in [format!("/proc/self/root{root}/state/x"), format!("{root}/work/up/state/x")] {
            assert!(ground.address_leads_astray(Path::new(&path)), "{path}");
        }
        assert!(!ground.address_leads_astray(Path::new("/srv/git/x.git")));
    }

    #[test]
    fn files_that_git_follows() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let git = root.join(".git");
        std::fs::create_dir_all(git.join("hooks")).unwrap();
        std::os::unix::fs::symlink("../../scripts/check", git.join("hooks/pre-commit")).unwrap();
        let config = "[core]\n\thooksPath = .husky/_\n\tworktree = /x\n[include]\n\tpath = ../.gitconfig\n[includeIf \"onbranch:x\"]\n\tpath = /elsewhere\n";
        std::fs::write(git.join("config"), config).unwrap();
        let found = followed_by(&[git], std::slice::from_ref(&root));
        assert_eq!(found, [".gitconfig", ".husky/_", "scripts/check"].map(|path| root.join(path)));
    }
}
