//! Verdicts in words: what was found, where, and what to do instead.

use anstyle::{AnsiColor, Style};
use bashtion::{DecidedBy, Decision, Finding, Found, Judgement, PartDecision, SyntaxError, Verdict};

use super::sanitize;

/// How much of a long line is shown.
const WIDEST: usize = 100;

/// The findings with the part of the command that they are about underlined.
pub(crate) fn shown(command: &str, verdict: &Verdict, coloured: bool) -> String {
    if verdict.findings.is_empty() {
        return format!("{}\n", painted("allowed", Decision::Allow, coloured));
    }
    verdict.findings.iter().map(|finding| one(command, finding, coloured)).collect()
}

fn one(command: &str, finding: &Finding, coloured: bool) -> String {
    let title = match finding.severity {
        Decision::Deny if finding.rule == SyntaxError::RULE => "invalid",
        Decision::Deny => "refused",
        Decision::Ask => "needs approval",
        Decision::Allow => "allowed",
    };
    let title = painted(title, finding.severity, coloured);
    let (line, marks) = underlined(command, finding);
    let marks = painted(&marks, finding.severity, coloured);
    let mut text =
        format!("{title}: {}\n  {line}\n  {marks} {}\n", sanitize::text(&finding.message), finding.rule);
    if !finding.help.is_empty() {
        text += &format!("help: {}\n", sanitize::text(&finding.help));
    }
    text
}

fn painted(text: &str, decision: Decision, coloured: bool) -> String {
    let colour = match decision {
        Decision::Allow => AnsiColor::Green,
        Decision::Ask => AnsiColor::Yellow,
        Decision::Deny => AnsiColor::Red,
    };
    let style = if coloured { Style::new().fg_color(Some(colour.into())).bold() } else { Style::new() };
    format!("{style}{text}{style:#}")
}

/// The line where the finding begins, and marks under it.
fn underlined(command: &str, finding: &Finding) -> (String, String) {
    // Spans are on boundaries already, but nothing here should depend on it.
    let boundary =
        |at: usize| (0..=at.min(command.len())).rev().find(|at| command.is_char_boundary(*at)).unwrap_or(0);
    let (start, end) = (boundary(finding.span.start), boundary(finding.span.end));
    let from = command[..start].rfind('\n').map_or(0, |at| at + 1);
    let to = command[start..].find('\n').map_or(command.len(), |at| start + at);
    let before: Vec<char> = sanitize::text(&command[from..start]).chars().collect();
    let marked = sanitize::text(&command[start..end.clamp(start, to)]);
    let after = sanitize::text(&command[end.clamp(start, to)..to]);
    // A long line is cut around what matters.
    let skipped = before.len().saturating_sub(WIDEST / 3);
    let lead: String = if skipped > 0 {
        "…".chars().chain(before[skipped..].iter().copied()).collect()
    } else {
        before.into_iter().collect()
    };
    let room = WIDEST.saturating_sub(lead.chars().count());
    let mut shown: String = marked.chars().take(room).collect();
    let width = shown.chars().count().max(1);
    if marked.chars().count() > room {
        shown.push('…');
    } else {
        let rest = room - width.min(room);
        shown.extend(after.chars().take(rest));
        if after.chars().count() > rest {
            shown.push('…');
        }
    }
    (format!("{lead}{shown}"), format!("{}{}", " ".repeat(lead.chars().count()), "^".repeat(width)))
}

/// How the command would be confined, every command that was found, what it resolved to, what decided, and what would allow it.
pub(crate) fn explained(judgement: &Judgement, parts: &[PartDecision], coloured: bool) -> String {
    let Judgement { verdict, analysis, .. } = judgement;
    let word = judgement.decision().map_or("invalid".to_owned(), |decision| decision.to_string());
    let mut text = format!("{}\n", painted(&word, verdict.decision, coloured));
    text += "\nhow it would run\n";
    for circumstance in &judgement.circumstances {
        text += &format!("  {}\n", sanitize::text(circumstance));
    }
    for given in judgement.grant.in_words() {
        text += &format!("  if somebody agrees, {}\n", sanitize::text(&given));
    }
    if !analysis.commands.is_empty() {
        text += "\ncommands\n";
    }
    for found in &analysis.commands {
        text += &format!("  {}\n", sanitize::text(&described(found)));
        for effect in &found.effects {
            text += &format!("      {}\n", sanitize::text(&effect.to_string()));
        }
        for finding in verdict.findings.iter().filter(|finding| finding.span == found.span) {
            let word = painted(&finding.severity.to_string(), finding.severity, coloured);
            text += &format!("      {word} by {}: {}\n", finding.rule, sanitize::text(&finding.message));
        }
    }
    if judgement.syntax_error.is_none() {
        for opaque in &analysis.opaque {
            text += &format!("  not understood: {}\n", sanitize::text(&opaque.reason));
        }
        text += &permitted(parts, coloured);
    }
    if !verdict.findings.is_empty() {
        text += &format!("\nwhy\n{}", indented(&shown(&judgement.command, verdict, coloured)));
    }
    text + "\nto allow it\n" + &what_allows(judgement)
}

/// What would have to be configured for it to run without a question.
fn what_allows(judgement: &Judgement) -> String {
    let verdict = &judgement.verdict;
    let deciding = |decision| verdict.findings.iter().find(move |finding| finding.severity == decision);
    match (judgement.decision(), judgement.permission()) {
        (None, _) => "  nothing does: bash itself cannot read it\n".to_owned(),
        (Some(Decision::Allow), _) => "  nothing is needed\n".to_owned(),
        (_, Some(commands)) => {
            let list: Vec<String> = commands.iter().map(|command| format!("{command:?}")).collect();
            format!("  in your configuration:  [guard] allow = [{}]\n", sanitize::text(&list.join(", ")))
        }
        (Some(Decision::Deny), None) => {
            let rule = deciding(Decision::Deny).map_or("unknown", |finding| finding.rule.as_str());
            format!("  no permission allows it; the rule that refuses it is {rule}\n")
        }
        (Some(Decision::Ask), None) if verdict.findings.iter().any(|finding| finding.rule == "opaque") => {
            "  no permission can name what is not understood; write it with constants\n".to_owned()
        }
        (Some(Decision::Ask), None) => {
            "  in your configuration: an entry of [permissions] allow for each part that is asked about\n"
                .to_owned()
        }
    }
}

/// Each part with the line of the permissions that decided. Nothing if there are no permissions.
fn permitted(parts: &[PartDecision], coloured: bool) -> String {
    let silent = |part: &PartDecision| {
        part.decision == Decision::Allow && matches!(part.by, DecidedBy::Default | DecidedBy::Harmless)
    };
    if parts.iter().all(silent) {
        return String::new();
    }
    let mut text = "\npermissions\n".to_owned();
    for part in parts {
        let word = painted(&part.decision.to_string(), part.decision, coloured);
        let by = match &part.by {
            DecidedBy::Entry { list, entry } => format!("{list} = {entry:?}"),
            DecidedBy::PossibleDeny { entry } => format!("may be what is denied: {entry}"),
            DecidedBy::Harmless => "needs no permission of its own".to_owned(),
            DecidedBy::Default => "default".to_owned(),
        };
        text += &format!("  {}\n      {word}: {}\n", sanitize::text(&part.shown), sanitize::text(&by));
    }
    text
}

fn described(found: &Found) -> String {
    let via =
        if found.via.is_empty() { String::new() } else { format!("   (through {})", found.via.join(", ")) };
    format!("{}{via}", found.shown())
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}
