//! What the sandbox stopped, in words, and how to allow it.
//!
//! The kernel tells the program that was stopped, not us. So this is put together from what it did tell us (limits that
//! were reached), from what the command was seen to want, and from the error messages that it printed.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use bashtion_guard::{Analysis, Effect};
use bashtion_sandbox::{Confinement, Exit, Limit, Mode, Network};

use crate::Output;

/// What a command wants, as far as its text shows.
#[derive(Debug, Default)]
pub(crate) struct Wishes {
    changes: Vec<PathBuf>,
    hosts: Vec<String>,
}

impl Wishes {
    pub(crate) fn of(analysis: &Analysis) -> Self {
        let mut wishes = Self::default();
        for effect in analysis.commands.iter().flat_map(|found| &found.effects) {
            match effect {
                Effect::Delete { target, .. }
                | Effect::Move { target }
                | Effect::Write { target }
                | Effect::Permissions { target, .. } => {
                    if target.path.starts_with('/') && target.reason.is_none() {
                        wishes.changes.push(PathBuf::from(&target.path));
                    }
                }
                Effect::Connect { host } => wishes.hosts.push(host.clone()),
                Effect::Execute { .. } => {}
            }
        }
        wishes
    }
}

/// How a confined command ended.
#[derive(Debug)]
pub(crate) struct End<'a> {
    pub(crate) confinement: &'a Confinement,
    pub(crate) wishes: &'a Wishes,
    pub(crate) cwd: &'a Path,
    pub(crate) exit: Option<Exit>,
    pub(crate) output: &'a Output,
    pub(crate) limits_reached: &'a [Limit],
    pub(crate) restored: &'a [PathBuf],
}

/// More would be repetition.
const MOST: usize = 8;

impl End<'_> {
    pub(crate) fn denials(&self) -> Vec<String> {
        let mut denials = Vec::new();
        self.limits(&mut denials);
        for path in self.restored {
            denials.push(format!(
                "{} was changed and has been put back: hooks and configuration of repositories stay as they are; change them outside of the sandbox",
                path.display()
            ));
        }
        if self.exit != Some(Exit::Code(0)) && self.confinement.mode != Mode::Off {
            self.files(&mut denials);
            self.network(&mut denials);
            self.calls(&mut denials);
        }
        denials.truncate(MOST);
        denials
    }

    fn limits(&self, denials: &mut Vec<String>) {
        let limits = &self.confinement.limits;
        let mut say = |name: &str, value: &dyn Display, effect: &str| {
            denials.push(format!(
                "the {name} limit of {value} was reached, {effect}; raise it with --limit {name}=…"
            ));
        };
        for limit in self.limits_reached {
            match limit {
                Limit::Memory => {
                    say("memory", &Bytes(limits.memory.unwrap_or(0)), "so processes were killed");
                }
                Limit::Processes => {
                    say("processes", &limits.processes.unwrap_or(0), "so some could not be started");
                }
            }
        }
        let ended_by = |name: &str| {
            matches!(self.exit, Some(Exit::Signal(signal)) if signal.to_string() == name)
                || matches!(self.exit, Some(Exit::Code(code)) if code > 128 && bashtion_sandbox::Signal::from_raw(code - 128).to_string() == name)
        };
        if let Some(time) = limits.cpu
            && (ended_by("SIGXCPU") || self.printed("CPU time limit exceeded"))
        {
            say("cpu", &format!("{} s", time.as_secs()), "so a process was ended");
        }
        if let Some(bytes) = limits.file_size
            && (ended_by("SIGXFSZ")
                || self.printed("File size limit exceeded")
                || self.printed("File too large"))
        {
            say("file-size", &Bytes(bytes), "so a file was cut");
        }
        if let Some(files) = limits.open_files
            && self.printed("Too many open files")
        {
            say("open-files", &files, "so a file could not be opened");
        }
        if let Some(bytes) = limits.memory
            && !self.limits_reached.contains(&Limit::Memory)
            && ["Cannot allocate memory", "MemoryError", "out of memory"]
                .iter()
                .any(|text| self.printed(text))
        {
            say("memory", &Bytes(bytes), "as it seems");
        }
    }

    fn files(&self, denials: &mut Vec<String>) {
        const REFUSALS: [&str; 5] = [
            "Read-only file system", "Permission denied", "Operation not permitted",
            "Device or resource busy", "Invalid cross-device link",
        ];
        let lines = self.texts().flat_map(str::lines);
        let refusals: Vec<&str> =
            lines.filter(|line| REFUSALS.iter().any(|text| line.contains(text))).collect();
        let mut paths: Vec<PathBuf> = refusals.iter().flat_map(|line| paths_in(line, self.cwd)).collect();
        if !refusals.is_empty() {
            paths.extend(self.wishes.changes.iter().cloned());
        }
        let mut seen: Vec<PathBuf> = vec![];
        for path in paths {
            if !seen.contains(&path)
                && let Some(denial) = self.explain(&path)
            {
                denials.push(denial);
                seen.push(path);
            }
        }
    }

    /// Why a path was closed, if it was us.
    fn explain(&self, path: &Path) -> Option<String> {
        let confinement = self.confinement;
        // Where it would be, if it does not exist.
        let real = path.ancestors().find_map(|known| {
            let rest = path.strip_prefix(known).ok()?;
            Some(known.canonicalize().ok()?.join(rest))
        });
        let real = real.as_deref().unwrap_or(path);
        let shown = path.display();
        if confinement.secrets.iter().any(|secret| real.starts_with(secret)) {
            return Some(format!(
                "reading {shown}: it is on the list of secrets; allow it with readable = [\"{shown}\"] under [sandbox] in the user's configuration"
            ));
        }
        if let Some(within) = git_part(real)
            && confinement.workspaces.iter().any(|root| real.starts_with(root))
        {
            return Some(format!(
                "changing {shown}: {within} of a repository stay as they are, because git runs what they name; change them outside of the sandbox"
            ));
        }
        if confinement.writable.iter().any(|root| real.starts_with(root)) || real.starts_with("/dev") {
            return None;
        }
        if confinement.mode == Mode::ReadOnly {
            return Some(format!(
                "changing {shown}: in read-only mode nothing can be changed; allow it with --sandbox workspace"
            ));
        }
        let directory = if real.is_dir() { real } else { real.parent().unwrap_or(real) };
        Some(format!(
            "changing {shown}: only the workspace, $TMPDIR and package caches can be changed; allow it with --writable {}",
            directory.display()
        ))
    }

    fn network(&self, denials: &mut Vec<String>) {
        const SIGNS: [&str; 10] = [
            "Could not resolve host", "Temporary failure in name resolution", "Name or service not known",
            "Network is unreachable", "network is unreachable", "EAI_AGAIN", "ENETUNREACH", "ENOTFOUND",
            "failed to lookup address", "Failed to resolve",
        ];
        if self.confinement.network == Network::On {
            return;
        }
        let signs = SIGNS.iter().any(|sign| self.printed(sign));
        let refused_socket =
            denials.is_empty() && self.printed("socket") && self.printed("Permission denied");
        let hosts: Vec<&str> =
            self.wishes.hosts.iter().map(String::as_str).filter(|host| !is_local(host)).collect();
        if !signs && !refused_socket && hosts.is_empty() {
            return;
        }
        let whom = if hosts.is_empty() { "other machines".to_owned() } else { hosts.join(", ") };
        let how = match self.confinement.mode {
            Mode::ReadOnly => "allow it with --sandbox workspace --network on",
            Mode::Workspace | Mode::Off => "allow it with --network on",
        };
        denials.push(format!("connecting to {whom}: the network is off; {how}"));
    }

    fn calls(&self, denials: &mut Vec<String>) {
        if matches!(self.exit, Some(Exit::Signal(signal)) if signal.to_string() == "SIGSYS") {
            denials
                .push("a system call of another architecture: such programs need --sandbox off".to_owned());
        }
        if ["docker daemon", "Docker daemon", "podman.sock", "DBUS_SESSION_BUS", "system bus"]
            .iter()
            .any(|sign| self.printed(sign))
        {
            denials.push("connecting to a daemon of this machine: its sockets are closed; run such commands with --sandbox off".to_owned());
        }
        if self.printed("ptrace") && self.printed("not permitted") {
            denials.push("tracing a process: debuggers need --sandbox off".to_owned());
        }
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        [self.output.stderr(), self.output.stdout()].into_iter()
    }

    fn printed(&self, sign: &str) -> bool {
        self.texts().any(|text| text.contains(sign))
    }
}

