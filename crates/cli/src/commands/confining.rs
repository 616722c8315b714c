//! What was typed about the sandbox.

use std::path::PathBuf;
use std::time::Duration;

use bashtion::{Requirement, RoomChoice, SandboxSettings};

use clap::{ArgAction, ValueEnum};

use crate::error::CliError;
use crate::exit_code::USAGE;
use bashtion::quantities::{parse_count, parse_seconds, parse_size};

/// What can be said about it with options.
#[derive(Debug, clap::Args)]
pub(super) struct Confinement {
    /// How tightly the kernel holds it: off, workspace or read-only.
    ///
    /// workspace: it can change the working directory's project, $TMPDIR and package caches, and read all but secrets
    /// such as ~/.ssh. read-only: it can change nothing but $TMPDIR. Named here, it is required: where the kernel
    /// cannot do it, nothing is run. [default: workspace, as far as the kernel can]
    #[arg(long, value_name = "MODE", value_enum)]
    sandbox: Option<SandboxMode>,

    /// Whether it may talk to other machines. [default: off, unless the sandbox is off]
    #[arg(long, value_name = "WHETHER", value_enum)]
    network: Option<Network>,

    /// One more file or directory that it can change. Can be repeated.
    #[arg(long, value_name = "DIR", action = ArgAction::Append)]
    writable: Vec<PathBuf>,

    /// The room it runs in: another one of this workspace, or none for one that ends with it.
    ///
    /// Commands in one room share /tmp, loopback with its ports and their processes. [default: the room of the workspace]
    #[arg(long, value_name = "NAME", value_parser = parse_room)]
    room: Option<RoomChoice>,

    /// Limit what it uses: memory=2G, processes=100, cpu=30s, open-files=256, file-size=100M. Can be repeated.
    ///
    /// Memory and processes count for all its processes together where control groups can be made, the others for each.
    #[arg(long, value_name = "WHAT=N", action = ArgAction::Append, value_parser = parse_limit)]
    limit: Vec<Limit>,
}

fn parse_room(text: &str) -> Result<RoomChoice, String> {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    match text {
        "none" => Ok(RoomChoice::Alone),
        name if (1..=40).contains(&name.len()) && name.chars().all(is_letter) => {
            Ok(RoomChoice::Named(name.to_owned()))
        }
        _ => Err("use up to 40 letters, digits and . _ -, or none".to_owned()),
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum SandboxMode {
    Off,
    Workspace,
    ReadOnly,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Network {
    On,
    Off,
}

/// A limit as it can be typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    Memory(u64),
    Processes(u64),
    Cpu(Duration),
    OpenFiles(u64),
    FileSize(u64),
}

/// The settings of the configuration with what was typed on top.
pub(super) fn with_flags(
    mut settings: SandboxSettings,
    args: &Confinement,
) -> Result<SandboxSettings, CliError> {
    if let Some(mode) = args.sandbox {
        settings.mode = match mode {
            SandboxMode::Off => bashtion::SandboxMode::Off,
            SandboxMode::Workspace => bashtion::SandboxMode::Workspace,
            SandboxMode::ReadOnly => bashtion::SandboxMode::ReadOnly,
        };
        // Who names it wants it.
        settings.requirement = Requirement::Required;
    }
    let wrong =
        |message: &str, help: &str| Err(CliError { exit_code: USAGE, ..CliError::new(message).help(help) });
    match (args.network, settings.mode) {
        (Some(Network::On), bashtion::SandboxMode::ReadOnly) => {
            return wrong("there is no network in read-only mode", "use --sandbox workspace --network on");
        }
        (Some(Network::Off), bashtion::SandboxMode::Off) => {
            return wrong(
                "without a sandbox the network cannot be kept from a command",
                "use --sandbox workspace",
            );
        }
        (Some(Network::On), _) => settings.network = bashtion::Network::On,
        (Some(Network::Off), _) => settings.network = bashtion::Network::Off,
        (None, _) => {}
    }
    if !args.writable.is_empty() && settings.mode == bashtion::SandboxMode::ReadOnly {
        return wrong("nothing can be writable in read-only mode", "use --sandbox workspace");
    }
    if let Some(room) = &args.room {
        settings.room.choice = room.clone();
    }
    if let Some(missing) = args.writable.iter().find(|path| !path.exists()) {
        let message = format!("--writable {}: there is no such file or directory", missing.display());
        return wrong(&message, "make it first");
    }
    let absolute = args.writable.iter().filter_map(|path| std::path::absolute(path).ok());
    settings.writable.extend(absolute);
    for limit in &args.limit {
        let limits = &mut settings.limits;
        match *limit {
            Limit::Memory(bytes) => limits.memory = Some(bytes),
            Limit::Processes(count) => limits.processes = Some(count),
            Limit::Cpu(time) => limits.cpu = Some(time),
            Limit::OpenFiles(count) => limits.open_files = Some(count),
            Limit::FileSize(bytes) => limits.file_size = Some(bytes),
        }
    }
    // With less the kernel refuses to open files, in words that speak of something else.
    if settings.limits.memory.is_some_and(|bytes| bytes < LEAST_MEMORY) {
        return wrong(
            "a shell does not start with less than 4M of memory",
            "give it more: --limit memory=64M",
        );
    }
    Ok(settings)
}

const LEAST_MEMORY: u64 = 4 << 20;

pub(super) fn parse_limit(text: &str) -> Result<Limit, String> {
    let known = "expected memory=2G, processes=100, cpu=30s, open-files=256 or file-size=100M";
    let (name, value) = text.split_once('=').ok_or(known)?;
    match name {
        "memory" => parse_size(value).map(Limit::Memory),
        "file-size" => parse_size(value).map(Limit::FileSize),
        "processes" => parse_count(value).map(Limit::Processes),
        "open-files" => parse_count(value).map(Limit::OpenFiles),
        "cpu" => parse_seconds(value).map(Limit::Cpu),
        _ => Err(known.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_that_are_possible() {
        let cases = [
            ("memory=2G", Limit::Memory(2 << 30)),
            ("memory=256MiB", Limit::Memory(256 << 20)),
            ("memory=100mb", Limit::Memory(100 << 20)),
            ("memory=4096", Limit::Memory(4096)),
            ("file-size=1k", Limit::FileSize(1024)),
            ("processes=10", Limit::Processes(10)),
            ("open-files=64", Limit::OpenFiles(64)),
            ("cpu=30", Limit::Cpu(Duration::from_secs(30))),
            ("cpu=2m", Limit::Cpu(Duration::from_secs(120))),
        ];
        for (text, limit) in cases {
            assert_eq!(parse_limit(text), Ok(limit), "{text}");
        }
    }

    #[test]
    fn limits_that_are_not() {
        for text in [
            "", "memory", "memory=", "memory=0", "memory=-1", "memory=2X", "memory=99999999999T", "cpu=0",
            "cpu=1ms", "processes=1.5", "disk=1G",
        ] {
            parse_limit(text).expect_err(text);
        }
    }
}
