//! Rooms as plain data: the world that the commands of one workspace share.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::wire::{Reader, Writer};
use crate::{Confinement, Mode, Namespaces, Network, Requirement, ResourceLimits};

/// The version of everything that passes between a room and those who use it. A room of another version is another room.
pub const ROOM_VERSION: u32 = 5;

/// Everything that decides what a room is. Its keeper is told it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoomPlan {
    /// The confinement of its commands. Network and limits are each command's own.
    pub confinement: Confinement,
    /// The room's name in the directory of its sockets.
    pub key: String,
    /// The directory of its sockets and its facts. Private to the user, and hidden from commands.
    pub directory: PathBuf,
    /// The host's directory that is `/tmp` inside.
    pub temporary: PathBuf,
    /// And the one that is `/var/tmp`.
    pub var_temporary: PathBuf,
    /// Paths in the host's own temporary directories that are shown inside, for reading.
    pub shown: Vec<PathBuf>,
    /// Secrets that do not exist yet, and are to stay closed when they appear.
    pub possible_secrets: Vec<PathBuf>,
    /// Secrets that mounts alone hide. A rule would close everything else that appears beside one, in directories that
    /// other programs work in.
    pub covered: Vec<PathBuf>,
    /// More paths whose change makes the room out of date, as they were when it was planned: those secrets, for a mount goes
    /// when another file is put in the place of its own, and the directories in which more may appear.
    pub watched: Vec<(PathBuf, Stamp)>,
    /// Settings files. Of the secrets among them a copy is shown.
    pub settings: Vec<KnownSettings>,
    /// The time that it is kept with nothing in it.
    pub idle: Duration,
}

/// Facts about a kept room, written down by its keeper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoomFacts {
    /// The keeper's process id.
    pub keeper: i32,
    /// When it was made, in milliseconds since 1970.
    pub started: u64,
    /// The confinement of its commands.
    pub confinement: Confinement,
    /// Directories that were listed for its rules, settings files, and what else was to be watched. If one has changed, only a
    /// new room shows that.
    pub watched: Vec<(PathBuf, Stamp)>,
    /// Secrets in whose place a copy is shown.
    pub copied: Vec<PathBuf>,
    /// The repositories that are protected.
    pub repositories: Vec<KnownRepository>,
    /// A gap in the protection of repositories, if there is one.
    pub gap: Option<String>,
    /// True if git directories are closed but for data, and whoever answers for a command answers for the names in them.
    pub are_closed: bool,
    /// The room's own network, as the kernel numbers them.
    pub network: Option<u64>,
    /// The limit of processes for all its commands together, where there are no control groups.
    pub processes: Option<u64>,
}

/// A settings file, as it was when the room was planned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownSettings {
    /// The file, after links.
    pub path: PathBuf,
    /// Changes when the file does.
    pub stamp: Stamp,
    /// The copy that is shown in its place, if it is a secret.
    pub copy: Option<PathBuf>,
}

/// A git directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownRepository {
    /// The workspace that it lies in.
    pub root: PathBuf,
    /// The git directory.
    pub git: PathBuf,
    /// True if no directory for hooks could be made in it, so that commands shall make none either.
    pub without_hooks: bool,
}

/// Changes when something is added to a directory or taken out, or a file is written: device, number, time.
pub type Stamp = (u64, u64, i64, i64);

/// The status of a room.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RoomStatus {
    /// Commands that somebody waits for or supervises.
    pub commands: u64,
    /// Processes in all.
    pub processes: u64,
    /// TCP ports that something listens on, lowest first.
    pub ports: Vec<u16>,
    /// Ports of the host through which one of them can be reached: of the room, of the host.
    pub exposed: Vec<(u16, u16)>,
    /// For how long nothing has run in it.
    pub idle: Duration,
}

impl RoomPlan {
    /// For the keeper.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        write_confinement(&mut writer, &self.confinement);
        writer.bytes(self.key.as_bytes());
        [&self.directory, &self.temporary, &self.var_temporary]
            .into_iter()
            .for_each(|path| writer.path(path));
        writer.paths(&self.shown);
        writer.paths(&self.possible_secrets);
        writer.paths(&self.covered);
        writer.list(&self.watched, |writer, (path, stamp)| write_stamped(writer, path, *stamp));
        writer.list(&self.settings, |writer, settings| {
            write_stamped(writer, &settings.path, settings.stamp);
            writer.paths(settings.copy.as_slice());
        });
        writer.number(milliseconds(self.idle));
        writer.into_bytes()
    }

    /// None if it was not written by this version.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        Some(Self {
            confinement: read_confinement(&mut reader)?,
            key: String::from_utf8(reader.bytes()?.to_vec()).ok()?,
            directory: reader.path()?,
            temporary: reader.path()?,
            var_temporary: reader.path()?,
            shown: reader.paths()?,
            possible_secrets: reader.paths()?,
            covered: reader.paths()?,
            watched: reader.list(read_stamped)?,
            settings: reader.list(|reader| {
                let (path, stamp) = read_stamped(reader)?;
                Some(KnownSettings { path, stamp, copy: reader.paths()?.pop() })
            })?,
            idle: Duration::from_millis(reader.number()?),
        })
    }
}

