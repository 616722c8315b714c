//! Questions that wait, for people and for programs.

use std::time::{Duration, SystemTime};

use bashtion::{Approval, ApprovalState};
use serde_json::{Value, json};

use super::sanitize;
use super::tasks::short;

/// For people: one line each, and why.
pub(crate) fn approval_table(approvals: &[Approval]) -> String {
    if approvals.is_empty() {
        return "nothing waits for approval\n".to_owned();
    }
    let mut text = format!("{:11} {:>8}  COMMAND\n", "QUESTION", "AGE");
    for approval in approvals {
        let age = short(approval.asked.elapsed().unwrap_or_default());
        text += &format!("{:11} {age:>8}  {}\n", approval.id.as_str(), beginning(&approval.command));
        if let Some(confined) = approval.circumstances.first() {
            let more = approval.circumstances.len() - 1;
            let more = if more == 0 { String::new() } else { format!(" (and {more} more, see it in full)") };
            text += &format!("{:20}  {}{more}\n", "", beginning(confined));
        }
        for words in approval.grant.in_words().iter().take(3) {
            text += &format!("{:20}  {}\n", "", beginning(words));
        }
        for finding in approval.verdict.findings.iter().take(3) {
            text += &format!("{:20}  {}: {}\n", "", finding.rule, beginning(&finding.message));
        }
    }
    text + "see one in full with `bashtion approve --show ID`, agree to it with `bashtion approve ID`, refuse it with `bashtion deny ID`\n"
}

/// As much as fits on a line, and how much does not.
fn beginning(text: &str) -> String {
    const LONGEST: usize = 100;
    let mut lines = text.trim_end().lines();
    let line = sanitize::visible(lines.next().unwrap_or_default());
    let mut shown: String = line.chars().take(LONGEST).collect();
    if shown.len() < line.len() {
        shown.push('…');
    }
    match lines.count() {
        0 => shown,
        more => format!("{shown}  (and {more} more lines)"),
    }
}

/// For programs.
pub(crate) fn approval_as_json(approval: &Approval) -> Value {
    let (state, by, reason, until) = match &approval.state {
        ApprovalState::Waiting { until } => ("waiting", None, None, Some(until)),
        ApprovalState::Approved { by, until } => ("approved", Some(by), None, Some(until)),
        ApprovalState::Denied { by, reason, until } => ("denied", Some(by), Some(reason), Some(until)),
        ApprovalState::Expired => ("expired", None, None, None),
        ApprovalState::Used => ("used", None, None, None),
    };
    let time = |time: &SystemTime| humantime::format_rfc3339_millis(*time).to_string();
    json!({
        "approval_id": approval.id,
        "state": state,
        "by": by,
        "reason": reason,
        "revoked": approval.revoked,
        "until": until.map(time),
        "asked": time(&approval.asked),
        "operation_id": approval.operation_id,
        "command": approval.command,
        "display": approval.display,
        "description": approval.description,
        "cwd": approval.cwd.to_string_lossy(),
        "verdict": approval.verdict,
        "effects": approval.effects,
        "circumstances": approval.circumstances,
        "grant": approval.grant,
    })
}

/// For people: what was said, and what comes of it.
pub(crate) fn approval_answered(approval: &Approval) -> String {
    let left = |until: &SystemTime| {
        let left = until.duration_since(SystemTime::now()).unwrap_or_default();
        // Rounded, because a moment has passed since it was set.
        short(Duration::from_secs((left + Duration::from_millis(500)).as_secs()))
    };
    let revoked = approval.revoked.as_deref().map_or_else(String::new, |by| {
        format!(", which revokes the approval by {}: it will not run", sanitize::text(by))
    });
    match &approval.state {
        ApprovalState::Approved { until, .. } => format!(
            "approved: {} may run once, if the very same request is made again within {}; nothing runs by itself\n",
            approval.id,
            left(until)
        ),
        ApprovalState::Denied { reason, .. } if reason.is_empty() => {
            format!("denied: {}{revoked}\n", approval.id)
        }
        ApprovalState::Denied { reason, .. } => {
            format!("denied: {}, with the reason: {}{revoked}\n", approval.id, sanitize::text(reason))
        }
        ApprovalState::Waiting { .. } | ApprovalState::Expired | ApprovalState::Used => String::new(),
    }
}
