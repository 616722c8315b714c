//! Decisions and the reasons for them.

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::syntax::ast::Span;

/// Whether a command may run. The later ones are stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It may.
    Allow,
    /// Only if somebody agrees.
    Ask,
    /// It may not.
    Deny,
}

impl std::fmt::Display for Decision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        })
    }
}

/// The name under which permissions speak.
pub(crate) const PERMISSION: &str = "permission";

/// The rule of texts that are blocked by name.
pub(crate) const BLOCK: &str = "block";

/// What a rule has to say about a part of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The name of the rule.
    pub rule: String,
    /// What it calls for.
    pub severity: Decision,
    /// What was found.
    pub message: String,
    /// Where, in bytes of the command.
    pub span: Span,
    /// What to do instead.
    pub help: String,
}

/// What was decided about a command: the strictest of all findings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Verdict {
    /// The decision.
    pub decision: Decision,
    /// The reasons, the strictest first.
    pub findings: Vec<Finding>,
}

impl Verdict {
    /// Made of findings.
    #[must_use]
    pub fn new(mut findings: Vec<Finding>) -> Self {
        findings.sort_by_key(|finding| (Reverse(finding.severity), turn(finding), finding.span));
        findings = telling(findings);
        let decision = findings.first().map_or(Decision::Allow, |finding| finding.severity);
        Self { decision, findings }
    }
}

/// What is blocked by name speaks first, and safety before permission: what is dangerous is said before what is merely not
/// allowed.
fn turn(finding: &Finding) -> u8 {
    match finding.rule.as_str() {
        BLOCK => 0,
        PERMISSION => 2,
        _ => 1,
    }
}

/// Without those that add nothing: questions about a command that is refused anyway, and a second reason of one kind.
fn telling(findings: Vec<Finding>) -> Vec<Finding> {
    let family = |rule: &str| rule.split('-').next().unwrap_or_default().to_owned();
    let mut kept: Vec<Finding> = vec![];
    for finding in findings {
        let said = kept.iter().any(|other| {
            other.span == finding.span
                && (other.severity > finding.severity
                    || family(&other.rule) == "removes" && family(&finding.rule) == "removes")
        });
        if !said {
            kept.push(finding);
        }
    }
    kept
}
