//! Here-documents: their delimiters, and their bodies, which begin on the next line.

use std::cell::OnceCell;
use std::mem::take;
use std::rc::Rc;

use super::ast::{Operator, Part, Redirect, Word};
use super::cursor::{Cursor, Parsed, Pending, is_meta};

impl Cursor<'_> {
    /// After `<<` or `<<-`.
    pub(super) fn heredoc(&mut self, fd: Option<u32>, start: usize, strip_tabs: bool) -> Parsed<Redirect> {
        self.skip_blanks();
        let (delimiter, quoted) = self.delimiter()?;
        let body = Rc::new(OnceCell::new());
        self.pending.push(Pending { body: body.clone(), delimiter, quoted, strip_tabs, start });
        let span = self.span_from(start);
        let target = Word { parts: vec![Part::Document(body)], span };
        Ok(Redirect { fd, variable: None, operator: Operator::HereDocument, target })
    }

    /// The delimiter after removal of quotes, and whether there were any: then nothing in the body is expanded.
    fn delimiter(&mut self) -> Parsed<(String, bool)> {
        let start = self.at;
        let mut text = String::new();
        let mut quoted = false;
        while let Some(byte) = self.peek().filter(|byte| !is_meta(*byte)) {
            match byte {
                b'\'' | b'"' => {
                    quoted = true;
                    self.at += 1;
                    let Some(end) = self.text[self.at..].find(char::from(byte)) else {
                        return self.fail("a quote in a here-document's delimiter is not closed");
                    };
                    let inner = &self.text[self.at..self.at + end];
                    if inner.contains(['\\', '\n']) {
                        return self.fail("a here-document has a strange delimiter");
                    }
                    text.push_str(inner);
                    self.at += end + 1;
                }
                b'\\' if self.peek_at(1) == Some(b'\n') => {
                    return self.fail("a here-document's delimiter is continued on the next line");
                }
                b'\\' => {
                    quoted = true;
                    self.at += 1;
                    text.extend(self.next_char().filter(|next| *next != '\n'));
                }
                b'$' | b'`' => return self.fail("a here-document has a strange delimiter"),
                _ => text.extend(self.next_char()),
            }
        }
        if self.at == start { self.fail("a here-document has no delimiter") } else { Ok((text, quoted)) }
    }

    /// Called after a newline.
    pub(super) fn read_heredocs(&mut self) -> Parsed<()> {
        for pending in take(&mut self.pending) {
            let body = self.lines(&pending);
            let parts = if pending.quoted {
                vec![Part::Quoted(body)]
            } else {
                self.inside(&body, pending.start, |inner| inner.double_quoted(None))?
            };
            // It was made for this, and is set once.
            let _ = pending.body.set(parts);
        }
        Ok(())
    }

    /// The lines up to the delimiter, or to the end of the text, as bash has it too.
    fn lines(&mut self, pending: &Pending) -> String {
        let mut body = String::new();
        while self.at < self.text.len() {
            let line = self.document_line(!pending.quoted);
            let line = if pending.strip_tabs { line.trim_start_matches('\t') } else { &line };
            if line.trim_end_matches('\n') == pending.delimiter {
                break;
            }
            body.push_str(line);
        }
        body
    }

    /// One line with its newline; with `joined`, an escaped newline does not end it.
    fn document_line(&mut self, joined: bool) -> String {
        let mut line = String::new();
        loop {
            let rest = &self.text[self.at..];
            let end = rest.find('\n').map_or(rest.len(), |end| end + 1);
            let piece = &rest[..end];
            self.at += end;
            let escapes =
                piece.trim_end_matches('\n').bytes().rev().take_while(|byte| *byte == b'\\').count();
            if joined && escapes % 2 == 1 && piece.ends_with('\n') {
                line.push_str(&piece[..piece.len() - 2]);
            } else {
                line.push_str(piece);
                return line;
            }
        }
    }
}
