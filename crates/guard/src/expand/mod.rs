//! Words to the strings that a command would be given, as far as constants reach.

mod braces;
mod edits;
mod parameters;

use crate::scope::{MOST_ALTERNATIVES, Scope, union};
use crate::syntax::ast::{Part, Word};
use crate::text::{Piece, Text, Why};
use crate::walk::Walker;

/// One possible expansion: pieces, and where one field ends.
pub(crate) type Run = Vec<Token>;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token {
    Piece(Piece),
    Break,
    /// There were quotes: a field is here even if it is empty.
    Quotes,
}

/// Whether results are split into fields and patterns are alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Splitting {
    Yes,
    No,
}

/// More words than this are not made of one: `"${a[@]}"` of a list that doubles itself.
const MOST_FIELDS: usize = 4_096;

impl Walker<'_> {
    /// The fields of each possible expansion of a word.
    pub(crate) fn alternatives(&mut self, word: &Word, scope: &mut Scope) -> Vec<Vec<Text>> {
        let mut all = vec![vec![]];
        let words = braces::expand(word).unwrap_or_else(|| {
            self.give_up("its braces stand for too many words");
            vec![word.clone()]
        });
        for word in words {
            let runs = self.runs(&word.parts, scope, Splitting::Yes);
            all = product(all, runs.into_iter().map(fields).collect());
        }
        for fields in all.iter_mut().filter(|fields| fields.len() > MOST_FIELDS) {
            fields.truncate(MOST_FIELDS);
            self.give_up("a word in it stands for too many words");
        }
        all
    }

    /// All fields that a word may expand to.
    pub(crate) fn fields(&mut self, word: &Word, scope: &mut Scope) -> Vec<Text> {
        let mut alternatives = self.alternatives(word, scope);
        match alternatives.len() {
            1 => alternatives.remove(0),
            _ => alternatives.into_iter().fold(vec![], union),
        }
    }

    /// The possible values of a word that is not split: that of an assignment, a redirection, a here-string.
    pub(crate) fn values(&mut self, word: &Word, scope: &mut Scope) -> Vec<Text> {
        let runs = self.runs(&word.parts, scope, Splitting::No);
        runs.into_iter().map(|run| joined(&run)).fold(vec![], |all, text| union(all, vec![text]))
    }

    pub(crate) fn runs(&mut self, parts: &[Part], scope: &mut Scope, splitting: Splitting) -> Vec<Run> {
        let mut all: Vec<Run> = vec![vec![]];
        for (index, part) in parts.iter().enumerate() {
            let runs = match part {
                Part::Bare(text) => vec![self.bare(text, index == 0, parts.len(), scope, splitting)],
                Part::Quoted(text) => vec![quoted(text)],
                Part::Double(inner) => {
                    let mut runs = self.runs(inner, scope, Splitting::No);
                    for run in &mut runs {
                        // "$@" without arguments is nothing at all.
                        if !run.is_empty() || inner.is_empty() || !is_all_arguments(inner) {
                            run.push(Token::Quotes);
                        }
                    }
                    runs
                }
                Part::Parameter(parameter) => self.parameter(parameter, scope, splitting),
                Part::Command(list) => {
                    let output = self.substitute(list, scope);
                    vec![split(&output, splitting, scope)]
                }
                Part::Process(direction, list) => {
                    let stream = self.process(*direction, list, scope);
                    vec![vec![Token::Piece(Piece::Known(stream))]]
                }
                Part::Arithmetic(inner) => {
                    self.arithmetic(inner, scope);
                    vec![vec![Token::Piece(Piece::Unknown(Why::Number))]]
                }
                Part::Document(body) => match body.get() {
                    Some(parts) => self.runs(parts, scope, Splitting::No),
                    None => vec![vec![]],
                },
            };
            all = product(all, runs);
        }
        all
    }

    fn bare(&self, text: &str, first: bool, parts: usize, scope: &Scope, splitting: Splitting) -> Run {
        let mut run = vec![];
        let mut text = text.to_owned();
        // A tilde counts only if what follows it up to the slash is not quoted.
        if first && text.starts_with('~') && (parts == 1 || text.contains('/')) {
            let end = text.find('/').unwrap_or(text.len());
            if let Some(home) = self.tilde(&text[1..end], scope) {
                run.extend(home.pieces().iter().cloned().map(Token::Piece));
                text.drain(..end);
            }
        }
        match splitting {
            Splitting::Yes => run.extend(patterned(&text)),
            Splitting::No => run.push(Token::Piece(Piece::Known(text))),
        }
        run
    }

    fn tilde(&self, user: &str, scope: &Scope) -> Option<Text> {
        match user {
            "" => Some(self.variable("HOME", scope).into_iter().next().unwrap_or_default()),
            "+" => scope.cwds.first().cloned(),
            "-" => scope.previous.first().cloned(),
            "root" => Some(Text::known("/root")),
            _ if user == self.world.user() => Some(Text::known(self.world.home())),
            _ if user.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')) => {
                Some(Text::known(format!("/home/{user}")))
            }
            _ => None,
        }
    }
}

