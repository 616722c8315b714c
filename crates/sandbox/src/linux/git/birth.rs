//! Repositories that a command makes: protected before anything is in them.

use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use rustix::fs::{
    AtFlags, Dir, FileType, MemfdFlags, Mode, OFlags, fstat, mkdirat, openat, statat, unlinkat,
};
use rustix::io::Errno;

use super::Fence;
use super::answer::{Answer, Asked, Spot};
use super::names::{WorktreeLink, is_open};
use crate::StoppedBy;
use crate::imp::confine::{Mounts, closed, open_beneath, opened};
use crate::imp::namespaces::Namespaces;
use crate::imp::processes::umask_of;
use crate::own_directory::identity;

/// Makes a git directory, and lays a read-only mount over it in the command's file tree. From then on every name in it is
/// asked about.
pub(super) fn repository(asked: &Asked<'_>, spot: &Spot, mode: u32) -> Result<Answer, Errno> {
    let mode = Mode::from_raw_mode(mode & 0o777 & !umask_of(&asked.call.thread.to_string()));
    mkdirat(&spot.directory, &spot.name, mode)?;
    if asked.ground.fence == Fence::Landlock {
        return Ok(Answer::Done);
    }
    let made = protect(asked, spot);
    if made.is_err() {
        let _ = unlinkat(&spot.directory, &spot.name, AtFlags::REMOVEDIR);
        asked.stop(spot, StoppedBy::Repository);
    }
    made.map(|()| Answer::Done)
}

/// Lays a directory of data open in the command's file tree, so that nothing in it is asked about. If that fails it is slower.
pub(super) fn open_data(asked: &Asked<'_>, spot: &Spot) {
    if asked.ground.fence == Fence::Mounts {
        let _ = lay(asked, spot, opened);
    }
}

/// Lays a mount over what is at that place.
fn lay(
    asked: &Asked<'_>,
    spot: &Spot,
    mount: fn(&Path, (u64, u64)) -> Option<Mounts>,
) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = openat(&spot.directory, &spot.name, flags, Mode::empty())?;
    let stat = fstat(&directory)?;
    let mounts = mount(&spot.path, identity(&stat)).ok_or(Errno::ACCESS)?;
    let namespaces = Namespaces::of(asked.call.thread).map_err(|_| Errno::ACCESS)?;
    if namespaces.with(|| mounts.lay_over()) { Ok(directory) } else { Err(Errno::ACCESS) }
}

fn protect(asked: &Asked<'_>, spot: &Spot) -> Result<(), Errno> {
    let git = lay(asked, spot, closed)?;
    // Somebody else in the room may have been faster.
    for entry in Dir::read_from(&git)? {
        let name = entry?.file_name().to_owned();
        if ![c".", c".."].contains(&name.as_c_str()) {
            remove(&git, &name)?;
        }
    }
    Ok(())
}

fn remove(at: &OwnedFd, name: &std::ffi::CStr) -> Result<(), Errno> {
    let is_directory = |stat: rustix::fs::Stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
    let flags = match statat(at, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) if is_directory(stat) => AtFlags::REMOVEDIR,
        _ => AtFlags::empty(),
    };
    unlinkat(at, name, flags)
}

/// A file that says where the git directory of a submodule is. It can say only one thing, so the host writes it, and the
/// command writes into the void.
pub(super) fn link(asked: &Asked<'_>, spot: &Spot, flags: OFlags) -> Result<Answer, Errno> {
    let exists = statat(&spot.directory, &spot.name, AtFlags::SYMLINK_NOFOLLOW).is_ok();
    if exists && flags.contains(OFlags::EXCL) {
        return Err(Errno::EXIST);
    }
    let worktree = asked.watch.worktrees.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let text = match worktree {
        Some((git, name)) if !exists => {
            let directory = git.join("worktrees").join(&name);
            let there = open_beneath(&git, &directory).map_err(|_| Errno::ACCESS)?;
            write(&there, "gitdir", &format!("{}\n", spot.path.to_str().ok_or(Errno::ACCESS)?))?;
            Some(format!("gitdir: {}\n", directory.to_str().ok_or(Errno::ACCESS)?))
        }
        _ => text_of_link(&spot.root, &spot.path),
    };
    let Some(text) = text else { return Err(asked.stop(spot, StoppedBy::Repository)) };
    if !exists {
        write(&spot.directory, &spot.name, &text)?;
    }
    void(flags)
}

/// The files by which a worktree and its repository find each other. They can say only one thing, too; and what one of them
/// says is known when the worktree's own link is made.
pub(super) fn worktree(
    asked: &Asked<'_>,
    spot: &Spot,
    name: &str,
    link: WorktreeLink,
    flags: OFlags,
) -> Result<Answer, Errno> {
    const MOST: usize = 16;
    match (link, &spot.home) {
        (WorktreeLink::ToRepository, _) => write(&spot.directory, &spot.name, "../..\n")?,
        (WorktreeLink::ToFiles, Some((git, _))) => {
            let mut worktrees = asked.watch.worktrees.lock().unwrap_or_else(PoisonError::into_inner);
            if worktrees.len() < MOST {
                worktrees.push((git.clone(), name.to_owned()));
            }
        }
        (WorktreeLink::ToFiles, None) => return Err(Errno::ACCESS),
    }
    void(flags)
}

/// A file that nobody reads.
fn void(flags: OFlags) -> Result<Answer, Errno> {
    Ok(Answer::File(rustix::fs::memfd_create(c"git", MemfdFlags::CLOEXEC)?, flags))
}

fn write(directory: &OwnedFd, name: &str, text: &str) -> Result<(), Errno> {
    let making = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(directory, name, making, Mode::from_raw_mode(0o644))?;
    let written = std::fs::File::from(file).write_all(text.as_bytes());
    written.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

/// `gitdir: ../.git/modules/NAME`, if there is a repository around. Git writes it before that directory is there.
fn text_of_link(root: &Path, link: &Path) -> Option<String> {
    let worktree = link.parent()?;
    let mut around = worktree.ancestors().skip(1).take_while(|path| path.starts_with(root));
    let outer = around.find(|outer| open_beneath(root, &outer.join(".git")).is_ok())?;
    let name = worktree.strip_prefix(outer).ok()?;
    // It would lead to what a command may write as it likes.
    if name.iter().any(|part| part.to_str().is_none_or(is_open)) {
        return None;
    }
    let mut way: PathBuf = name.iter().map(|_| "..").collect();
    way.push(".git/modules");
    way.push(name);
    Some(format!("gitdir: {}\n", way.to_str()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_leads_to_a_submodule_and_nowhere_else() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join(".git/modules/lib/one")).unwrap();
        std::fs::create_dir_all(root.join("lib/one")).unwrap();
        let text = |path: &str| text_of_link(&root, &root.join(path));
        assert_eq!(text("lib/one/.git").as_deref(), Some("gitdir: ../../.git/modules/lib/one\n"));
        assert_eq!(text("two/.git").as_deref(), Some("gitdir: ../.git/modules/two\n"));
        assert_eq!(text(".git"), None);
        assert_eq!(text("lib/objects/x/.git"), None);
    }
}
