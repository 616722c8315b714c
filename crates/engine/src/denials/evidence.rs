//! The lines of output that count as messages about the command itself.
//!
//! Anything can print anything. A text is no evidence if the command has said it itself (`echo`, a here-document), if it was in a
//! file before the command began (an old log, a script), or if only programs ran that show what others have written
//! and it is not in their own name.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use super::End;
use super::printers::is_voice_of;

const LONGEST_PATH: usize = 4096;

/// The lines in which a command may complain.
#[derive(Debug)]
pub(super) struct Evidence<'a> {
    end: &'a End<'a>,
    pub(super) lines: Vec<&'a str>,
    /// The content of files before the command, by their names.
    before: RefCell<HashMap<PathBuf, String>>,
}

impl<'a> Evidence<'a> {
    /// Standard error, and where something failed also standard output: `make 2>&1 | tail -3`.
    pub(super) fn gather(end: &'a End<'a>) -> Self {
        let failed = Some(end.output.stdout()).filter(|_| end.failed());
        let lines = end.output.stderr().lines().chain(failed.unwrap_or_default().lines());
        Self { end, lines: lines.collect(), before: RefCell::default() }
    }

    /// Returns true if a line that can be believed contains this.
    pub(super) fn says(&self, sign: &str) -> bool {
        self.lines_with(sign).next().is_some()
    }

    /// The lines that contain this and can be believed.
    pub(super) fn lines_with(&self, sign: &str) -> impl Iterator<Item = &'a str> {
        let is_said = move |line: &&&str| line.contains(sign) && self.is_believed(line, sign, None);
        self.lines.iter().filter(is_said).copied()
    }

    /// Returns true if a line is a message of a program that ran, about itself.
    ///
    /// `sign` is the reason in it, `about` the path that it names, as it is written.
    pub(super) fn is_believed(&self, line: &str, sign: &str, about: Option<&Path>) -> bool {
        let wishes = self.end.wishes;
        if self.end.command.contains(sign) || wishes.words.iter().any(|words| words.contains(sign)) {
            return false;
        }
        if wishes.prints_only && !(is_voice_of(line, &wishes.programs) && self.is_named(about)) {
            return false;
        }
        let written = self.end.command.split(|c: char| c.is_whitespace() || "'\";|&()<>`=".contains(c));
        let scripts = written.filter(|word| word.contains('/') && word.len() < LONGEST_PATH).map(Path::new);
        let mut files = wishes.files.iter().map(PathBuf::as_path).chain(scripts);
        !files.any(|file| self.was_in(file, sign, about))
    }

    /// Returns true if the command itself names the path, or something on the way to it.
    fn is_named(&self, path: Option<&Path>) -> bool {
        let Some(path) = path else { return true };
        let is_part = |name: &OsStr| path.iter().any(|part| part == name);
        let wishes = self.end.wishes;
        wishes.has_unknown
            || wishes.files.iter().chain(&wishes.changes).any(|file| file.file_name().is_some_and(is_part))
            || path.file_name().is_some_and(|name| self.end.command.contains(&*name.to_string_lossy()))
    }

    /// Returns true if the reason and the path were in a file when the command began.
    fn was_in(&self, file: &Path, sign: &str, about: Option<&Path>) -> bool {
        const MOST: usize = 64;
        let mut before = self.before.borrow_mut();
        if before.len() >= MOST && !before.contains_key(file) {
            return false;
        }
        let text =
            before.entry(file.to_owned()).or_insert_with(|| self.text_before(file).unwrap_or_default());
        let name = about.and_then(Path::file_name).map(|name| name.to_string_lossy());
        text.contains(sign) && name.is_none_or(|name| text.contains(&*name))
    }

    /// The text of a file that was last changed before the command began.
    fn text_before(&self, file: &Path) -> Option<String> {
        const LARGEST: u64 = 1 << 20;
        let path = self.end.cwd.join(file);
        if self.end.confinement.secrets.iter().any(|secret| path.starts_with(secret)) {
            return None;
        }
        // Without waiting: the command may have left a pipe there.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let file = File::from(rustix::fs::open(&path, flags, Mode::empty()).ok()?);
        let metadata = file.metadata().ok()?;
        if !metadata.is_file() || metadata.modified().ok()? >= self.end.started {
            return None;
        }
        let mut bytes = vec![];
        file.take(LARGEST).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}
