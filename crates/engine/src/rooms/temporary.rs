//! The temporary files of a workspace: what is kept of them, and who shares them where there can be no room.

use std::ffi::{CString, OsStr};
use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bashtion_sandbox::OwnFile;
use rustix::fs::{
    AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, flock, open, openat, statat, unlinkat,
};
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
        let in_use = OwnFile::Keeping.open(&place.folder.join("in-use"))?;
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
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = |root: &&Path| open(*root, flags, Mode::empty()).ok();
        let roots: Vec<OwnedFd> = roots.iter().filter_map(opened).collect();
        let mut files = vec![];
        for (number, root) in roots.iter().enumerate() {
            let _ = collect(root, number, Path::new(""), &mut files);
        }
        files.sort_by_key(|file: &TemporaryFile| file.unused);
        let mut total = 0_u64;
        for TemporaryFile { root, directory, name, unused, size } in files {
            total = total.saturating_add(size);
            if unused > self.keep_for || total > self.keep_size {
                let _ = open_beneath(&roots[root], &directory)
                    .and_then(|directory| Ok(unlinkat(&directory, &name, AtFlags::empty())?));
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
    /// The number of the directory that is tidied.
    root: usize,
    /// The directory that it is in, and its name there.
    directory: PathBuf,
    name: CString,
    unused: Duration,
    size: u64,
}

/// Lists files and links beneath a directory. Nothing is looked at by its whole path: a command that is still there may put
/// a link into it.
fn collect(
    root: &OwnedFd,
    number: usize,
    directory: &Path,
    files: &mut Vec<TemporaryFile>,
) -> io::Result<()> {
    const DEEPEST: usize = 64;
    const MOST: usize = 200_000;
    let opened = open_beneath(root, directory)?;
    for entry in Dir::read_from(&opened)?.flatten() {
        let name = entry.file_name();
        let Ok(found) = statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        if FileType::from_raw_mode(found.st_mode) == FileType::Directory {
            let inner = directory.join(OsStr::from_bytes(name.to_bytes()));
            if ![c".", c".."].contains(&name) && directory.components().count() < DEEPEST {
                let _ = collect(root, number, &inner, files);
            }
        } else if files.len() < MOST {
            let used = found
                .st_mtime
                .max(found.st_atime)
                .try_into()
                .map_or(UNIX_EPOCH, |seconds| UNIX_EPOCH + Duration::from_secs(seconds));
            files.push(TemporaryFile {
                root: number,
                directory: directory.to_owned(),
                name: name.to_owned(),
                unused: SystemTime::now().duration_since(used).unwrap_or_default(),
                size: u64::try_from(found.st_blocks).unwrap_or(0) * 512,
            });
        }
    }
    Ok(())
}

/// Opens a directory beneath another, through no link.
fn open_beneath(root: &OwnedFd, path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut directory = root.try_clone()?;
    for part in path.components() {
        directory = openat(&directory, part.as_os_str(), flags, Mode::empty())?;
    }
    Ok(directory)
}
