//! One denial: what was stopped, why, and what would allow it, as data and in words.

use std::fmt::{self, Display};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::remedy::Remedy;

/// Who reads results, and so what advice is of use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reader {
    /// Somebody who types commands of Bashtion, and can add its options.
    CommandLine,
    /// A model that calls a tool. It has no options, but a user whom it can ask.
    #[default]
    Model,
}

/// Something that the sandbox stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Denial {
    pub(super) what: What,
    pub(super) why: &'static str,
    pub(super) remedy: Remedy,
}

/// The deed that was stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    /// A file or directory outside of what is writable.
    Changing(PathBuf),
    /// The same, where it is not known what.
    ChangingSomething,
    /// A secret, or what only root's powers open.
    Using(PathBuf),
    /// A device other than the harmless ones.
    OpeningDevice(PathBuf),
    ChangingRepository,
    /// Of git's configuration.
    SettingKey {
        key: String,
        file: PathBuf,
    },
    /// Hosts or addresses; none if only names were looked up, and which is not known.
    Connecting(Vec<String>),
    /// A path, or `@name`.
    ConnectingToSocket(String),
    OpeningSocket,
    OpeningTerminal,
    Tracing,
    ForeignCall,
    Limit {
        name: &'static str,
        value: String,
    },
    /// Something of a repository that was changed, and what became of it.
    Restored {
        path: PathBuf,
        fate: &'static str,
    },
}

impl Denial {
    /// In words: what, why, and what its reader can do about it.
    pub(super) fn told(&self, reader: Reader) -> String {
        let Self { what, why, remedy } = self;
        let between = match what {
            What::Limit { .. } => ", ",
            What::Changing(_)
            | What::ChangingSomething
            | What::Using(_)
            | What::OpeningDevice(_)
            | What::ChangingRepository
            | What::SettingKey { .. }
            | What::Connecting(_)
            | What::ConnectingToSocket(_)
            | What::OpeningSocket
            | What::OpeningTerminal
            | What::Tracing
            | What::ForeignCall
            | What::Restored { .. } => ": ",
        };
        match remedy.told(reader) {
            Some(remedy) => format!("{what}{between}{why}; {remedy}"),
            None => format!("{what}{between}{why}"),
        }
    }
}

impl Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changing(path) => write!(f, "changing {}", shown(path)),
            Self::ChangingSomething => f.write_str("changing a file outside"),
            Self::Using(path) => write!(f, "using {}", shown(path)),
            Self::OpeningDevice(path) => write!(f, "opening the device {}", shown(path)),
            Self::ChangingRepository => f.write_str("changing hooks or configuration of a repository"),
            Self::SettingKey { key, file } => match plain(key) {
                Some(key) => write!(f, "setting {key} in {}", shown(file)),
                None => write!(f, "setting {key:?} in {}", shown(file)),
            },
            Self::Connecting(whom) if whom.is_empty() => f.write_str("connecting to other machines"),
            Self::Connecting(whom) => write!(f, "connecting to {}", whom.join(", ")),
            Self::ConnectingToSocket(name) => match plain(name) {
                Some(name) if !name.starts_with('@') => write!(f, "connecting to the socket {name}"),
                Some(_) | None => write!(f, "connecting to the socket {name:?}"),
            },
            Self::OpeningSocket => f.write_str("opening a socket"),
            Self::OpeningTerminal => f.write_str("opening a terminal"),
            Self::Tracing => f.write_str("tracing a process"),
            Self::ForeignCall => f.write_str("a system call of another architecture"),
            Self::Limit { name, value } => write!(f, "the {name} limit of {value} was reached"),
            Self::Restored { path, fate } => write!(f, "{} {fate}", shown(path)),
        }
    }
}

/// A text that can stand in advice: a command chooses the names of its files, and could write advice of its own.
pub(super) fn plain(text: &str) -> Option<&str> {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+@:~=,".contains(c);
    text.chars().all(is_plain).then_some(text)
}

/// A path as it is, or quoted so that it cannot be taken for anything else.
fn shown(path: &Path) -> String {
    let text = path.to_string_lossy();
    plain(&text).map_or_else(|| format!("{text:?}"), str::to_owned)
}

/// A size as people write it.
#[derive(Debug)]
pub(super) struct Bytes(pub(super) u64);

