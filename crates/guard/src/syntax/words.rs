//! Words: quotes, escapes, and what is glued together.

use super::ast::{Part, Word};
use super::cursor::{Cursor, Parsed, is_meta};

impl Cursor<'_> {
    /// The next word, if one begins here.
    pub(super) fn word(&mut self) -> Parsed<Option<Word>> {
        self.count()?;
        let start = self.at;
        let mut parts = Parts::default();
        while let Some(byte) = self.peek() {
            match byte {
                b'<' | b'>' if self.peek_at(1) == Some(b'(') => {
                    let part = self.process()?;
                    parts.push(part);
                }
                _ if is_meta(byte) => break,
                b'?' | b'*' | b'+' | b'@' | b'!' if self.begins_pattern_list() => {
                    let text = self.pattern_list()?;
                    parts.bare(&text);
                }
                _ => self.word_part(&mut parts, Quoting::None)?,
            }
        }
        if self.at == start {
            return Ok(None);
        }
        Ok(Some(Word { parts: parts.list, span: self.span_from(start) }))
    }

    /// A word that must be there.
    pub(super) fn expect_word(&mut self, after: &str) -> Parsed<Word> {
        self.skip_blanks();
        match self.word()? {
            Some(word) => Ok(word),
            None => self.fail(format!("a word is missing after `{after}`")),
        }
    }

    /// One quoted string, escape, expansion or character.
    pub(super) fn word_part(&mut self, parts: &mut Parts, quoting: Quoting) -> Parsed<()> {
        match self.peek() {
            Some(b'\\') => {
                self.at += 1;
                match self.next_char() {
                    Some('\n') => {}
                    Some(next) => parts.quoted(&next.to_string()),
                    None => parts.quoted("\\"),
                }
            }
            Some(b'\'') if quoting != Quoting::Double => parts.push(Part::Quoted(self.single_quoted()?)),
            Some(b'"') => {
                self.at += 1;
                let inner = self.nested(|cursor| cursor.double_quoted(Some(b'"')))?;
                parts.push(Part::Double(inner));
            }
            Some(b'$') => self.dollar(parts, quoting)?,
            Some(b'`') => {
                let part = self.backticks(quoting)?;
                parts.push(part);
            }
            Some(_) => {
                let next = self.next_char().map(String::from).unwrap_or_default();
                match quoting {
                    Quoting::None => parts.bare(&next),
                    Quoting::Double => parts.quoted(&next),
                }
            }
            None => return self.fail("the text ends too early"),
        }
        Ok(())
    }

    /// The inside of a double-quoted string up to its end, or of a here-document up to the end of the text.
    pub(super) fn double_quoted(&mut self, end: Option<u8>) -> Parsed<Vec<Part>> {
        let mut parts = Parts::default();
        loop {
            match self.peek() {
                None if end.is_none() => return Ok(parts.list),
                None => return self.fail("a double quote is not closed"),
                Some(byte) if Some(byte) == end => {
                    self.at += 1;
                    return Ok(parts.list);
                }
                Some(b'\\') => match self.peek_at(1) {
                    Some(b'\n') => self.at += 2,
                    Some(next @ (b'$' | b'`' | b'\\')) => {
                        self.at += 2;
                        parts.quoted(&char::from(next).to_string());
                    }
                    Some(b'"') if end.is_some() => {
                        self.at += 2;
                        parts.quoted("\"");
                    }
                    _ => {
                        self.at += 1;
                        parts.quoted("\\");
                    }
                },
                Some(b'$') => self.dollar(&mut parts, Quoting::Double)?,
                Some(b'`') => {
                    let part = self.backticks(Quoting::Double)?;
                    parts.push(part);
                }
                Some(_) => {
                    let rest = &self.text[self.at..];
                    let length = rest.find(['\\', '$', '`', '"']).unwrap_or(rest.len()).max(1);
                    parts.quoted(&rest[..length]);
                    self.at += length;
                }
            }
        }
    }

    fn single_quoted(&mut self) -> Parsed<String> {
        self.at += 1;
        let Some(end) = self.text[self.at..].find('\'') else {
            return self.fail("a single quote is not closed");
        };
        let text = self.text[self.at..self.at + end].to_owned();
        self.at += end + 1;
        Ok(text)
    }

    /// `@(a|b)` and the like. Followed by `()` it is the name of a function instead.
    fn begins_pattern_list(&self) -> bool {
        self.peek_at(1) == Some(b'(') && self.peek_at(2) != Some(b')')
    }

    fn pattern_list(&mut self) -> Parsed<String> {
        let start = self.at;
        let mut depth = 0;
        loop {
            match self.next_char() {
                Some('(') => depth += 1,
                Some(')') => {
                    depth -= 1;
                    if depth == 0 {
                        return Ok(self.text[start..self.at].to_owned());
                    }
                }
                None | Some('\n' | '$' | '`' | '"' | '\'' | '\\' | ';' | '&' | '<' | '>') => {
                    return self.fail("a pattern list cannot be read");
                }
                Some(_) => {}
            }
        }
    }
}

/// Whether expansions and text stand in double quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoting {
    None,
    Double,
}

/// Parts of a word; neighbouring text of one kind is joined.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) list: Vec<Part>,
}

impl Parts {
    pub(super) fn push(&mut self, part: Part) {
        self.list.push(part);
    }

    pub(super) fn bare(&mut self, text: &str) {
        match self.list.last_mut() {
            Some(Part::Bare(last)) => last.push_str(text),
            _ => self.list.push(Part::Bare(text.to_owned())),
        }
    }

    pub(super) fn quoted(&mut self, text: &str) {
        match self.list.last_mut() {
            Some(Part::Quoted(last)) => last.push_str(text),
            _ => self.list.push(Part::Quoted(text.to_owned())),
        }
    }
}
