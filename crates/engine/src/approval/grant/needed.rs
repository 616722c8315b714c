//! From what a command would do to what the sandbox would have to let through.

use std::path::{Path, PathBuf};

use bashtion_guard::secrets::is_secret;
use bashtion_guard::{Analysis, Effect, Found, Place, SettingsRoot, Target, World, settings_file_at};

use super::Grant;
use crate::SandboxSettings;
use crate::admit::Job;
use crate::confine::{expand, outermost, would_hold};
use crate::engine::Settings;
use crate::output::StateDir;

/// What would have to be open for one change.
enum Need {
    Nothing,
    Path(PathBuf),
    Settings(&'static str),
    /// More than can be named.
    Outside,
}

/// The part of a file that a change is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Its name in its directory.
    Name,
    Content,
}

/// Everything that the command needs and the sandbox would stop, as far as it can be told from its text.
pub(super) fn needed(
    job: &Job,
    analysis: &Analysis,
    world: &World,
    sandbox: &SandboxSettings,
    settings: &Settings,
) -> Grant {
    let surroundings = Surroundings::of(job, sandbox, settings);
    let mut grant = Grant::default();
    let mut paths = vec![];
    for found in analysis.commands.iter().filter(|found| found.is_here()) {
        grant.outside |= found.needs_the_machine(world) || found.reads_secret();
        for (target, part) in found.effects.iter().filter_map(changed) {
            match surroundings.need(target, part, found, world) {
                Need::Nothing => {}
                Need::Path(path) => paths.push(path),
                Need::Settings(name) => grant.settings.push(name.to_owned()),
                Need::Outside => grant.outside = true,
            }
        }
    }
    for path in outermost(paths) {
        match path.into_os_string().into_string() {
            Ok(path) => grant.writable.push(path),
            Err(_) => grant.outside = true,
        }
    }
    grant.settings.sort();
    grant.settings.dedup();
    if grant.outside { Grant { outside: true, ..Grant::default() } } else { grant }
}

fn changed(effect: &Effect) -> Option<(&Target, Part)> {
    match effect {
        Effect::Delete { target, .. } | Effect::Move { target } => Some((target, Part::Name)),
        Effect::Write { target } | Effect::Permissions { target, .. } => Some((target, Part::Content)),
        Effect::Execute { .. } | Effect::Connect { .. } => None,
    }
}

/// What is open already, and what never is.
struct Surroundings {
    open: Vec<PathBuf>,
    own: Vec<PathBuf>,
}

impl Surroundings {
    fn of(job: &Job, sandbox: &SandboxSettings, settings: &Settings) -> Self {
        let named = sandbox.writable.iter().map(|path| job.cwd.join(expand(path, job.home.as_deref())));
        let open = [&job.workspace].into_iter().chain(&job.roots).cloned().chain(named);
        let state = StateDir::new(settings.state_dir.clone()).path().to_owned();
        Self {
            open: open.filter_map(|path| path.canonicalize().ok()).collect(),
            own: sandbox.kept.iter().cloned().chain([state]).collect(),
        }
    }

    fn need(&self, target: &Target, part: Part, found: &Found, world: &World) -> Need {
        const OF_KERNEL: [&str; 3] = ["/proc", "/sys", "/dev"];
        match target.place {
            // Nobody knows where that is, or every command has its own.
            Place::Unknown
            | Place::Harmless
            | Place::Temporary
            | Place::TemporaryAll
            | Place::TemporaryRoot => return Need::Nothing,
            Place::Root | Place::RawDevice => return Need::Outside,
            Place::System
            | Place::Home
            | Place::Personal
            | Place::OtherHome
            | Place::Repository
            | Place::WorkspaceRoot
            | Place::Outside
            | Place::InHome
            | Place::InRepository
            | Place::Workspace => {}
        }
        let Some(path) = opened(&target.path, part, found) else { return Need::Outside };
        if self.open.iter().any(|root| path.starts_with(root)) {
            return need_inside(target, part, world);
        }
        let cannot_be_named = path == Path::new("/")
            || OF_KERNEL.iter().any(|root| path.starts_with(root))
            || is_secret(&target.path, world.home())
            || path.to_str().is_some_and(|path| is_secret(path, world.home()))
            || would_hold(&path, &self.own).is_some();
        if cannot_be_named { Need::Outside } else { Need::Path(path) }
    }
}

/// In the workspace all is open but what others run or follow later.
fn need_inside(target: &Target, part: Part, world: &World) -> Need {
    let path = target.path.as_str();
    let runs_later = path.contains("/.git/hooks/")
        || ["/.git/hooks", "/.git/config", "/.git/info/attributes"].iter().any(|end| path.ends_with(end));
    if runs_later || target.place == Place::Repository && part == Part::Name {
        return Need::Outside;
    }
    match settings_file_at(path, world.home()) {
        Some(file) if file.root != SettingsRoot::Home => Need::Settings(file.pattern),
        Some(_) | None => Need::Nothing,
    }
}

/// The file or directory that must be writable for a change. None if it cannot be found.
fn opened(path: &str, part: Part, found: &Found) -> Option<PathBuf> {
    let path = Path::new(path);
    if !path.is_absolute() {
        return None;
    }
    if path.symlink_metadata().is_err() {
        return nearest(before_pattern(path));
    }
    match (part, path.canonicalize()) {
        (Part::Name, _) => path.parent()?.canonicalize().ok(),
        // A link that leads nowhere.
        (Part::Content, Err(_)) => None,
        (Part::Content, Ok(real)) if real.is_dir() || writes_in_place(found) => Some(real),
        (Part::Content, Ok(real)) => real.parent().map(Path::to_owned),
    }
}

/// Programs that write into the file that is there. Others may put a new one in its place.
fn writes_in_place(found: &Found) -> bool {
    const IN_PLACE: [&str; 15] = [
        "", "echo", "printf", "cat", "tee", "dd", "truncate", "touch", "cp", "true", ":", "chmod", "chown",
        "chgrp", "head",
    ];
    IN_PLACE.contains(&found.program.as_str())
}

/// The directory in which a pattern is looked for.
fn before_pattern(path: &Path) -> &Path {
    let plain = |path: &&Path| !path.to_string_lossy().contains(['*', '?', '[', '{']);
    path.ancestors().find(plain).unwrap_or(path)
}

/// The directory nearest to a path that does not exist, or the path itself.
fn nearest(path: &Path) -> Option<PathBuf> {
    path.ancestors().find_map(|path| path.canonicalize().ok().filter(|real| real.is_dir()))
}
