//! Everything that begins with a dollar sign, and backticks.

use std::mem::take;

use super::ast::{Change, Direction, List, Parameter, Part, Word};
use super::cursor::{Cursor, Parsed};
use super::words::{Parts, Quoting};
use crate::escapes;

impl Cursor<'_> {
    pub(super) fn dollar(&mut self, parts: &mut Parts, quoting: Quoting) -> Parsed<()> {
        self.count()?;
        self.at += 1;
        if self.looking_at("\\\n") {
            return self.fail("an expansion is continued on the next line");
        }
        match self.peek() {
            Some(b'(') if self.peek_at(1) == Some(b'(') => {
                let part = self.arithmetic_or_command()?;
                parts.push(part);
            }
            Some(b'(') => {
                self.at += 1;
                parts.push(Part::Command(self.substitution()?));
            }
            Some(b'{') => {
                self.at += 1;
                let part = self.nested(|cursor| cursor.braced(quoting))?;
                parts.push(part);
            }
            Some(b'[') => {
                self.at += 1;
                let inner = self.nested(|cursor| cursor.arithmetic(Closing::Bracket))?;
                let Some(inner) = inner else { return self.fail("`$[` is not closed") };
                parts.push(Part::Arithmetic(inner));
            }
            Some(b'\'') if quoting == Quoting::None => {
                self.at += 1;
                let Some((text, length)) = escapes::dollar_quoted(&self.text[self.at..]) else {
                    return self.fail("a `$'` is not closed");
                };
                parts.push(Part::Quoted(text));
                self.at += length;
            }
            // `$"…"` is for translations, and a string otherwise.
            Some(b'"') if quoting == Quoting::None => {}
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                let name = self.name();
                parts.push(plain(name));
            }
            Some(byte @ (b'0'..=b'9' | b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')) => {
                self.at += 1;
                parts.push(plain(char::from(byte).to_string()));
            }
            _ => parts.quoted("$"),
        }
        Ok(())
    }

    fn name(&mut self) -> String {
        let rest = &self.text[self.at..];
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        self.at += length;
        rest[..length].to_owned()
    }

    /// A list of commands up to its closing parenthesis.
    pub(super) fn substitution(&mut self) -> Parsed<List> {
        let start = self.at;
        let outer = take(&mut self.pending);
        let list = self.nested(Self::list)?;
        if !self.take(")") {
            return self.fail("a substitution is not closed");
        }
        if !self.pending.is_empty() || !outer.is_empty() && self.text[start..self.at].contains('\n') {
            return self.fail("a here-document and a substitution are entangled");
        }
        self.pending = outer;
        Ok(list)
    }

    /// At the first character of `<(` or `>(`.
    pub(super) fn process(&mut self) -> Parsed<Part> {
        let direction = if self.peek() == Some(b'<') { Direction::Read } else { Direction::Write };
        self.at += 2;
        Ok(Part::Process(direction, self.substitution()?))
    }

    /// At the first parenthesis of `$((`, which may be two substitutions after all.
    fn arithmetic_or_command(&mut self) -> Parsed<Part> {
        let start = self.at;
        let pending = self.pending.clone();
        self.at += 2;
        if let Ok(Some(inner)) = self.nested(|cursor| cursor.arithmetic(Closing::Parentheses)) {
            return Ok(Part::Arithmetic(inner));
        }
        self.pending = pending;
        self.at = start + 1;
        Ok(Part::Command(self.substitution()?))
    }

    /// The inside of an arithmetic expression and its end. None if it does not end as one.
    pub(super) fn arithmetic(&mut self, closing: Closing) -> Parsed<Option<Vec<Part>>> {
        let mut parts = Parts::default();
        let mut depth = 0_usize;
        let mut steps = 0_usize;
        loop {
            // It may be read again as something else, at every level, so its length counts.
            steps += 1;
            if steps.is_multiple_of(32) {
                self.count()?;
            }
            match self.peek() {
                None => return Ok(None),
                Some(b')') if closing == Closing::Parentheses && depth == 0 => {
                    return Ok(self.take("))").then_some(parts.list));
                }
                Some(b']') if closing == Closing::Bracket && depth == 0 => {
                    self.at += 1;
                    return Ok(Some(parts.list));
                }
                Some(b'\'') => {
                    parts.quoted("'");
                    self.at += 1;
                }
                Some(byte) => {
                    let opens = if closing == Closing::Bracket { b'[' } else { b'(' };
                    let closes = if closing == Closing::Bracket { b']' } else { b')' };
                    if byte == opens {
                        depth += 1;
                    } else if byte == closes {
                        depth -= 1;
                    }
                    self.word_part(&mut parts, Quoting::Double)?;
                }
            }
        }
    }

    /// After `${`.
    fn braced(&mut self, quoting: Quoting) -> Parsed<Part> {
        match self.peek() {
            Some(b' ' | b'\t' | b'\n' | b'|') => return self.function_substitution(),
            Some(b'#') if self.peek_at(1) != Some(b'}') && self.is_length() => {
                self.at += 1;
                return self.named(Change::Length);
            }
            Some(b'!') if self.peek_at(1) != Some(b'}') => {
                self.at += 1;
                let part = self.parameter(quoting)?;
                let Part::Parameter(mut parameter) = part else { return Ok(part) };
                if matches!(parameter.change, Change::None) {
                    parameter.change = Change::Indirect;
                    return Ok(Part::Parameter(parameter));
                }
                // What the other variable holds is not followed through an operator.
                parameter.name = format!("!{}", parameter.name);
                return Ok(Part::Parameter(parameter));
            }
            _ => {}
        }
        self.parameter(quoting)
    }

    /// `${ list; }` of bash 5.3.
    fn function_substitution(&mut self) -> Parsed<Part> {
        self.take("|");
        let outer = take(&mut self.pending);
        let list = self.list()?;
        if !self.take("}") || !self.pending.is_empty() || !outer.is_empty() {
            return self.fail("a substitution is not closed");
        }
        Ok(Part::Command(list))
    }

    /// Whether `${#` is followed by a name and the end: otherwise `#` is itself the name.
    fn is_length(&self) -> bool {
        let rest = &self.text[self.at + 1..];
        let name = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len()).max(1);
        rest.get(name..).is_some_and(|after| after.starts_with(['}', '[']))
    }

    fn named(&mut self, change: Change) -> Parsed<Part> {
        let (name, subscript) = self.parameter_name()?;
        if !self.take("}") {
            return self.fail("an expansion cannot be read");
        }
        Ok(Part::Parameter(Parameter { name, subscript, change }))
    }

    fn parameter_name(&mut self) -> Parsed<(String, Option<Box<Word>>)> {
        let name = match self.peek() {
            Some(byte) if byte.is_ascii_alphanumeric() || byte == b'_' => self.name(),
            Some(byte @ (b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')) => {
                self.at += 1;
                char::from(byte).to_string()
            }
            _ => return self.fail("an expansion has no name"),
        };
        if self.peek() != Some(b'[') {
            return Ok((name, None));
        }
        let start = self.at;
        self.at += 1;
        let Some(parts) = self.arithmetic(Closing::Bracket)? else {
            return self.fail("a subscript is not closed");
        };
        Ok((name, Some(Box::new(Word { parts, span: self.span_from(start) }))))
    }

    fn parameter(&mut self, quoting: Quoting) -> Parsed<Part> {
        let (name, subscript) = self.parameter_name()?;
        let change = self.change(quoting)?;
        Ok(Part::Parameter(Parameter { name, subscript, change }))
    }

    /// From after the name to the closing brace.
    fn change(&mut self, quoting: Quoting) -> Parsed<Change> {
        if self.take("}") {
            return Ok(Change::None);
        }
        if self.take("@") {
            let Some(letter) = self.next_char() else { return self.fail("an expansion is not closed") };
            return match letter {
                // `${!name@}` lists names.
                '}' => Ok(Change::Edit { operator: "@", words: vec![] }),
                _ if self.take("}") => Ok(Change::Transform(letter)),
                _ => self.fail("an expansion cannot be read"),
            };
        }
        for (operator, make) in DEFAULTS {
            if self.take(operator) {
                let word = self.word_in_braces(quoting, b'}')?;
                self.at += 1;
                return Ok(make(Box::new(word)));
            }
        }
        for operator in EDITS {
            if self.take(operator) {
                return self.edit(operator);
            }
        }
        // Bash reads on to the brace, and refuses it only when it gets there: "bad substitution".
        let word = self.word_in_braces(quoting, b'}')?;
        self.at += 1;
        Ok(Change::Edit { operator: BAD, words: vec![word] })
    }

    fn edit(&mut self, operator: &'static str) -> Parsed<Change> {
        let separator = if operator.starts_with('/') { b'/' } else { b':' };
        let separates = matches!(operator.as_bytes()[0], b'/' | b':');
        let mut words = vec![];
        loop {
            let stop = if separates && words.is_empty() { separator } else { b'}' };
            words.push(self.word_in_braces(Quoting::None, stop)?);
            self.at += 1;
            if self.text.as_bytes()[self.at - 1] == b'}' {
                return Ok(Change::Edit { operator, words });
            }
        }
    }

    /// Up to the closing brace or `stop`.
    fn word_in_braces(&mut self, quoting: Quoting, stop: u8) -> Parsed<Word> {
        let start = self.at;
        let mut parts = Parts::default();
        loop {
            match self.peek() {
                None => return self.fail("an expansion is not closed"),
                Some(byte) if byte == b'}' || byte == stop => {
                    return Ok(Word { parts: parts.list, span: self.span_from(start) });
                }
                Some(b'<' | b'>') if quoting == Quoting::None && self.peek_at(1) == Some(b'(') => {
                    let part = self.process()?;
                    parts.push(part);
                }
                Some(_) => self.word_part(&mut parts, quoting)?,
            }
        }
    }

    /// The text between backticks is unescaped once, and is a script then.
    pub(super) fn backticks(&mut self, quoting: Quoting) -> Parsed<Part> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            match self.next_char() {
                None => return self.fail("a backtick is not closed"),
                Some('`') => break,
                Some('\\') => match self.next_char() {
                    Some(next @ ('`' | '\\' | '$')) => text.push(next),
                    Some('"') if quoting == Quoting::Double => text.push('"'),
                    Some(next) => text.extend(['\\', next]),
                    None => return self.fail("a backtick is not closed"),
                },
                Some(next) => text.push(next),
            }
        }
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "the method is of one lifetime, this is of all"
        )]
        let list = self.inside(&text, start, |inner| inner.script())?;
        Ok(Part::Command(list))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closing {
    Parentheses,
    Bracket,
}

type MakeChange = fn(Box<Word>) -> Change;

const DEFAULTS: [(&str, MakeChange); 8] = [
    (":-", Change::Default),
    (":=", Change::Assign),
    (":+", Change::Alternative),
    (":?", Change::Require),
    ("-", Change::Default),
    ("=", Change::Assign),
    ("+", Change::Alternative),
    ("?", Change::Require),
];

/// An expansion that bash refuses, whatever the variable holds.
const BAD: &str = "bad";

/// The longer ones first.
const EDITS: [&str; 14] = ["##", "#", "%%", "%", "//", "/#", "/%", "/", ":", "^^", "^", ",,", ",", "*"];

fn plain(name: String) -> Part {
    Part::Parameter(Parameter { name, subscript: None, change: Change::None })
}
