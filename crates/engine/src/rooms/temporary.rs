//! The temporary files of a workspace: what is kept of them, and who shares them where there can be no room.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::{Place, RoomSettings, Wanted, take_turn};

/// The directory that commands of a workspace have for `$TMPDIR` where namespaces cannot be had: that which would be `/tmp`
/// in their room.
#[derive(Debug)]
pub(crate) struct SharedTemporary {
    pub(crate) path: PathBuf,
    /// Locked while a command may use it, so that nothing is removed meanwhile.
    _in_use: File,
}

impl SharedTemporary {
    /// Makes the directory if need be, and removes what is too old or too much in it now and then.
    pub(crate) fn of(wanted: &Wanted) -> io::Result<Self> {
        let place = Place::of(wanted);
        place.prepare(&wanted.state)?;
        let in_use =
            File::options().write(true).create(true).truncate(false).open(place.folder.join("in-use"))?;
        if flock(&in_use, FlockOperation::NonBlockingLockExclusive).is_ok() {
            KeptFiles::of(&wanted.settings.room).tidy_now_and_then(&place.folder, &in_use);
        }
        rustix::io::retry_on_intr(|| flock(&in_use, FlockOperation::LockShared))?;
        Ok(Self { path: place.temporary().canonicalize()?, _in_use: in_use })
    }
}

/// The temporary files that stay when nobody uses them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct KeptFiles {
    keep_for: Duration,
    keep_size: u64,
}

impl KeptFiles {
    pub(super) fn of(room: &RoomSettings) -> Self {
        Self { keep_for: room.keep_tmp, keep_size: room.keep_tmp_size }
    }

    /// Removes what is too old or too much when nobody is in the room.
    pub(super) fn tidy(&self, folder: &Path, roots: &[&Path]) {
        // With the lock nobody makes another room here, and where none is kept nobody writes: what is looked at stays.
        let Ok(_turn) = take_turn(folder) else { return };
        if has_rooms(folder) {
            return;
        }
        let mut files = vec![];
        for root in roots {
            collect(root, &mut files, 0);
        }
        files.sort_by_key(|file: &TemporaryFile| file.unused);
        let mut total = 0_u64;
        for TemporaryFile { path, unused, size } in files {
            total = total.saturating_add(size);
            if unused > self.keep_for || total > self.keep_size {
                let _ = fs::remove_file(path);
            }
        }
    }

    /// The same without a keeper: by a command that finds itself alone, if the last time was long ago.
    fn tidy_now_and_then(&self, folder: &Path, stamp: &File) {
        const PAUSE: Duration = Duration::from_secs(60 * 60);
        let age = stamp.metadata().and_then(|metadata| metadata.modified()).map(|time| time.elapsed());
        if age.is_ok_and(|age| age.is_ok_and(|age| age > PAUSE)) {
            let _ = stamp.set_modified(SystemTime::now());
            self.tidy(folder, &[&folder.join("tmp"), &folder.join("var-tmp")]);
        }
    }
}

/// Returns true if a room of this folder is kept, or may be.
fn has_rooms(folder: &Path) -> bool {
    let is_facts = |entry: fs::DirEntry| entry.file_name().to_string_lossy().ends_with(".facts");
    fs::read_dir(folder).map_or(true, |mut entries| entries.any(|entry| entry.map_or(true, is_facts)))
}

struct TemporaryFile {
    path: PathBuf,
    unused: Duration,
    size: u64,
}

/// Files and links beneath a directory. No link is followed.
fn collect(directory: &Path, files: &mut Vec<TemporaryFile>, depth: usize) {
    const DEEPEST: usize = 64;
    const MOST: usize = 200_000;
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let Ok(metadata) = entry.metadata() else { continue };
        if metadata.is_dir() {
            if depth < DEEPEST {
                collect(&entry.path(), files, depth + 1);
            }
        } else if files.len() < MOST {
            let used = [metadata.modified(), metadata.accessed()].into_iter().flatten().max();
            let unused =
                used.and_then(|time| SystemTime::now().duration_since(time).ok()).unwrap_or_default();
            files.push(TemporaryFile { path: entry.path(), unused, size: metadata.blocks() * 512 });
        }
    }
}
