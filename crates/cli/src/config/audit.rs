//! The part of a configuration that is about the audit log.

use std::path::PathBuf;

use bashtion_audit::{Mode, Settings, is_secret_name};
use serde::Deserialize;

use super::sandbox::Quantity;
use crate::quantities::{parse_seconds, parse_size};

/// `[audit]`. What is not given stays as it was.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(super) struct Audit {
    mode: Option<Mode>,
    keep_for: Option<Quantity>,
    keep_size: Option<Quantity>,
}

impl Audit {
    pub(super) fn settings(self, state_dir: Option<PathBuf>) -> Result<Option<Settings>, String> {
        let mode = self.mode.unwrap_or_default();
        let directory = match (mode, state_dir) {
            (Mode::Off, _) => return Ok(None),
            (Mode::Required, None) => {
                return Err("the audit log is required, and there is no state directory for it".to_owned());
            }
            (Mode::On, None) => return Ok(None),
            (_, Some(directory)) => directory,
        };
        let mut settings =
            Settings { mode, secrets: secrets(), ..Settings::in_directory(directory.join("private/audit")) };
        if let Some(time) = self.keep_for {
            settings.keep_for = parse_seconds(&time.text())?;
        }
        if let Some(size) = self.keep_size {
            settings.keep_size = parse_size(&size.text())?;
        }
        Ok(Some(settings))
    }

    /// A project may demand it.
    pub(super) fn narrow(self, settings: Option<Settings>) -> Result<Option<Settings>, String> {
        if self.keep_for.is_some() || self.keep_size.is_some() {
            return Err("only the user's own configuration can say how long the audit log is kept".to_owned());
        }
        match (self.mode, settings) {
            (None, settings) => Ok(settings),
            (Some(Mode::Required), Some(settings)) => Ok(Some(Settings { mode: Mode::Required, ..settings })),
            (Some(Mode::On), Some(settings)) => Ok(Some(settings)),
            (Some(Mode::Off), None) => Ok(None),
            (Some(Mode::Off), Some(_)) => Err("a project cannot turn the audit log off".to_owned()),
            (Some(_), None) => {
                Err("the project demands an audit log, and the user has turned it off".to_owned())
            }
        }
    }
}

/// The values of this process's variables that nobody should read.
fn secrets() -> Vec<(String, String)> {
    let text = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    text.filter(|(name, _)| is_secret_name(name)).collect()
}
