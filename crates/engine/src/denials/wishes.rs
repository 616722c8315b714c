//! The wishes of a command and its own words, as far as its text shows them.

use std::path::PathBuf;

use bashtion_guard::{Analysis, Effect, Found};

use super::printers::{READ_BY, prints_only};

/// The wishes of a command and its own words, as far as its text shows them.
#[derive(Debug, Default)]
pub(crate) struct Wishes {
    /// Absolute paths that it would change.
    pub(super) changes: Vec<PathBuf>,
    /// Whom it would talk to.
    pub(super) hosts: Vec<String>,
    /// The names of its programs.
    pub(super) programs: Vec<String>,
    /// The arguments of each program, quotes resolved: what `echo` would print.
    pub(super) words: Vec<String>,
    /// Files that it names, or that its programs read without being told, as they are written.
    pub(super) files: Vec<PathBuf>,
    /// True if some of its arguments are not known.
    pub(super) has_unknown: bool,
    /// True if its programs only show texts.
    pub(super) prints_only: bool,
}

/// More commands than anybody writes by hand; what they print is not compared with them.
const MOST_COMMANDS: usize = 200;
/// The same for one of them.
const LONGEST_WORDS: usize = 64 << 10;

impl Wishes {
    pub(crate) fn of(analysis: &Analysis) -> Self {
        let mut wishes = Self {
            prints_only: analysis.opaque.is_empty() && analysis.commands.iter().all(prints_only),
            ..Self::default()
        };
        for found in analysis.commands.iter().take(MOST_COMMANDS) {
            wishes.add_words(found);
            found.effects.iter().for_each(|effect| wishes.add_effect(effect));
        }
        wishes
    }

    fn add_words(&mut self, found: &Found) {
        let mut words = String::new();
        for argument in &found.arguments {
            match argument.value() {
                Some(value) if words.len() + value.len() < LONGEST_WORDS => {
                    words.push_str(value);
                    words.push(' ');
                    // Longer than any path can be.
                    if (1..4096).contains(&value.len()) && !value.starts_with('-') {
                        self.files.push(PathBuf::from(value));
                    }
                }
                Some(_) => {}
                None => {
                    self.has_unknown = true;
                    words.push_str(&argument.to_string());
                    words.push(' ');
                }
            }
        }
        self.words.push(words);
        let read = READ_BY.iter().filter(|(program, _)| found.program == *program);
        self.files.extend(read.flat_map(|(_, files)| files.iter().map(PathBuf::from)));
        self.programs.push(found.program.clone());
    }

    fn add_effect(&mut self, effect: &Effect) {
        match effect {
            Effect::Delete { target, .. }
            | Effect::Move { target }
            | Effect::Write { target }
            | Effect::Permissions { target, .. } => {
                if target.path.starts_with('/') && target.reason.is_none() {
                    self.changes.push(PathBuf::from(&target.path));
                }
            }
            Effect::Execute { target } => self.files.push(PathBuf::from(&target.path)),
            Effect::Connect { host } => self.hosts.push(host.clone()),
        }
    }
}
