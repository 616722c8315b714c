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
    walk::analyze(command, world)
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
    /// Whether it speaks only where a configuration gives it a severity.
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
