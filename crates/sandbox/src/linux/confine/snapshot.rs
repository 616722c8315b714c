//! Files that must be the same after a command as before, where nothing keeps it from changing them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::remove::remove_tree;

/// How some paths were before the command.
#[derive(Debug, Default)]
pub(in super::super) struct Snapshot {
    saved: Vec<(PathBuf, State)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    Absent,
    File {
        bytes: Vec<u8>,
        mode: u32,
    },
    Directory(BTreeMap<OsString, State>),
    /// A link, a device or a file too large to hold: only that it is there is known.
    Other,
}

/// Hooks and configuration are small; a larger file is not read into memory for every command.
const LARGEST: u64 = 1 << 20;
const DEEPEST: usize = 4;

impl Snapshot {
    pub(super) fn add(&mut self, path: &Path) {
        self.saved.push((path.to_owned(), State::of(path, 0)));
    }

    /// Puts back what has changed, and says what that was. Call it when no process of the command is alive.
    pub(in super::super) fn restore(&self) -> Vec<PathBuf> {
        let changed = self.saved.iter().filter(|(path, before)| State::of(path, 0) != *before);
        let restored = changed.filter(|(path, before)| match before.write(path) {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "cannot put back what a command has changed");
                false
            }
        });
        restored.map(|(path, _)| path.clone()).collect()
    }
}

impl State {
    fn of(path: &Path, depth: usize) -> Self {
        let Ok(metadata) = path.symlink_metadata() else { return Self::Absent };
        if metadata.is_dir() && depth < DEEPEST {
            let entries = fs::read_dir(path).into_iter().flatten().flatten();
            return Self::Directory(
                entries.map(|entry| (entry.file_name(), Self::of(&entry.path(), depth + 1))).collect(),
            );
        }
        if metadata.is_file() && metadata.len() <= LARGEST {
            let mut bytes = vec![];
            let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
            let file = OpenOptions::new().read(true).custom_flags(flags).open(path);
            if file.and_then(|file| file.take(LARGEST).read_to_end(&mut bytes)).is_ok() {
                return Self::File { bytes, mode: metadata.permissions().mode() };
            }
        }
        Self::Other
    }

    fn write(&self, path: &Path) -> io::Result<()> {
        match self {
            Self::Absent => remove(path),
            Self::File { bytes, mode } => {
                remove(path)?;
                let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
                file.write_all(bytes)?;
                file.set_permissions(Permissions::from_mode(*mode))
            }
            Self::Directory(entries) => {
                let is_directory = path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
                if !is_directory {
                    remove(path)?;
                    fs::create_dir_all(path)?;
                }
                for entry in fs::read_dir(path)?.flatten() {
                    if !entries.contains_key(&entry.file_name()) {
                        remove(&entry.path())?;
                    }
                }
                for (name, before) in entries {
                    let inner = path.join(name);
                    if Self::of(&inner, 1) != *before {
                        before.write(&inner)?;
                    }
                }
                Ok(())
            }
            Self::Other => Ok(()),
        }
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => remove_tree(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_was_changed_added_or_removed_is_put_back() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::create_dir(at("hooks")).unwrap();
        fs::write(at("hooks/a"), "one").unwrap();
        fs::write(at("config"), "two").unwrap();
        let mut snapshot = Snapshot::default();
        for name in ["hooks", "config", "commondir"] {
            snapshot.add(&at(name));
        }
        assert_eq!(snapshot.restore(), Vec::<PathBuf>::new());

        fs::write(at("hooks/pre-commit"), "evil").unwrap();
        fs::set_permissions(at("hooks/a"), Permissions::from_mode(0o777)).unwrap();
        fs::remove_file(at("config")).unwrap();
        symlink("/etc/passwd", at("config")).unwrap();
        fs::write(at("commondir"), "evil").unwrap();
        assert_eq!(snapshot.restore(), [at("hooks"), at("config"), at("commondir")]);
        assert!(!at("hooks/pre-commit").exists() && !at("commondir").exists());
        assert_ne!(fs::metadata(at("hooks/a")).unwrap().permissions().mode() & 0o777, 0o777);
        assert_eq!(fs::read_to_string(at("config")).unwrap(), "two");
        assert_eq!(snapshot.restore(), Vec::<PathBuf>::new());
    }
}
