//! Simple commands: assignments, words and redirections.

use super::ast::{Assigned, Assignment, Command, Kind, Operator, Part, Redirect, Simple, Word};
use super::cursor::{Cursor, Parsed, is_meta};
use super::expansions::Closing;

impl Cursor<'_> {
    pub(super) fn simple(&mut self) -> Parsed<Command> {
        let start = self.at;
        let mut simple = Simple::default();
        let mut redirects = vec![];
        let mut end = self.at;
        loop {
            self.skip_blanks();
            let before = self.at;
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
            } else if let Some(assignment) = self.assignment(&simple)? {
                simple.assignments.push(assignment);
            } else if let Some(word) = self.word()? {
                simple.words.push(word);
            } else if self.looking_at("(") {
                return self.function_after(start, &simple, &redirects);
            }
            if self.at == before {
                break;
            }
            end = self.at;
        }
        if simple.words.is_empty() && simple.assignments.is_empty() && redirects.is_empty() {
            return self.fail("a command is missing");
        }
        let mut span = self.span_from(start);
        span.end = span.end.min(end.max(span.start));
        Ok(Command { kind: Kind::Simple(simple), redirects, span })
    }

    /// `name ()` was read up to the parenthesis.
    fn function_after(&mut self, start: usize, simple: &Simple, redirects: &[Redirect]) -> Parsed<Command> {
        let ([name], [], []) = (simple.words.as_slice(), simple.assignments.as_slice(), redirects) else {
            return self.fail("a `(` stands where a word should");
        };
        self.at += 1;
        self.skip_blanks();
        if !self.take(")") {
            return self.fail("a `(` stands where a word should");
        }
        let kind = self.function(name)?;
        Ok(Command { kind, redirects: vec![], span: self.span_from(start) })
    }

    /// `name=value`, `name+=value`, `name[subscript]=value`, `name=(values)`: before the first word, and after
    /// `declare` and its kin.
    fn assignment(&mut self, simple: &Simple) -> Parsed<Option<Assignment>> {
        const DECLARE: [&str; 5] = ["declare", "typeset", "local", "export", "readonly"];
        let declares = simple.words.first().and_then(Word::bare).is_some_and(|name| DECLARE.contains(&name));
        if !simple.words.is_empty() && !declares {
            return Ok(None);
        }
        let start = self.at;
        let rest = &self.text[start..];
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        if length == 0 || rest.as_bytes()[0].is_ascii_digit() {
            return Ok(None);
        }
        let name = rest[..length].to_owned();
        self.at += length;
        let subscript = if self.peek() == Some(b'[') {
            let from = self.at;
            let pending = self.pending.clone();
            self.at += 1;
            match self.arithmetic(Closing::Bracket) {
                Ok(Some(parts)) => Some(Word { parts, span: self.span_from(from) }),
                Ok(None) | Err(_) => {
                    self.pending = pending;
                    self.at = start;
                    return Ok(None);
                }
            }
        } else {
            None
        };
        if self.looking_at("\\\n") {
            return self.fail("a name is continued on the next line");
        }
        let append = self.take("+=");
        if !append && !self.take("=") {
            // To bash it is one word up to the bracket, whatever stands in it.
            if subscript.is_some()
                && self.text[start..self.at].bytes().any(|byte| is_meta(byte) || byte == b'#')
            {
                return self.fail("a word with brackets cannot be read");
            }
            self.at = start;
            return Ok(None);
        }
        let value = if self.peek() == Some(b'(') {
            self.at += 1;
            Assigned::Array(self.elements()?)
        } else {
            let here = self.span_from(self.at);
            Assigned::Word(self.word()?.unwrap_or(Word { parts: vec![], span: here }))
        };
        Ok(Some(Assignment { name, subscript, append, value, span: self.span_from(start) }))
    }

    fn elements(&mut self) -> Parsed<Vec<Word>> {
        let mut words = vec![];
        loop {
            self.skip_newlines()?;
            match self.word()? {
                Some(word) => words.push(without_key(word)),
                // What is glued to the end belongs to the word.
                None if self.take(")") && self.peek().is_none_or(is_meta) => return Ok(words),
                None => return self.fail("an array is not closed"),
            }
        }
    }

    pub(super) fn redirect(&mut self) -> Parsed<Option<Redirect>> {
        let start = self.at;
        let digits = self.text[start..].bytes().take_while(u8::is_ascii_digit).count();
        let named = if self.peek() == Some(b'{') { self.named_descriptor() } else { 0 };
        let ahead = digits.max(named);
        let both = self.looking_at("&>");
        match self.peek_at(ahead) {
            Some(b'<' | b'>') if self.peek_at(ahead + 1) != Some(b'(') => {}
            _ if both => {}
            _ => return Ok(None),
        }
        self.count()?;
        let fd = self.text[start..start + digits].parse().ok();
        let variable = (named > 2).then(|| self.text[start + 1..start + named - 1].to_owned());
        self.at += ahead;
        if self.take("<<<") {
            let redirect = self.target(fd, Operator::HereString)?;
            return Ok(Some(Redirect { variable, ..redirect }));
        }
        if self.take("<<") {
            let strip = self.take("-");
            let redirect = self.heredoc(fd, start, strip)?;
            return Ok(Some(Redirect { variable, ..redirect }));
        }
        let operators = [
            ("&>>", Operator::AppendBoth),
            ("&>", Operator::WriteBoth),
            ("<&", Operator::Duplicate),
            ("<>", Operator::ReadWrite),
            ("<", Operator::Read),
            (">>", Operator::Append),
            (">&", Operator::Duplicate),
            (">|", Operator::Write),
            (">", Operator::Write),
        ];
        let found = operators.into_iter().find(|(text, _)| self.take(text));
        let Some((text, mut operator)) = found else { return self.fail("a redirection cannot be read") };
        let mut redirect = self.target(fd, operator)?;
        // Bash expands such a target twice.
        let doubly = |part: &Part| match part {
            Part::Quoted(text) => text.contains(['$', '`']),
            _ => false,
        };
        if text.ends_with('&') && redirect.target.bare().is_none() && redirect.target.parts.iter().any(doubly)
        {
            return self.fail("the target of a redirection cannot be read");
        }
        if text == ">&" && fd.is_none() && !is_descriptor(&redirect.target) {
            operator = Operator::WriteBoth;
        }
        redirect.operator = operator;
        redirect.variable = variable;
        Ok(Some(redirect))
    }

    fn target(&mut self, fd: Option<u32>, operator: Operator) -> Parsed<Redirect> {
        let target = self.expect_word("a redirection")?;
        Ok(Redirect { fd, variable: None, operator, target })
    }

    /// The length of `{name}` if a redirection follows.
    fn named_descriptor(&self) -> usize {
        let rest = &self.text[self.at..];
        let Some(end) = rest.find('}') else { return 0 };
        let is_name =
            end > 1 && rest[1..end].bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if is_name && rest[end + 1..].starts_with(['<', '>']) { end + 1 } else { 0 }
    }
}

fn is_descriptor(word: &Word) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    word.bare().is_some_and(|text| digits(text.strip_suffix('-').unwrap_or(text)))
}

/// The value of `[key]=value` in an array.
fn without_key(mut word: Word) -> Word {
    if let Some(Part::Bare(text)) = word.parts.first_mut()
        && text.starts_with('[')
        && let Some(at) = text.find("]=")
    {
        text.replace_range(..at + 2, "");
    }
    word
}
