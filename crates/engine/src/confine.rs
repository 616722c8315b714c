//! From what was asked for, and who calls, to exactly what a command may touch.

mod offer;
mod too_wide;

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use bashtion_sandbox::{Confinement, Mode, Namespaces, Network, Requirement, ResourceLimits, Sandbox, Visit};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use crate::Leftovers;
use crate::admit::Job;
use crate::output::StateDir;
use crate::places::{Places, Seen, Whereabouts, followed, reads_settings};
use crate::rooms::{Entry, NoRoom, RoomSettings, Rooms, SharedTemporary, Wanted};
use offer::{Offer, offer};
pub(crate) use too_wide::{TooWide, too_wide, would_hold};

/// How commands are confined.
///
/// ```
/// use bashtion::{Engine, Request, SandboxMode, SandboxSettings, ToolContext};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), bashtion::Error> {
/// let settings = SandboxSettings { mode: SandboxMode::ReadOnly, ..SandboxSettings::default() };
/// let engine = Engine::builder().sandbox(settings).build();
/// let dir = tempfile::tempdir().unwrap();
/// let outcome = engine.run(Request::new("touch file"), &ToolContext::from_host(dir.path())).await?;
/// assert!(!outcome.success() && !dir.path().join("file").exists());
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SandboxSettings {
    /// How tightly.
    pub mode: Mode,
    /// Whether they may talk to other machines.
    pub network: Network,
    /// More that they may write, beside the workspace.
    #[serde(with = "crate::raw")]
    pub writable: Vec<PathBuf>,
    /// More that they may not read, beside the list that is built in. `~` is the caller's home.
    #[serde(with = "crate::raw")]
    pub secrets: Vec<PathBuf>,
    /// What they may not change wherever it lies, such as the caller's own configuration. A directory that would have to
    /// hold something of it that does not exist yet is no workspace.
    #[serde(with = "crate::raw")]
    pub kept: Vec<PathBuf>,
    /// Of the secrets, what they may read after all.
    #[serde(with = "crate::raw")]
    pub readable: Vec<PathBuf>,
    /// Unix sockets of this machine's daemons, or directories of such, that they may connect to in [`Mode::Workspace`].
    /// Those in the workspace are open where namespaces can be had, and elsewhere if any is named here. `~` is the
    /// caller's home.
    #[serde(with = "crate::raw")]
    pub sockets: Vec<PathBuf>,
    /// How much they may use; what is none has the default of the mode.
    pub limits: ResourceLimits,
    /// Whether namespaces may be used.
    pub namespaces: Namespaces,
    /// What to do on a host that cannot hold them.
    pub requirement: Requirement,
    /// The rooms that they share.
    pub room: RoomSettings,
}

/// A confinement, and what its user should know about it.
#[derive(Debug)]
pub(crate) struct Confining {
    pub(crate) way: Way,
    pub(crate) notes: Vec<String>,
    /// True if `TMPDIR` and the variables that move caches are set for the command.
    pub(crate) sets_variables: bool,
    pub(crate) home: Option<PathBuf>,
}

/// With whom a confined command shares its world.
#[derive(Debug)]
pub(crate) enum Way {
    /// With nobody; but for a temporary directory, where namespaces cannot be had.
    Alone { confinement: Box<Confinement>, temporary: Option<SharedTemporary> },
    /// With the others of its workspace.
    Room(Box<Shared>),
}

impl Way {
    fn workspaces(&self) -> &[PathBuf] {
        match self {
            Self::Alone { confinement, .. } => &confinement.workspaces,
            Self::Room(shared) => &shared.wanted.workspaces,
        }
    }
}

/// A place in a room, and how to have another.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) entry: Entry,
    pub(crate) visit: Visit,
    wanted: Wanted,
    rooms: Arc<Rooms>,
}

impl Shared {
    /// The same in a new room, after this one turned out to be gone.
    pub(crate) fn again(&self) -> Result<Visit, NoRoom> {
        self.rooms.enter_again(&self.wanted).map(|entry| self.wanted.visit(&entry))
    }

    /// Returns true if its shell may be one that has waited. Others are to follow in its room, and somebody has to be there
    /// for the command from its beginning.
    pub(crate) fn lets_shells_wait(&self) -> bool {
        self.wanted.settings.room.pool > 0 && self.wanted.alone.is_none() && self.visit.attended
    }

    /// The directory that is at this path in the room, if the room alone has it.
    pub(crate) fn directory(&self, path: &Path) -> Option<io::Result<OwnedFd>> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = |path: &Path| rustix::fs::open(path, flags, rustix::fs::Mode::empty());
        let path = self.entry.on_host(path, &self.wanted.workspace)?;
        Some(opened(&path).map_err(io::Error::from))
    }
}

/// The parts of an engine that confining needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tools<'a> {
    pub(crate) sandbox: &'a Sandbox,
    pub(crate) places: &'a Arc<Places>,
    pub(crate) rooms: &'a Arc<Rooms>,
    pub(crate) state: &'a StateDir,
    /// The program that can keep a room. None: the command runs alone.
    pub(crate) keeper: Option<&'a Path>,
    pub(crate) shell: &'a Path,
}

