//! The files around the database: the lock, the key, and the mark of where the chain ends.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use bashtion::OwnFile;
use rustix::fs::{FlockOperation, flock};

use crate::chain::{Hash, Key};

/// The turn of one writer. Dropping it lets the next one go on.
pub(crate) struct Turn<'a>(&'a File);

impl<'a> Turn<'a> {
    pub(crate) fn take(lock: &'a File) -> io::Result<Self> {
        rustix::io::retry_on_intr(|| flock(lock, FlockOperation::LockExclusive))?;
        Ok(Self(lock))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let _ = flock(self.0, FlockOperation::Unlock);
    }
}

/// Where the chain ends, and how long the spool is then.
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    pub(crate) id: i64,
    pub(crate) hash: Hash,
    pub(crate) length: u64,
}

impl End {
    const START: Self = Self { id: 0, hash: Hash::ZERO, length: 0 };

    /// None if it is damaged.
    pub(crate) fn read(tail: &mut File, key: &Key) -> Option<Self> {
        let mut bytes = [0; 80];
        tail.seek(SeekFrom::Start(0)).ok()?;
        tail.read_exact(&mut bytes).ok()?;
        let (number, rest) = bytes.split_first_chunk::<8>()?;
        let (hash, rest) = rest.split_at_checked(32)?;
        let (length, seal) = rest.split_first_chunk::<8>()?;
        let end = Self {
            id: i64::from_le_bytes(*number),
            hash: Hash::from_bytes(hash),
            length: u64::from_le_bytes(*length),
        };
        (Hash::from_bytes(seal) == key.seal("tail", end.id, &end.hash)).then_some(end)
    }

    pub(crate) fn write(&self, tail: &mut File, key: &Key) -> io::Result<()> {
        let seal = key.seal("tail", self.id, &self.hash);
        let bytes =
            [&self.id.to_le_bytes(), self.hash.bytes(), &self.length.to_le_bytes(), seal.bytes()].concat();
        tail.seek(SeekFrom::Start(0))?;
        tail.write_all(&bytes)
    }
}

pub(crate) fn read_key(path: &Path) -> io::Result<Option<Key>> {
    let mut bytes = [0; Key::LENGTH];
    match OwnFile::Reading.open(path).and_then(|mut file| file.read_exact(&mut bytes)) {
        Ok(()) => Ok(Some(Key::new(bytes))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The end first: once there is a key, there is a log.
pub(crate) fn make_key(path: &Path, tail: &mut File) -> io::Result<Key> {
    let mut bytes = [0; Key::LENGTH];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    End::START.write(tail, &Key::new(bytes))?;
    let partial = path.with_extension("key.new");
    OwnFile::Replacing.open(&partial)?.write_all(&bytes)?;
    fs::rename(partial, path)?;
    Ok(Key::new(bytes))
}

/// In a shared place somebody else may have made it first, to read or to change what we write.
pub(crate) fn check_owner(directory: &Path) -> io::Result<()> {
    /// The directory itself and those that are ours around it.
    const LEVELS: usize = 3;
    for place in directory.ancestors().take(LEVELS) {
        let owner = fs::symlink_metadata(place)?.uid();
        if owner != 0 && owner != rustix::process::geteuid().as_raw() {
            let problem = format!("{} belongs to another user", place.display());
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, problem));
        }
    }
    Ok(())
}
