//! The command line of git: global options come before the subcommand.

use crate::analysis::Found;
use crate::programs::{GLOBAL_VALUES, is_listed};
use crate::text::Text;

/// A call of git.
pub(super) struct Git<'a> {
    pub(super) verb: &'a str,
    pub(super) arguments: &'a [Text],
    /// The values of `-c`.
    pub(super) settings: Vec<String>,
}

impl<'a> Git<'a> {
    pub(super) fn of(found: &'a Found) -> Option<Self> {
        if !matches!(found.program.as_str(), "git" | "hub") {
            return None;
        }
        let mut at = 0;
        let mut settings = vec![];
        loop {
            let argument = found.arguments.get(at)?.rough();
            match argument.as_str() {
                "-c" => {
                    settings.push(found.arguments.get(at + 1)?.rough());
                    at += 2;
                }
                option if is_listed(GLOBAL_VALUES, option) => at += 2,
                _ if argument.starts_with('-') || argument.is_empty() => at += 1,
                _ => break,
            }
        }
        Some(Self { verb: found.arguments[at].value()?, arguments: &found.arguments[at + 1..], settings })
    }

    fn has(&self, argument: &str) -> bool {
        self.arguments.iter().any(|own| own.value() == Some(argument))
    }

    /// It only prints its manual.
    pub(super) fn is_help(&self) -> bool {
        self.has("--help") || self.has("-h")
    }
}
