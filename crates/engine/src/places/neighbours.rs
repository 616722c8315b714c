//! Other projects' `.env` files: those in the folders beside a workspace.

use std::fs;
use std::path::{Path, PathBuf};

use bashtion_guard::secrets::is_env_file;

use super::{Stamp, stamp};

/// The `.env` files of other projects, and what has to stay as it is for that to stay true.
#[derive(Debug, Default)]
pub(super) struct Neighbours {
    pub(super) env_files: Vec<PathBuf>,
    /// The folders that hold the workspaces.
    pub(super) parents: Vec<(PathBuf, Stamp)>,
    pub(super) folders: Vec<(PathBuf, Stamp)>,
}

impl Neighbours {
    /// Looks into the folders beside each workspace, up to a number of them.
    pub(super) fn of(workspaces: &[PathBuf]) -> Self {
        const MOST: usize = 300;
        let mut neighbours = Self::default();
        let is_own =
            |path: &Path| workspaces.iter().any(|own| path.starts_with(own) || own.starts_with(path));
        for parent in workspaces.iter().filter_map(|workspace| workspace.parent()) {
            // What is beside a workspace there is no project.
            let holds_projects =
                !["/", "/tmp", "/var/tmp", "/dev/shm"].iter().any(|root| parent == Path::new(root));
            let is_known = neighbours.parents.iter().any(|(known, _)| known == parent);
            let Some(stamp) = stamp(parent).filter(|_| holds_projects && !is_known) else { continue };
            neighbours.parents.push((parent.to_owned(), stamp));
            let entries = fs::read_dir(parent).into_iter().flatten().flatten();
            let folders = entries.filter(|entry| {
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                is_folder && !entry.file_name().as_encoded_bytes().starts_with(b".") && !is_own(&entry.path())
            });
            folders.take(MOST).for_each(|folder| neighbours.look_into(&folder.path()));
        }
        neighbours
    }

    fn look_into(&mut self, folder: &Path) {
        let Some(stamp) = stamp(folder) else { return };
        self.folders.push((folder.to_owned(), stamp));
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        // A directory of that name holds an environment for Python.
        let files = entries.filter(|entry| {
            entry.file_name().to_str().is_some_and(is_env_file)
                && entry.file_type().is_ok_and(|kind| !kind.is_dir())
        });
        self.env_files.extend(files.map(|file| file.path()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_others_and_not_its_own() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        for folder in ["own/inner", "other/.env.d", "third", ".hidden"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for file in
            ["own/.env", "other/.env", "other/.env.example", "third/.env.local", "third/env", ".hidden/.env"]
        {
            fs::write(at(file), "").unwrap();
        }
        let mut found = Neighbours::of(&[at("own")]).env_files;
        found.sort();
        assert_eq!(found, [at("other/.env"), at("third/.env.local")]);
        assert_eq!(Neighbours::of(&[at("own/inner"), at("own")]).env_files.len(), 2, "each once");
    }
}
