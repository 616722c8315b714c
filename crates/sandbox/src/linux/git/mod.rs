//! Repositories that commands may use and not turn against their owner.
//!
//! In the file tree of a command every git directory is read-only but for the directories of data in it. Git writes lock files
//! and renames them, so the filter hands those calls to the host, which does them where that is harmless: `answer.rs`. It only
//! adds rights. A call that it takes for another one goes on and meets the read-only mount.
//!
//! Names that would make a directory a repository, or that an agent or an editor would follow, cannot be made at all: in a
//! workspace Landlock refuses every new name and every file that is opened for writing, and the host does what is asked for
//! if it is harmless, see `plain.rs`.

mod answer;
mod astray;
mod birth;
mod config;
mod deed;
mod keys;
mod names;
mod operation;
mod plain;
mod rights;

pub(super) use answer::answer;
pub(super) use names::is_open;
pub(super) use operation::is_about_names;
pub(super) use rights::{Masks, separate};

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use astray::followed_by;

use super::confine::{answered, capabilities};
use crate::Confinement;
use crate::room::KnownRepository;

/// The places where git directories may be, and what must not appear there.
#[derive(Debug, Clone, Default)]
pub(super) struct Ground {
    /// The roots that commands write into and people work in.
    pub(super) workspaces: Vec<PathBuf>,
    /// Git directories that are known, whatever their names.
    pub(super) known: Vec<PathBuf>,
    /// Places outside of the workspaces that commands write into.
    pub(super) free: Vec<PathBuf>,
    /// Bashtion's own, where the directories of rooms are.
    pub(super) own: Vec<PathBuf>,
    /// Files and directories, by the last parts of their paths, that others run or follow.
    pub(super) settings: Vec<PathBuf>,
    /// The last part of each of them.
    setting_names: HashSet<OsString>,
    /// Files and directories of workspaces that their repositories name as hooks or configuration.
    pub(super) followed: Vec<PathBuf>,
    /// Directories in which Landlock lets no command write, because the host does it.
    pub(super) answered: Vec<PathBuf>,
    /// The capabilities that commands have; none if the host has none to lose.
    pub(super) capabilities: Option<u32>,
    pub(super) fence: Fence,
}

/// The layer that keeps a command from what the host does not do for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Fence {
    /// Read-only mounts in its own file tree, and Landlock. It removes ordinary names by itself.
    #[default]
    Mounts,
    /// Landlock alone: it can neither make nor remove a name.
    Landlock,
}

impl Ground {
    pub(super) fn of(confinement: &Confinement, known: &[KnownRepository], fence: Fence) -> Self {
        // Of worktrees whose repository lies elsewhere.
        let is_git = |path: &&PathBuf| path.iter().any(|part| part.to_string_lossy().ends_with(".git"));
        let elsewhere = confinement.writable.iter().filter(is_git);
        let elsewhere = elsewhere.filter(|path| !confinement.workspaces.contains(path));
        let free = confinement
            .writable
            .iter()
            .filter(|path| !confinement.workspaces.contains(path) && !is_git(path));
        let known: Vec<PathBuf> =
            known.iter().map(|known| known.git.clone()).chain(elsewhere.cloned()).collect();
        let own = confinement.workspaces.iter().map(|root| root.join(".git"));
        let repositories: Vec<PathBuf> =
            own.filter(|git| !known.contains(git)).chain(known.clone()).collect();
        Self {
            workspaces: confinement.workspaces.clone(),
            followed: followed_by(&repositories, &confinement.workspaces),
            known,
            free: free.cloned().collect(),
            own: confinement.kept.clone(),
            settings: confinement.settings.clone(),
            setting_names: last_parts(&confinement.settings),
            answered: answered(confinement, fence),
            capabilities: rustix::process::geteuid()
                .is_root()
                .then(|| capabilities(confinement, fence == Fence::Mounts)),
            fence,
        }
    }

    /// Returns true for a place where a command can have made a repository as it likes: a cache, the room's own directories,
    /// the data of a repository.
    fn is_free(&self, path: &Path) -> bool {
        self.is_hidden(path) || self.free.iter().any(|free| path.starts_with(free))
    }

