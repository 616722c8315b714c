//! The place in the text, and the limits on how far and how deep parsing goes.

use std::cell::OnceCell;
use std::rc::Rc;

use super::ast::{Part, Span};
use super::{Origin, Unreadable};

/// Deeper nesting than any script that was written by someone.
pub(super) const DEEPEST: usize = 100;

/// More words, commands and expansions than anybody wants to judge.
const MOST_NODES: usize = 20_000;

pub(super) struct Cursor<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    origin: Origin,
    depth: usize,
    nodes: usize,
    /// Here-documents whose bodies begin after the next newline.
    pub(super) pending: Vec<Pending>,
}

#[derive(Clone)]
pub(super) struct Pending {
    pub(super) body: Rc<OnceCell<Vec<Part>>>,
    pub(super) delimiter: String,
    pub(super) quoted: bool,
    pub(super) strip_tabs: bool,
    /// Where the operator stands.
    pub(super) start: usize,
}

pub(super) type Parsed<T> = Result<T, Unreadable>;

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, origin: Origin, depth: usize) -> Self {
        Self { text, at: 0, origin, depth, nodes: 0, pending: vec![] }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    pub(super) fn looking_at(&self, what: &str) -> bool {
        self.text.as_bytes()[self.at..].starts_with(what.as_bytes())
    }

    /// Goes past it if it is here.
    pub(super) fn take(&mut self, what: &str) -> bool {
        let here = self.looking_at(what);
        if here {
            self.at += what.len();
        }
        here
    }

    pub(super) fn next_char(&mut self) -> Option<char> {
        let next = self.text[self.at..].chars().next()?;
        self.at += next.len_utf8();
        Some(next)
    }

    pub(super) fn span_from(&self, start: usize) -> Span {
        match self.origin {
            Origin::Command => Span { start, end: self.at },
            Origin::Value(span) => span,
        }
    }

    pub(super) fn fail<T>(&self, what: impl Into<String>) -> Parsed<T> {
        Err(Unreadable { what: what.into(), at: self.at })
    }

    /// Every node is counted, and every level of nesting.
    pub(super) fn count(&mut self) -> Parsed<()> {
        self.nodes += 1;
        if self.nodes > MOST_NODES { self.fail("it has too many parts") } else { Ok(()) }
    }

    pub(super) fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.count()?;
        if self.depth >= DEEPEST {
            return self.fail("it is nested too deeply");
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Parses other text, such as that between backticks, at this depth and place.
    pub(super) fn inside<T>(
        &mut self,
        text: &str,
        start: usize,
        parse: impl FnOnce(&mut Cursor<'_>) -> Parsed<T>,
    ) -> Parsed<T> {
        let span = self.span_from(start);
        self.nested(|cursor| {
            let mut inner = Cursor::new(text, Origin::Value(span), cursor.depth);
            inner.nodes = cursor.nodes;
            let result = parse(&mut inner);
            cursor.nodes = inner.nodes;
            result
        })
    }

    /// Blanks, escaped newlines and comments. Newlines end commands, so they stay.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => self.at += 2,
                Some(b'#') if self.begins_word() => {
                    self.at = self.text[self.at..].find('\n').map_or(self.text.len(), |end| self.at + end);
                }
                _ => return,
            }
        }
    }

    /// A `#` begins a comment only where a word could begin.
    fn begins_word(&self) -> bool {
        let before = &self.text.as_bytes()[..self.at];
        match before {
            [.., b'\\', b'\n'] => self.continues_blank(before.len() - 2),
            [.., last] => is_meta(*last),
            [] => true,
        }
    }

    /// Whether an escaped newline at `end` stands after a blank.
    fn continues_blank(&self, end: usize) -> bool {
        match &self.text.as_bytes()[..end] {
            [rest @ .., b'\\', b'\n'] => self.continues_blank(rest.len()),
            [.., last] => is_meta(*last),
            [] => true,
        }
    }

    /// Blanks and newlines, with the here-documents that begin after them.
    pub(super) fn skip_newlines(&mut self) -> Parsed<()> {
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'\n') {
                return Ok(());
            }
            self.newline()?;
        }
    }

    pub(super) fn newline(&mut self) -> Parsed<()> {
        self.at += 1;
        self.read_heredocs()
    }
}

/// Characters that end an unquoted word.
pub(super) fn is_meta(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'|' | b'&' | b';' | b'(' | b')' | b'<' | b'>')
}
