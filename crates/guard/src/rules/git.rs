//! The command line of git: global options come before the subcommand.

use crate::analysis::Found;
use crate::text::Text;

/// Options before the subcommand whose value is the next word.
pub(crate) const GLOBAL_VALUES: [&str; 10] = [
    "-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--attr-source",
    "--shallow-file", "--exec-path",
];

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
                option if GLOBAL_VALUES.contains(&option) => at += 2,
                _ if argument.starts_with('-') || argument.is_empty() => at += 1,
                _ => break,
            }
        }
        Some(Self { verb: found.arguments[at].value()?, arguments: &found.arguments[at + 1..], settings })
    }

    pub(super) fn has(&self, argument: &str) -> bool {
        self.arguments.iter().any(|own| own.value() == Some(argument))
    }

    pub(super) fn first(&self) -> &str {
        self.arguments.first().and_then(Text::value).unwrap_or_default()
    }

    /// It only prints its manual.
    pub(super) fn is_help(&self) -> bool {
        self.has("--help") || self.has("-h")
    }
}
