//! The private directory for files that outlive a call.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{Access, access};

/// Finds a directory in which temporary ones can be made: the one that is named, one of the usual ones, or one in the state
/// directory.
///
/// ```
/// let found = bashtion::temporary_directory(Some("/nowhere".as_ref()), None);
/// assert!(found.is_dir());
/// ```
#[must_use]
pub fn temporary_directory(named: Option<&Path>, state_dir: Option<&Path>) -> PathBuf {
    const USUAL: [&str; 2] = ["/tmp", "/var/tmp"];
    let can_be_used =
        |path: &&Path| path.is_dir() && access(*path, Access::WRITE_OK | Access::EXEC_OK).is_ok();
    let found = named.into_iter().chain(USUAL.map(Path::new)).find(can_be_used).map(Path::to_owned);
    let own = || StateDir::new(state_dir.map(Path::to_owned)).folder("tmp").ok();
    found.or_else(own).unwrap_or_else(|| USUAL[0].into())
}

/// A directory that only the user can write to, made when the first file is.
#[derive(Debug, Clone)]
pub(crate) struct StateDir {
    path: PathBuf,
}

impl StateDir {
    pub(crate) fn new(path: Option<PathBuf>) -> Self {
        let in_tmp = || PathBuf::from(format!("/tmp/bashtion-{}", rustix::process::geteuid().as_raw()));
        Self { path: path.unwrap_or_else(in_tmp) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A new file in the folder `kind`, readable by the user alone.
    pub(crate) fn create_file(&self, kind: &str) -> io::Result<(File, PathBuf)> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let folder = self.folder(kind)?;
        let age = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("{}-{}-{number}", age.as_millis(), std::process::id()));
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        Ok((file, path))
    }

    /// Removes the files of a kind that are older than `age`, and the oldest beyond `size` bytes in all. Others may do
    /// so at the same time, and what cannot be removed is no reason to lose output.
    pub(crate) fn prune(&self, kind: &str, age: Duration, size: u64) {
        /// Never a file that a running command may still write.
        const YOUNG: Duration = Duration::from_secs(60 * 60);
        // The same checks as for writing: a link would lead to somebody else's files.
        let Ok(folder) = self.folder(kind) else { return };
        let mut files = vec![];
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            let old = metadata.modified().ok().and_then(|time| time.elapsed().ok()).unwrap_or_default();
            files.push((old, metadata.len(), entry.path()));
        }
        files.sort();
        let mut total = 0;
        for (old, bytes, path) in files {
            total += bytes;
            if old > YOUNG && (old > age || total > size) {
                let _ = fs::remove_file(path);
            }
        }
    }

    /// The folder `kind`, made if need be, and private to the user.
    pub(crate) fn folder(&self, kind: &str) -> io::Result<PathBuf> {
        let folder = self.path.join(kind);
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        // In a shared place somebody else may have made it first, to read or to redirect what we write.
        for dir in [&self.path, &folder] {
            let metadata = fs::symlink_metadata(dir)?;
            let problem = match metadata {
                _ if !metadata.is_dir() => "is not a directory; a link to one is not accepted",
                _ if metadata.uid() != rustix::process::geteuid().as_raw() => "belongs to another user",
                _ if metadata.mode() & 0o022 != 0 => "can be written to by others",
                _ => continue,
            };
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                format!("{} {problem}", dir.display()),
            ));
        }
        Ok(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn files_are_private() {
        let temp = tempfile::tempdir().unwrap();
        let state = StateDir::new(Some(temp.path().join("deep/state")));
        let (_, path) = state.create_file("output").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().mode() & 0o777, 0o700);
        let (_, other) = state.create_file("output").unwrap();
        assert_ne!(path, other);
    }

    #[test]
    fn a_directory_that_others_can_write_to_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let shared = temp.path().join("shared");
        fs::create_dir(&shared).unwrap();
        fs::set_permissions(&shared, fs::Permissions::from_mode(0o777)).unwrap();
        let error = StateDir::new(Some(shared)).create_file("output").unwrap_err();
        assert!(error.to_string().ends_with("can be written to by others"), "{error}");
    }

    #[test]
    fn a_link_in_its_place_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let (elsewhere, link) = (temp.path().join("elsewhere"), temp.path().join("state"));
        fs::create_dir(&elsewhere).unwrap();
        symlink(&elsewhere, &link).unwrap();
        StateDir::new(Some(link)).create_file("output").unwrap_err();
        StateDir::new(Some(elsewhere)).create_file("output").unwrap();
    }

    #[test]
    fn old_and_large_files_are_pruned_and_young_ones_never() {
        let temp = tempfile::tempdir().unwrap();
        let state = StateDir::new(Some(temp.path().join("state")));
        let hours_old = |hours: u64| {
            let (file, path) = state.create_file("output").unwrap();
            file.set_len(1000).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(hours * 3600 + 1)).unwrap();
            path
        };
        let (young, recent, older, ancient) = (hours_old(0), hours_old(2), hours_old(3), hours_old(100));
        let day = Duration::from_secs(24 * 3600);
        state.prune("output", day, 1 << 20);
        assert_eq!([&young, &recent, &older, &ancient].map(|p| p.exists()), [true, true, true, false]);
        state.prune("output", day, 2500);
        assert_eq!([&young, &recent, &older].map(|p| p.exists()), [true, true, false]);
        state.prune("output", Duration::ZERO, 0);
        assert_eq!([&young, &recent].map(|p| p.exists()), [true, false]);
    }
}
