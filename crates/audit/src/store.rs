//! The database: opened, kept in order, appended to.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::{DirBuilder, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bashtion::{OwnFile, check_own_file};
use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::chain::{Hash, Key};
use crate::files::{End, Turn, check_owner, make_key, read_key};
use crate::mask::Masker;
use crate::retention::prune;

/// Where it is written, and how much is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// A directory that only the user can write to. As it is, whether or not it is text.
    #[serde(serialize_with = "as_os_str", deserialize_with = "from_os_string")]
    pub directory: PathBuf,
    /// What to do when it cannot be written.
    pub mode: Mode,
    /// How long rows are kept.
    pub keep_for: Duration,
    /// How many bytes they may take.
    pub keep_size: u64,
    /// Values that must not be written: a name and the value.
    pub secrets: Vec<(String, String)>,
}

fn as_os_str<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    path.as_os_str().serialize(serializer)
}

fn from_os_string<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    OsString::deserialize(deserializer).map(PathBuf::from)
}

/// Whether a command runs that cannot be written down.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Nothing is written.
    Off,
    /// It runs.
    #[default]
    On,
    /// It does not.
    Required,
}

impl Settings {
    /// With the usual limits.
    #[must_use]
    pub fn in_directory(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            mode: Mode::default(),
            keep_for: Duration::from_secs(90 * 24 * 60 * 60),
            keep_size: 512 << 20,
            secrets: vec![],
        }
    }
}

/// What is wrong with the audit log.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// A file cannot be used.
    #[error("cannot use {}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// The database refuses.
    #[error("cannot use the audit log {}", path.display())]
    Database {
        /// Its file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// It was written by a newer version.
    #[error("the audit log {} has version {found}, and this Bashtion knows {VERSION}", path.display())]
    Newer {
        /// Its file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// The file that says where the log ends is damaged, so nothing can be added.
    #[error("{} does not say where the audit log ends", path.display())]
    Tail {
        /// Which.
        path: PathBuf,
    },
    /// Nothing was ever written there.
    #[error("there is no audit log in {}", directory.display())]
    None {
        /// Where it was looked for.
        directory: PathBuf,
    },
}

/// The audit log of a user. Any number of processes may write to one.
///
/// Rows are written to a spool first, which takes a few microseconds, and moved to the database when there are enough of
/// them or somebody wants to read. A small file says where the chain ends. All three change only under one lock.
#[derive(Debug)]
pub struct Audit {
    pub(crate) path: PathBuf,
    pub(crate) key: Key,
    pub(crate) masker: Masker,
    pub(crate) settings: Settings,
    files: Mutex<Files>,
}

#[derive(Debug)]
struct Files {
    lock: File,
    spool: File,
    tail: File,
    /// Opened when it is needed.
    database: Option<Connection>,
}

/// What is written about one event.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) kind: Cow<'static, str>,
    pub(crate) operation: String,
    pub(crate) command: Option<String>,
    pub(crate) cwd: Option<String>,
    pub(crate) decision: Option<String>,
    pub(crate) status: Option<String>,
    /// Everything, as JSON.
    pub(crate) data: String,
}

const VERSION: u32 = 1;

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS entries (
    id INTEGER PRIMARY KEY,
    time INTEGER NOT NULL,      -- milliseconds since 1970
    kind TEXT NOT NULL,         -- judged, started, ended, lost
    operation TEXT NOT NULL,
    command TEXT,
    cwd TEXT,
    decision TEXT,              -- allow, ask, deny
    status TEXT,
    data TEXT NOT NULL,
    hash BLOB NOT NULL          -- binds it to the one before
);
CREATE INDEX IF NOT EXISTS by_operation ON entries (operation);
CREATE INDEX IF NOT EXISTS by_command ON entries (command, id) WHERE kind = 'ended';
-- Where the chain begins, sealed with the key. Where it ends is in a file of its own.
CREATE TABLE IF NOT EXISTS ends (
    name TEXT PRIMARY KEY,      -- first: the last one that was removed by age
    id INTEGER NOT NULL,
    hash BLOB NOT NULL,
    seal BLOB NOT NULL
);
";

/// A row on its way to the database.
#[derive(Debug, Serialize, Deserialize)]
struct Spooled {
    id: i64,
    time: i64,
    #[serde(flatten)]
    entry: Entry,
    hash: Hash,
}