/// What part of a git directory it is, if it is one that is kept.
fn git_part(path: &Path) -> Option<&'static str> {
    let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
    let after = parts.iter().position(|part| *part == ".git")? + 1;
    let name = parts
        .get(after..)?
        .iter()
        .find(|name| ["hooks", "config", "config.lock", "config.worktree", "attributes"].contains(name));
    name.map(|_| "hooks and configuration")
}

fn is_local(host: &str) -> bool {
    host == "localhost" || host.starts_with("127.") || host == "::1" || host == "[::1]"
}

/// Paths that an error message names: quoted, or between colons.
fn paths_in(line: &str, cwd: &Path) -> Vec<PathBuf> {
    let quoted = line.split(['\'', '"', '‘', '’', '`']).skip(1).step_by(2);
    let between = line.split(": ").flat_map(|part| part.split(':')).map(str::trim);
    let mut found: Vec<PathBuf> = vec![];
    for text in quoted.chain(between) {
        let looks_like = !text.is_empty()
            && !text.contains(char::is_whitespace)
            && (text.starts_with('/')
                || text.starts_with("./")
                || text.starts_with("../")
                || cwd.join(text).exists());
        let path = cwd.join(text);
        if looks_like && !found.contains(&path) && path != cwd {
            found.push(path);
        }
    }
    found
}

/// A size as people write it.
pub(crate) struct Bytes(pub(crate) u64);

impl Display for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let units = [("GiB", 1_u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
        match units.iter().find(|(_, unit)| self.0 >= *unit && self.0.is_multiple_of(*unit)) {
            Some((name, unit)) => write!(f, "{} {name}", self.0 / unit),
            None => write!(f, "{} bytes", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_in_messages() {
        let cases = [
            ("touch: cannot touch '/etc/x': Read-only file system", "/etc/x"),
            ("bash: line 1: /etc/x: Permission denied", "/etc/x"),
            ("PermissionError: [Errno 13] Permission denied: '/root/.ssh/id'", "/root/.ssh/id"),
            ("cat: ../other/x: Permission denied", "/w/../other/x"),
        ];
        for (line, path) in cases {
            assert_eq!(paths_in(line, Path::new("/w")), [PathBuf::from(path)], "{line}");
        }
        assert_eq!(paths_in("nothing here: Permission denied", Path::new("/w")), Vec::<PathBuf>::new());
    }

    #[test]
    fn sizes_are_readable() {
        assert_eq!(Bytes(256 << 20).to_string(), "256 MiB");
        assert_eq!(Bytes(2 << 30).to_string(), "2 GiB");
        assert_eq!(Bytes(1000).to_string(), "1000 bytes");
    }
}
