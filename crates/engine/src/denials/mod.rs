//! What the sandbox stopped, in words, and how to allow it.
//!
//! The kernel tells the program that was stopped, not us. So this is put together from what it did tell us (limits that
//! were reached), from what the command was seen to want, and from the error messages that it printed.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use bashtion_guard::{Analysis, Effect};
use bashtion_sandbox::{
    Confinement, Enforced, Exit, Limit, Mode, Network, Report, Restored, Restoring, Signal,
};
use rustix::fs::Access;

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
    pub(crate) enforced: &'a Report,
    pub(crate) wishes: &'a Wishes,
    pub(crate) cwd: &'a Path,
    pub(crate) home: Option<&'a Path>,
    pub(crate) exit: Option<Exit>,
    pub(crate) output: &'a Output,
    pub(crate) limits_reached: &'a [Limit],
    pub(crate) refused_sockets: &'a [String],
    pub(crate) restored: &'a [Restored],
}

/// More would be repetition.
const MOST: usize = 6;

impl End<'_> {
    pub(crate) fn denials(&self) -> Vec<String> {
        let mut denials = vec![];
        self.limits(&mut denials);
        self.repositories(&mut denials);
        if self.confinement.mode != Mode::Off {
            self.files(&mut denials);
            self.network(&mut denials);
            self.sockets(&mut denials);
            self.calls(&mut denials);
        }
        denials.dedup();
        denials.truncate(MOST);
        denials
    }

    /// What needs a look comes first: more than a few are not told.
    fn repositories(&self, denials: &mut Vec<String>) {
        const LOOK: &str =
            "look at it before you use git there, for git runs what its hooks and configuration name";
        for wanted in [Restoring::NotPutBack, Restoring::NotChecked, Restoring::PutBack] {
            for Restored { path, .. } in self.restored.iter().filter(|restored| restored.how == wanted) {
                let shown = path.display();
                denials.push(match wanted {
                    Restoring::NotPutBack => format!("{shown} was exchanged and could not be put back: {LOOK}"),
                    Restoring::NotChecked => format!("{shown} may have been changed and cannot be looked at: {LOOK}"),
                    Restoring::PutBack => format!("{shown} was changed and has been put back: hooks and configuration of repositories stay as they are; change them outside of the sandbox"),
                });
            }
        }
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
        let ended_by = |name: &str| match self.exit {
            Some(Exit::Signal(signal)) => signal.to_string() == name,
            Some(Exit::Code(code)) => code > 128 && Signal::from_raw(code - 128).to_string() == name,
            None => false,
        };
        if let Some(time) = limits.cpu
            && (ended_by("SIGXCPU") || self.failed_with("CPU time limit exceeded"))
        {
            say("cpu", &format!("{} s", time.as_secs()), "so a process was ended");
        }
        if let Some(bytes) = limits.file_size
            && (ended_by("SIGXFSZ")
                || self.failed_with("File size limit exceeded")
                || self.failed_with("File too large"))
        {
            say("file-size", &Bytes(bytes), "so a file was cut");
        }
        if let Some(files) = limits.open_files
            && self.failed_with("Too many open files")
        {
            say("open-files", &files, "so a file could not be opened");
        }
        // Where each process has its own limit, nobody counts.
        if self.enforced.limits != Enforced::Full {
            if let Some(bytes) = limits.memory
                && ["Cannot allocate memory", "MemoryError", "out of memory"]
                    .iter()
                    .any(|text| self.failed_with(text))
            {
                say("memory", &Bytes(bytes), "as it seems");
            }
            if let Some(count) = limits.processes
                && self.failed_with("Resource temporarily unavailable")
            {
                say("processes", &count, "as it seems");
            }
        }
    }

    fn files(&self, denials: &mut Vec<String>) {
        let lines: Vec<&str> = self.complaints().lines().collect();
        let mut seen: Vec<PathBuf> = vec![];
        for (index, line) in lines.iter().enumerate() {
            let Some(refusal) = Refusal::in_line(line) else { continue };
            // Some programs name the file a line or two before.
            let before = lines[index.saturating_sub(2)..index].iter().rev();
            let told = before.filter(|line| !line.trim_start().starts_with("File \""));
            let near = told.into_iter().find_map(|line| last_path(line, self.cwd));
            let named = refusal.path(line, self.cwd).or(near);
            let wished = self.wishes.changes.iter().filter(|_| named.is_none()).cloned();
            for path in named.clone().into_iter().chain(wished) {
                let real = resolved(&path);
                if !seen.contains(&real)
                    && let Some(denial) = self.explain(&path, &real, refusal)
                {
                    denials.push(denial);
                    seen.push(real);
                }
            }
        }
    }

    /// Why a path was closed, if it was us.
    fn explain(&self, path: &Path, real: &Path, refusal: Refusal) -> Option<String> {
        let confinement = self.confinement;
        let shown = shown(real);
        let could = |access| rustix::fs::access(real, access).is_ok();
        if confinement.secrets.iter().any(|secret| real.starts_with(secret)) {
            // The mode of the file may have been enough.
            return could(Access::EXISTS).then(|| {
                format!("using {shown}: it is on the list of secrets; allow it with readable = [\"{}\"] under [sandbox] in the user's configuration", shown.trim_matches('"'))
            });
        }
        let in_workspace = confinement.workspaces.iter().any(|root| real.starts_with(root));
        if in_workspace && is_kept(real, refusal) {
            return Some(
                "changing hooks or configuration of a repository: they stay as they are, because git runs what they name; do that outside of the sandbox"
                    .to_owned(),
            );
        }
        let writable = confinement.writable.iter().any(|root| real.starts_with(root));
        let untouchable =
            ["/dev", "/proc", "/sys"].iter().any(|root| real.starts_with(root)) || real == Path::new("/");
        let temporary =
            real.starts_with(&confinement.temporary) && path.to_string_lossy().contains("/bashtion-");
        let not_ours = refusal != Refusal::ReadOnly && !could(Access::WRITE_OK) && could(Access::EXISTS);
        if (writable && confinement.mode == Mode::Workspace)
            || untouchable
            || temporary
            || not_ours
            || refusal == Refusal::Busy
        {
            return None;
        }
        Some(self.how_to_write(real))
    }

    fn how_to_write(&self, path: &Path) -> String {
        let shown = shown(path);
        let directory = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
        let too_wide =
            directory == Path::new("/") || self.home.is_some_and(|home| home.starts_with(directory));
        let named = if too_wide || plain(&directory.to_string_lossy()).is_none() {
            "--writable and a directory of its own".to_owned()
        } else {
            format!("--writable {}", directory.display())
        };
        if self.confinement.mode == Mode::ReadOnly {
            let inside = path.starts_with(self.cwd);
            let how = if inside {
                "--sandbox workspace".to_owned()
            } else {
                format!("--sandbox workspace and {named}")
            };
            return format!(
                "changing {shown}: in read-only mode nothing can be changed; allow it with {how}"
            );
        }
        let shared = ["/tmp", "/var/tmp"].iter().any(|shared| path.starts_with(shared));
        let instead = if shared { "for temporary files use $TMPDIR, or " } else { "" };
        format!(
            "changing {shown}: only the workspace, $TMPDIR and package caches can be changed; {instead}allow it with {named}"
        )
    }

    fn network(&self, denials: &mut Vec<String>) {
        const SIGNS: [&str; 13] = [
            "Could not resolve host", "could not resolve host", "Temporary failure in name resolution",
            "Name or service not known", "nodename nor servname", "Network is unreachable",
            "network is unreachable", "EAI_AGAIN", "ENETUNREACH", "ENOTFOUND", "failed to lookup address",
            "Failed to resolve", "unable to resolve host address",
        ];
        let signs = SIGNS.iter().any(|sign| self.complaints().contains(sign));
        let silent = self.exit != Some(Exit::Code(0)) && self.complaints().is_empty();
        if self.confinement.network == Network::On || !(signs || (silent && !self.wishes.hosts.is_empty())) {
            return;
        }
        let known = |host: &&str| !is_local(host) && host.contains('.');
        let hosts: Vec<&str> = self.wishes.hosts.iter().map(String::as_str).filter(known).collect();
        let whom = if hosts.is_empty() { "other machines".to_owned() } else { hosts.join(", ") };
        let how = match self.confinement.mode {
            Mode::ReadOnly => "allow it with --sandbox workspace --network on",
            Mode::Workspace | Mode::Off => "allow it with --network on",
        };
        denials.push(format!("connecting to {whom}: the network is off; {how}"));
    }

    /// The one thing that the sandbox itself refuses, so it is known and not guessed.
    fn sockets(&self, denials: &mut Vec<String>) {
        /// Tried by the C library for every name it looks up; it does without.
        const NOBODY_MISSES: [&str; 2] = ["/run/nscd/", "/run/systemd/userdb/"];
        let missed = |socket: &&String| !NOBODY_MISSES.iter().any(|place| socket.starts_with(place));
        for socket in self.refused_sockets.iter().filter(missed) {
            denials.push(match plain(socket) {
                _ if socket.starts_with('@') => format!(
                    "connecting to the socket {socket:?}: those without a path are the host's here; use one in the workspace"
                ),
                Some(path) => format!(
                    "connecting to the socket {path}: it is outside the workspace; allow it with sockets = [\"{path}\"] under [sandbox] in the user's configuration"
                ),
                // The command has made up this name, and it must not pass for advice.
                None => format!("connecting to the socket {socket:?}: it is outside the workspace"),
            });
        }
    }

    fn calls(&self, denials: &mut Vec<String>) {
        let says = |text: &str| self.complaints().contains(text);
        let refused = says("ermission denied") || says("not permitted") || says("EACCES") || says("EPERM");
        if matches!(self.exit, Some(Exit::Signal(signal)) if signal.to_string() == "SIGSYS") {
            denials
                .push("a system call of another architecture: such programs need --sandbox off".to_owned());
        }
        if denials.iter().any(|denial| denial.starts_with("connecting to the socket")) {
            // Known already.
        } else if says("ocker daemon")
            || says("podman.sock")
            || says("DBUS_SESSION_BUS")
            || says("system bus")
        {
            denials.push("connecting to a daemon of this machine: its sockets are closed; such commands need --sandbox off".to_owned());
        } else if refused && denials.is_empty() && (says("socket") || says(".sock")) {
            denials.push("opening a socket: this mode has none on this machine while the network is off; internet protocols are allowed with --sandbox workspace --network on".to_owned());
        }
        if refused && (says("ptrace") || says("PTRACE") || says("LeakSanitizer")) {
            denials.push("tracing a process: debuggers and leak checkers need --sandbox off".to_owned());
        }
        if says("pseudo-terminal") || says("out of pty devices") {
            denials.push(
                "opening a terminal: there are none in the sandbox; such commands need --sandbox off"
                    .to_owned(),
            );
        }
    }

    /// Where programs complain: on standard error, and where that goes to standard output too, in both.
    fn complaints(&self) -> &str {
        match self.output.stderr() {
            "" if self.exit != Some(Exit::Code(0)) => self.output.stdout(),
            text => text,
        }
    }

    fn failed_with(&self, sign: &str) -> bool {
        self.exit != Some(Exit::Code(0)) && self.complaints().contains(sign)
    }
}

