//! Directories that are too wide to be a workspace.

use std::path::{Path, PathBuf};

/// The reason that a directory cannot be a workspace: writing there would be writing where other programs look for what to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TooWide {
    Root,
    Home,
    HoldsHome,
    System,
    /// A directory of directories that belong to different people or programs.
    HoldsOthers,
    Own,
}

impl TooWide {
    /// The reason, about a directory that was named before.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Root => "it is the root of the file system",
            Self::Home => "it is the home directory, with the settings that all your programs read",
            Self::HoldsHome => "the home directory is in it",
            Self::System => "it belongs to the system",
            Self::HoldsOthers => "directories of others are in it",
            Self::Own => OWN,
        }
    }

    /// The reason that a command cannot change its own working directory.
    pub(crate) fn reason_in_place(self) -> &'static str {
        match self {
            Self::Root => {
                "the working directory is the root of the file system, which is no workspace; run it in a project directory"
            }
            Self::Home => {
                "the working directory is the home directory, which is no workspace; run it in a project directory"
            }
            Self::HoldsHome => {
                "the working directory contains the home directory, and is no workspace; run it in a project directory"
            }
            Self::System => {
                "the working directory belongs to the system, and is no workspace; run it in a project directory"
            }
            Self::HoldsOthers => {
                "the working directory holds directories of others, and is no workspace; run it in a project directory"
            }
            Self::Own => {
                "the working directory would hold Bashtion's own configuration or state, and is no workspace; run it in a project directory"
            }
        }
    }
}

/// Returns the reason that a directory cannot be a workspace, if there is one.
pub(crate) fn too_wide(root: &Path, home: Option<&Path>, kept: &[PathBuf]) -> Option<TooWide> {
    const SYSTEM: [&str; 12] = [
        "/etc", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/boot", "/dev", "/proc", "/sys", "/run",
        "/var/run",
    ];
    const OF_OTHERS: [&str; 6] = ["/var", "/home", "/opt", "/srv", "/mnt", "/media"];
    if root == Path::new("/") {
        return Some(TooWide::Root);
    }
    if home == Some(root) {
        return Some(TooWide::Home);
    }
    if home.is_some_and(|home| home.starts_with(root)) {
        return Some(TooWide::HoldsHome);
    }
    let is_shared_memory = root.starts_with("/dev/shm") && root != Path::new("/dev/shm");
    if SYSTEM.iter().any(|directory| root.starts_with(directory)) && !is_shared_memory {
        return Some(TooWide::System);
    }
    if OF_OTHERS.iter().any(|directory| root == Path::new(directory)) {
        return Some(TooWide::HoldsOthers);
    }
    would_hold(root, kept).map(|_| TooWide::Own)
}

const OWN: &str = "Bashtion's own configuration or state would be in it";

/// What does not exist cannot be kept from being made.
pub(crate) fn would_hold(root: &Path, kept: &[PathBuf]) -> Option<&'static str> {
    let would = kept.iter().any(|path| path.starts_with(root) && path.symlink_metadata().is_err());
    would.then_some(OWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_a_workspace() {
        let home = Some(Path::new("/home/dev"));
        for wide in
            ["/", "/home", "/home/dev", "/etc", "/etc/nginx", "/usr/local", "/var", "/dev/shm", "/proc"]
        {
            assert!(too_wide(Path::new(wide), home, &[]).is_some(), "{wide}");
        }
        for narrow in
            ["/home/dev/project", "/home/other/x", "/tmp", "/srv/app", "/var/tmp/x", "/dev/shm/x", "/w"]
        {
            assert_eq!(too_wide(Path::new(narrow), home, &[]), None, "{narrow}");
        }
    }

    #[test]
    fn what_would_hold_our_own_configuration_is_no_workspace() {
        let kept = [PathBuf::from("/nowhere/config/bashtion/config.toml")];
        assert!(too_wide(Path::new("/nowhere/config"), None, &kept).is_some());
        assert_eq!(too_wide(Path::new("/nowhere/project"), None, &kept), None);
    }
}