impl Audit {
    /// Opens it, and makes it if there is none.
    pub fn open(settings: &Settings) -> Result<Self, AuditError> {
        let directory = &settings.directory;
        let failed = |path: PathBuf| move |source| AuditError::File { path, source };
        DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(failed(directory.clone()))?;
        check_owner(directory).map_err(failed(directory.clone()))?;
        let open = |name: &str| {
            let path = directory.join(name);
            OwnFile::Keeping.open(&path).map_err(failed(path))
        };
        let lock = open("audit.lock")?;
        let spool = directory.join("audit.spool");
        let spool = OwnFile::Appending.open(&spool).map_err(failed(spool))?;
        let key_path = directory.join("audit.key");
        let mut tail = open("audit.tail")?;
        let key = {
            let _turn = Turn::take(&lock).map_err(failed(directory.join("audit.lock")))?;
            let known = read_key(&key_path).map_err(failed(key_path.clone()))?;
            match known {
                Some(key) => key,
                // From now on a missing end is a damage.
                None => make_key(&key_path, &mut tail).map_err(failed(key_path))?,
            }
        };
        let files = Files { lock, spool, tail, database: None };
        Ok(Self {
            path: directory.join("audit.db"),
            key,
            masker: Masker::new(settings.secrets.iter().cloned()),
            settings: settings.clone(),
            files: Mutex::new(files),
        })
    }

    /// Opens one that exists, to read it.
    pub fn open_existing(settings: &Settings) -> Result<Self, AuditError> {
        if settings.directory.join("audit.key").exists() {
            return Self::open(settings);
        }
        Err(AuditError::None { directory: settings.directory.clone() })
    }

