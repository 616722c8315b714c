//! Remedies for what was stopped, worded for whoever reads them.

use std::path::{Path, PathBuf};

use super::denial::{Reader, plain};

/// A setting or a deed that would allow it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Remedy {
    Writable(Writable),
    /// The mode in which things can be changed, and what is writable in it beside the workspace.
    WorkspaceMode(Option<Writable>),
    /// The entry on the list of secrets.
    Readable(PathBuf),
    Socket(String),
    Network,
    /// The network, in a mode that can have one.
    NetworkInWorkspaceMode,
    Limit(&'static str),
    /// Nothing but doing without the sandbox.
    SandboxOff,
    /// For somebody who can look at what is done.
    ByHand(&'static str),
    /// Something else that the command itself can do.
    Instead(&'static str),
    Nothing,
}

/// A place that could be made writable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Writable {
    pub(super) place: Place,
    /// True if the command could use `$TMPDIR` instead.
    pub(super) is_temporary: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// A path that exists.
    Existing(PathBuf),
    /// A path that does not exist, in a directory that is too wide to open.
    Missing(PathBuf),
    /// Its name cannot stand in advice. The others have plain names.
    Unnamed,
}

impl Remedy {
    /// Words the remedy for its reader: an option to add, or a key of the configuration to ask for.
    pub(super) fn told(&self, reader: Reader) -> Option<String> {
        let by_option = |option: &str, keys: &str| match reader {
            Reader::CommandLine => format!("allow it with {option}"),
            Reader::Model => ask_for(keys),
        };
        // There is no option for these.
        let by_key = |key: &str, path: &Path| {
            let keys = format!("{key} = {}", list_of(path)?);
            Some(match reader {
                Reader::CommandLine => {
                    format!("allow it with {keys} under [sandbox] in the user's configuration")
                }
                Reader::Model => ask_for(&keys),
            })
        };
        let ask = |what: &str| match reader {
            Reader::CommandLine => what.to_owned(),
            Reader::Model => format!("ask your user to {what}"),
        };
        Some(match self {
            Self::Writable(writable) => writable.told(reader, "", ""),
            Self::WorkspaceMode(None) => by_option(WORKSPACE.0, WORKSPACE.1),
            Self::WorkspaceMode(Some(writable)) => {
                let (option, key) = WORKSPACE;
                writable.told(reader, &format!("{option} "), &format!("{key} and "))
            }
            Self::Readable(path) => return by_key("readable", path),
            Self::Socket(path) => return by_key("sockets", Path::new(path)),
            Self::Network => by_option(NETWORK.0, NETWORK.1),
            Self::NetworkInWorkspaceMode => by_option(
                &format!("{} {}", WORKSPACE.0, NETWORK.0),
                &format!("{} and {}", WORKSPACE.1, NETWORK.1),
            ),
            Self::Limit(name) => match reader {
                Reader::CommandLine => format!("raise it with --limit {name}=…"),
                Reader::Model => ask(&format!("raise {name} under [sandbox.limits] in the configuration")),
            },
            Self::SandboxOff => match reader {
                Reader::CommandLine => "such commands need --sandbox off".to_owned(),
                Reader::Model => ask("run this command outside of the sandbox"),
            },
            Self::ByHand(what) => ask(what),
            Self::Instead(what) => (*what).to_owned(),
            Self::Nothing => return None,
        })
    }
}

/// As an option, and as a key of the configuration.
const WORKSPACE: (&str, &str) = ("--sandbox workspace", "mode = \"workspace\"");
const NETWORK: (&str, &str) = ("--network on", "network = \"on\"");

fn ask_for(keys: &str) -> String {
    format!("ask your user to allow it with {keys} under [sandbox] in the configuration")
}

impl Writable {
    /// `options` and `keys` are what else is needed.
    fn told(&self, reader: Reader, options: &str, keys: &str) -> String {
        let instead = if self.is_temporary { "for temporary files use $TMPDIR, or " } else { "" };
        let how = match (reader, &self.place) {
            (Reader::CommandLine, Place::Existing(path)) => {
                format!("allow it with {options}--writable {}", path.display())
            }
            (Reader::CommandLine, Place::Missing(path)) => {
                let path = path.display();
                format!("make {path} outside of the sandbox and allow it with {options}--writable {path}")
            }
            (Reader::CommandLine, Place::Unnamed) => {
                format!("allow it with {options}--writable and a directory of its own")
            }
            (Reader::Model, Place::Existing(path)) => ask_for(&format!("{keys}writable = {}", list(path))),
            (Reader::Model, Place::Missing(path)) => {
                let asked = ask_for(&format!("{keys}writable = {}", list(path)));
                asked.replacen(
                    "ask your user to",
                    &format!("ask your user to make {} and to", path.display()),
                    1,
                )
            }
            (Reader::Model, Place::Unnamed) => ask_for(&format!("{keys}a directory of its own in writable")),
        };
        format!("{instead}{how}")
    }
}

/// A path as a list in TOML. None if its name cannot stand in advice.
fn list_of(path: &Path) -> Option<String> {
    plain(&path.to_string_lossy()).map(|_| list(path))
}

fn list(path: &Path) -> String {
    format!("[\"{}\"]", path.display())
}
