//! Files that were refused: by what was said about them, and by what the rules say.

use std::path::{Path, PathBuf};

use bashtion_sandbox::{Confinement, Enforced, Mode};

use super::End;
use super::denial::{Denial, What, plain};
use super::evidence::Evidence;
use super::message::{Message, Reason, path_after, path_before};
use super::permissions::{Deed, allow, is_on_read_only, need_powers};
use super::remedy::{Place, Remedy, Writable};
use crate::confine::{TooWide, too_wide};

/// More messages than this are about the same thing.
const MOST_MESSAGES: usize = 50;

const OUTSIDE: &str = "only the workspace, $TMPDIR and package caches can be changed";

/// One denial for each path that a message names and that the rules refuse.
pub(super) fn refused(end: &End<'_>, evidence: &Evidence<'_>) -> Vec<Denial> {
    let mut denials: Vec<Denial> = vec![];
    let messages =
        evidence.lines.iter().enumerate().filter_map(|(index, line)| Some((index, Message::read(line)?)));
    for (index, message) in messages.take(MOST_MESSAGES) {
        let mut paths = message.paths(end.cwd);
        if paths.is_empty() {
            let (before, after) = (&evidence.lines[..index], &evidence.lines[index + 1..]);
            let near = path_after(after, end.cwd);
            paths.extend(near.or_else(|| path_before(before, end.cwd).filter(|_| message.names_nothing())));
        }
        if paths.is_empty() {
            // A relative name after `cd`, or none at all: what the command was seen to want.
            paths.clone_from(&end.wishes.changes);
        }
        let believed = |path| evidence.is_believed(evidence.lines[index], message.sign, path);
        let found = if paths.is_empty() && believed(None) {
            end.unnamed(message.reason)
        } else {
            let mut believed = paths.iter().filter(|path| believed(Some(path.as_path())));
            believed.find_map(|path| end.explain(path, message.reason))
        };
        if let Some(denial) = found.filter(|denial| !denials.contains(denial)) {
            denials.push(denial);
        }
    }
    denials
}

