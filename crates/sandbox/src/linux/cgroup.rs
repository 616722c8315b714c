//! Control groups (version 2), one for each running command, beneath the caller's own.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags, access, mkdirat, openat, unlinkat};

use super::exhaustion::unless_exhausted;
use super::hierarchies::{self, Hierarchies};
use super::processes;

/// Makes control groups, and keeps empty ones for the next command: making one costs as much as a pipe does.
#[derive(Debug, Default)]
pub(super) struct Cgroups {
    unified: OnceLock<Option<PathBuf>>,
    hierarchies: OnceLock<Hierarchies>,
    idle: Mutex<Vec<Cgroup>>,
    /// Whether a privileged command can leave no limit in a group for the next one: no controller is on.
    reusable: OnceLock<bool>,
    tidied: OnceLock<()>,
    limiting: OnceLock<bool>,
}

const MOST_IDLE: usize = 16;
pub(super) const PREFIX: &str = "bashtion-";

impl Cgroups {
    /// One for a command, or none where this host lets us make none that can be killed as a whole.
    pub(super) fn lease(self: &Arc<Self>) -> io::Result<Option<Lease>> {
        let Some(own) = self.unified()? else { return Ok(None) };
        let cgroup = match self.reuse(own) {
            Some(idle) => Some(idle),
            None => unless_exhausted(Cgroup::create(own))?,
        };
        Ok(cgroup.map(|cgroup| Lease { cgroup: Some(cgroup), home: Some(Arc::clone(self)) }))
    }

    /// Looked at now and not when it was given back: meanwhile somebody may have frozen it.
    fn reuse(&self, own: &Path) -> Option<Cgroup> {
        let mut idle = self.idle();
        if idle.is_empty() || !*self.reusable.get_or_init(|| has_no_controllers(own)) {
            return None;
        }
        std::iter::from_fn(|| idle.pop()).find(Cgroup::is_as_new)
    }

    /// Removes the groups that killed processes have left behind. Returns false if somebody is still in one of them.
    pub(super) fn remove_those_of_dead_hosts(&self) -> bool {
        let limiting = self.hierarchies.get().into_iter().flat_map(|own| [&own.memory, &own.pids]);
        let directories = self.unified.get().into_iter().chain(limiting).flatten();
        let mut all_are_gone = true;
        for entry in directories.filter_map(|own| fs::read_dir(own).ok()).flatten().flatten() {
            let name = entry.file_name();
            let host = name.to_str().and_then(|n| n.strip_prefix(PREFIX)).and_then(|n| n.split('-').next());
            if host.and_then(|pid| pid.parse().ok()).is_some_and(is_dead) {
                all_are_gone &= fs::remove_dir(entry.path()).is_ok();
            }
        }
        all_are_gone
    }

    /// The same for one process in a few, once: it takes time that a short command notices.
    pub(super) fn remove_those_of_dead_hosts_now_and_then(&self) {
        const ONE_IN: u32 = 16;
        if std::process::id().is_multiple_of(ONE_IN) {
            self.tidied.get_or_init(|| {
                self.remove_those_of_dead_hosts();
            });
        }
    }

    /// Whether groups that limit can be made: where version 2 has its controllers, or version 1 lets us in.
    pub(super) fn can_limit(&self) -> io::Result<bool> {
        let look = || {
            let own = self.hierarchies()?;
            let mine = |path: &PathBuf| access(path, Access::WRITE_OK).is_ok();
            if own.memory.as_ref().is_some_and(mine) && own.pids.as_ref().is_some_and(mine) {
                return Ok(true);
            }
            self.unified()?.filter(|own| mine(own)).map_or(Ok(false), |own| has_controllers(own))
        };
        known(&self.limiting, look).copied()
    }

    /// Our own group of version 2.
    fn unified(&self) -> io::Result<Option<&PathBuf>> {
        let find = || match hierarchies::unified_as_usual()? {
            Some(usual) => Ok(Some(usual)),
            None => Ok(self.hierarchies()?.unified.clone()),
        };
        known(&self.unified, find).map(Option::as_ref)
    }

