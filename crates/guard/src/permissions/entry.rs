//! One line of a list of permissions.

use std::collections::BTreeSet;

use regex_syntax::hir::{Class, Hir, HirKind, Look};

use super::broad::too_broad;
use super::pattern::Pattern;

/// What every action of ours begins with.
const ACTION: &str = "tool:bash:";

/// A compiled regular expression may not be larger than this.
const LARGEST: usize = 1 << 20;

#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) text: String,
    pub(super) means: Means,
}

#[derive(Debug, Clone)]
pub(super) enum Means {
    /// A simple command.
    Command(Pattern),
    /// Writing to a file by redirection.
    Write { path: Pattern, appends: Appends },
    /// Exactly this action.
    Literal(String),
    /// Every action.
    Everything,
    /// Actions that a regular expression matches.
    Regex(regex::Regex),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Appends {
    /// `>> PATTERN`.
    Only,
    /// `> PATTERN`, which is about any way to write.
    Too,
}

/// Whether a list makes things run or stops them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Allow,
    Restrict,
}

impl Entry {
    /// Reads an entry. What is wrong comes back as a phrase.
    pub(super) fn parse(text: &str, purpose: Purpose) -> Result<Self, String> {
        let means = if text.starts_with("tool:") {
            regex(text)?
        } else if let Some(rest) = text.trim_start().strip_prefix('>') {
            write(rest, purpose)?
        } else {
            let pattern = Pattern::parse(text)?;
            if purpose == Purpose::Allow
                && let Some(reason) = too_broad(&pattern)
            {
                return Err(reason);
            }
            Means::Command(pattern)
        };
        Ok(Self { text: text.to_owned(), means })
    }

    /// Whether it is about one thing only.
    pub(super) fn is_exact(&self) -> bool {
        match &self.means {
            Means::Command(pattern) => pattern.is_exact(),
            Means::Write { path, .. } => path.is_exact(),
            Means::Literal(_) => true,
            Means::Everything | Means::Regex(_) => false,
        }
    }

    /// Whether it is a regular expression that matches this action.
    pub(super) fn matches_action(&self, command: &str) -> bool {
        match &self.means {
            Means::Command(_) | Means::Write { .. } => false,
            Means::Literal(literal) => literal.strip_prefix(ACTION) == Some(command),
            Means::Everything => true,
            Means::Regex(regex) => regex.is_match(&format!("{ACTION}{command}")),
        }
    }

    /// Whether it names exactly this whole text.
    pub(super) fn is_literally(&self, command: &str) -> bool {
        matches!(&self.means, Means::Literal(literal) if literal.strip_prefix(ACTION) == Some(command))
    }
}

/// The entry for exactly this text.
pub(super) fn exact(command: &str) -> String {
    format!("{ACTION}{}", regex::escape(command))
}

fn write(rest: &str, purpose: Purpose) -> Result<Means, String> {
    let (rest, appends) = match rest.strip_prefix('>') {
        Some(rest) => (rest, Appends::Only),
        None => (rest, Appends::Too),
    };
    let rest = rest.trim();
    let path = Pattern::parse(rest.strip_prefix("./").unwrap_or(rest))
        .map_err(|_| "a path must follow, as in `> build/*`".to_owned())?;
    let words = path.words();
    let [word] = words.as_slice() else {
        return Err("one path must follow; quote a blank in it".to_owned());
    };
    // In the workspace it may be any file.
    let anywhere = word.starts_with('/') && word[1..].split('/').next().is_none_or(|name| name.contains('*'))
        || word.starts_with("~/*");
    if purpose == Purpose::Allow && anywhere {
        return Err("any file would fit; name a directory, as in `> /tmp/build/*`".to_owned());
    }
    Ok(Means::Write { path, appends })
}

fn regex(text: &str) -> Result<Means, String> {
    let text = &without_anchors(text);
    let hir = regex_syntax::ParserBuilder::new()
        .dot_matches_new_line(true)
        .build()
        .parse(text)
        .map_err(|error| one_line(&error.to_string()))?;
    if !reach(&hir, &BTreeSet::from([0])).contains(&ACTION.len()) {
        return Err(format!(
            "it can never match: the tool is called `bash` here, so begin with `{ACTION}`, as in `{ACTION}make( .*)?`"
        ));
    }
    if let Some(literal) = literal(&hir) {
        return Ok(Means::Literal(literal));
    }
    if matches_everything(&hir) {
        return Ok(Means::Everything);
    }
    // The text has been parsed by itself, so no parenthesis in it can leave the group.
    let regex = regex::RegexBuilder::new(&format!(r"\A(?:{text})\z"))
        .dot_matches_new_line(true)
        .size_limit(LARGEST)
        .build()
        .map_err(|error| one_line(&error.to_string()))?;
    Ok(Means::Regex(regex))
}