impl End<'_> {
    /// Why the sandbox refuses a path with this reason, if it does and nothing else would have.
    fn explain(&self, path: &Path, reason: Reason) -> Option<Denial> {
        let real = resolved(path);
        let confinement = self.confinement;
        if reason == Reason::Missing {
            return self.not_shown(real);
        }
        if let Some(secret) = confinement.secrets.iter().find(|secret| real.starts_with(secret)) {
            return secret_file(&real, secret, reason);
        }
        if real.starts_with("/dev") {
            return device(&real, reason);
        }
        if real.starts_with("/proc") || real.starts_with("/sys") || real == Path::new("/") {
            return None;
        }
        let in_workspace = confinement.workspaces.iter().any(|root| real.starts_with(root));
        if in_workspace && confinement.mode == Mode::Workspace && is_kept_by_git(&real, reason) {
            return Some(Denial {
                what: What::ChangingRepository,
                why: "they stay as they are, because git runs what they name",
                remedy: Remedy::ByHand("do that outside of the sandbox"),
            });
        }
        if confinement.kept.iter().any(|kept| real.starts_with(kept)) && reason == Reason::ReadOnly {
            return Some(Denial {
                what: What::Changing(real),
                why: "Bashtion's own files stay as they are",
                remedy: Remedy::ByHand("do that outside of the sandbox"),
            });
        }
        let is_writable = confinement.mode == Mode::Workspace
            && confinement.writable.iter().any(|root| real.starts_with(root));
        let is_own_temporary =
            real.starts_with(&confinement.temporary) && path.to_string_lossy().contains("/bashtion-");
        if is_own_temporary {
            return None;
        }
        if reason == Reason::Denied
            && !self.keeps_powers()
            && [Deed::Read, Deed::Write].iter().any(|deed| need_powers(&real, *deed))
        {
            return Some(Denial {
                what: What::Using(real),
                why: "its mode or owner closes it, and root has no powers in the sandbox",
                remedy: Remedy::SandboxOff,
            });
        }
        if is_writable || !self.refuses_writing_with(reason, &real) || !allow(&real, Deed::Write) {
            return None;
        }
        Some(self.change(real))
    }

    /// A message that names no path, and none can be found: `Read-only file system (os error 30)`. Mounts that cannot be written
    /// are the sandbox's own, nearly always; for other reasons nothing is said.
    fn unnamed(&self, reason: Reason) -> Option<Denial> {
        let is_ours = reason == Reason::ReadOnly
            && self.confinement.mode == Mode::Workspace
            && !is_on_read_only(self.cwd);
        let remedy = Remedy::Writable(Writable { place: Place::Unnamed, is_temporary: false });
        is_ours.then_some(Denial { what: What::ChangingSomething, why: self.why_outside(self.cwd), remedy })
    }

    /// Root keeps its powers over files where the workspace belongs to somebody else.
    fn keeps_powers(&self) -> bool {
        use std::os::unix::fs::MetadataExt;
        let is_foreign = |path: &PathBuf| path.metadata().is_ok_and(|metadata| metadata.uid() != 0);
        self.confinement.mode == Mode::Workspace && self.confinement.workspaces.iter().any(is_foreign)
    }

    /// Returns true if the sandbox refuses writing with this error: a mount gives one, Landlock and the filter another.
    fn refuses_writing_with(&self, reason: Reason, path: &Path) -> bool {
        let mode = self.confinement.mode;
        let has_mounts = mode == Mode::Workspace && self.enforced.filesystem == Enforced::Full;
        match reason {
            Reason::ReadOnly => !is_on_read_only(path),
            // It says the same of what cannot be read, and that is nobody's doing but the file's.
            Reason::Denied => !has_mounts && (!path.exists() || allow(path, Deed::Read)),
            Reason::CrossDevice => !has_mounts,
            Reason::NotPermitted => mode == Mode::ReadOnly,
            Reason::Busy | Reason::Missing => false,
        }
    }

    /// The host's temporary directories are not those of a room.
    fn not_shown(&self, real: PathBuf) -> Option<Denial> {
        const WHY: &str = "it is in the host's temporary directory, and commands of a room have their own";
        let temporary = ["/tmp", "/var/tmp"].map(Path::new).into_iter().find(|own| real.starts_with(own))?;
        let parent = real.parent()?;
        // Of what is in that directory itself, a file that is nowhere is just missing.
        let is_there = real.exists() || (parent != temporary && parent.is_dir());
        let writable = self.confinement.writable.iter().map(PathBuf::as_path);
        let is_shown = writable.chain(self.home).chain([self.cwd]).any(|root| real.starts_with(root));
        (self.enforced.room.is_some() && is_there && !is_shown).then(|| {
            let place = self.place_for(&real);
            let remedy = Remedy::Writable(Writable { place, is_temporary: false });
            Denial { what: What::Using(real), why: WHY, remedy }
        })
    }

    fn change(&self, real: PathBuf) -> Denial {
        let is_temporary = ["/tmp", "/var/tmp"].iter().any(|shared| real.starts_with(shared));
        if self.confinement.mode == Mode::ReadOnly {
            let inside = real.starts_with(self.cwd);
            let writable = (!inside).then(|| Writable { place: self.place_for(&real), is_temporary: false });
            return Denial {
                what: What::Changing(real),
                why: "in read-only mode nothing can be changed",
                remedy: Remedy::WorkspaceMode(writable),
            };
        }
        let remedy = Remedy::Writable(Writable { place: self.place_for(&real), is_temporary });
        Denial { why: self.why_outside(&real), what: What::Changing(real), remedy }
    }

    /// The reason that a place is not writable. In a working directory that is no workspace, it would not help to say that only
    /// the workspace is.
    fn why_outside(&self, path: &Path) -> &'static str {
        let Confinement { workspaces, kept, .. } = self.confinement;
        let is_workspace = workspaces.iter().any(|root| self.cwd.starts_with(root));
        let is_asked = !is_workspace && path.starts_with(self.cwd);
        let reason = is_asked.then(|| too_wide(self.cwd, self.home, kept)).flatten();
        reason.map_or(OUTSIDE, TooWide::reason_in_place)
    }

    /// The smallest place that would have to be writable: the directory of a file, unless much else is in it.
    fn place_for(&self, path: &Path) -> Place {
        let is_wide = |directory: &Path| {
            let holds = |other: &Path| other.starts_with(directory);
            directory == Path::new("/") || self.home.is_some_and(holds) || holds(self.cwd)
        };
        let parent = path.parent().unwrap_or(path);
        let place = if path.is_dir() && !is_wide(path) {
            Place::Existing(path.to_owned())
        } else if parent.is_dir() && !is_wide(parent) {
            Place::Existing(parent.to_owned())
        } else if path.is_file() {
            Place::Existing(path.to_owned())
        } else {
            // The outermost directory that is missing.
            let missing = path.ancestors().take_while(|path| path.symlink_metadata().is_err()).last();
            missing.map_or(Place::Unnamed, |missing| Place::Missing(missing.to_owned()))
        };
        match &place {
            Place::Existing(path) | Place::Missing(path) if plain(&path.to_string_lossy()).is_some() => place,
            Place::Existing(_) | Place::Missing(_) | Place::Unnamed => Place::Unnamed,
        }
    }
}

