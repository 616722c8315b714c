//! Rules of the user's own: patterns over commands, with examples that are checked when they are loaded.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, Effect, Found};
use crate::patterns::matches_text;
use crate::text::Text;
use crate::verdict::{Decision, Finding};
use crate::world::World;

/// A pattern over commands. All parts that are given must fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CustomRule {
    /// What it is called in verdicts.
    pub name: String,
    /// What it calls for.
    pub severity: Decision,
    /// The program without its directory; `*` and `?` may stand in it.
    #[serde(default)]
    pub program: Option<String>,
    /// Words that come first among the arguments, options left aside: `["compute", "instances", "delete"]`.
    #[serde(default)]
    pub subcommand: Vec<String>,
    /// Options that must all be given.
    #[serde(default)]
    pub flags: Vec<String>,
    /// Patterns, of which one must fit an argument or a path that is written or deleted.
    #[serde(default)]
    pub paths: Vec<String>,
    /// What is said.
    pub message: String,
    /// What to do instead.
    #[serde(default)]
    pub help: String,
    /// Commands that it must find.
    #[serde(default, rename = "match")]
    pub matching: Vec<String>,
    /// Commands that it must not find.
    #[serde(default)]
    pub not_match: Vec<String>,
}

/// An example that disagrees with its rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the rule {rule:?} {} its example {command:?}", if *.should { "does not find" } else { "finds" })]
pub struct ExampleError {
    /// The rule.
    pub rule: String,
    /// The example.
    pub command: String,
    /// Whether it should have been found.
    pub should: bool,
}

impl CustomRule {
    pub(crate) fn check_examples(&self) -> Result<(), crate::PolicyError> {
        if self.program.is_none() && self.paths.is_empty() {
            return Err(crate::PolicyError::EmptyRule { name: self.name.clone() });
        }
        let world = World::new("/workspace", "/home/user");
        let examples = [(&self.matching, true), (&self.not_match, false)];
        for (command, should) in
            examples.into_iter().flat_map(|(list, should)| list.iter().map(move |one| (one, should)))
        {
            let analysis = crate::analyze(command, &world);
            if self.findings(&analysis).is_empty() == should {
                let command = command.clone();
                return Err(ExampleError { rule: self.name.clone(), command, should }.into());
            }
        }
        Ok(())
    }

    pub(crate) fn findings(&self, analysis: &Analysis) -> Vec<Finding> {
        analysis.commands.iter().filter(|found| self.fits(found)).map(|found| self.finding(found)).collect()
    }

    fn finding(&self, found: &Found) -> Finding {
        Finding {
            rule: self.name.clone(),
            severity: self.severity,
            message: self.message.clone(),
            span: found.span,
            help: self.help.clone(),
        }
    }

    fn fits(&self, found: &Found) -> bool {
        let program = self.program.as_ref().is_none_or(|pattern| matches_text(pattern, &found.program));
        let operands = found.arguments.iter().map(Text::rough).filter(|text| !text.starts_with('-'));
        let subcommand = operands.take(self.subcommand.len()).eq(self.subcommand.iter().cloned());
        let flags = self.flags.iter().all(|flag| has_flag(found, flag));
        program
            && subcommand
            && flags
            && (self.paths.is_empty() || self.paths.iter().any(|pattern| has_path(found, pattern)))
    }
}

/// `--flag`, `--flag=value`, or a letter in a cluster.
fn has_flag(found: &Found, flag: &str) -> bool {
    found.arguments.iter().map(Text::rough).any(|argument| {
        let long = argument == flag || argument.strip_prefix(flag).is_some_and(|rest| rest.starts_with('='));
        let letter = flag.strip_prefix('-').filter(|letter| letter.len() == 1);
        let clustered = letter.is_some_and(|letter| {
            argument.starts_with('-') && !argument.starts_with("--") && argument[1..].contains(letter)
        });
        long || clustered
    })
}

fn has_path(found: &Found, pattern: &str) -> bool {
    let touched = found.effects.iter().filter_map(|effect| match effect {
        Effect::Delete { target, .. }
        | Effect::Move { target }
        | Effect::Write { target }
        | Effect::Permissions { target, .. }
        | Effect::Execute { target } => Some(target.path.clone()),
        Effect::Connect { .. } => None,
    });
    let fits = |path: &str| {
        let relative = path.trim_start_matches("./");
        matches_text(pattern, path)
            || matches_text(pattern, relative)
            || path.ends_with(&format!("/{pattern}"))
    };
    found.arguments.iter().map(Text::rough).chain(touched).any(|path| fits(&path))
}
