//! Files that hold secrets, by their names: one list for everybody who has to know.
//!
//! The rules ask before such a file is sent away, the sandbox keeps commands from reading it. Nothing is looked up here.

mod list;

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use serde::Serialize;

use crate::patterns::matches_text;

/// A secret in a home directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Secret {
    /// The path below the home directory. `*` stands for any part of one name; a directory, for all that is in it.
    pub path: &'static str,
    /// The kind of file.
    pub kind: SecretKind,
}

/// The kind of a file that holds secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretKind {
    /// Keys, tokens, sessions and profiles, stored by a program.
    Stored,
    /// Lines that somebody typed.
    Typed,
    /// Settings that programs need, and that may hold a secret.
    Settings,
}

/// A variable that names a file or a directory in place of a path in the home directory.
#[derive(Debug)]
pub(crate) struct MovedBy {
    name: &'static str,
    from: &'static str,
    /// True if it names several, with colons in between.
    is_list: bool,
}

/// A place outside of its usual path, as a variable of the caller's environment names it.
///
/// ```
/// use bashtion_guard::secrets::moved_places;
/// let moved = moved_places(|name| (name == "CARGO_HOME").then(|| "/opt/cargo".into()));
/// assert_eq!(moved[0].in_place_of(".cargo/credentials"), Some("/opt/cargo/credentials".into()));
/// assert_eq!(moved[0].in_place_of(".ssh"), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct MovedPlace {
    /// The usual path, below the home directory.
    pub from: &'static str,
    /// The absolute path in its place.
    pub to: PathBuf,
}

/// Lists the secrets in a home directory.
///
/// ```
/// assert!(bashtion_guard::secrets::in_home().any(|secret| secret.path == ".ssh"));
/// ```
pub fn in_home() -> impl Iterator<Item = Secret> {
    list::IN_HOME.iter().flat_map(|(kind, paths)| paths.iter().map(|path| Secret { path, kind: *kind }))
}

/// Lists the secrets of the system, by their absolute paths.
pub fn of_system() -> impl Iterator<Item = &'static str> {
    list::OF_SYSTEM.iter().copied()
}

/// Lists the variables that name a secret, or a directory that usually holds some.
pub fn variables() -> impl Iterator<Item = &'static str> {
    list::VARIABLES.iter().map(|variable| variable.name)
}

/// Reads those variables. A relative path depends on who follows it, and is passed over.
pub fn moved_places(value_of: impl Fn(&str) -> Option<OsString>) -> Vec<MovedPlace> {
    let mut moved = vec![];
    for MovedBy { name, from, is_list } in list::VARIABLES {
        let Some(value) = value_of(name) else { continue };
        let paths = if *is_list { std::env::split_paths(&value).collect() } else { vec![value.into()] };
        let usable = paths.into_iter().filter(|path: &PathBuf| is_usable(path));
        moved.extend(usable.map(|to| MovedPlace { from, to }));
    }
    moved
}

/// Returns true if a path can hold a secret. Programs are told `/dev/null` to keep none.
fn is_usable(path: &Path) -> bool {
    let is_plain = path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    let is_kernels = ["/dev", "/proc", "/sys"].iter().any(|root| path.starts_with(root));
    is_plain && path.is_absolute() && path != Path::new("/") && !is_kernels
}

impl MovedPlace {
    /// The place of a path of the list when the variable is followed. None if the variable says nothing about it.
    #[must_use]
    pub fn in_place_of(&self, path: &str) -> Option<PathBuf> {
        let (path, from) = (Path::new(path), Path::new(self.from));
        match (path.strip_prefix(from), from.starts_with(path)) {
            (Ok(rest), _) if !rest.as_os_str().is_empty() => Some(self.to.join(rest)),
            // The entry holds what is moved, or is it.
            (_, true) => Some(self.to.clone()),
            (Ok(_) | Err(_), false) => None,
        }
    }
}

/// Returns true for a file of variables, unless it is an example for one.
///
/// ```
/// use bashtion_guard::secrets::is_env_file;
/// assert!(is_env_file(".env") && is_env_file(".env.local") && !is_env_file(".env.example"));
/// ```
#[must_use]
pub fn is_env_file(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(".env") else { return false };
    rest.is_empty() || rest.starts_with('.') && !list::EXAMPLES.iter().any(|example| rest.contains(example))
}

/// Returns true if an absolute path is a secret of this home directory or of the system, or in one.
///
/// ```
/// use bashtion_guard::secrets::is_secret;
/// assert!(is_secret("/home/dev/.ssh/config", "/home/dev") && !is_secret("/srv/notes", "/home/dev"));
/// ```
#[must_use]
pub fn is_secret(path: &str, home: &str) -> bool {
    let below = path.strip_prefix(home).and_then(|rest| rest.strip_prefix('/'));
    below.is_some_and(is_secret_in_home) || is_secret_of_system(path)
}