/// In the state directory, what no command may see: what others are told, sessions, the audit log.
const PRIVATE: &str = "private";

/// What a confined command may use if nobody says otherwise, on hosts where a whole tree can be limited.
///
/// ```
/// let usual = bashtion::usual_limits();
/// assert_eq!((usual.processes, usual.cpu), (Some(4096), None));
/// ```
#[must_use]
pub fn usual_limits() -> ResourceLimits {
    /// More at once than any sane build needs.
    const MOST_PROCESSES: u64 = 4096;
    ResourceLimits { memory: most_memory(), processes: Some(MOST_PROCESSES), ..ResourceLimits::default() }
}

impl Job {
    /// The directories of the task, as they were named.
    fn own_directories(&self) -> Vec<PathBuf> {
        [&self.workspace].into_iter().chain(&self.roots).cloned().collect()
    }

    /// Where a directory really is. Of the one that was opened that is known.
    fn real_path_of(&self, directory: &Path) -> Option<PathBuf> {
        if self.cwd_fd.is_some() && directory == self.cwd {
            return Some(directory.to_owned());
        }
        directory.canonicalize().ok()
    }

    fn whereabouts<'a>(&'a self, own: &'a [PathBuf], writable: &'a [PathBuf]) -> Whereabouts<'a> {
        Whereabouts { home: self.home.as_deref(), moved: &self.moved, own, writable }
    }
}

impl Confining {
    /// None where nothing is to be held. The programs are those that the command's text names.
    pub(crate) fn new(
        job: &Job,
        settings: &SandboxSettings,
        tools: Tools<'_>,
        programs: &[&str],
    ) -> io::Result<Option<Self>> {
        if settings.mode == Mode::Off && settings.limits.is_empty() {
            return Ok(None);
        }
        let mut notes = vec![];
        let workspaces = match settings.mode {
            Mode::Workspace => workspaces(job, settings, &mut notes),
            Mode::Off | Mode::ReadOnly => vec![],
        };
        let offered = if job.grant.is_empty() || settings.mode == Mode::Off {
            offer(job, settings, tools, &workspaces, &mut notes)
        } else {
            // What others of its workspace run in cannot be opened for one of them.
            notes.push("it ran alone and not in the room of its workspace, because more was approved for it than others have".to_owned());
            Offer::Nothing
        };
        let way = match offered {
            Offer::Room(shared) => Way::Room(shared),
            Offer::Temporary(temporary) => {
                let mut confinement = alone(job, settings, tools, workspaces)?;
                confinement.writable.push(temporary.path.clone());
                confinement.namespaces = Namespaces::Never;
                Way::Alone { confinement: Box::new(confinement), temporary: Some(temporary) }
            }
            Offer::Nothing => {
                let mut confinement = Box::new(alone(job, settings, tools, workspaces)?);
                notes.extend(job.grant.open(&mut confinement));
                Way::Alone { confinement, temporary: None }
            }
        };
        if settings.mode != Mode::Off && programs.iter().any(|program| reads_settings(program)) {
            // In a room other projects were looked at when it was made, and settings are not about them.
            let own = match &way {
                Way::Alone { .. } => job.own_directories(),
                Way::Room(_) => vec![],
            };
            let existing = tools.places.existing(job.whereabouts(&own, way.workspaces()), settings)?;
            let seen = |path: &Path| match &way {
                Way::Room(shared) if shared.entry.room.facts().shows(path) => Seen::Copy,
                Way::Room(_) => Seen::OldCopy,
                Way::Alone { .. } => Seen::Nothing,
            };
            notes.extend(existing.hidden_settings(programs, seen));
        }
        let (sets_variables, home) = (job.tells_temporary && settings.mode != Mode::Off, job.home.clone());
        Ok(Some(Self { way, notes, sets_variables, home }))
    }
}

/// Finds the directories that may be written. One inside another is left out.
fn workspaces(job: &Job, settings: &SandboxSettings, notes: &mut Vec<String>) -> Vec<PathBuf> {
    let home = job.home.as_deref();
    let mut workspaces = vec![];
    let roots = [&job.workspace].into_iter().chain(&job.roots);
    for root in roots.filter_map(|root| job.real_path_of(root)) {
        match too_wide(&root, home, &settings.kept) {
            None => workspaces.push(root),
            Some(why) => notes.push(format!(
                "{} is not writable because {}; use a project directory, or name what may be written with --writable",
                root.display(),
                why.reason()
            )),
        }
    }
    for named in settings.writable.iter().map(|path| job.cwd.join(expand(path, home))) {
        let Ok(real) = named.canonicalize() else { continue };
        // A command may have put a link there, to what it wants to write next.
        let as_written = without_dots(&named);
        let root = workspaces.iter().find(|root| as_written.starts_with(root));
        let problem = if root.is_some_and(|root| !real.starts_with(root)) {
            Some("a link in the workspace leads there")
        } else {
            would_hold(&real, &settings.kept)
        };
        match problem {
            None => workspaces.push(real),
            Some(why) => notes.push(format!("{} is not writable because {why}", real.display())),
        }
    }
    notes.dedup();
    outermost(workspaces)
}

