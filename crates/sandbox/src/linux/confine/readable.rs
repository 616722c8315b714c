//! Granting all but a few files, to a kernel that can only grant.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::super::exhaustion::unless_exhausted;
use crate::room::{Stamp, stamp};

/// What together is everything but the holes, and the directories that had to be listed to find out.
#[derive(Debug, Default)]
pub(super) struct Around {
    pub(super) granted: Vec<PathBuf>,
    pub(super) listed: Vec<(PathBuf, Stamp)>,
}

impl Around {
    pub(super) fn new(holes: &[&Path]) -> io::Result<Self> {
        let mut around = Self::default();
        around.list(Path::new("/"), holes)?;
        Ok(around)
    }

    fn list(&mut self, directory: &Path, holes: &[&Path]) -> io::Result<()> {
        // Looked at first: what is added meanwhile makes the list out of date, not wrong.
        let Some(stamp) = stamp(directory) else { return Ok(()) };
        let Some(entries) = unless_exhausted(fs::read_dir(directory))? else { return Ok(()) };
        self.listed.push((directory.to_owned(), stamp));
        let mut inside: BTreeMap<&OsStr, Vec<&Path>> = BTreeMap::new();
        for hole in holes {
            let name = hole.strip_prefix(directory).ok().and_then(|rest| rest.iter().next());
            inside.entry(name.unwrap_or_default()).or_default().push(hole);
        }
        for entry in entries.flatten() {
            let (name, path) = (entry.file_name(), entry.path());
            match inside.get(name.as_os_str()) {
                None => {
                    // A link leads to what is granted or not where it really is.
                    if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
                        self.granted.push(path);
                    }
                }
                Some(holes) if holes.contains(&path.as_path()) => {}
                Some(holes) => self.list(&path, holes)?,
            }
        }
        Ok(())
    }

    /// Whether the same would be granted now.
    pub(super) fn is_current(&self) -> bool {
        self.listed.iter().all(|(directory, seen)| stamp(directory).as_ref() == Some(seen))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_but_the_holes_and_nothing_twice() {
        let around = Around::new(&[Path::new("/usr/bin"), Path::new("/dev")]).unwrap();
        let granted = |path: &str| around.granted.iter().any(|granted| Path::new(path).starts_with(granted));
        assert!(granted("/usr/lib/x") && granted("/etc/passwd") && granted("/proc/self/stat"));
        assert!(!granted("/usr/bin/env") && !granted("/dev/null"));
        assert!(!around.granted.iter().any(|path| path == Path::new("/usr")));
        assert!(around.is_current());
    }

    #[test]
    fn a_new_neighbour_makes_it_out_of_date() {
        let directory = tempfile::tempdir_in("/tmp").unwrap();
        fs::create_dir(directory.path().join("secret")).unwrap();
        let around = Around::new(&[&directory.path().join("secret")]).unwrap();
        assert!(around.is_current());
        fs::write(directory.path().join("neighbour"), "").unwrap();
        assert!(!around.is_current());
    }
}