/// A text that can stand in advice: a command chooses the names of its files, and could write advice of its own.
fn plain(text: &str) -> Option<&str> {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+@:~=,".contains(c);
    text.chars().all(is_plain).then_some(text)
}

/// As it is, or so that it cannot be taken for anything else.
fn shown(path: &Path) -> String {
    let text = path.to_string_lossy();
    plain(&text).map_or_else(|| format!("{text:?}"), str::to_owned)
}

/// How a program was told no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refusal {
    ReadOnly,
    Denied,
    Busy,
}

impl Refusal {
    const TEXTS: [(&str, Self); 9] = [
        ("ead-only file system", Self::ReadOnly),
        ("EROFS", Self::ReadOnly),
        ("ermission denied", Self::Denied),
        ("peration not permitted", Self::Denied),
        ("EACCES", Self::Denied),
        ("EPERM", Self::Denied),
        ("cross-device link", Self::Denied),
        ("evice or resource busy", Self::Busy),
        ("EBUSY", Self::Busy),
    ];

    fn in_line(line: &str) -> Option<Self> {
        Self::TEXTS.iter().find(|(text, _)| line.contains(text)).map(|(_, refusal)| *refusal)
    }

    /// The path that the message is about: the last one before the reason, else the first one after it.
    fn path(self, line: &str, cwd: &Path) -> Option<PathBuf> {
        let at = Self::TEXTS
            .iter()
            .filter(|(_, refusal)| *refusal == self)
            .find_map(|(text, _)| line.find(text))?;
        let (before, after) = line.split_at(at);
        last_path(before, cwd).or_else(|| paths_in(after, cwd).into_iter().next())
    }
}

