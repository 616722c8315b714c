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

use rustix::fs::{FlockOperation, flock};
use rustix::io::{Errno, retry_on_intr};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::log::{Layout, pieces};
use super::processes::boot;
use super::{TaskError, TaskId};
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
            head,
        }
    }
}

pub(super) fn milliseconds_since_1970() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// How a task ended.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Ending {
    pub(super) version: u32,
    /// Milliseconds since 1970.
    pub(super) ended: u64,
    pub(super) layout: Layout,
    pub(super) outcome: Outcome,
}

/// The version of both formats. Newer fields must be optional for as long as it stays.
pub(super) const VERSION: u32 = 1;

/// Whether the supervisor is alive. The lock goes with it.
#[derive(Debug)]
pub(super) struct Claim {
    _lock: File,
}

impl Folder {
    /// Makes a new one with a new name.
    pub(super) fn create(tasks: &Path, outputs: &Path) -> io::Result<(TaskId, Self)> {
        loop {
            let id = TaskId::random();
            let folder = Self::at(tasks, outputs, &id);
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

    /// With its output.
    pub(super) fn remove(&self) -> io::Result<()> {
        for (_, piece) in pieces(&self.output).unwrap_or_default() {
            let _ = fs::remove_file(piece);
        }
        let _ = fs::remove_file(&self.output);
        fs::remove_dir_all(&self.path)
    }

    pub(super) fn output(&self) -> PathBuf {
        self.output.clone()
    }

    pub(super) fn control(&self) -> PathBuf {
        self.path.join("control")
    }

    /// Makes this process the task's supervisor.
    pub(super) fn claim(&self) -> io::Result<Claim> {
        let lock = private().create(true).truncate(false).open(self.path.join("lock"))?;
        flock(&lock, FlockOperation::LockExclusive)?;
        Ok(Claim { _lock: lock })
    }

    /// Whether its supervisor lives. A shared lock, so that those who ask don't see each other.
    pub(super) fn is_claimed(&self) -> Result<bool, TaskError> {
        let path = self.path.join("lock");
        match File::open(&path) {
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
        self.read("task.json")
    }

    /// None where it has not ended.
    pub(super) fn ending(&self) -> Result<Option<Ending>, TaskError> {
        self.read("result.json")
    }

    pub(super) fn write_record(&self, record: &Record) -> io::Result<()> {
        let (partial, whole) = (self.path.join("task.json.new"), self.path.join("task.json"));
        let text = serde_json::to_vec(record)?;
        private().create(true).truncate(true).open(&partial)?.write_all(&text)?;
        fs::rename(partial, whole)
    }

    fn read<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, TaskError> {
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }
        let path = self.path.join(name);
        let mut text = vec![];
        match plain(&path).and_then(|mut file| file.read_to_end(&mut text)) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(TaskError::State { path, source }),
        }
        let unreadable = |problem: String| TaskError::Unreadable { path: path.clone(), problem };
        let Version { version } =
            serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))?;
        if version > VERSION {
            return Err(unreadable(format!(
                "its format is version {version}, and this Bashtion knows {VERSION}"
            )));
        }
        serde_json::from_slice(&text).map(Some).map_err(|error| unreadable(error.to_string()))
    }
}

/// The place for a result, taken when there still is some: a full disk must not swallow how a task ended.
#[derive(Debug)]
pub(super) struct Reserved {
    file: File,
    partial: PathBuf,
    whole: PathBuf,
}

impl Reserved {
    pub(super) fn in_folder(folder: &Folder) -> io::Result<Self> {
        const ROOM: u64 = 128 << 10;
        let (partial, whole) = (folder.path.join("result.json.new"), folder.path.join("result.json"));
        let file = private().create(true).truncate(true).open(&partial)?;
        match rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, ROOM) {
            // Not every file system can, and it is a precaution.
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(Self { file, partial, whole })
    }

    /// Without the text of the output if there is no room for it: that is in its file.
    pub(super) fn write(mut self, mut ending: Ending) -> io::Result<()> {
        if self.fill(&ending).is_err() {
            ending.outcome.output.forget_text();
            self.fill(&ending)?;
        }
        fs::rename(&self.partial, &self.whole)
    }

    fn fill(&mut self, ending: &Ending) -> io::Result<()> {
        use std::io::Seek;
        let text = serde_json::to_vec(ending)?;
        self.file.rewind()?;
        self.file.write_all(&text)?;
        self.file.set_len(text.len() as u64)
    }
}

/// To read a file. A pipe in its place is empty rather than a place to wait for ever.
fn plain(path: &Path) -> io::Result<File> {
    File::options().read(true).custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed()).open(path)
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
