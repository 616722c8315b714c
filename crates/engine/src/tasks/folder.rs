//! The files of one task, and what they say about it.
//!
//! A task is a directory of its own: `task.json` says what it is, `result.json` how it ended, `output` what it printed.
//! Whether it lives is a lock that its supervisor holds: the kernel lets go of it however the supervisor ends. Nothing
//! is shared between tasks, so nothing that happens to one can spoil another.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bashtion_sandbox::OwnFile;
use rustix::fs::{FlockOperation, flock};
use rustix::io::{Errno, retry_on_intr};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::log::Outputs;
use super::processes::boot;
use super::{TaskError, TaskId};
use crate::seal::{Flaw, Kind, Seals};
use crate::{Outcome, ToolContext};

/// The directory of one task, and its output, which is elsewhere: commands may read what others printed, and nothing else.
#[derive(Debug, Clone)]
pub(super) struct Folder {
    path: PathBuf,
    output: PathBuf,
}

/// What a task is, written when it has started.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Record {
    /// Of this format.
    pub(super) version: u32,
    pub(super) id: TaskId,
    pub(super) command: String,
    pub(super) display: String,
    pub(super) description: Option<String>,
    pub(super) cwd: String,
    /// Where whoever started it was.
    #[serde(default)]
    pub(super) origin: Option<String>,
    /// Milliseconds since 1970.
    pub(super) started: u64,
    /// Which run of the machine.
    pub(super) boot: String,
    pub(super) pid: i32,
    pub(super) supervisor: i32,
    pub(super) timeout_ms: Option<u64>,
    /// Whose it is.
    #[serde(default)]
    pub(super) agent: Option<String>,
    /// The room that it runs in, and its id there.
    #[serde(default)]
    pub(super) room: Option<String>,
    #[serde(default)]
    pub(super) room_pid: Option<i32>,
    /// How much of the beginning of its output is kept.
    pub(super) head: u64,
}

impl Record {
    /// Of a command that will start under this process.
    pub(super) fn announced(id: TaskId, command: &str, context: &ToolContext) -> Self {
        Self {
            version: VERSION,
            id,
            command: command.to_owned(),
            display: command.to_owned(),
            description: None,
            cwd: context.working_dir().to_string_lossy().into_owned(),
            origin: Some(context.working_dir().to_string_lossy().into_owned()),
            started: milliseconds_since_1970(),
            boot: boot(),
            pid: 0,
            supervisor: rustix::process::getpid().as_raw_nonzero().get(),
            timeout_ms: None,
            agent: context.agent_name().map(str::to_owned),
            room: None,
            room_pid: None,
            head: 0,
        }
    }

    /// Of a command that has just started under this process.
    pub(super) fn of(
        id: TaskId,
        outcome: &Outcome,
        timeout: Option<Duration>,
        context: &ToolContext,
        head: u64,
    ) -> Self {
        Self {
            version: VERSION,
            id,
            command: outcome.command.clone(),
            display: outcome.display.clone(),
            description: outcome.description.clone(),
            cwd: outcome.cwd.to_string_lossy().into_owned(),
            origin: Some(context.working_dir().to_string_lossy().into_owned()),
            started: milliseconds_since_1970(),
            boot: boot(),
            pid: outcome.pid.unwrap_or(0),
            supervisor: rustix::process::getpid().as_raw_nonzero().get(),
            timeout_ms: timeout.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
            agent: context.agent_name().map(str::to_owned),
            room: outcome.sandbox.room.clone(),
            room_pid: outcome.room_pid,
            head,
        }
    }
}

pub(super) fn milliseconds_since_1970() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The version of all formats. Newer fields must be optional for as long as it stays.
pub(super) const VERSION: u32 = 1;

const RECORD: &str = "task.json";

/// Whether the supervisor is alive. The lock goes with it.
#[derive(Debug)]
pub(super) struct Claim {
    _lock: File,
}

impl Folder {
    /// Makes a new one with a new name.
    pub(super) fn create(tasks: &Path, outputs: &Path) -> io::Result<(TaskId, Self)> {
        Self::create_announced(tasks, outputs, |_| Ok(()))
    }

