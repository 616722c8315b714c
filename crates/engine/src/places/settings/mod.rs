//! Settings files of package managers, which hold secrets too.
//!
//! Hidden as a whole, such a file would silently send a program to another registry than its user's. So a room shows a copy
//! without the secrets. It is made here, as text; what is doubted stays hidden, and the command's result says so.

mod cleaner;
mod lines;
mod tables;
#[cfg(test)]
mod tests;
mod xml;
mod yaml;

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

pub(super) use cleaner::Keys;
use cleaner::{Cleaner, Doubt};

use super::lists::SETTINGS;
use bashtion_sandbox::Stamp;

/// A settings file that programs look for in the home directory.
#[derive(Debug)]
pub(crate) struct SettingsFile {
    pub(super) path: &'static str,
    pub(super) format: Format,
    pub(super) keys: Keys,
    /// The programs that read it.
    pub(super) programs: &'static [&'static str],
}

/// The format of a settings file.
#[derive(Debug, Clone, Copy)]
pub(super) enum Format {
    Npm,
    Ini,
    Properties,
    Yaml,
    Toml,
    Xml,
}

/// A settings file that exists.
#[derive(Debug)]
pub(crate) struct FoundSettings {
    about: &'static SettingsFile,
    /// The file itself, after links.
    pub(crate) real: PathBuf,
    /// Changes when the file does.
    pub(crate) stamp: Stamp,
    /// The file without its secrets. None: it stays hidden.
    pub(crate) text: Option<String>,
    /// True if there is nothing secret in it.
    pub(super) is_harmless: bool,
}

impl FoundSettings {
    /// Looks for all of them. Those that may be read as they are, or are named as secrets, are left out.
    pub(super) fn look(
        places_of: impl Fn(&str) -> Vec<PathBuf>,
        is_left_out: impl Fn(&Path) -> bool,
    ) -> Vec<Self> {
        let mut found: Vec<Self> = vec![];
        let places = SETTINGS
            .iter()
            .flat_map(|about| places_of(about.path).into_iter().map(move |path| (about, path)));
        for (about, path) in places {
            let Ok(real) = path.canonicalize() else { continue };
            if is_left_out(&path) || is_left_out(&real) {
                continue;
            }
            let Some(stamp) = super::stamp(&real) else { continue };
            let cleaned = read(&real).and_then(|text| about.clean(&text));
            let is_harmless = cleaned.as_ref().is_ok_and(|(_, is_harmless)| *is_harmless);
            let text = cleaned.ok().map(|(text, _)| text);
            // One file under two names has two formats, perhaps.
            match found.iter_mut().find(|other| other.real == real) {
                Some(other) => {
                    other.text = other.text.take().filter(|known| Some(known) == text.as_ref());
                    other.is_harmless &= is_harmless;
                }
                None => found.push(Self { about, real, stamp, text, is_harmless }),
            }
        }
        found
    }
}

impl FoundSettings {
    /// Says what one of these programs sees instead of the file. None if none of them reads it.
    pub(super) fn told(&self, programs: &[&str], seen: Seen) -> Option<String> {
        let program = programs.iter().find(|program| self.about.programs.contains(program))?;
        let path = self.real.display();
        let defaults =
            format!("{path} is hidden, so {program} uses its own defaults, such as the public registry");
        match (seen, &self.text) {
            (Seen::Copy, _) => None,
            (Seen::Nothing | Seen::OldCopy, None) => {
                Some(format!("{defaults}: its secrets cannot be told from its settings"))
            }
            (Seen::Nothing, Some(_)) => Some(format!("{defaults}: only a room shows it without its secrets")),
            (Seen::OldCopy, Some(_)) => Some(format!(
                "{program} does not see {path} as it is now: it has changed since the room was made, which is made anew \
                 when nothing runs in it"
            )),
        }
    }
}

/// The part of a hidden settings file that a command sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// A copy without its secrets.
    Copy,
    /// One of an earlier state of the file, or nothing since it was replaced.
    OldCopy,
    Nothing,
}

/// Returns true if a program reads one of these files.
pub(crate) fn reads_settings(program: &str) -> bool {
    SETTINGS.iter().any(|about| about.programs.contains(&program))
}

impl SettingsFile {
    /// The text without its secrets, and true if there were none.
    fn clean(&self, text: &str) -> Result<(String, bool), Doubt> {
        let mut cleaner = Cleaner::new(self.keys);
        let format = match self.format {
            Format::Npm => lines::npm,
            Format::Ini => lines::ini,
            Format::Properties => lines::properties,
            Format::Yaml => yaml::yaml,
            Format::Toml => tables::toml,
            Format::Xml => xml::xml,
        };
        let shown = format(text, &mut cleaner)?;
        cleaner.finish(shown)
    }
}

/// Reads a file of ours, or of root's, that is neither too large nor something else than text.
fn read(path: &Path) -> Result<String, Doubt> {
    const LARGEST: u64 = 1 << 20;
    let open = |path| -> std::io::Result<File> {
        // Nothing that is in its place is waited for, and no link followed that has just been put there.
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
        OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
    };
    let file = open(path).map_err(|_| Doubt)?;
    let metadata = file.metadata().map_err(|_| Doubt)?;
    let is_trusted = [0, rustix::process::geteuid().as_raw()].contains(&metadata.uid());
    if !metadata.is_file() || metadata.len() > LARGEST || !is_trusted {
        return Err(Doubt);
    }
    let mut bytes = vec![];
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|_| Doubt)?;
    let text = String::from_utf8(bytes).map_err(|_| Doubt)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let is_strange = |c: char| c.is_control() && !"\t\r\n".contains(c) || "\u{2028}\u{2029}".contains(c);
    if text.len() as u64 > LARGEST || text.contains(is_strange) { Err(Doubt) } else { Ok(text.to_owned()) }
}