fn is_all_arguments(parts: &[Part]) -> bool {
    matches!(parts, [Part::Parameter(parameter)] if parameter.name == "@" || parameter.subscript.is_some())
}

fn quoted(text: &str) -> Run {
    vec![Token::Piece(Piece::Known(text.to_owned())), Token::Quotes]
}

/// Unquoted text: each name with a pattern in it is one.
pub(crate) fn patterned(text: &str) -> Run {
    if !text.contains(['*', '?', '[', '(']) {
        return vec![Token::Piece(Piece::Known(text.to_owned()))];
    }
    let mut run = vec![];
    for (index, name) in text.split('/').enumerate() {
        if index > 0 {
            run.push(Token::Piece(Piece::Known("/".to_owned())));
        }
        let class = name.find('[').is_some_and(|open| name[open..].contains(']'));
        let piece = if name.contains('(') && name.contains(['?', '*', '+', '@', '!']) {
            // What a list of patterns matches is not worked out.
            Piece::Pattern("*".to_owned())
        } else if name.contains(['*', '?']) || class {
            Piece::Pattern(name.to_owned())
        } else {
            Piece::Known(name.to_owned())
        };
        run.push(Token::Piece(piece));
    }
    run
}

/// A value where it is used: unquoted, it is split and its patterns are alive.
pub(crate) fn split(text: &Text, splitting: Splitting, scope: &Scope) -> Run {
    if splitting == Splitting::No {
        return text.pieces().iter().cloned().map(Token::Piece).collect();
    }
    let separators = match scope.get("IFS") {
        Some([crate::scope::Value::Scalar(ifs)]) => ifs.value().unwrap_or(" \t\n").to_owned(),
        _ => " \t\n".to_owned(),
    };
    let mut run = vec![];
    for piece in text.pieces() {
        match piece {
            Piece::Known(text) => {
                for (index, field) in text.split(|c| separators.contains(c)).enumerate() {
                    if index > 0 {
                        run.push(Token::Break);
                    }
                    run.extend(patterned(field));
                }
            }
            Piece::Pattern(_) | Piece::Unknown(_) => run.push(Token::Piece(piece.clone())),
        }
    }
    run
}

/// The fields of a run. Those that are empty and were not quoted vanish.
pub(crate) fn fields(run: Run) -> Vec<Text> {
    let mut fields = vec![];
    let mut current = Text::default();
    let mut kept = false;
    for token in run.into_iter().chain([Token::Break]) {
        match token {
            Token::Piece(piece) => current.push(piece),
            Token::Quotes => kept = true,
            Token::Break => {
                if kept || !current.is_empty() {
                    fields.push(std::mem::take(&mut current));
                }
                kept = false;
            }
        }
    }
    fields
}

fn joined(run: &Run) -> Text {
    let mut text = Text::default();
    for token in run {
        match token {
            Token::Piece(piece) => text.push(piece.clone()),
            Token::Break => text.push_str(" "),
            Token::Quotes => {}
        }
    }
    text
}

/// Every one of the first followed by every one of the second.
fn product<T: Clone>(first: Vec<Vec<T>>, second: Vec<Vec<T>>) -> Vec<Vec<T>> {
    if let ([_], [_]) = (first.as_slice(), second.as_slice()) {
        let (mut only, more) = (first, second);
        for (left, right) in only.iter_mut().zip(more) {
            left.extend(right);
        }
        return only;
    }
    let join = |left: &Vec<T>, right: &Vec<T>| [left.as_slice(), right].concat();
    let all = first.iter().flat_map(|left| second.iter().map(move |right| join(left, right)));
    all.take(MOST_ALTERNATIVES * 2).collect()
}

/// The same text with its patterns alive.
pub(crate) fn with_patterns(text: &Text) -> Text {
    let mut alive = Text::default();
    for piece in text.pieces() {
        match piece {
            Piece::Known(known) => {
                for token in patterned(known) {
                    if let Token::Piece(piece) = token {
                        alive.push(piece);
                    }
                }
            }
            Piece::Pattern(_) | Piece::Unknown(_) => alive.push(piece.clone()),
        }
    }
    alive
}