    /// Makes a new one with a new name, which is told beforehand.
    pub(super) fn create_announced(
        tasks: &Path,
        outputs: &Path,
        announce: impl Fn(&TaskId) -> io::Result<()>,
    ) -> io::Result<(TaskId, Self)> {
        loop {
            let id = TaskId::random();
            let folder = Self::at(tasks, outputs, &id);
            announce(&id)?;
            match DirBuilder::new().mode(0o700).create(&folder.path) {
                Ok(()) => return Ok((id, folder)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) fn at(tasks: &Path, outputs: &Path, id: &TaskId) -> Self {
        Self { path: tasks.join(id.as_str()), output: outputs.join(id.as_str()) }
    }

    pub(super) fn assigned(path: PathBuf, output: PathBuf) -> Self {
        Self { path, output }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn name(&self) -> Option<TaskId> {
        self.path.file_name()?.to_str()?.parse().ok()
    }

    /// How many bytes are in it.
    pub(super) fn size(&self) -> u64 {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        let printed = self.output.metadata().map_or(0, |metadata| metadata.len());
        printed + entries.filter_map(|entry| Some(entry.metadata().ok()?.len())).sum::<u64>()
    }

    /// Removes it with its output.
    pub(super) fn remove(&self, outputs: &Outputs) -> io::Result<()> {
        for (_, piece) in outputs.pieces(&self.output).unwrap_or_default() {
            let _ = fs::remove_file(piece);
        }
        let _ = fs::remove_file(&self.output);
        self.remove_without_output()
    }

    /// Removes one that never had an output.
    pub(super) fn remove_without_output(&self) -> io::Result<()> {
        fs::remove_dir_all(&self.path)
    }

    /// Removes one whose starter was killed. Fails if its supervisor lives after all.
    pub(super) fn remove_never_started(&self, outputs: &Outputs) -> io::Result<()> {
        let gone = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        };
        let lock = match OwnFile::Keeping.open(&self.path.join("lock")) {
            Ok(lock) => lock,
            Err(error) => return gone(error),
        };
        // A supervisor that comes now waits for this lock, then finds that it cannot write its record.
        retry_on_intr(|| flock(&lock, FlockOperation::NonBlockingLockExclusive))?;
        if self.has_record() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.remove(outputs).or_else(gone)
    }

    pub(super) fn output(&self) -> PathBuf {
        self.output.clone()
    }

    pub(super) fn control(&self) -> PathBuf {
        self.path.join("control")
    }

    /// Makes this process the task's supervisor.
    pub(super) fn claim(&self) -> io::Result<Claim> {
        let lock = OwnFile::Keeping.open(&self.path.join("lock"))?;
        flock(&lock, FlockOperation::LockExclusive)?;
        Ok(Claim { _lock: lock })
    }

    /// Whether its supervisor lives. A shared lock, so that those who ask don't see each other.
    pub(super) fn is_claimed(&self) -> Result<bool, TaskError> {
        let path = self.path.join("lock");
        match plain(&path) {
            Ok(lock) => match retry_on_intr(|| flock(&lock, FlockOperation::NonBlockingLockShared)) {
                Ok(()) => Ok(false),
                Err(Errno::WOULDBLOCK) => Ok(true),
                Err(error) => Err(TaskError::State { path, source: error.into() }),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(TaskError::State { path, source }),
        }
    }

    /// None where it has not started.
    pub(super) fn record(&self) -> Result<Option<Record>, TaskError> {
        self.read(RECORD)
    }

    /// Returns false only if there is certainly no record.
    pub(super) fn has_record(&self) -> bool {
        self.path.join(RECORD).try_exists().unwrap_or(true)
    }

    /// The record of a task, after a look at its seal. One that has none is of an older release, and is shown.
    pub(super) fn vouched_record(&self, seals: &Seals) -> Result<Option<Record>, TaskError> {
        let Some(text) = self.read_bytes(RECORD, u64::MAX)? else { return Ok(None) };
        let path = || self.path.join(RECORD);
        let name = self.name().map(|id| id.to_string()).unwrap_or_default();
        let checked = seals.check(Kind::Task, &name, &text);
        match checked.map_err(|source| TaskError::State { path: path(), source })? {
            Ok(()) | Err(Flaw::Missing) => {}
            Err(flaw @ Flaw::Wrong) => return Err(TaskError::Untrusted { path: path(), flaw }),
        }
        decode(&text).map(Some).map_err(|problem| TaskError::Unreadable { path: path(), problem })
    }

    pub(super) fn write_sealed_record(&self, record: &Record, seals: &Seals) -> io::Result<()> {
        self.write_text(&seals.seal(Kind::Task, record.id.as_str(), serde_json::to_vec(record)?)?)
    }

    /// Without a seal: for what is gone when the command ends.
    pub(super) fn write_record(&self, record: &Record) -> io::Result<()> {
        self.write_text(&serde_json::to_vec(record)?)
    }

    fn write_text(&self, text: &[u8]) -> io::Result<()> {
        let (partial, whole) = (self.path.join("task.json.new"), self.path.join(RECORD));
        OwnFile::Replacing.open(&partial)?.write_all(text)?;
        fs::rename(partial, whole)
    }

    pub(super) fn read<T: Versioned>(&self, name: &str) -> Result<Option<T>, TaskError> {
        let Some(text) = self.read_bytes(name, u64::MAX)? else { return Ok(None) };
        let unreadable = |problem| TaskError::Unreadable { path: self.path.join(name), problem };
        decode(&text).map(Some).map_err(unreadable)
    }

    /// At most so many bytes of a file. None where there is none.
    pub(super) fn read_bytes(&self, name: &str, most: u64) -> Result<Option<Vec<u8>>, TaskError> {
        const USUAL: usize = 4096;
        let path = self.path.join(name);
        let mut text = Vec::with_capacity(USUAL);
        match plain(&path).and_then(|file| file.take(most).read_to_end(&mut text)) {
            Ok(_) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(TaskError::State { path, source }),
        }
    }
}

/// A stored format that says of which version it is.
pub(super) trait Versioned: DeserializeOwned {
    fn version(&self) -> u32;
}

impl Versioned for Record {
    fn version(&self) -> u32 {
        self.version
    }
}

/// Reads one of the formats, or says what is wrong with it.
pub(super) fn decode<T: Versioned>(text: &[u8]) -> Result<T, String> {
    #[derive(Deserialize)]
    struct Version {
        version: u32,
    }
    let decoded = serde_json::from_slice::<T>(text);
    let version = match &decoded {
        Ok(decoded) => decoded.version(),
        // A newer one may look quite different.
        Err(_) => serde_json::from_slice(text).map_or(0, |Version { version }| version),
    };
    if version > VERSION {
        return Err(format!("its format is version {version}, and this Bashtion knows {VERSION}"));
    }
    decoded.map_err(|error| error.to_string())
}

/// To read a file, and nothing else that may be in its place.
pub(super) fn plain(path: &Path) -> io::Result<File> {
    OwnFile::Reading.open(path)
}

/// To write files that only the user can read.
pub(super) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_seen_until_it_is_dropped() {
        let temp = tempfile::tempdir().unwrap();
        let (_, folder) = Folder::create(temp.path(), temp.path()).unwrap();
        assert!(!folder.is_claimed().unwrap());
        let claim = folder.claim().unwrap();
        assert!(folder.is_claimed().unwrap() && folder.is_claimed().unwrap());
        drop(claim);
        assert!(!folder.is_claimed().unwrap());
    }

    #[test]
    fn a_newer_or_broken_record_is_told() {
        let temp = tempfile::tempdir().unwrap();
        let (_, folder) = Folder::create(temp.path(), temp.path()).unwrap();
        assert!(folder.record().unwrap().is_none());
        for (text, problem) in [
            ("{\"version\": 99, \"new\": 1}", "version 99"),
            ("{\"version\": 1}", "missing field"),
            ("{\"vers", "EOF"),
            ("", "EOF"),
        ] {
            fs::write(folder.path().join("task.json"), text).unwrap();
            let error = folder.record().unwrap_err().to_string();
            assert!(error.contains(problem), "{text}: {error}");
        }
    }
}
