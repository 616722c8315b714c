//! The room that a command wants.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bashtion_guard::secrets::MovedPlace;
use bashtion_sandbox::ROOM_VERSION;
use sha2::{Digest, Sha256};

use super::RoomChoice;
use crate::SandboxSettings;
use crate::output::StateDir;
use crate::places::Places;

/// The room that a command wants.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) settings: SandboxSettings,
    pub(crate) state: StateDir,
    /// The program that can keep a room.
    pub(crate) program: PathBuf,
    /// The directory that the command works in. It need not be writable.
    pub(crate) workspace: PathBuf,
    pub(crate) workspaces: Vec<PathBuf>,
    /// The directories of the task, as they were named.
    pub(crate) own: Vec<PathBuf>,
    pub(crate) home: Option<PathBuf>,
    /// Places of secrets that the caller's environment names.
    pub(crate) moved: Vec<MovedPlace>,
    pub(crate) search_path: Option<OsString>,
    pub(crate) shell: PathBuf,
    pub(crate) places: Arc<Places>,
    pub(crate) attended: bool,
    pub(crate) sockets: Vec<PathBuf>,
    /// The name of a room for one command.
    pub(crate) alone: Option<String>,
}

impl Wanted {
    /// The name of the room: the workspace's, and enough to tell it from others of that name.
    pub(super) fn room_name(&self) -> String {
        let mut hash = Sha256::new();
        let workspaces = if self.workspaces.is_empty() {
            vec![self.workspace.as_path()]
        } else {
            self.workspaces.iter().map(PathBuf::as_path).collect()
        };
        workspaces.iter().for_each(|path| add(&mut hash, path.as_os_str()));
        let given = match (&self.alone, &self.settings.room.choice) {
            (Some(alone), _) => Some(alone),
            (None, RoomChoice::Named(name)) => Some(name),
            (None, RoomChoice::OfWorkspace | RoomChoice::Alone) => None,
        };
        add(&mut hash, given.map_or("", String::as_str));
        let last = workspaces[0].file_name().unwrap_or_default().to_string_lossy();
        let readable = given.map_or(last.as_ref(), String::as_str);
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
        let readable: String = readable.chars().take(40).map(plain).collect();
        let readable = readable.trim_start_matches(['.', '-']);
        format!("{}-{}", if readable.is_empty() { "room" } else { readable }, short(hash, 6))
    }

    /// Everything that decides what the room is, as far as that can be told without looking around.
    pub(super) fn key(&self) -> String {
        let settings = &self.settings;
        let mut hash = Sha256::new();
        hash.update(ROOM_VERSION.to_le_bytes());
        add(&mut hash, env!("CARGO_PKG_VERSION"));
        for path in &self.workspaces {
            add(&mut hash, path);
            // Another directory of that name is another workspace.
            let identity =
                path.metadata().map(|metadata| (metadata.dev(), metadata.ino())).unwrap_or_default();
            hash.update(identity.0.to_le_bytes());
            hash.update(identity.1.to_le_bytes());
        }
        let lists = [&settings.secrets, &settings.kept, &settings.readable];
        for list in lists {
            add(&mut hash, "list");
            list.iter().for_each(|path| add(&mut hash, path));
        }
        // A directory of a workspace is nothing of its own.
        if !self.workspaces.iter().any(|root| self.workspace.starts_with(root)) {
            add(&mut hash, &self.workspace);
        }
        add(&mut hash, self.home.as_deref().unwrap_or(Path::new("")));
        self.moved.iter().for_each(|moved| {
            add(&mut hash, moved.from);
            add(&mut hash, &moved.to);
        });
        add(&mut hash, &self.shell);
        add(&mut hash, self.search_path.as_deref().unwrap_or(OsStr::new("")));
        add(&mut hash, format!("{:?}", settings.requirement));
        short(hash, 16)
    }
}

fn add(hash: &mut Sha256, part: impl AsRef<OsStr>) {
    let bytes = part.as_ref().as_bytes();
    hash.update((bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}

/// Enough of it to be unique, without letters that look alike.
fn short(hash: Sha256, length: usize) -> String {
    const LETTERS: &[u8; 32] = b"23456789abcdefghijkmnpqrstuvwxyz";
    let digest = hash.finalize();
    digest.iter().take(length).map(|byte| char::from(LETTERS[usize::from(*byte) % LETTERS.len()])).collect()
}
