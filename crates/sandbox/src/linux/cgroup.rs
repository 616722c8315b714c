//! One control group (version 2) for each command, beneath the caller's own.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, mkdirat, openat, unlinkat};

/// A control group that only this command's processes are in. Removed when dropped, if they have all ended.
#[derive(Debug)]
pub(super) struct Cgroup {
    dir: OwnedFd,
    path: PathBuf,
}

impl Cgroup {
    /// Makes one, or answers none where this host lets us make none that can be killed as a whole.
    pub(super) fn create() -> Option<Self> {
        static OWN: LazyLock<Option<PathBuf>> = LazyLock::new(own_directory);
        static NEXT: AtomicU64 = AtomicU64::new(1);

        let own = OWN.as_ref()?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = own.join(format!("{PREFIX}{}-{number}", std::process::id()));
        mkdirat(CWD, &path, Mode::RWXU).ok()?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let dir =
            openat(CWD, &path, flags, Mode::empty()).inspect_err(|_| drop(fs::remove_dir(&path))).ok()?;
        Some(Self { dir, path })
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.dir.as_fd()
    }

    /// Whether any process in it, or in a group made beneath it, is alive. Zombies are not.
    pub(super) fn is_populated(&self) -> io::Result<bool> {
        Ok(self.read("cgroup.events")?.lines().any(|line| line == "populated 1"))
    }

    /// Kills all of them at once, those being born included.
    pub(super) fn kill(&self) -> io::Result<()> {
        let file = openat(&self.dir, "cgroup.kill", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
        rustix::io::write(file, b"1")?;
        Ok(())
    }

    /// The processes in it and in groups made beneath it.
    pub(super) fn pids(&self) -> io::Result<Vec<i32>> {
        let mut pids = vec![];
        for group in groups_beneath(&self.path)? {
            match fs::read_to_string(group.join("cgroup.procs")) {
                Ok(text) => pids.extend(text.lines().filter_map(|pid| pid.parse::<i32>().ok())),
                // Removed between being listed and being read: it was empty.
                Err(error) if is_gone(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(pids)
    }

    fn read(&self, name: &str) -> io::Result<String> {
        let file = openat(&self.dir, name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        io::read_to_string(fs::File::from(file))
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // Nearly always one call: the group is empty and nothing was made beneath it.
        if unlinkat(CWD, &self.path, AtFlags::REMOVEDIR).is_err() {
            for group in groups_beneath(&self.path).into_iter().flatten().rev() {
                let _ = fs::remove_dir(group);
            }
        }
    }
}

const PREFIX: &str = "bashtion-";

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

fn is_gone(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENODEV))
}

/// Our own group's directory, if we may make groups in it and they can be killed as a whole.
fn own_directory() -> Option<PathBuf> {
    let own = fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = own.lines().find_map(|line| line.strip_prefix("0::"))?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let dir = mounts.lines().find_map(|line| within_mount(line, own))?;
    remove_those_of_dead_hosts(&dir);

    let probe = dir.join(format!("{PREFIX}{}-0", std::process::id()));
    fs::create_dir(&probe).ok()?;
    let can_kill = probe.join("cgroup.kill").exists();
    let _ = fs::remove_dir(&probe);
    can_kill.then_some(dir)
}

/// Where `own`, a path inside the hierarchy, is found if this line of mountinfo is its mount.
fn within_mount(line: &str, own: &str) -> Option<PathBuf> {
    let (mount, filesystem) = line.split_once(" - ")?;
    if filesystem.split(' ').next() != Some("cgroup2") {
        return None;
    }
    let mut fields = mount.split(' ').skip(3);
    let (root, point) = (fields.next()?, fields.next()?);
    let inside = Path::new(own).strip_prefix(root).ok()?;
    Some(Path::new(point).join(inside))
}

/// A host that was killed could not remove its groups. Empty ones go; the kernel keeps the others.
fn remove_those_of_dead_hosts(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let host = name.to_str().and_then(|n| n.strip_prefix(PREFIX)).and_then(|n| n.split('-').next());
        if host.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mount_is_found_in_pure_hybrid_and_container_layouts() {
        let pure = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate";
        assert_eq!(within_mount(pure, "/user.slice/a"), Some("/sys/fs/cgroup/user.slice/a".into()));
        let hybrid = "42 32 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw";
        assert_eq!(within_mount(hybrid, "/"), Some("/sys/fs/cgroup/unified".into()));
        let container = "9 8 0:27 /docker/f00 /sys/fs/cgroup ro - cgroup2 cgroup rw";
        assert_eq!(within_mount(container, "/docker/f00"), Some("/sys/fs/cgroup".into()));
        assert_eq!(within_mount(container, "/elsewhere"), None);
        assert_eq!(within_mount("9 8 0:27 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids", "/"), None);
    }
}