    /// Where every group of ours is. Looked up only when it matters: a host of containers has hundreds of mounts.
    pub(super) fn hierarchies(&self) -> io::Result<&Hierarchies> {
        known(&self.hierarchies, Hierarchies::of_this_process)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Cgroup>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What was found out before, or now. That it could not be is not remembered.
fn known<T>(place: &OnceLock<T>, find: impl FnOnce() -> io::Result<T>) -> io::Result<&T> {
    if let Some(known) = place.get() {
        return Ok(known);
    }
    let found = find()?;
    Ok(place.get_or_init(|| found))
}

/// A control group in use. It goes back when its last process has ended.
#[derive(Debug)]
pub(super) struct Lease {
    /// Taken only by drop.
    cgroup: Option<Cgroup>,
    /// None if it is somebody else's.
    home: Option<Arc<Cgroups>>,
}

impl Lease {
    /// Removes it, instead of keeping it for the next command: somebody else may have killed in it.
    pub(super) fn discard(mut self) {
        self.home = None;
    }

    /// The group of a command that another process has started: its directory, what tells whether anybody is in it, and
    /// what kills them.
    pub(super) fn of_another(path: PathBuf, dir: OwnedFd, events: OwnedFd, kill: OwnedFd) -> Self {
        let killed = AtomicBool::new(false);
        let (events, kill) = (File::from(events), File::from(kill));
        Self { cgroup: Some(Cgroup { dir, events, kill, killed, is_ours: false, path }), home: None }
    }
}

impl std::ops::Deref for Lease {
    type Target = Cgroup;

    fn deref(&self) -> &Cgroup {
        self.cgroup.as_ref().expect("present until dropped")
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let (Some(cgroup), Some(home)) = (self.cgroup.take(), &self.home) else { return };
        let mut idle = home.idle();
        if idle.len() < MOST_IDLE && home.reusable.get() != Some(&false) {
            idle.push(cgroup);
        }
    }
}

/// A control group. Removed when dropped, if its processes have all ended.
#[derive(Debug)]
pub(super) struct Cgroup {
    dir: OwnedFd,
    /// Kept open, so that looking and killing cost one call, and work when no descriptor is left.
    events: File,
    kill: File,
    /// Newer kernels kill whoever is born into a group in which anybody was ever killed, if the parent is in another.
    killed: AtomicBool,
    /// True if it is removed with this value.
    is_ours: bool,
    path: PathBuf,
}

impl Cgroup {
    fn create(own: &Path) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = own.join(format!("{PREFIX}{}-{number}", std::process::id()));
        // Whatever the reason: that there are too many groups is told as a lack of memory.
        mkdirat(CWD, &path, Mode::RWXU).map_err(io::Error::other)?;
        Self::open(&path).inspect_err(|_| drop(fs::remove_dir(&path)))
    }

    fn open(path: &Path) -> io::Result<Self> {
        let dir = openat(CWD, path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let open = |name, flags| openat(&dir, name, flags | OFlags::CLOEXEC, Mode::empty()).map(File::from);
        let events = open("cgroup.events", OFlags::RDONLY)?;
        let kill = open("cgroup.kill", OFlags::WRONLY)?;
        let killed = AtomicBool::new(false);
        Ok(Self { events, kill, killed, is_ours: true, path: path.to_owned(), dir })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.dir.as_fd()
    }

    /// All that it has open.
    pub(super) fn descriptors(&self) -> [BorrowedFd<'_>; 3] {
        [self.dir.as_fd(), self.events.as_fd(), self.kill.as_fd()]
    }

    /// Whether any process in it, or in a group made beneath it, is alive. Zombies are not.
    pub(super) fn is_populated(&self) -> io::Result<bool> {
        let mut text = [0; 64];
        let count = self.events.read_at(&mut text, 0)?;
        Ok(!text[..count].starts_with(b"populated 0"))
    }

    /// Whether nobody is in it or was killed in it, nothing was made beneath it and it is not frozen.
    pub(super) fn is_as_new(&self) -> bool {
        if self.was_killed() {
            return false;
        }
        let mut text = [0; 64];
        let events = self.events.read_at(&mut text, 0).map(|count| &text[..count]);
        let links = rustix::fs::fstat(&self.dir).map(|stat| stat.st_nlink);
        links == Ok(2) && events.is_ok_and(|events| events == b"populated 0\nfrozen 0\n")
    }

    /// Returns true if anybody was killed in it.
    pub(super) fn was_killed(&self) -> bool {
        self.killed.load(Ordering::Acquire)
    }

    /// Kills all of them at once, those being born included.
    pub(super) fn kill(&self) -> io::Result<()> {
        self.killed.store(true, Ordering::Release);
        rustix::io::write(&self.kill, b"1")?;
        Ok(())
    }

    /// The processes in it and in groups made beneath it.
    pub(super) fn pids(&self) -> io::Result<Vec<i32>> {
        let mut pids = vec![];
        for group in groups_beneath(&self.path)? {
            let listed = processes::read(group.join("cgroup.procs")).or_else(|error| match error.kind() {
                // A threaded group lists threads only.
                io::ErrorKind::Unsupported => processes::read(group.join("cgroup.threads")),
                _ => Err(error),
            });
            match listed {
                Ok(text) => pids.extend(text.lines().filter_map(|pid| pid.parse::<i32>().ok())),
                // Removed between being listed and being read: it was empty.
                Err(error) if is_gone(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(pids)
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        if !self.is_ours {
            return;
        }
        // Nearly always one call: the group is empty and nothing was made beneath it.
        if unlinkat(CWD, &self.path, AtFlags::REMOVEDIR).is_err() {
            for group in groups_beneath(&self.path).into_iter().flatten().rev() {
                let _ = fs::remove_dir(group);
            }
        }
    }
}

/// The directory itself and those beneath it, parents first.
fn groups_beneath(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = vec![dir.to_owned()];
    let mut next = 0;
    while let Some(group) = found.get(next) {
        match fs::read_dir(group) {
            Ok(entries) => {
                let inner = entries.flatten().filter(|e| e.file_type().is_ok_and(|t| t.is_dir()));
                found.extend(inner.map(|e| e.path()).collect::<Vec<_>>());
            }
            Err(error) if is_gone(&error) => {}
            Err(error) => return Err(error),
        }
        next += 1;
    }
    Ok(found)
}

/// Returns true if there is no such process, or nothing is left of it but its number.
fn is_dead(pid: i32) -> bool {
    processes::stat(pid).is_ok_and(|found| found.is_none_or(|stat| !stat.alive))
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENODEV))
}

/// Whether groups beneath this one can have no limits.
fn has_no_controllers(own: &Path) -> bool {
    fs::read_to_string(own.join("cgroup.subtree_control")).is_ok_and(|list| list.trim().is_empty())
}

/// Whether groups beneath this one have limits for memory and processes; they are switched on where that is possible.
fn has_controllers(own: &Path) -> io::Result<bool> {
    let switches = own.join("cgroup.subtree_control");
    let on = || -> io::Result<bool> {
        let list = unless_exhausted(fs::read_to_string(&switches))?.unwrap_or_default();
        Ok(["memory", "pids"].iter().all(|name| list.split_whitespace().any(|on| on == *name)))
    };
    Ok(on()? || (unless_exhausted(fs::write(&switches, "+memory +pids"))?.is_some() && on()?))
}
