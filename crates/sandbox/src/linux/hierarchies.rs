//! Where our own control group is, in each hierarchy that is of use.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FsWord, statfs};

use super::exhaustion::unless_exhausted;
use super::processes;

/// The directory of the group that we are in: of version 2, and of the version 1 controllers that can limit a tree.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Hierarchies {
    pub(super) unified: Option<PathBuf>,
    pub(super) memory: Option<PathBuf>,
    pub(super) pids: Option<PathBuf>,
}

impl Hierarchies {
    /// An error only if something has run out, which says nothing about them.
    pub(super) fn of_this_process() -> io::Result<Self> {
        let own = unless_exhausted(processes::read("/proc/self/cgroup"))?;
        let mounts = unless_exhausted(processes::read("/proc/self/mountinfo"))?;
        Ok(own.zip(mounts).map_or_else(Self::default, |(own, mounts)| Self::parse(&own, &mounts)))
    }

    fn parse(own: &str, mounts: &str) -> Self {
        let mounts: Vec<Mount<'_>> = mounts.lines().filter_map(Mount::parse).collect();
        let find = |filesystem: &str, controller: &str| {
            let own = own_path(own, controller)?;
            mounts.iter().find_map(|mount| mount.place(filesystem, controller, own))
        };
        Self { unified: find("cgroup2", ""), memory: find("cgroup", "memory"), pids: find("cgroup", "pids") }
    }
}

/// The directory of our group of version 2, if it is where most systems mount them.
pub(super) fn unified_as_usual() -> io::Result<Option<PathBuf>> {
    const CGROUP2_SUPER_MAGIC: FsWord = 0x6367_7270;
    /// The file that is the namespace of the first process, on every Linux.
    const FIRST_NAMESPACE: u64 = 0xefff_fffb;
    // In another one paths are told from elsewhere than the mount may begin.
    if !fs::metadata("/proc/self/ns/cgroup").is_ok_and(|found| found.ino() == FIRST_NAMESPACE) {
        return Ok(None);
    }
    let groups = unless_exhausted(processes::read("/proc/self/cgroup"))?.unwrap_or_default();
    let own = own_path(&groups, "").and_then(|own| own.strip_prefix('/')).filter(|own| !own.contains(".."));
    let points = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].map(Path::new);
    let is_mounted = |point: &&Path| statfs(*point).is_ok_and(|found| found.f_type == CGROUP2_SUPER_MAGIC);
    let place = points.into_iter().find(is_mounted).zip(own).map(|(point, own)| point.join(own));
    // Of a mount that shows only a part of the hierarchy the path within it is another one.
    Ok(place.filter(|path| path.is_dir()))
}

/// The path of our group in the hierarchy with this controller; that of version 2 has none.
fn own_path<'a>(groups: &'a str, controller: &str) -> Option<&'a str> {
    groups.lines().find_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        controllers.split(',').any(|name| name == controller).then_some(path)
    })
}

/// A control group file system: a line of mountinfo.
struct Mount<'a> {
    filesystem: &'a str,
    /// Of version 1 also the controllers.
    options: &'a str,
    root: &'a str,
    point: &'a str,
}

impl<'a> Mount<'a> {
    /// Six fields, any number of optional ones, a dash, and three more.
    fn parse(line: &'a str) -> Option<Self> {
        let mut fields = line.split(' ').skip(3);
        let (root, point) = (fields.next()?, fields.next()?);
        let mut kind = fields.skip_while(|field| *field != "-").skip(1);
        let filesystem = kind.next().filter(|name| name.starts_with("cgroup"))?;
        Some(Self { filesystem, options: kind.nth(1)?, root, point })
    }

    /// Where `own`, a path inside the hierarchy, is found if this is its mount.
    fn place(&self, filesystem: &str, controller: &str, own: &str) -> Option<PathBuf> {
        let has_controller = controller.is_empty() || self.options.split(',').any(|name| name == controller);
        if self.filesystem != filesystem || !has_controller {
            return None;
        }
        let inside = Path::new(own).strip_prefix(self.root).ok()?;
        Some(Path::new(self.point).join(inside))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unified(mount: &str, own: &str) -> Option<PathBuf> {
        Hierarchies::parse(&format!("3:pids:/x\n0::{own}\n"), mount).unified
    }

    #[test]
    fn the_mount_is_found_in_pure_hybrid_and_container_layouts() {
        let pure = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate";
        assert_eq!(unified(pure, "/user.slice/a"), Some("/sys/fs/cgroup/user.slice/a".into()));
        let hybrid = "42 32 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw";
        assert_eq!(unified(hybrid, "/"), Some("/sys/fs/cgroup/unified".into()));
        let container = "9 8 0:27 /docker/f00 /sys/fs/cgroup ro - cgroup2 cgroup rw";
        assert_eq!(unified(container, "/docker/f00"), Some("/sys/fs/cgroup".into()));
        assert_eq!(unified(container, "/elsewhere"), None);
        assert_eq!(unified("9 8 0:27 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids", "/"), None);
    }

    #[test]
    fn where_groups_usually_are_agrees_with_the_mounts() {
        if let Some(usual) = unified_as_usual().unwrap() {
            assert_eq!(Some(usual), Hierarchies::of_this_process().unwrap().unified);
        }
    }

    #[test]
    fn version_one_controllers_may_share_a_mount() {
        let mounts = "9 8 0:27 / /cg/all rw - cgroup cgroup rw,memory,pids\n7 8 0:1 / /cg/cpu rw - cgroup cgroup rw,cpu";
        let found = Hierarchies::parse("2:memory,pids:/a\n1:cpu:/\n0::/\n", mounts);
        let shared = Some("/cg/all/a".into());
        assert_eq!(found, Hierarchies { unified: None, memory: shared.clone(), pids: shared });
    }
}