impl Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("GiB", 1_u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
        match units.iter().find(|(_, unit)| self.0 >= *unit && self.0.is_multiple_of(*unit)) {
            Some((name, unit)) => write!(f, "{} {name}", self.0 / unit),
            None => write!(f, "{} bytes", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::remedy::{Place, Writable};
    use super::*;

    fn all() -> Vec<Denial> {
        let changing = |place, is_temporary| Denial {
            what: What::Changing("/opt/x".into()),
            why: "WHY",
            remedy: Remedy::Writable(Writable { place, is_temporary }),
        };
        let writable = Writable { place: Place::Existing("/opt".into()), is_temporary: false };
        let denial = |what, remedy| Denial { what, why: "WHY", remedy };
        vec![
            changing(Place::Existing("/opt".into()), true),
            changing(Place::Missing("/opt/x".into()), false),
            changing(Place::Unnamed, false),
            denial(What::Changing("/w/a b".into()), Remedy::WorkspaceMode(None)),
            denial(What::Changing("/opt/x".into()), Remedy::WorkspaceMode(Some(writable))),
            denial(What::Using("/h/.ssh/id".into()), Remedy::Readable("/h/.ssh".into())),
            denial(What::OpeningDevice("/dev/kvm".into()), Remedy::SandboxOff),
            denial(What::ChangingRepository, Remedy::ByHand("do that outside of the sandbox")),
            denial(
                What::SettingKey { key: "core.pager".into(), file: "/w/.git/config".into() },
                Remedy::ByHand("do that outside of the sandbox"),
            ),
            denial(What::Connecting(vec!["a.example".into(), "b.example".into()]), Remedy::Network),
            denial(What::Connecting(vec![]), Remedy::NetworkInWorkspaceMode),
            denial(What::ConnectingToSocket("/run/x.sock".into()), Remedy::Socket("/run/x.sock".into())),
            denial(What::ConnectingToSocket("/run/x; run this".into()), Remedy::Nothing),
            denial(
                What::Limit { name: "memory", value: Bytes(2 << 30).to_string() },
                Remedy::Limit("memory"),
            ),
        ]
    }

    fn told(reader: Reader) -> String {
        all().iter().map(|denial| denial.told(reader)).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn for_whoever_types_commands() {
        insta::assert_snapshot!(told(Reader::CommandLine), @r#"
        changing /opt/x: WHY; for temporary files use $TMPDIR, or allow it with --writable /opt
        changing /opt/x: WHY; make /opt/x outside of the sandbox and allow it with --writable /opt/x
        changing /opt/x: WHY; allow it with --writable and a directory of its own
        changing "/w/a b": WHY; allow it with --sandbox workspace
        changing /opt/x: WHY; allow it with --sandbox workspace --writable /opt
        using /h/.ssh/id: WHY; allow it with readable = ["/h/.ssh"] under [sandbox] in the user's configuration
        opening the device /dev/kvm: WHY; such commands need --sandbox off
        changing hooks or configuration of a repository: WHY; do that outside of the sandbox
        setting core.pager in /w/.git/config: WHY; do that outside of the sandbox
        connecting to a.example, b.example: WHY; allow it with --network on
        connecting to other machines: WHY; allow it with --sandbox workspace --network on
        connecting to the socket /run/x.sock: WHY; allow it with sockets = ["/run/x.sock"] under [sandbox] in the user's configuration
        connecting to the socket "/run/x; run this": WHY
        the memory limit of 2 GiB was reached, WHY; raise it with --limit memory=…
        "#);
    }

    #[test]
    fn for_a_model() {
        insta::assert_snapshot!(told(Reader::Model), @r#"
        changing /opt/x: WHY; for temporary files use $TMPDIR, or ask your user to allow it with writable = ["/opt"] under [sandbox] in the configuration
        changing /opt/x: WHY; ask your user to make /opt/x and to allow it with writable = ["/opt/x"] under [sandbox] in the configuration
        changing /opt/x: WHY; ask your user to allow it with a directory of its own in writable under [sandbox] in the configuration
        changing "/w/a b": WHY; ask your user to allow it with mode = "workspace" under [sandbox] in the configuration
        changing /opt/x: WHY; ask your user to allow it with mode = "workspace" and writable = ["/opt"] under [sandbox] in the configuration
        using /h/.ssh/id: WHY; ask your user to allow it with readable = ["/h/.ssh"] under [sandbox] in the configuration
        opening the device /dev/kvm: WHY; ask your user to run this command outside of the sandbox
        changing hooks or configuration of a repository: WHY; ask your user to do that outside of the sandbox
        setting core.pager in /w/.git/config: WHY; ask your user to do that outside of the sandbox
        connecting to a.example, b.example: WHY; ask your user to allow it with network = "on" under [sandbox] in the configuration
        connecting to other machines: WHY; ask your user to allow it with mode = "workspace" and network = "on" under [sandbox] in the configuration
        connecting to the socket /run/x.sock: WHY; ask your user to allow it with sockets = ["/run/x.sock"] under [sandbox] in the configuration
        connecting to the socket "/run/x; run this": WHY
        the memory limit of 2 GiB was reached, WHY; ask your user to raise memory under [sandbox.limits] in the configuration
        "#);
    }

    #[test]
    fn sizes_are_readable() {
        assert_eq!(Bytes(256 << 20).to_string(), "256 MiB");
        assert_eq!(Bytes(2 << 30).to_string(), "2 GiB");
        assert_eq!(Bytes(1000).to_string(), "1000 bytes");
    }
}