/// What a command may not change of a repository, by where it is.
fn is_kept(path: &Path, refusal: Refusal) -> bool {
    const NAMES: [&str; 6] = ["hooks", "config", "config.lock", "config.worktree", "attributes", "commondir"];
    let mut parts = path.iter().skip_while(|part| *part != ".git");
    let in_git = parts.next().is_some();
    in_git && (refusal == Refusal::Busy || parts.any(|part| NAMES.iter().any(|name| part == *name)))
}

fn is_local(host: &str) -> bool {
    host == "localhost" || host.starts_with("127.") || host == "::1" || host == "[::1]"
}

/// Where a path really is, or would be if it existed.
fn resolved(path: &Path) -> PathBuf {
    let real = path.ancestors().find_map(|known| {
        let rest = path.strip_prefix(known).ok()?;
        let known = known.canonicalize().ok()?;
        Some(if rest.as_os_str().is_empty() { known } else { known.join(rest) })
    });
    real.unwrap_or_else(|| path.to_owned())
}

fn last_path(text: &str, cwd: &Path) -> Option<PathBuf> {
    paths_in(text, cwd).pop()
}

/// Paths that a message names, in its order: quoted, or a word of their own.
fn paths_in(line: &str, cwd: &Path) -> Vec<PathBuf> {
    let is_quote = |c: char| "'\"‘’`«»".contains(c);
    let pieces = line.split(is_quote).enumerate().flat_map(|(index, piece)| match index % 2 {
        1 => vec![piece],
        _ => piece.split_whitespace().collect(),
    });
    let words = pieces.map(|word| word.trim_matches(|c: char| ":,;()[]".contains(c)));
    let is_path = |word: &&str| {
        let is_written_as_one = word.starts_with('/') || word.starts_with("./") || word.starts_with("../");
        !word.is_empty() && (is_written_as_one || word.starts_with(".git/") || cwd.join(word).exists())
    };
    words.filter(is_path).map(|word| cwd.join(word)).filter(|path| path != cwd).collect()
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
    fn the_path_that_a_message_is_about() {
        let cases = [
            ("touch: cannot touch '/etc/x': Read-only file system", "/etc/x"),
            ("bash: line 1: /etc/x: Permission denied", "/etc/x"),
            ("PermissionError: [Errno 13] Permission denied: '/root/.ssh/id'", "/root/.ssh/id"),
            ("cat: ../other/x: Permission denied", "/w/../other/x"),
            ("/usr/bin/ld: cannot open output file ../as: Read-only file system", "/w/../as"),
            ("error: could not write config file .git/config: Device or resource busy", "/w/.git/config"),
            ("mkdir /root/go: read-only file system", "/root/go"),
        ];
        for (line, path) in cases {
            let refusal = Refusal::in_line(line).unwrap();
            assert_eq!(refusal.path(line, Path::new("/w")), Some(PathBuf::from(path)), "{line}");
        }
        assert_eq!(Refusal::Denied.path("nothing here: Permission denied", Path::new("/w")), None);
        assert_eq!(Refusal::in_line("all is well"), None);
    }

    #[test]
    fn sizes_are_readable() {
        assert_eq!(Bytes(256 << 20).to_string(), "256 MiB");
        assert_eq!(Bytes(2 << 30).to_string(), "2 GiB");
        assert_eq!(Bytes(1000).to_string(), "1000 bytes");
    }
}
