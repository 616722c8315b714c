//! The part of a configuration that is about confining.

use std::path::PathBuf;

use bashtion::{Namespaces, Network, Requirement, ResourceLimits, SandboxMode, SandboxSettings};
use serde::Deserialize;

use crate::quantities::{parse_count, parse_seconds, parse_size};

/// `[sandbox]`. What is not given stays as it was.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(super) struct Sandbox {
    mode: Option<Mode>,
    network: Option<Switch>,
    required: Option<bool>,
    namespaces: Option<bool>,
    writable: Vec<PathBuf>,
    secrets: Vec<PathBuf>,
    readable: Vec<PathBuf>,
    sockets: Vec<PathBuf>,
    limits: Limits,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    Off,
    Workspace,
    ReadOnly,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Switch {
    On,
    Off,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
struct Limits {
    memory: Option<Quantity>,
    processes: Option<Quantity>,
    cpu: Option<Quantity>,
    open_files: Option<Quantity>,
    file_size: Option<Quantity>,
}

/// `2048` or `"2G"`.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Quantity {
    Number(u64),
    Text(String),
}

impl Quantity {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

impl Limits {
    fn parsed(&self) -> Result<ResourceLimits, String> {
        let parsed = |quantity: &Option<Quantity>, parse: fn(&str) -> Result<u64, String>| {
            quantity.as_ref().map(|quantity| parse(&quantity.text())).transpose()
        };
        Ok(ResourceLimits {
            memory: parsed(&self.memory, parse_size)?,
            processes: parsed(&self.processes, parse_count)?,
            cpu: self.cpu.as_ref().map(|quantity| parse_seconds(&quantity.text())).transpose()?,
            open_files: parsed(&self.open_files, parse_count)?,
            file_size: parsed(&self.file_size, parse_size)?,
        })
    }
}

impl Sandbox {
    /// The user's settings.
    pub(super) fn settings(self) -> Result<SandboxSettings, String> {
        let limits = self.limits.parsed()?;
        Ok(SandboxSettings {
            mode: self.mode.map_or_else(SandboxMode::default, Mode::value),
            network: self.network.map_or_else(Network::default, Switch::value),
            writable: self.writable,
            kept: vec![],
            secrets: self.secrets,
            readable: self.readable,
            sockets: self.sockets,
            limits,
            namespaces: if self.namespaces == Some(false) {
                Namespaces::Never
            } else {
                Namespaces::WherePossible
            },
            requirement: if self.required == Some(true) {
                Requirement::Required
            } else {
                Requirement::BestEffort
            },
        })
    }

    /// The user's settings, made stricter by a project's.
    pub(super) fn narrow(self, mut settings: SandboxSettings) -> Result<SandboxSettings, String> {
        let widens = |what: &str| Err(format!("a project may only make the sandbox stricter, but {what}"));
        if let Some(mode) = self.mode.map(Mode::value) {
            if mode < settings.mode {
                return widens(&format!("it sets mode to {mode}"));
            }
            settings.mode = mode;
        }
        match self.network.map(Switch::value) {
            Some(Network::On) if settings.network == Network::Off => return widens("it sets network to on"),
            Some(network) => settings.network = network,
            None => {}
        }
        match self.required {
            Some(true) => settings.requirement = Requirement::Required,
            Some(false) if settings.requirement == Requirement::Required => {
                return widens("it sets required to false");
            }
            Some(false) | None => {}
        }
        if self.namespaces == Some(false) && settings.namespaces != Namespaces::Never {
            return widens("it sets namespaces to false");
        }
        if !self.writable.is_empty() {
            return widens("it names what is writable");
        }
        if !self.readable.is_empty() {
            return widens("it names what is readable");
        }
        if !self.sockets.is_empty() {
            return widens("it names sockets");
        }
        settings.secrets.extend(self.secrets);
        let (now, wanted) = (&mut settings.limits, self.limits.parsed()?);
        let usual = bashtion::usual_limits();
        narrow_limit(&mut now.memory, wanted.memory, usual.memory);
        narrow_limit(&mut now.processes, wanted.processes, usual.processes);
        narrow_limit(&mut now.cpu, wanted.cpu, usual.cpu);
        narrow_limit(&mut now.open_files, wanted.open_files, usual.open_files);
        narrow_limit(&mut now.file_size, wanted.file_size, usual.file_size);
        Ok(settings)
    }
}

/// The lower one: a project's wish for more is not an error, it is just not granted.
fn narrow_limit<T: Copy + Ord>(now: &mut Option<T>, wanted: Option<T>, usual: Option<T>) {
    if let Some(wanted) = wanted {
        *now = Some(now.or(usual).map_or(wanted, |most| most.min(wanted)));
    }
}

impl Mode {
    fn value(self) -> SandboxMode {
        match self {
            Self::Off => SandboxMode::Off,
            Self::Workspace => SandboxMode::Workspace,
            Self::ReadOnly => SandboxMode::ReadOnly,
        }
    }
}

impl Switch {
    fn value(self) -> Network {
        match self {
            Self::On => Network::On,
            Self::Off => Network::Off,
        }
    }
}
