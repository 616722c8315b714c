//! Files in a workspace that others run or follow later, outside of any sandbox.

use std::path::PathBuf;

use bashtion_guard::{SettingsRoot, settings_files};

/// Lists them by the last parts of their paths: the same that the guard asks about.
pub(crate) fn followed() -> Vec<PathBuf> {
    let in_projects = settings_files().iter().filter(|file| file.root != SettingsRoot::Home);
    in_projects.map(|file| PathBuf::from(file.pattern)).collect()
}
