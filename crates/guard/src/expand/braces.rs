//! Brace expansion: `a{b,c}` and `{1..3}`.

use crate::syntax::ast::{Part, Word};

/// More words than this are not made of one.
const MOST_WORDS: usize = 512;

/// Nor are words looked into that have more braces than this.
const MOST_BRACES: usize = 64;

/// The words that one word stands for. None if they are too many.
pub(crate) fn expand(word: &Word) -> Option<Vec<Word>> {
    let braces = |part: &Part| match part {
        Part::Bare(text) => text.matches('{').count(),
        _ => 0,
    };
    match word.parts.iter().map(braces).sum::<usize>() {
        0 => return Some(vec![word.clone()]),
        1..=MOST_BRACES => {}
        _ => return None,
    }
    let mut atoms = vec![];
    for part in &word.parts {
        match part {
            Part::Bare(text) => atoms.extend(text.chars().map(Atom::Char)),
            _ => atoms.push(Atom::Part(part.clone())),
        }
    }
    let expanded = expand_atoms(&atoms, 0)?;
    Some(expanded.into_iter().map(|atoms| Word { parts: rebuild(atoms), span: word.span }).collect())
}

#[derive(Debug, Clone)]
enum Atom {
    Char(char),
    Part(Part),
}

impl Atom {
    fn is(&self, c: char) -> bool {
        matches!(self, Self::Char(own) if *own == c)
    }
}

fn expand_atoms(atoms: &[Atom], depth: usize) -> Option<Vec<Vec<Atom>>> {
    const DEEPEST: usize = 8;
    if depth > DEEPEST {
        return None;
    }
    let Some((open, close, commas)) = first_braces(atoms) else { return Some(vec![atoms.to_vec()]) };
    let before = &atoms[..open];
    let inner = &atoms[open + 1..close];
    let choices: Vec<Vec<Atom>> = if commas.is_empty() {
        match sequence(inner) {
            Some(sequence) => sequence,
            None => vec![atoms[open..=close].to_vec()],
        }
    } else {
        let mut choices = vec![];
        let mut from = open + 1;
        for end in commas.into_iter().chain([close]) {
            choices.extend(expand_atoms(&atoms[from..end], depth + 1)?);
            from = end + 1;
        }
        choices
    };
    let rest = expand_atoms(&atoms[close + 1..], depth)?;
    if choices.len().saturating_mul(rest.len()) > MOST_WORDS {
        return None;
    }
    let join = |choice: &Vec<Atom>, rest: &Vec<Atom>| [before, choice, rest].concat();
    Some(choices.iter().flat_map(|choice| rest.iter().map(move |rest| join(choice, rest))).collect())
}

/// The first pair of braces with a comma or a sequence in it, and where the commas are.
fn first_braces(atoms: &[Atom]) -> Option<(usize, usize, Vec<usize>)> {
    let mut from = 0;
    while let Some(open) = atoms[from..].iter().position(|atom| atom.is('{')).map(|at| at + from) {
        let mut depth = 0;
        let mut commas = vec![];
        for (at, atom) in atoms.iter().enumerate().skip(open) {
            if atom.is('{') {
                depth += 1;
            } else if atom.is('}') {
                depth -= 1;
                if depth == 0 {
                    if !commas.is_empty() || sequence(&atoms[open + 1..at]).is_some() {
                        return Some((open, at, commas));
                    }
                    break;
                }
            } else if atom.is(',') && depth == 1 {
                commas.push(at);
            }
        }
        from = open + 1;
    }
    None
}

/// `1..5`, `a..e`, `1..9..2`.
fn sequence(atoms: &[Atom]) -> Option<Vec<Vec<Atom>>> {
    let text: String = atoms
        .iter()
        .map(|atom| match atom {
            Atom::Char(c) => Some(*c),
            Atom::Part(_) => None,
        })
        .collect::<Option<_>>()?;
    let mut bounds = text.split("..");
    let (first, last) = (bounds.next()?, bounds.next()?);
    let step: i64 = bounds.next().map_or(Some(1), |step| step.parse().ok())?;
    let step = usize::try_from(step.unsigned_abs().max(1)).ok()?;
    let between = |from: i64, to: i64| -> Option<Vec<i64>> {
        let count = from.abs_diff(to);
        if count > MOST_WORDS as u64 {
            return None;
        }
        let mut all: Vec<i64> = (from.min(to)..=from.max(to)).collect();
        if from > to {
            all.reverse();
        }
        Some(all.into_iter().step_by(step).collect())
    };
    let chars = |text: String| text.chars().map(Atom::Char).collect();
    if let (Ok(from), Ok(to)) = (first.parse(), last.parse()) {
        return Some(between(from, to)?.into_iter().map(|number| chars(number.to_string())).collect());
    }
    let letter = |text: &str| {
        let mut letters = text.chars();
        letters.next().filter(|c| c.is_ascii() && letters.next().is_none()).map(|c| c as u8)
    };
    let (from, to) = (letter(first)?, letter(last)?);
    let codes = between(i64::from(from), i64::from(to))?;
    Some(
        codes
            .into_iter()
            .filter_map(|code| Some(chars(char::from(u8::try_from(code).ok()?).to_string())))
            .collect(),
    )
}

fn rebuild(atoms: Vec<Atom>) -> Vec<Part> {
    let mut parts: Vec<Part> = vec![];
    for atom in atoms {
        match (parts.last_mut(), atom) {
            (Some(Part::Bare(text)), Atom::Char(c)) => text.push(c),
            (_, Atom::Char(c)) => parts.push(Part::Bare(c.to_string())),
            (_, Atom::Part(part)) => parts.push(part),
        }
    }
    parts
}