/// A secret can be seen to exist, and not be read.
fn secret_file(real: &Path, secret: &Path, reason: Reason) -> Option<Denial> {
    let is_refusal = matches!(reason, Reason::Denied | Reason::ReadOnly);
    (is_refusal && real.exists() && allow(real, Deed::Read)).then(|| Denial {
        what: What::Using(real.to_owned()),
        why: "it is on the list of secrets",
        // The whole entry: a part of it cannot be taken off the list.
        remedy: Remedy::Readable(secret.to_owned()),
    })
}

/// Of the devices only the harmless ones can be opened.
fn device(real: &Path, reason: Reason) -> Option<Denial> {
    use std::os::unix::fs::FileTypeExt;
    const HARMLESS: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];
    let kind = real.metadata().ok()?.file_type();
    let is_device = kind.is_char_device() || kind.is_block_device();
    let is_harmless =
        real.parent() == Some(Path::new("/dev")) && HARMLESS.iter().any(|name| real.ends_with(name));
    let is_refusal = matches!(reason, Reason::Denied | Reason::ReadOnly | Reason::NotPermitted);
    let would_open = allow(real, Deed::Read);
    let is_terminal = real.ends_with("ptmx") || real.starts_with("/dev/pts");
    (is_device && !is_harmless && is_refusal && would_open).then(|| Denial {
        what: if is_terminal { What::OpeningTerminal } else { What::OpeningDevice(real.to_owned()) },
        why: if is_terminal {
            "there are none in the sandbox"
        } else {
            "devices other than /dev/null and its like are closed"
        },
        remedy: Remedy::SandboxOff,
    })
}

/// Returns true for files of a repository that a command may not change.
fn is_kept_by_git(path: &Path, reason: Reason) -> bool {
    const NAMES: [&str; 6] = ["hooks", "config", "config.lock", "config.worktree", "attributes", "commondir"];
    let mut parts = path.iter().skip_while(|part| *part != ".git");
    let in_git = parts.next().is_some();
    let is_named = parts.any(|part| NAMES.iter().any(|name| part == *name));
    match reason {
        Reason::Busy => in_git,
        Reason::ReadOnly | Reason::Denied => in_git && is_named,
        Reason::NotPermitted | Reason::CrossDevice | Reason::Missing => false,
    }
}

/// Resolves links in a path that may not exist.
fn resolved(path: &Path) -> PathBuf {
    let real = path.ancestors().find_map(|known| {
        let rest = path.strip_prefix(known).ok()?;
        let known = known.canonicalize().ok()?;
        Some(if rest.as_os_str().is_empty() { known } else { known.join(rest) })
    });
    real.unwrap_or_else(|| path.to_owned())
}