/// The whole text of a command must match in any case, so `tool:bash:^make$` is `tool:bash:make`.
fn without_anchors(text: &str) -> String {
    let text = match text.strip_prefix(ACTION).and_then(|rest| rest.strip_prefix('^')) {
        Some(rest) => format!("{ACTION}{rest}"),
        None => text.to_owned(),
    };
    let escaped = |rest: &str| rest.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1;
    match text.strip_suffix('$') {
        Some(rest) if !escaped(rest) => rest.to_owned(),
        Some(_) | None => text,
    }
}

/// How much of `tool:bash:` can have been read after an expression, if it was one of these lengths before it.
fn reach(hir: &Hir, from: &BTreeSet<usize>) -> BTreeSet<usize> {
    let action = ACTION.as_bytes();
    let through = |at: usize, bytes: &[u8]| {
        let rest = &action[at..];
        let most = rest.len().min(bytes.len());
        (rest[..most] == bytes[..most]).then_some(at + most)
    };
    match hir.kind() {
        HirKind::Empty => from.clone(),
        HirKind::Look(Look::Start) => from.iter().copied().filter(|at| *at == 0).collect(),
        HirKind::Look(_) => from.clone(),
        HirKind::Literal(literal) => from.iter().filter_map(|at| through(*at, &literal.0)).collect(),
        HirKind::Class(class) => from
            .iter()
            .filter_map(|at| match action.get(*at) {
                Some(byte) => has(class, *byte).then_some(at + 1),
                None => Some(*at),
            })
            .collect(),
        HirKind::Capture(capture) => reach(&capture.sub, from),
        HirKind::Concat(parts) => parts.iter().fold(from.clone(), |from, part| reach(part, &from)),
        HirKind::Alternation(parts) => parts.iter().flat_map(|part| reach(part, from)).collect(),
        HirKind::Repetition(repetition) => {
            let mut all = if repetition.min == 0 { from.clone() } else { reach(&repetition.sub, from) };
            loop {
                let more: BTreeSet<usize> = reach(&repetition.sub, &all).union(&all).copied().collect();
                if more == all {
                    return all;
                }
                all = more;
            }
        }
    }
}

fn has(class: &Class, byte: u8) -> bool {
    match class {
        Class::Unicode(class) => {
            class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&char::from(byte)))
        }
        Class::Bytes(class) => {
            class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&byte))
        }
    }
}

fn literal(hir: &Hir) -> Option<String> {
    match hir.kind() {
        HirKind::Literal(literal) => String::from_utf8(literal.0.to_vec()).ok(),
        HirKind::Empty
        | HirKind::Class(_)
        | HirKind::Look(_)
        | HirKind::Repetition(_)
        | HirKind::Capture(_)
        | HirKind::Concat(_)
        | HirKind::Alternation(_) => None,
    }
}

/// A part of `tool:bash:` and then anything at all: `tool:.*`, `tool:bash:(.|\n)*`.
fn matches_everything(hir: &Hir) -> bool {
    let HirKind::Concat(parts) = hir.kind() else { return false };
    let [first, rest] = parts.as_slice() else { return false };
    literal(first).is_some_and(|prefix| ACTION.starts_with(&prefix)) && is_anything(rest)
}

fn is_anything(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Capture(capture) => is_anything(&capture.sub),
        HirKind::Repetition(repetition) => {
            repetition.min <= 1 && repetition.max.is_none() && is_any_character(&repetition.sub)
        }
        HirKind::Empty
        | HirKind::Literal(_)
        | HirKind::Class(_)
        | HirKind::Look(_)
        | HirKind::Concat(_)
        | HirKind::Alternation(_) => false,
    }
}

fn is_any_character(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Capture(capture) => is_any_character(&capture.sub),
        HirKind::Class(Class::Unicode(class)) => {
            class.ranges().iter().map(regex_syntax::hir::ClassUnicodeRange::len).sum::<usize>()
                >= 0x0011_0000 - 0x800
        }
        HirKind::Class(Class::Bytes(_))
        | HirKind::Empty
        | HirKind::Literal(_)
        | HirKind::Look(_)
        | HirKind::Repetition(_)
        | HirKind::Concat(_)
        | HirKind::Alternation(_) => false,
    }
}

/// The last line of what the parser of expressions says, which is the reason.
fn one_line(message: &str) -> String {
    message.lines().next_back().unwrap_or(message).trim_start_matches("error: ").to_owned()
}