/// Fills in the usual limits where none were given, on hosts that can limit a whole tree.
pub(crate) fn limits_or_usual(said: ResourceLimits, sandbox: &Sandbox) -> ResourceLimits {
    if !sandbox.can_limit_trees() {
        return said;
    }
    let usual = usual_limits();
    ResourceLimits {
        memory: said.memory.or(usual.memory),
        processes: said.processes.or(usual.processes),
        ..said
    }
}

fn sockets(job: &Job, settings: &SandboxSettings) -> Vec<PathBuf> {
    settings.sockets.iter().map(|path| job.cwd.join(expand(path, job.home.as_deref()))).collect()
}

/// Everything looked at for this command.
fn alone(
    job: &Job,
    settings: &SandboxSettings,
    tools: Tools<'_>,
    workspaces: Vec<PathBuf>,
) -> io::Result<Confinement> {
    let limits = match settings.mode {
        Mode::Off => settings.limits,
        Mode::Workspace | Mode::ReadOnly => limits_or_usual(settings.limits, tools.sandbox),
    };
    let own = tools.state.path().to_owned();
    if settings.mode != Mode::Off {
        // Only what exists can be hidden and kept. Where it cannot be made, nothing will be in it.
        let _ = tools.state.folder(PRIVATE);
    }
    let existing = match settings.mode {
        Mode::Off => Arc::default(),
        Mode::Workspace | Mode::ReadOnly => {
            tools.places.existing(job.whereabouts(&job.own_directories(), &workspaces), settings)?
        }
    };
    let caches = existing.caches.iter().filter(|_| settings.mode == Mode::Workspace).cloned();
    let writable: Vec<PathBuf> = workspaces.iter().cloned().chain(caches).collect();
    let granted: Vec<PathBuf> =
        writable.iter().cloned().chain(job.grant.writable.iter().map(PathBuf::from)).collect();
    let secrets = existing.secrets.iter().chain(&existing.env_files);
    Ok(Confinement {
        mode: settings.mode,
        network: if settings.mode == Mode::ReadOnly { Network::Off } else { settings.network },
        temporary: scratch_place(job, tools.state, &granted),
        writable,
        workspaces,
        kept: settings.kept.iter().chain([&own]).filter_map(|path| path.canonicalize().ok()).collect(),
        secrets: secrets.cloned().chain(own.join(PRIVATE).canonicalize()).collect(),
        settings: followed(),
        sockets: sockets(job, settings),
        attended: job.leftovers == Leftovers::End,
        limits,
        namespaces: settings.namespaces,
        requirement: settings.requirement,
    })
}

/// Finds a place for private temporary directories that the command cannot change: the usual one, one in the state directory, or one
/// that every system has. Where all are writable, the sandbox refuses.
fn scratch_place(job: &Job, state: &StateDir, writable: &[PathBuf]) -> PathBuf {
    const OTHERS: [&str; 2] = ["/var/tmp", "/dev/shm"];
    let is_closed = |place: &PathBuf| {
        place.canonicalize().is_ok_and(|real| !writable.iter().any(|root| real.starts_with(root)))
    };
    if is_closed(&job.temporary) {
        return job.temporary.clone();
    }
    let others = OTHERS.iter().map(PathBuf::from);
    let mut places = state.folder(SCRATCH).into_iter().chain(others);
    places.find(is_closed).unwrap_or_else(|| job.temporary.clone())
}

const SCRATCH: &str = "scratch";

/// As if there were no links: `a/../b` is `b`.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
}

/// Without those that lie in another.
pub(crate) fn outermost(mut roots: Vec<PathBuf>) -> Vec<PathBuf> {
    roots.sort();
    roots.dedup();
    let all = roots.clone();
    roots.retain(|root| !all.iter().any(|other| other != root && root.starts_with(other)));
    roots
}

/// `~/x` is `x` in the caller's home.
pub(crate) fn expand(path: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        (Ok(_) | Err(_), _) => path.to_owned(),
    }
}

/// Three quarters of what this machine has, so that it stays usable.
#[cfg(target_os = "linux")]
fn most_memory() -> Option<u64> {
    static SHOWN: OnceLock<u64> = OnceLock::new();
    let machine = rustix::system::sysinfo();
    let total = machine.totalram.checked_mul(machine.mem_unit.into())?;
    // Some containers are shown less than there is. Where it cannot be read just now, that is not remembered.
    let shown = SHOWN.get().copied().or_else(|| memory_shown().map(|shown| *SHOWN.get_or_init(|| shown)));
    Some(total.min(shown.unwrap_or(u64::MAX)) / 4 * 3)
}

#[cfg(target_os = "linux")]
fn memory_shown() -> Option<u64> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let total = info.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    total.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(not(target_os = "linux"))]
fn most_memory() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_inside_another_is_the_same_root() {
        let roots = ["/w/a/b", "/w/a", "/w/ab", "/w/a"].map(PathBuf::from).to_vec();
        assert_eq!(outermost(roots), ["/w/a", "/w/ab"].map(PathBuf::from));
    }
}