impl RoomFacts {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.number(ROOM_VERSION.into());
        writer.signed(self.keeper.into());
        writer.number(self.started);
        write_confinement(&mut writer, &self.confinement);
        writer.list(&self.watched, |writer, (path, stamp)| write_stamped(writer, path, *stamp));
        writer.paths(&self.copied);
        writer.list(&self.repositories, |writer, known| {
            writer.path(&known.root);
            writer.path(&known.git);
            writer.byte(known.without_hooks.into());
        });
        writer.bytes(self.gap.as_deref().unwrap_or_default().as_bytes());
        writer.byte(self.are_closed.into());
        writer.optional(self.processes);
        writer.optional(self.network);
        writer.into_bytes()
    }

    /// None if they are those of another version, or none at all.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        if reader.number()? != u64::from(ROOM_VERSION) {
            return None;
        }
        Some(Self {
            keeper: reader.int()?,
            started: reader.number()?,
            confinement: read_confinement(&mut reader)?,
            watched: reader.list(read_stamped)?,
            copied: reader.paths()?,
            repositories: reader.list(|reader| {
                Some(KnownRepository {
                    root: reader.path()?,
                    git: reader.path()?,
                    without_hooks: reader.flag()?,
                })
            })?,
            gap: Some(String::from_utf8_lossy(reader.bytes()?).into_owned()).filter(|gap| !gap.is_empty()),
            are_closed: reader.flag()?,
            processes: reader.optional()?,
            network: reader.optional()?,
        })
    }

    /// Returns true if a room made now would show the same.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.watched.iter().all(|(path, seen)| stamp(path).as_ref() == Some(seen))
    }

    /// Returns true if commands see a copy of this secret that is like the file of now.
    #[must_use]
    pub fn shows(&self, secret: &Path) -> bool {
        let is_current = |(path, seen): &(PathBuf, Stamp)| path != secret || stamp(path) == Some(*seen);
        self.copied.iter().any(|path| path == secret) && self.watched.iter().all(is_current)
    }
}

pub(crate) fn write_stamped(writer: &mut Writer, path: &Path, (device, number, seconds, nanoseconds): Stamp) {
    writer.path(path);
    [device, number].into_iter().for_each(|value| writer.number(value));
    [seconds, nanoseconds].into_iter().for_each(|value| writer.signed(value));
}

pub(crate) fn read_stamped(reader: &mut Reader<'_>) -> Option<(PathBuf, Stamp)> {
    let path = reader.path()?;
    Some((path, (reader.number()?, reader.number()?, reader.signed()?, reader.signed()?)))
}

impl RoomStatus {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        [self.commands, self.processes].into_iter().for_each(|value| writer.number(value));
        writer.list(&self.ports, |writer, port| writer.number((*port).into()));
        writer.list(&self.exposed, |writer, (inner, outer)| {
            writer.number((*inner).into());
            writer.number((*outer).into());
        });
        writer.number(milliseconds(self.idle));
        writer.into_bytes()
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let port = |reader: &mut Reader<'_>| u16::try_from(reader.number()?).ok();
        Some(Self {
            commands: reader.number()?,
            processes: reader.number()?,
            ports: reader.list(port)?,
            exposed: reader.list(|reader| Some((port(reader)?, port(reader)?)))?,
            idle: Duration::from_millis(reader.number()?),
        })
    }
}

pub(crate) fn stamp(directory: &Path) -> Option<Stamp> {
    use std::os::unix::fs::MetadataExt;
    let metadata = std::fs::symlink_metadata(directory).ok()?;
    Some((metadata.dev(), metadata.ino(), metadata.mtime(), metadata.mtime_nsec()))
}

fn write_confinement(writer: &mut Writer, confinement: &Confinement) {
    let Confinement { writable, workspaces, kept, secrets, settings, sockets, .. } = confinement;
    writer.byte(match confinement.mode {
        Mode::Off => 0,
        Mode::Workspace => 1,
        Mode::ReadOnly => 2,
    });
    writer.byte((confinement.network == Network::On).into());
    [writable, workspaces, kept, secrets, settings, sockets]
        .into_iter()
        .for_each(|paths| writer.paths(paths));
    writer.byte(confinement.attended.into());
    writer.path(&confinement.temporary);
    write_limits(writer, &confinement.limits);
    writer.byte((confinement.namespaces == Namespaces::Never).into());
    writer.byte((confinement.requirement == Requirement::Required).into());
}

fn read_confinement(reader: &mut Reader<'_>) -> Option<Confinement> {
    Some(Confinement {
        mode: match reader.byte()? {
            0 => Mode::Off,
            1 => Mode::Workspace,
            2 => Mode::ReadOnly,
            _ => return None,
        },
        network: if reader.flag()? { Network::On } else { Network::Off },
        writable: reader.paths()?,
        workspaces: reader.paths()?,
        kept: reader.paths()?,
        secrets: reader.paths()?,
        settings: reader.paths()?,
        sockets: reader.paths()?,
        attended: reader.flag()?,
        temporary: reader.path()?,
        limits: read_limits(reader)?,
        namespaces: if reader.flag()? { Namespaces::Never } else { Namespaces::WherePossible },
        requirement: if reader.flag()? { Requirement::Required } else { Requirement::BestEffort },
    })
}

pub(crate) fn write_limits(writer: &mut Writer, limits: &ResourceLimits) {
    let ResourceLimits { memory, processes, cpu, open_files, file_size } = *limits;
    let cpu = cpu.map(milliseconds);
    [memory, processes, cpu, open_files, file_size].into_iter().for_each(|limit| writer.optional(limit));
}

pub(crate) fn read_limits(reader: &mut Reader<'_>) -> Option<ResourceLimits> {
    Some(ResourceLimits {
        memory: reader.optional()?,
        processes: reader.optional()?,
        cpu: reader.optional()?.map(Duration::from_millis),
        open_files: reader.optional()?,
        file_size: reader.optional()?,
    })
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
