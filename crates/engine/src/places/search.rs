//! Looking for hundreds of paths beneath one directory, most of which are not there.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use bashtion_guard::matches_text;

use super::{Stamp, stamp};

/// The paths that were found, and what has to stay as it is for the answer to stay the same.
///
/// A missing place costs nothing: of a directory that is missing nothing is looked for, and one in which many names are
/// wanted is listed instead of being asked for each.
#[derive(Debug, Default)]
pub(super) struct Search {
    pub(super) found: Vec<PathBuf>,
    /// For each path that is not there, the first part of it that is missing.
    pub(super) missing: BTreeSet<PathBuf>,
    /// The directories that were looked into.
    pub(super) listed: Vec<(PathBuf, Option<Stamp>)>,
}

impl Search {
    /// Looks for paths in a directory. `*` stands for any part of one name.
    pub(super) fn beneath(&mut self, directory: &Path, paths: &[&str]) {
        // Before anything is looked at: what is added meanwhile is found out next time.
        self.listed.push((directory.to_owned(), stamp(directory)));
        let mut wanted: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for path in paths {
            let (name, rest) = path.split_once('/').unwrap_or((path, ""));
            wanted.entry(name).or_default().push(rest);
        }
        let names = Names::in_directory(directory, &wanted);
        for (name, rests) in &wanted {
            let there = names.like(directory, name);
            if there.is_empty() && !name.contains('*') {
                self.missing.insert(directory.join(name));
            }
            for path in there.iter().map(|name| directory.join(name)) {
                if rests.contains(&"") {
                    self.found.push(path);
                } else {
                    self.beneath(&path, rests);
                }
            }
        }
    }
}

/// The names in a directory.
enum Names {
    Listed(BTreeSet<OsString>),
    /// Not listed, because few are wanted or it cannot be: each is looked for.
    Unlisted,
}

impl Names {
    fn in_directory(directory: &Path, wanted: &BTreeMap<&str, Vec<&str>>) -> Self {
        /// Listing a directory takes about as long as looking for this many names.
        const FEW: usize = 8;
        let has_patterns = wanted.keys().any(|name| name.contains('*'));
        if wanted.len() <= FEW && !has_patterns {
            return Self::Unlisted;
        }
        match fs::read_dir(directory) {
            Ok(entries) => Self::Listed(entries.flatten().map(|entry| entry.file_name()).collect()),
            Err(_) => Self::Unlisted,
        }
    }

    /// The names that are like this one.
    fn like(&self, directory: &Path, name: &str) -> Vec<OsString> {
        match self {
            Self::Listed(names) if name.contains('*') => {
                let like = |there: &&OsString| there.to_str().is_some_and(|there| matches_text(name, there));
                names.iter().filter(like).cloned().collect()
            }
            Self::Listed(names) => names.get(std::ffi::OsStr::new(name)).into_iter().cloned().collect(),
            Self::Unlisted if directory.join(name).symlink_metadata().is_ok() => vec![name.into()],
            Self::Unlisted => vec![],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_is_there_and_says_what_is_missing() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        for directory in [".config/gh", "snap/one", "snap/two", ".a"] {
            fs::create_dir_all(home.join(directory)).unwrap();
        }
        std::os::unix::fs::symlink("/nowhere", home.join(".link")).unwrap();
        let paths = [".config/gh", ".config/Code/User", ".x/y/z", "snap/t*", "none/*", ".link", ".a/b"];
        let many: Vec<String> = (0..20).map(|number| format!("not-there-{number}")).collect();
        for more in [&[][..], &many] {
            let mut search = Search::default();
            search.beneath(
                home,
                &paths.iter().copied().chain(more.iter().map(String::as_str)).collect::<Vec<_>>(),
            );
            assert_eq!(search.found, [".config/gh", ".link", "snap/two"].map(|name| home.join(name)));
            for missing in [".config/Code", ".x", ".a/b", "none"] {
                assert!(search.missing.contains(&home.join(missing)), "{missing}");
            }
            assert_eq!(search.missing.len(), 4 + more.len());
        }
    }
}
