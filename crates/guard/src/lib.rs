//! Understands shell commands before they run, and judges them.
//!
//! [`analyze`] goes from the text of a command to every simple command in it, with its arguments resolved as far as
//! constants reach and its effects. [`Policy::judge`] goes from there to a verdict. Both are pure: nothing is read, run
//! or looked up; what has to be known of the world comes in as a [`World`].
//!
//! It is a guardrail, not a boundary. It stops mistakes and plain malice that it recognises; what must not happen is
//! for a sandbox to prevent.
//!
//! ```
//! use bashtion_guard::{Decision, Policy, World, analyze};
//! let world = World::new("/home/dev/project", "/home/dev");
//! let verdict = Policy::default().judge(&analyze("cd / && rm -rf *", &world), &world);
//! assert_eq!(verdict.decision, Decision::Deny);
//! assert_eq!(verdict.findings[0].rule, "removes-root");
//! ```
#![forbid(unsafe_code)]

mod analysis;
mod custom;
mod effects;
mod escapes;
mod expand;
mod nearest;
mod options;
mod paths;
mod patterns;
mod permissions;
mod policy;
mod programs;
mod repair;
mod rules;
mod scope;
pub mod secrets;
mod settings_files;
mod syntax;
mod text;
mod texts;
mod trace;
mod verdict;
mod walk;
mod world;

pub use analysis::{Analysis, Effect, Found, Opaque, Target};
pub use custom::{CustomRule, ExampleError};
pub use nearest::nearest;
pub use paths::Place;
pub use permissions::{
    DecidedBy, PartDecision, PermissionError, PermissionLayer, PermissionSettings, Permissions, Suggestion,
};
pub use policy::{Policy, PolicyError, Settings};
pub use repair::only_repairs;
pub use settings_files::{SettingsFile, SettingsRoot, settings_file_at, settings_files};
pub use syntax::ast::Span;
pub use text::Text;
pub use texts::TextRule;
pub use verdict::{Decision, Finding, Verdict};
pub use world::{Confined, World};

use trace::Step;

/// Finds out what a command would do. Text that cannot be read is opaque, not an error.
///
/// ```
/// use bashtion_guard::{World, analyze};
/// let analysis = analyze("sudo env X=1 rm -r build", &World::new("/w", "/home/dev"));
/// assert_eq!(analysis.commands[0].program, "rm");
/// assert_eq!(analysis.commands[0].via, ["sudo", "env"]);
/// ```
#[must_use]
pub fn analyze(command: &str, world: &World) -> Analysis {
    let mut analysis = walk::analyze(command, world);
    if command.contains("\r\n") && command.len() <= LONGEST_TEXT {
        // To bash a carriage return is a part of the word. Whoever wrote it meant the end of a line, and so may what runs it.
        // The places in the text stay the same.
        let lines = command.replace("\\\r\n", "\\\n ").replace("\r\n", "\n\n");
        let meant = walk::analyze(&lines, world);
        analysis.commands.extend(meant.commands);
        analysis.opaque.extend(meant.opaque);
        analysis.shapes.extend(meant.shapes);
        let before = analysis.steps.len();
        let moved =
            meant.steps.into_iter().map(|step| Step { parent: step.parent.map(|at| at + before), ..step });
        analysis.steps.extend(moved);
    }
    analysis
}

/// The most bytes of a text that is looked into. Whatever is in it, that takes about a second; longer ones are opaque.
pub const LONGEST_TEXT: usize = 1 << 20;

/// A rule as its page shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct RulePage {
    /// Its name.
    pub name: &'static str,
    /// The strictest that it says.
    pub severity: Decision,
    /// True if it speaks only where a configuration gives it a severity.
    pub optional: bool,
    /// Its manual page, in Markdown.
    pub page: &'static str,
}

/// All built-in rules.
///
/// ```
/// let rule = bashtion_guard::rules().find(|rule| rule.name == "removes-root").unwrap();
/// assert!(rule.page.contains("## Instead"));
/// ```
pub fn rules() -> impl Iterator<Item = RulePage> {
    rules::RULES.iter().map(|rule| RulePage {
        name: rule.name(),
        severity: rule.severity(),
        optional: rule.exemptions().contains(&rules::Exemption::Unasked),
        page: rule.page(),
    })
}

/// A program as its page shows it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ProgramPage {
    /// Its names. `mkfs.*` stands for all that begin so.
    pub names: &'static [&'static str],
    /// What it does by its words, in Markdown.
    pub page: String,
    /// Options and words with which it does less than without: dry runs, help, subcommands that only read.
    pub harmless: Vec<&'static str>,
    /// True if the last of its words is where something goes, so that one more word is another place.
    pub ends_in_place: bool,
    /// Commands that are stopped because of what it does.
    pub stopped: &'static [&'static str],
    /// Commands that are not.
    pub allowed: &'static [&'static str],
}

/// All programs of which something is known.
///
/// ```
/// let git = bashtion_guard::programs().find(|program| program.names.contains(&"git")).unwrap();
/// assert!(git.stopped.contains(&"git reset --hard"));
/// ```
pub fn programs() -> impl Iterator<Item = ProgramPage> {
    programs::PAGES.iter().copied().flatten().map(|page| {
        let without = page.cases.iter().flat_map(|case| case.without.split(' '));
        let words = [page.dry_run, page.help, page.reads].into_iter().flat_map(|words| words.split(' '));
        ProgramPage {
            names: page.names,
            page: page.document(),
            harmless: words.chain(without).filter(|word| !word.is_empty()).collect(),
            ends_in_place: page.ends_in_place(),
            stopped: page.stopped,
            allowed: page.allowed,
        }
    })
}

/// The built-in rule whose name is most like this one.
#[must_use]
pub fn nearest_rule(name: &str) -> Option<String> {
    nearest(name, rules::RULES.iter().map(|rule| rule.name())).map(str::to_owned)
}

/// Whether a shell pattern with `*`, `?` and `[…]` matches a whole text.
///
/// ```
/// assert!(bashtion_guard::matches_text("*_TOKEN", "API_TOKEN"));
/// ```
#[must_use]
pub fn matches_text(pattern: &str, text: &str) -> bool {
    patterns::matches_text(pattern, text)
}

/// What the rules as they come say of a text.
fn judge_text(command: &str, world: &World) -> Verdict {
    Verdict::new(rules::findings(&analyze(command, world), world))
}
