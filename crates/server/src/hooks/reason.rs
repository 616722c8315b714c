//! Why, in words for the model and its user.

use bashtion::{SyntaxError, Verdict};

use super::Agent;

/// Nobody reads more.
const MOST: usize = 5;

pub(super) fn refused(verdict: &Verdict) -> String {
    let is_unreadable = verdict.findings.iter().any(|finding| finding.rule == SyntaxError::RULE);
    told(if is_unreadable { "not run, because bash cannot read it" } else { "refused by Bashtion" }, verdict)
}

pub(super) fn asked(verdict: &Verdict) -> String {
    told("Bashtion wants the user to agree", verdict)
}

pub(super) fn cannot_ask(verdict: &Verdict, agent: Agent) -> String {
    format!(
        "{}\nhelp: a hook of {agent} cannot ask the user: tell them what you want to run and why, and let them run it themself",
        told("the user has to agree to this", verdict)
    )
}

/// What decided, and what to do instead.
fn told(title: &str, verdict: &Verdict) -> String {
    let deciding = verdict.findings.iter().filter(|finding| finding.severity == verdict.decision);
    let lines = deciding.take(MOST).flat_map(|finding| {
        let found = format!("{title}: {} ({})", finding.message, finding.rule);
        let help = Some(format!("help: {}", finding.help)).filter(|_| !finding.help.is_empty());
        [Some(found), help].into_iter().flatten()
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    if text.is_empty() { title.to_owned() } else { text }
}
