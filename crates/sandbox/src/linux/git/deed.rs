//! Doing in a git directory what a command has asked for, by descriptors of the host and without following a link.

use std::hash::{BuildHasher, RandomState};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{MutexGuard, PoisonError};

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, fchmod, fstat, mkdirat, openat, renameat, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;

use super::answer::{Answer, Asked, Spot};
use super::astray::without_dots;
use super::birth;
use super::config::{self, Refusal};
use super::names::{self, Part};
use super::operation::Operation;
use crate::StoppedBy;
use crate::imp::processes;
use crate::own_directory::identity;

/// One deed at one place.
pub(super) struct Doing<'a> {
    pub(super) asked: &'a Asked<'a>,
    pub(super) spot: &'a Spot,
}

/// Files that are looked at before they count. Git's own are a hundredth of it.
const LARGEST: u64 = 4 << 20;

impl Doing<'_> {
    pub(super) fn answer(&self, operation: &Operation) -> Result<Answer, Errno> {
        match operation {
            Operation::Open { flags, mode, .. } => self.open(*flags, *mode),
            Operation::MakeDirectory { mode, .. } => self.make_directory(*mode),
            Operation::Remove { is_directory, .. } => self.remove(*is_directory),
            Operation::SetMode { mode, .. } => self.set_mode(*mode),
            // A new repository tries whether there can be links, and removes it again.
            Operation::MakeLink { .. } if names::is_trial(&self.spot.parts()) => {
                symlinkat("testing", &self.spot.directory, &self.spot.name)?;
                Ok(Answer::Done)
            }
            // The read-only mount says no.
            Operation::MakeLink { .. }
            | Operation::Link { .. }
            | Operation::MakeNode { .. }
            | Operation::Truncate { .. }
            | Operation::Rename { .. } => Ok(Answer::GoOn),
        }
    }

    fn open(&self, flags: OFlags, mode: u32) -> Result<Answer, Errno> {
        if let Some((name, link)) = names::worktree_link(&self.spot.parts())
            && !self.exists()
        {
            return birth::worktree(self.asked, self.spot, name, link, flags);
        }
        match self.spot.part() {
            Part::Data => {}
            // A clone writes one that leads nowhere before it knows its branch.
            Part::Head if !self.exists() => {}
            Part::Head | Part::Closed | Part::Steps | Part::Config => return self.refuse(),
        }
        let is_lock = names::is_guarded_lock(&self.spot.parts());
        let flags = if is_lock { flags | OFlags::EXCL } else { flags };
        // Nothing that could make it wait for somebody, or be another file's.
        let harmless = OFlags::ACCMODE | OFlags::CREATE | OFlags::EXCL | OFlags::TRUNC | OFlags::APPEND;
        let harmless = harmless | OFlags::DSYNC | OFlags::SYNC | OFlags::CLOEXEC;
        let opening =
            flags & harmless & !OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(mode & 0o777 & !self.umask());
        let file = openat(&self.spot.directory, &self.spot.name, opening, mode)?;
        let stat = fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || stat.st_nlink > 1 {
            return Err(Errno::ACCESS);
        }
        if is_lock {
            self.locks().push(identity(&stat));
        }
        if flags.contains(OFlags::EXCL) {
            // Our own mask may have taken more away.
            fchmod(&file, mode)?;
        }
        if flags.contains(OFlags::TRUNC) {
            rustix::fs::ftruncate(&file, 0)?;
        }
        rustix::fs::fcntl_setfl(&file, flags & (OFlags::APPEND | OFlags::NONBLOCK))?;
        Ok(Answer::File(file, flags))
    }

    fn make_directory(&self, mode: u32) -> Result<Answer, Errno> {
        if statat(&self.spot.directory, &self.spot.name, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
            return Err(Errno::EXIST);
        }
        if !names::may_be_directory(&self.spot.parts()) {
            return self.refuse();
        }
        let mode = Mode::from_raw_mode(mode & 0o777 & !self.umask());
        mkdirat(&self.spot.directory, &self.spot.name, mode)?;
        if names::is_open_in(&self.spot.parts()) {
            birth::open_data(self.asked, self.spot);
        }
        Ok(Answer::Done)
    }

    fn remove(&self, is_directory: bool) -> Result<Answer, Errno> {
        if !is_directory && !self.is_own_lock(self.spot) {
            return Err(Errno::ACCESS);
        }
        if !self.spot.is_removable() {
            match is_directory {
                // Git tries it, and is content with that answer.
                true if !names::may_go(&self.spot.parts()) => return Err(Errno::NOTEMPTY),
                // A worktree that is removed. Its files lead nowhere then.
                false if matches!(self.spot.parts().as_slice(), ["worktrees", _, _, ..]) => {}
                false if self.exists() && !matches!(self.spot.part(), Part::Data | Part::Steps) => {
                    return self.refuse();
                }
                true | false => {}
            }
        }
        let flags = if is_directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        unlinkat(&self.spot.directory, &self.spot.name, flags)?;
        Ok(Answer::Done)
    }

    fn set_mode(&self, mode: u32) -> Result<Answer, Errno> {
        let mode = match self.spot.part() {
            Part::Data => mode,
            // A new repository tries whether modes are kept. Its owner can read it in any case.
            Part::Config | Part::Head => mode | 0o600,
            Part::Closed | Part::Steps => return Ok(Answer::GoOn),
        };
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(&self.spot.directory, &self.spot.name, flags, Mode::empty())?;
        fchmod(file, Mode::from_raw_mode(mode & 0o777))?;
        Ok(Answer::Done)
    }

    /// Moves another file of the same repository here.
    pub(super) fn rename(&self, source: &Spot, flags: u32) -> Result<Answer, Errno> {
        const NOREPLACE: u32 = libc::RENAME_NOREPLACE;
        let from = source.part();
        if flags & !NOREPLACE != 0 || from != Part::Data {
            return self.refuse();
        }
        if names::is_guarded_lock(&self.spot.parts()) || !self.is_own_lock(source) {
            return Err(Errno::ACCESS);
        }
        if flags & NOREPLACE != 0 && self.exists() {
            return Err(Errno::EXIST);
        }
        let stat = statat(&source.directory, &source.name, AtFlags::SYMLINK_NOFOLLOW)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Ok(Answer::GoOn);
        }
        let to = self.spot.part();
        match to {
            Part::Closed => return self.refuse(),
            Part::Data => {
                renameat(&source.directory, &source.name, &self.spot.directory, &self.spot.name)?;
            }
            Part::Config | Part::Head | Part::Steps => {
                let text = read(&source.directory, &source.name)?;
                self.check(to, &text)?;
                // Whoever has the other file open cannot change this one.
                self.replace(&text, stat.st_mode)?;
                unlinkat(&source.directory, &source.name, AtFlags::empty())?;
            }
        }
        Ok(Answer::Done)
    }

    fn check(&self, part: Part, text: &[u8]) -> Result<(), Errno> {
        let why = match part {
            Part::Config => {
                let old = match read(&self.spot.directory, &self.spot.name) {
                    Err(Errno::NOENT) => vec![],
                    old => old?,
                };
                let (worktree, astray) =
                    (|path: &[u8]| self.is_worktree(path), |url: &[u8]| self.leads_astray(url));
                match config::check(text, &old, worktree, astray) {
                    Ok(()) => return Ok(()),
                    Err(Refusal::Key(key)) => StoppedBy::Key(key),
                    Err(Refusal::Unreadable { .. }) => StoppedBy::Git,
                }
            }
            Part::Head if is_head(text) => return Ok(()),
            Part::Steps if !has_commands(text) => return Ok(()),
            Part::Head | Part::Steps | Part::Data | Part::Closed => StoppedBy::Git,
        };
        Err(self.asked.stop(self.spot, why))
    }

    /// Returns true if a submodule's files are there: in the workspace, and not in a git directory.
    fn is_worktree(&self, path: &[u8]) -> bool {
        use std::os::unix::ffi::OsStrExt;
        let path = Path::new(std::ffi::OsStr::from_bytes(path));
        let is_submodule = self.spot.parts().first() == Some(&"modules");
        let directory = self.spot.path.parent().unwrap_or(Path::new("/"));
        let place = without_dots(&directory.join(path));
        let is_inside = place.starts_with(&self.spot.root) && place != self.spot.root;
        is_submodule && path.is_relative() && is_inside && !place.iter().any(|part| part == ".git")
    }

    /// Returns true for the address of a repository that a command can have written as it likes, hooks included.
    fn leads_astray(&self, url: &[u8]) -> bool {
        use std::os::unix::ffi::OsStrExt;
        let url = url.strip_prefix(b"file://").unwrap_or(url);
        let git = self.spot.home.as_ref().map(|(git, _)| git.as_path());
        let from = git.and_then(Path::parent).unwrap_or(Path::new("/"));
        self.asked.ground.address_leads_astray(&from.join(Path::new(std::ffi::OsStr::from_bytes(url))))
    }

    fn replace(&self, text: &[u8], mode: u32) -> Result<(), Errno> {
        let draft = format!(".bashtion-{:016x}", RandomState::new().hash_one(&self.spot.name));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&self.spot.directory, &draft, flags, Mode::from_raw_mode(0o600))?;
        let written = (|| {
            let mut file = std::fs::File::from(file);
            file.write_all(text).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
            fchmod(&file, Mode::from_raw_mode(mode & 0o777))?;
            renameat(&self.spot.directory, &draft, &self.spot.directory, &self.spot.name)
        })();
        if written.is_err() {
            let _ = unlinkat(&self.spot.directory, &draft, AtFlags::empty());
        }
        written
    }

    /// Returns false for a lock that somebody else has made, such as the user's own git: what is under its name is what counts
    /// in the end.
    fn is_own_lock(&self, spot: &Spot) -> bool {
        !names::is_guarded_lock(&spot.parts())
            || statat(&spot.directory, &spot.name, AtFlags::SYMLINK_NOFOLLOW)
                .map_or(true, |stat| self.locks().contains(&identity(&stat)))
    }

    fn locks(&self) -> MutexGuard<'_, Vec<(u64, u64)>> {
        self.asked.watch.locks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn exists(&self) -> bool {
        statat(&self.spot.directory, &self.spot.name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    fn refuse(&self) -> Result<Answer, Errno> {
        Err(self.asked.stop(self.spot, StoppedBy::Git))
    }

    fn umask(&self) -> u32 {
        processes::umask_of(&self.asked.call.thread.to_string())
    }
}

pub(super) fn read(directory: &OwnedFd, name: &str) -> Result<Vec<u8>, Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(directory, name, flags, Mode::empty())?;
    if FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::RegularFile {
        return Err(Errno::ACCESS);
    }
    let mut text = vec![];
    let read = std::fs::File::from(file).take(LARGEST + 1).read_to_end(&mut text);
    read.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    if u64::try_from(text.len()).unwrap_or(u64::MAX) > LARGEST { Err(Errno::FBIG) } else { Ok(text) }
}