    /// Returns true for those of them that nobody has a link to: programs link to caches.
    fn is_hidden(&self, path: &Path) -> bool {
        let mut parts = path.iter();
        let is_data =
            parts.by_ref().any(|part| part == ".git") && parts.any(|part| part.to_str().is_some_and(is_open));
        is_data || self.own.iter().any(|own| path.starts_with(own))
    }

    /// The git directory that a path lies in, and the root that it lies in itself. None if it lies in none.
    fn home_of(&self, path: &Path) -> Option<(PathBuf, PathBuf)> {
        let known =
            self.known.iter().filter(|git| path.starts_with(git)).min_by_key(|git| git.as_os_str().len());
        if let Some(git) = known {
            let root = self.workspace_of(git).unwrap_or(git);
            return Some((root.clone(), git.clone()));
        }
        let root = self.workspace_of(path)?;
        let mut git = root.clone();
        for part in path.strip_prefix(root).ok()? {
            git.push(part);
            if part == ".git" {
                return Some((root.clone(), git));
            }
        }
        None
    }

    fn workspace_of(&self, path: &Path) -> Option<&PathBuf> {
        self.workspaces.iter().filter(|root| path.starts_with(root)).max_by_key(|root| root.as_os_str().len())
    }

    /// Returns true for a path that others would run or follow.
    fn is_setting(&self, path: &Path) -> bool {
        self.settings.iter().any(|setting| path.ends_with(setting))
    }

    /// Returns true for such a path, and for what lies in a directory that is one.
    fn is_in_setting(&self, path: &Path) -> bool {
        // Asked for every file that is written, so most names must be told apart at once.
        let may_be_one = |name: &OsStr| self.setting_names.contains(name);
        path.ancestors().any(|place| place.file_name().is_some_and(may_be_one) && self.is_setting(place))
    }

    /// Returns true for a directory in which such a path would lie: put there as a whole, it would bring one along.
    fn leads_to_setting(&self, path: &Path) -> bool {
        let leads = |setting: &PathBuf| {
            setting.ancestors().skip(1).any(|part| !part.as_os_str().is_empty() && path.ends_with(part))
        };
        self.settings.iter().any(leads)
    }

    /// Returns true if the last part of a path may be of something that must not appear.
    fn may_matter(&self, name: &str) -> bool {
        matches!(name, ".git" | "HEAD" | "objects" | "commondir")
            || self.settings.iter().any(|setting| setting.iter().any(|part| part == name))
    }
}

fn last_parts(paths: &[PathBuf]) -> HashSet<OsString> {
    paths.iter().filter_map(|path| path.file_name()).map(OsStr::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_of_a_path() {
        let ground = Ground {
            workspaces: vec!["/w".into()],
            known: vec!["/w/.git".into(), "/else/where".into(), "/w/.git/modules/m".into()],
            free: vec!["/home/u/.npm".into()],
            own: vec!["/home/u/.state".into()],
            setting_names: last_parts(&[".claude".into(), ".vscode/tasks.json".into()]),
            settings: vec![".claude".into(), ".vscode/tasks.json".into()],
            ..Ground::default()
        };
        let home = |path: &str| ground.home_of(Path::new(path)).map(|(_, git)| git);
        assert_eq!(home("/w/.git/modules/m/config"), Some("/w/.git".into()));
        assert_eq!(home("/w/sub/.git"), Some("/w/sub/.git".into()));
        assert_eq!(home("/else/where/HEAD"), Some("/else/where".into()));
        assert_eq!(home("/w/src"), None);
        assert_eq!(home("/x/.git"), None);
        assert!(
            ground.is_setting(Path::new("/w/a/.claude"))
                && ground.is_setting(Path::new("/w/.vscode/tasks.json"))
        );
        assert!(
            ground.is_in_setting(Path::new("/w/a/.claude/x/y"))
                && !ground.is_in_setting(Path::new("/w/tasks.json"))
        );
        assert!(
            !ground.is_setting(Path::new("/w/.vscode")) && !ground.is_setting(Path::new("/w/tasks.json"))
        );
        assert!(
            ground.is_free(Path::new("/w/.git/objects/x")) && ground.is_free(Path::new("/home/u/.npm/x"))
        );
        assert!(!ground.is_free(Path::new("/w/.git/modules/x")) && !ground.is_free(Path::new("/w/objects")));
        assert!(ground.may_matter("HEAD") && ground.may_matter(".vscode") && !ground.may_matter("main.rs"));
    }
}
