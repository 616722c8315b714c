//! Programs that print a part of what they read, or change it.

use crate::analysis::{Found, Stream};
use crate::escapes;
use crate::options::Options;
use crate::patterns::matches_nearly_all;
use crate::scope::Scope;
use crate::text::{Piece, Text};

use super::Walker;
use super::output::passed;

/// Programs that print a part of what they read, or change it.
pub(super) fn filtered(found: &Found, walker: &Walker<'_>, scope: &Scope) -> Stream {
    let program = found.program.as_str();
    match &found.input {
        Stream::Known(text) => match text.value().and_then(|text| transformed(found, text)) {
            Some(text) => Stream::Known(Text::known(text)),
            None => Stream::Unknown(program.to_owned()),
        },
        Stream::Names(directories) if matches!(program, "sort" | "uniq" | "sed" | "tr" | "rev") => {
            Stream::Names(directories.clone())
        }
        Stream::Names(directories) => {
            let chosen = |path: &Text| {
                let mut chosen = Text::default();
                for piece in path.pieces() {
                    match piece {
                        // Some of all of them.
                        Piece::Pattern(pattern) if matches_nearly_all(pattern) => chosen.push_str("…"),
                        other => chosen.push(other.clone()),
                    }
                }
                if !path.has_pattern() && !chosen.prefix().ends_with('…') {
                    chosen.push_str("/…");
                }
                chosen
            };
            Stream::Names(directories.iter().map(chosen).collect())
        }
        Stream::Nothing
        | Stream::Downloaded
        | Stream::Decoded
        | Stream::Secret
        | Stream::Setup
        | Stream::Program(_)
        | Stream::Unknown(_) => {
            if let Some(names) = names_of_matches(found) {
                return names;
            }
            // A part of a list is still of that list, unless it was chosen by what it says.
            let chooses = matches!(program, "grep" | "egrep" | "fgrep" | "rg" | "head" | "tail")
                || program == "awk" && found.arguments.first().is_some_and(|code| code.rough().contains('/'));
            match &found.input {
                Stream::Unknown(source) if !chooses => Stream::Unknown(source.clone()),
                _ => passed(found, walker, scope),
            }
        }
    }
}

/// `grep -l pattern files` prints names of files there.
fn names_of_matches(found: &Found) -> Option<Stream> {
    if !matches!(found.program.as_str(), "grep" | "egrep" | "fgrep" | "rg") {
        return None;
    }
    let options = Options::parse(&found.arguments, "efmABC", &["regexp", "file", "include", "exclude"]);
    if !options.has(&["l", "L", "files-with-matches", "files-without-match"]) {
        return None;
    }
    let skip = usize::from(!options.has(&["e", "f", "regexp"]));
    let mut directories: Vec<Text> = options.operands.into_iter().skip(skip).collect();
    if directories.is_empty() {
        directories.push(Text::known("."));
    }
    for directory in &mut directories {
        directory.push_str("/…");
    }
    Some(Stream::Names(directories))
}

fn transformed(found: &Found, text: &str) -> Option<String> {
    let lines = || text.lines().map(str::to_owned);
    let options = Options::parse(&found.arguments, "nc", &["lines"]);
    let count = || {
        let dashed =
            found.arguments.first().and_then(|first| first.rough().strip_prefix('-').map(str::to_owned));
        let given =
            options.value(&["n", "lines"]).map(Text::rough).or(dashed).unwrap_or_else(|| "10".to_owned());
        given.parse::<usize>().ok()
    };
    let joined = |lines: Vec<String>| Some(lines.join("\n"));
    match found.program.as_str() {
        "rev" => joined(lines().map(|line| line.chars().rev().collect()).collect()),
        "tac" => joined(lines().collect::<Vec<_>>().into_iter().rev().collect()),
        "head" => joined(lines().take(count()?).collect()),
        "tail" => {
            let all: Vec<String> = lines().collect();
            joined(all[all.len().saturating_sub(count()?)..].to_vec())
        }
        "sort" | "uniq" => Some(text.to_owned()),
        "tr" => translated(&found.arguments, text),
        "sed" => substituted(&found.arguments, text),
        _ => None,
    }
}

/// `tr SET1 SET2` and `tr -d SET`.
fn translated(arguments: &[Text], text: &str) -> Option<String> {
    let options = Options::parse(arguments, "", &[]);
    let sets: Vec<Vec<char>> =
        options.operands.iter().map(|set| Some(characters(set.value()?))).collect::<Option<_>>()?;
    match sets.as_slice() {
        [deleted] if options.has(&["d", "delete"]) => {
            Some(text.chars().filter(|c| !deleted.contains(c)).collect())
        }
        [from, to] if !options.has(&["c", "C", "complement", "d"]) => {
            let last = to.last().copied()?;
            let map = |c: char| {
                from.iter().position(|own| *own == c).map_or(c, |at| to.get(at).copied().unwrap_or(last))
            };
            Some(text.chars().map(map).collect())
        }
        _ => None,
    }
}

fn characters(set: &str) -> Vec<char> {
    let chars: Vec<char> = escapes::interpret(set).chars().collect();
    let mut all = vec![];
    let mut at = 0;
    while at < chars.len() {
        if let (Some('-'), Some(end)) = (chars.get(at + 1), chars.get(at + 2)) {
            all.extend(chars[at]..=*end);
            at += 3;
        } else {
            all.push(chars[at]);
            at += 1;
        }
    }
    all
}

/// `sed s/a/b/` with plain text for a pattern.
fn substituted(arguments: &[Text], text: &str) -> Option<String> {
    let [script] = arguments else { return None };
    let script = script.value()?.strip_prefix('s')?;
    let separator = script.chars().next()?;
    let mut parts = script[separator.len_utf8()..].split(separator);
    let (from, to, flags) = (parts.next()?, parts.next()?, parts.next()?);
    if from.contains(['\\', '[', '.', '*', '^', '$']) || to.contains(['\\', '&']) || from.is_empty() {
        return None;
    }
    let most = if flags.contains('g') { usize::MAX } else { 1 };
    Some(text.lines().map(|line| line.replacen(from, to, most)).collect::<Vec<_>>().join("\n"))
}