/// Returns true for the name of a branch or the number of a commit: without one git takes the directory for no repository.
fn is_head(text: &[u8]) -> bool {
    let line = text.strip_suffix(b"\n").unwrap_or(text);
    let is_number = matches!(line.len(), 40 | 64) && line.iter().all(u8::is_ascii_hexdigit);
    let branch = line.strip_prefix(b"ref: ").filter(|name| name.starts_with(b"refs/"));
    let is_branch = branch.is_some_and(|name| {
        let odd = |byte: &u8| *byte <= b' ' || *byte == 0x7f || b"~^:?*[\\".contains(byte);
        !name.iter().any(odd) && !name.windows(2).any(|two| matches!(two, b".." | b"//" | b"@{" | b"/."))
    });
    is_number || is_branch
}

/// Returns true if a list of steps would run something else than git.
fn has_commands(text: &[u8]) -> bool {
    let first = |line: &[u8]| {
        let word = line.trim_ascii_start().split(u8::is_ascii_whitespace).next().unwrap_or_default();
        word.eq_ignore_ascii_case(b"exec") || word.eq_ignore_ascii_case(b"x")
    };
    text.split(|byte| *byte == b'\n').any(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads() {
        for text in ["ref: refs/heads/main\n", "ref: refs/heads/a/b-c_d.e", &format!("{}\n", "a1".repeat(20))]
        {
            assert!(is_head(text.as_bytes()), "{text}");
        }
        for text in [
            "", "ref: ../x", "ref: refs/heads/../x", "ref: HEAD", "x", "ref: refs/heads/a b",
            "ref: refs/a\nb",
        ] {
            assert!(!is_head(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn steps_that_run_something() {
        assert!(!has_commands(b"pick abc exec it\nfixup def\n# exec x\nbreak\n"));
        assert!(has_commands(b"pick abc\n exec make\n") && has_commands(b"x make"));
    }
}
