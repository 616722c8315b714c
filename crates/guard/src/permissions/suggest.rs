//! What could be allowed for good: exactly this, or everything like it.

use serde::{Deserialize, Serialize};

use super::Permissions;
use super::entry::{Entry, Purpose};
use super::harmless::wrapped;
use crate::analysis::Analysis;
use crate::text::Text;
use crate::trace::{Act, Function, Step};
use crate::verdict::{Decision, PERMISSION, Verdict};

/// Entries for `allow` that would answer a question for good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suggestion {
    /// For exactly this text.
    pub exact: String,
    /// For commands of this kind, if it is one command and its kind is plain.
    pub pattern: Option<String>,
}

/// Programs whose first words say what they do, and how many of them.
const SUBCOMMANDS: &[(&str, usize)] = &[
    ("git", 1),
    ("cargo", 1),
    ("go", 1),
    ("npm", 1),
    ("pnpm", 1),
    ("yarn", 1),
    ("bun", 1),
    ("pip", 1),
    ("pip3", 1),
    ("uv", 1),
    ("poetry", 1),
    ("docker", 1),
    ("podman", 1),
    ("kubectl", 1),
    ("helm", 1),
    ("terraform", 1),
    ("systemctl", 1),
    ("apt", 1),
    ("apt-get", 1),
    ("brew", 1),
    ("rustup", 1),
    ("make", 1),
    ("just", 1),
    ("npx", 1),
    ("gh", 2),
    ("glab", 2),
    ("aws", 2),
    ("gcloud", 2),
    ("az", 2),
];

impl Suggestion {
    pub(crate) fn of(permissions: &Permissions, analysis: &Analysis, verdict: &Verdict) -> Option<Self> {
        // What is not known today may be something else tomorrow.
        if verdict.decision != Decision::Ask || !analysis.opaque.is_empty() {
            return None;
        }
        let exact = Permissions::exact(&analysis.command);
        Some(Self { exact, pattern: pattern(permissions, analysis, verdict) })
    }
}

/// A pattern for the one command that is asked about.
fn pattern(permissions: &Permissions, analysis: &Analysis, verdict: &Verdict) -> Option<String> {
    // A wildcard does not answer the question of a rule.
    if verdict.findings.iter().any(|finding| finding.rule != PERMISSION) {
        return None;
    }
    let [finding] = verdict.findings.as_slice() else { return None };
    let mut asked = analysis.steps.iter().filter(|step| step.span == finding.span);
    let first = asked.next()?;
    let call = plain_call(first)?;
    // A harmless wrapper is not part of the kind.
    let rest = wrapped(call).map_or(call, |at| &call[at..]);
    let others = asked.all(|step| plain_call(step) == Some(rest));
    // What may be denied, if a value is the wrong one, is asked about in any case.
    if !permissions.deny.is_empty() && rest.iter().any(|word| word.value().is_none()) {
        return None;
    }
    let pattern = others.then(|| kind_of(rest)).flatten()?;
    Entry::parse(&pattern, Purpose::Allow).is_ok().then_some(pattern)
}

/// The words of a call without variables and functions.
fn plain_call(step: &Step) -> Option<&[Text]> {
    match &step.act {
        Act::Call(call) if call.environment.is_empty() && call.function == Function::No => Some(&call.words),
        Act::Call(_) | Act::Assign { .. } | Act::Write { .. } | Act::Unclear(_) => None,
    }
}

/// The program, and the words that say what it does: `git push *`.
fn kind_of(words: &[Text]) -> Option<String> {
    let name = words.first()?.value()?;
    let plain = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_alphabetic() || "./_".contains(c))
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:/".contains(&byte))
    };
    if !plain(name) {
        return None;
    }
    let mut count = SUBCOMMANDS.iter().find(|(program, _)| *program == name).map_or(0, |(_, count)| *count);
    // `npm run build` and `cargo run` say more with one more word.
    if words.get(1).and_then(Text::value) == Some("run")
        && matches!(name, "npm" | "pnpm" | "yarn" | "bun" | "uv" | "poetry")
    {
        count = 2;
    }
    let verbs: Option<Vec<&str>> = words
        .get(1..=count)?
        .iter()
        .map(|word| word.value().filter(|word| plain(word) && !word.starts_with(['.', '/', '_'])))
        .collect();
    Some([&[name], verbs?.as_slice(), &["*"]].concat().join(" "))
}
