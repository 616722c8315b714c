//! What the permissions have decided, in words.

use super::decide::{DecidedBy, Judged, Part, PartDecision};
use crate::verdict::{Decision, Finding, PERMISSION};

/// More than this is not read.
const MOST_FINDINGS: usize = 20;

/// The strictest comes first in what is said, so all of them are sorted; but not without end.
const MOST_PARTS: usize = 2_000;

impl Judged {
    /// Whether the question of a rule has been answered: for exactly this command, never by a wildcard.
    pub(crate) fn answers(&self, finding: &Finding) -> bool {
        if finding.severity != Decision::Ask {
            return false;
        }
        if self.whole.is_some() {
            return true;
        }
        let mut there = self.parts.iter().filter(|part| part.decided.span == finding.span).peekable();
        let named = |part: &Part| matches!(part.decided.by, DecidedBy::Entry { list: Decision::Allow, .. });
        let about = self.parts.iter().any(|part| part.decided.span == finding.span && named(part));
        finding.rule != "opaque" && about && there.all(|part| part.exact)
    }

    pub(crate) fn findings(&self) -> Vec<Finding> {
        let parts: Vec<PartDecision> =
            self.decided().filter(|part| part.decision != Decision::Allow).collect();
        // A command whose name is not known is also something that was not understood.
        let told = |part: &PartDecision| {
            let same = |other: &PartDecision| (other.span, other.decision) == (part.span, part.decision);
            reason(part).is_none() || !parts.iter().any(|other| reason(other).is_none() && same(other))
        };
        let mut findings: Vec<Finding> =
            parts.iter().take(MOST_PARTS).filter(|part| told(part)).filter_map(finding).collect();
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        findings.truncate(MOST_FINDINGS);
        findings
    }

    pub(crate) fn explained(&self) -> Vec<PartDecision> {
        self.decided().collect()
    }

    /// The parts, where an entry for the whole text allows whatever is not denied.
    fn decided(&self) -> impl Iterator<Item = PartDecision> {
        self.parts.iter().map(|part| match &self.whole {
            Some(entry)
                if part.decided.decision != Decision::Deny || part.decided.by == DecidedBy::Default =>
            {
                let by = DecidedBy::Entry { list: Decision::Allow, entry: entry.clone() };
                PartDecision { decision: Decision::Allow, by, ..part.decided.clone() }
            }
            Some(_) | None => part.decided.clone(),
        })
    }
}

/// Why a part could not be told, if it could not.
fn reason(part: &PartDecision) -> Option<&str> {
    part.shown.strip_prefix('(')?.strip_suffix(')')
}

fn finding(part: &PartDecision) -> Option<Finding> {
    let shown = &part.shown;
    let what = reason(part).map_or_else(|| format!("`{shown}`"), |reason| format!("this: {reason}"));
    let (message, help) = match (&part.by, part.decision) {
        (_, Decision::Allow) => return None,
        (DecidedBy::Entry { entry, .. }, Decision::Deny) => (
            format!("the permissions deny this: `{entry}`"),
            "leave it out, or ask the user to do it".to_owned(),
        ),
        (DecidedBy::Entry { entry, .. }, Decision::Ask) => {
            (format!("the permissions ask about this: `{entry}`"), "ask the user to allow it".to_owned())
        }
        (DecidedBy::PossibleDeny { entry }, _) => (
            format!("the permissions deny `{entry}`, and this may be that: `{shown}`"),
            "write it with constants, or ask the user to allow it".to_owned(),
        ),
        (DecidedBy::Default | DecidedBy::Harmless, Decision::Ask) => {
            (format!("no permission allows {what}"), "ask the user to allow it".to_owned())
        }
        (DecidedBy::Default | DecidedBy::Harmless, Decision::Deny) => (
            format!("no permission allows {what}, and what is not allowed is denied"),
            "do without it, or ask the user to add a permission for it".to_owned(),
        ),
    };
    Some(Finding { rule: PERMISSION.to_owned(), severity: part.decision, message, span: part.span, help })
}