    /// Its file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn append(&self, entry: Entry) -> Result<i64, AuditError> {
        let mut files = self.files();
        let Files { lock, spool, tail, database } = &mut *files;
        let failed = |source| AuditError::File { path: self.path.with_extension("spool"), source };
        let _turn = Turn::take(lock).map_err(failed)?;
        let End { id: last, hash: before, length } = self.settle(spool, tail)?;
        let (id, time) = (last + 1, now());
        let hash = self.key.link(&before, id, time, &entry);
        let mut line =
            serde_json::to_vec(&Spooled { id, time, entry, hash }).map_err(|e| failed(e.into()))?;
        line.push(b'\n');
        let end = End { id, hash, length: length + line.len() as u64 };
        let written = spool.write_all(&line).and_then(|()| end.write(tail, &self.key));
        if let Err(source) = written {
            // Half a line would be a broken one.
            let _ = spool.set_len(length);
            return Err(failed(source));
        }
        if length > SPOOL_SIZE || (id > 1 && !self.path.exists()) {
            // If it cannot be moved now, it stays where it is.
            let _ = self
                .move_to_database(spool, database)
                .map(|()| End { length: 0, ..end }.write(tail, &self.key));
        }
        Ok(id)
    }

    /// The database with everything in it, and the last row that was written.
    pub(crate) fn with_all<T>(
        &self,
        work: impl FnOnce(&mut Connection, Result<(i64, Hash), AuditError>) -> Result<T, AuditError>,
    ) -> Result<T, AuditError> {
        let mut files = self.files();
        let Files { lock, spool, tail, database } = &mut *files;
        let _turn = Turn::take(lock)
            .map_err(|source| AuditError::File { path: self.path.with_extension("lock"), source })?;
        let last = self.settle(spool, tail);
        self.move_to_database(spool, database)?;
        if let Ok(end) = &last {
            // If not now, the next one notices that the spool is shorter.
            let _ = End { length: 0, ..*end }.write(tail, &self.key);
        }
        let last = last.map(|end| (end.id, end.hash));
        match database {
            Some(database) => work(database, last),
            None => Err(AuditError::None { directory: self.settings.directory.clone() }),
        }
    }

    /// What is in the database already is passed over: somebody may have died before the spool was emptied.
    fn move_to_database(
        &self,
        spool: &mut File,
        database: &mut Option<Connection>,
    ) -> Result<(), AuditError> {
        let failed = database_failed(&self.path);
        let no_spool = |source| AuditError::File { path: self.path.with_extension("spool"), source };
        let connection = match database {
            Some(connection) => connection,
            None => database.insert(connect(&self.path)?),
        };
        let mut text = vec![];
        spool.seek(SeekFrom::Start(0)).map_err(no_spool)?;
        spool.read_to_end(&mut text).map_err(no_spool)?;
        if text.is_empty() {
            return Ok(());
        }
        let mut moved = || -> rusqlite::Result<()> {
            let transaction =
                connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            for line in text.split(|byte| *byte == b'\n') {
                // What is no row of ours is missed when the log is verified.
                let Ok(row) = serde_json::from_slice::<Spooled>(line) else { continue };
                insert(&transaction, &row)?;
            }
            prune(&transaction, &self.key, &self.settings)?;
            transaction.commit()
        };
        moved().map_err(failed)?;
        spool.set_len(0).map_err(no_spool)
    }

    /// The last row that was written. A writer may have died between the row and the mark: then the row counts if it is
    /// whole and ours, and otherwise never was.
    fn settle(&self, spool: &mut File, tail: &mut File) -> Result<End, AuditError> {
        let mut end = End::read(tail, &self.key)
            .ok_or_else(|| AuditError::Tail { path: self.path.with_extension("tail") })?;
        let no_spool = |source| AuditError::File { path: self.path.with_extension("spool"), source };
        let length = spool.metadata().map_err(no_spool)?.len();
        if length <= end.length {
            // Shorter when its rows have been moved; if they have not, they will be missed.
            end.length = length;
            return Ok(end);
        }
        let mut text = vec![];
        spool.seek(SeekFrom::Start(end.length)).map_err(no_spool)?;
        spool.read_to_end(&mut text).map_err(no_spool)?;
        for line in text.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
            let Ok(row) = serde_json::from_slice::<Spooled>(line) else { break };
            if row.id != end.id + 1 || row.hash != self.key.link(&end.hash, row.id, row.time, &row.entry) {
                break;
            }
            end = End { id: row.id, hash: row.hash, length: end.length + line.len() as u64 };
        }
        spool.set_len(end.length).map_err(no_spool)?;
        end.write(tail, &self.key).map_err(no_spool)?;
        Ok(end)
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn insert(connection: &Connection, row: &Spooled) -> rusqlite::Result<()> {
    let Entry { kind, operation, command, cwd, decision, status, data } = &row.entry;
    let (id, time, hash) = (row.id, row.time, row.hash.bytes());
    connection
        .prepare_cached(
            "INSERT OR IGNORE INTO entries (id, time, kind, operation, command, cwd, decision, status, data, hash)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?
        .execute(params![id, time, kind, operation, command, cwd, decision, status, data, hash])?;
    Ok(())
}

/// Some hundred rows.
const SPOOL_SIZE: u64 = 256 << 10;

/// Made and brought into order if need be. Its rows are in the spool, too, until they are safely here.
fn connect(path: &Path) -> Result<Connection, AuditError> {
    let failed = database_failed(path);
    // Readable by nobody else from its first byte on.
    let file = OwnFile::Keeping.open(path);
    file.map_err(|source| AuditError::File { path: path.to_owned(), source })?;
    for beside in ["-wal", "-shm", "-journal"] {
        let path = PathBuf::from(format!("{}{beside}", path.display()));
        check_own_file(&path).map_err(|source| AuditError::File { path, source })?;
    }
    let connection = Connection::open(path).map_err(&failed)?;
    connection.busy_timeout(Duration::from_secs(30)).map_err(&failed)?;
    let found: u32 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(&failed)?;
    match found {
        0 => {
            let begin = format!(
                "PRAGMA journal_mode = WAL; BEGIN; {SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;"
            );
            connection.execute_batch(&begin).map_err(&failed)?;
        }
        VERSION => {}
        found => return Err(AuditError::Newer { path: path.to_owned(), found }),
    }
    Ok(connection)
}

pub(crate) fn database_failed(path: &Path) -> impl Fn(rusqlite::Error) -> AuditError + use<> {
    let path = path.to_owned();
    move |source| AuditError::Database { path: path.clone(), source }
}

/// One end of the chain.
pub(crate) fn end(connection: &Connection, name: &str) -> rusqlite::Result<Option<(i64, Hash)>> {
    connection
        .prepare_cached("SELECT id, hash FROM ends WHERE name = ?1")?
        .query_row([name], |row| Ok((row.get(0)?, Hash::from_bytes(&row.get::<_, Vec<u8>>(1)?))))
        .optional()
}

pub(crate) fn set_end(
    connection: &Connection,
    key: &Key,
    name: &str,
    id: i64,
    hash: &Hash,
) -> rusqlite::Result<()> {
    let seal = key.seal(name, id, hash);
    connection
        .prepare_cached("INSERT OR REPLACE INTO ends (name, id, hash, seal) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![name, id, hash.bytes(), seal.bytes()])?;
    Ok(())
}

pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
impl Entry {
    pub(crate) fn example() -> Self {
        Self {
            kind: "judged".into(),
            operation: "op".to_owned(),
            command: Some("true".to_owned()),
            cwd: None,
            decision: Some("allow".to_owned()),
            status: None,
            data: "{}".to_owned(),
        }
    }
}