/// Returns true if a path below a home directory is a secret, or in one.
pub(crate) fn is_secret_in_home(path: &str) -> bool {
    in_home().any(|secret| lies_in(path, secret.path))
}

/// Returns true if a path below a home directory is what was said to an agent, rather than a login.
pub(crate) fn is_conversation(path: &str) -> bool {
    list::CONVERSATIONS.iter().any(|conversation| lies_in(path, conversation))
}

/// Returns true if an absolute path is a secret of the system.
pub(crate) fn is_secret_of_system(path: &str) -> bool {
    of_system().any(|secret| lies_in(path, secret))
}

/// Returns true if a file of this name is a secret wherever it lies.
pub(crate) fn is_secret_by_name(name: &str) -> bool {
    is_env_file(name) || list::BY_NAME.iter().any(|pattern| part_matches(pattern, name))
}

/// Returns true if this name in a home directory is a secret as a whole that a program has stored.
pub(crate) fn is_stored_in_home(name: &str) -> bool {
    in_home().any(|secret| secret.kind == SecretKind::Stored && part_matches(secret.path, name))
}

fn lies_in(path: &str, pattern: &str) -> bool {
    let mut parts = path.split('/');
    pattern.split('/').all(|wanted| parts.next().is_some_and(|part| part_matches(wanted, part)))
}

fn part_matches(pattern: &str, name: &str) -> bool {
    if pattern.contains('*') { matches_text(pattern, name) } else { pattern == name }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_stands_there_once() {
        let paths: Vec<&str> = in_home().map(|secret| secret.path).collect();
        let different: BTreeSet<&&str> = paths.iter().collect();
        assert_eq!(different.len(), paths.len());
        for path in &paths {
            let outer = paths.iter().find(|other| *other != path && lies_in(path, other));
            assert_eq!(outer, None, "{path} lies in another");
            assert!(!path.starts_with('/') && !path.ends_with('/'), "{path}");
        }
    }

    /// Each of these a program needs to read, and none is for secrets.
    #[test]
    fn settings_without_secrets_are_none() {
        for path in [
            ".gitconfig", ".config/git/config", ".cargo/config.toml", ".cargo/bin/cargo", ".bashrc",
            ".profile", ".config/nvim/init.lua", ".claude/skills/x/run.py", ".claude/settings.json",
            ".codex/config.toml", ".local/bin/claude", ".local/share/claude/versions/1",
            ".vscode-server/bin/node", ".cache/pip", ".kube-ps1", ".docker/cli-plugins/docker-compose",
            ".terraform.d/plugins/x", ".pulumi/bin/pulumi", ".npm/_cacache", ".ssh-config", ".config",
            ".config/operator",
        ] {
            assert!(!is_secret_in_home(path), "{path}");
        }
    }

    #[test]
    fn a_variable_moves_what_is_below_and_what_is_above() {
        let environment = |name: &str| -> Option<OsString> {
            Some(match name {
                "XDG_CONFIG_HOME" => "/data/config".into(),
                "KUBECONFIG" => "/k/one:/k/two:relative:/dev/null".into(),
                "AWS_SHARED_CREDENTIALS_FILE" => "/keys/aws".into(),
                "HISTFILE" => "/dev/null".into(),
                "GNUPGHOME" => "/".into(),
                _ => return None,
            })
        };
        let moved = moved_places(environment);
        let to: Vec<&Path> = moved.iter().map(|place| place.to.as_path()).collect();
        assert_eq!(to, ["/data/config", "/keys/aws", "/k/one", "/k/two"].map(Path::new));
        assert_eq!(moved[0].in_place_of(".config/gh"), Some("/data/config/gh".into()));
        assert_eq!(moved[0].in_place_of(".cache/x"), None);
        assert_eq!(moved[1].in_place_of(".aws"), Some("/keys/aws".into()));
        assert_eq!(moved[3].in_place_of(".kube"), Some("/k/two".into()));
    }

    #[test]
    fn conversations_are_secrets() {
        for path in list::CONVERSATIONS {
            assert!(in_home().any(|secret| secret.path == *path), "{path}");
        }
    }

    #[test]
    fn every_variable_is_about_an_entry() {
        for MovedBy { name, from, .. } in list::VARIABLES {
            let place = MovedPlace { from, to: "/x".into() };
            assert!(in_home().any(|secret| place.in_place_of(secret.path).is_some()), "{name}");
        }
    }
}
