//! Lists, pipelines and commands.

use super::ast::{
    Arm, Assigned, Assignment, Command, Item, Kind, List, Operator, Part, Pipeline, Redirect, Simple, Then, Word,
};
use super::cursor::{Cursor, Parsed, is_meta};
use super::expansions::Closing;
use super::words::{Parts, Quoting};

impl Cursor<'_> {
    /// The whole text.
    pub(super) fn script(&mut self) -> Parsed<List> {
        let list = self.list()?;
        if self.at < self.text.len() {
            return self.fail("something stands where a command should begin");
        }
        // A document without a line of its own is empty.
        self.read_heredocs()?;
        Ok(list)
    }

    /// Up to something that cannot begin a command: the end, a parenthesis, `;;`, or a word such as `done`.
    pub(super) fn list(&mut self) -> Parsed<List> {
        let mut items = vec![];
        loop {
            self.skip_newlines()?;
            if self.ends_list() {
                return Ok(List { items });
            }
            let pipeline = self.nested(Self::pipeline)?;
            self.skip_blanks();
            let then = self.separator()?;
            if matches!(then, Then::And | Then::Or) {
                self.skip_newlines()?;
                if self.ends_list() {
                    return self.fail("a command is missing after `&&` or `||`");
                }
            }
            items.push(Item { pipeline, then });
        }
    }

    fn separator(&mut self) -> Parsed<Then> {
        if self.take("&&") {
            return Ok(Then::And);
        }
        if self.take("||") {
            return Ok(Then::Or);
        }
        match self.peek() {
            Some(b'&') => {
                self.at += 1;
                Ok(Then::Background)
            }
            Some(b';') if self.looking_at(";;") || self.looking_at(";&") => Ok(Then::Next),
            Some(b';') => {
                self.at += 1;
                self.skip_blanks();
                match self.peek() {
                    // The end of an arm of `case`.
                    Some(b';') if self.looking_at(";;") || self.looking_at(";&") => Ok(Then::Next),
                    Some(b';' | b'&' | b'|') => self.fail("two separators follow each other"),
                    _ => Ok(Then::Next),
                }
            }
            Some(b'\n') => self.newline().map(|()| Then::Next),
            None | Some(b')') => Ok(Then::Next),
            Some(_) => self.fail("a separator is missing between commands"),
        }
    }

    fn ends_list(&self) -> bool {
        const ENDS: [&str; 8] = ["then", "do", "done", "fi", "elif", "else", "esac", "}"];
        match self.peek() {
            None | Some(b')') => true,
            Some(b';') => self.looking_at(";;") || self.looking_at(";&"),
            Some(_) => ENDS.iter().any(|word| self.at_reserved(word)),
        }
    }

    /// Whether this reserved word stands here.
    fn at_reserved(&self, word: &str) -> bool {
        self.looking_at(word) && self.peek_at(word.len()).is_none_or(is_meta)
    }

    fn take_reserved(&mut self, word: &str) -> bool {
        let here = self.at_reserved(word);
        if here {
            self.at += word.len();
        }
        here
    }

    fn expect_reserved(&mut self, word: &str) -> Parsed<()> {
        self.skip_newlines()?;
        if self.take_reserved(word) { Ok(()) } else { self.fail(format!("`{word}` is missing")) }
    }

    fn pipeline(&mut self) -> Parsed<Pipeline> {
        let mut negated = false;
        loop {
            if self.take_reserved("!") {
                negated = !negated;
            } else if self.at_reserved("time") && !self.ends_after("time") {
                self.at += "time".len();
                self.skip_blanks();
                if self.take_reserved("-p") {
                    self.skip_blanks();
                }
                self.take_reserved("--");
            } else {
                break;
            }
            self.skip_blanks();
        }
        let mut stages = vec![self.command()?];
        loop {
            self.skip_blanks();
            if self.looking_at("||") || !self.take("|") {
                return Ok(Pipeline { negated, stages });
            }
            self.take("&");
            self.skip_newlines()?;
            stages.push(self.command()?);
        }
    }

    /// Whether nothing but a separator comes after this word.
    fn ends_after(&self, word: &str) -> bool {
        let rest = self.text[self.at + word.len()..].trim_start_matches([' ', '\t']);
        rest.is_empty() || rest.starts_with(['\n', ';', '&', '|', ')'])
    }

    fn command(&mut self) -> Parsed<Command> {
        let start = self.at;
        let Some(kind) = self.nested(Self::compound)? else {
            return self.nested(Self::simple);
        };
        let mut redirects = vec![];
        loop {
            self.skip_blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => return Ok(Command { kind, redirects, span: self.span_from(start) }),
            }
        }
    }

    fn compound(&mut self) -> Parsed<Option<Kind>> {
        let kind = if self.looking_at("((") {
            self.arithmetic_or_subshell()?
        } else if self.take("(") {
            self.subshell()?
        } else if self.take_reserved("{") {
            let list = self.list()?;
            self.expect_reserved("}")?;
            Kind::Group(list)
        } else if self.take_reserved("if") {
            self.conditional()?
        } else if self.take_reserved("while") || self.take_reserved("until") {
            let condition = self.list()?;
            Kind::Loop { condition, body: self.body()? }
        } else if self.take_reserved("for") || self.take_reserved("select") {
            self.iteration()?
        } else if self.take_reserved("case") {
            self.case()?
        } else if self.take_reserved("[[") {
            Kind::Test(self.test()?)
        } else if self.take_reserved("function") {
            let name = self.expect_word("function")?;
            self.skip_blanks();
            if self.take("(") {
                self.skip_blanks();
                if !self.take(")") {
                    return self.fail("`)` is missing after the name of a function");
                }
            }
            self.function(&name)?
        } else if self.take_reserved("coproc") {
            self.coprocess()?
        } else {
            return Ok(None);
        };
        Ok(Some(kind))
    }

    fn arithmetic_or_subshell(&mut self) -> Parsed<Kind> {
        let start = self.at;
        let pending = self.pending.clone();
        self.at += 2;
        if let Ok(Some(parts)) = self.arithmetic(Closing::Parentheses) {
            return Ok(Kind::Arithmetic(Word { parts, span: self.span_from(start) }));
        }
        self.pending = pending;
        self.at = start + 1;
        self.subshell()
    }

    fn subshell(&mut self) -> Parsed<Kind> {
        let list = self.list()?;
        if !self.take(")") {
            return self.fail("`)` is missing");
        }
        Ok(Kind::Subshell(list))
    }

    fn conditional(&mut self) -> Parsed<Kind> {
        let mut branches = vec![];
        let mut otherwise = None;
        loop {
            let condition = self.list()?;
            self.expect_reserved("then")?;
            branches.push((condition, self.list()?));
            if self.take_reserved("elif") {
                continue;
            }
            if self.take_reserved("else") {
                otherwise = Some(self.list()?);
            }
            self.expect_reserved("fi")?;
            return Ok(Kind::If { branches, otherwise });
        }
    }

    /// `do … done`, or the braces that bash takes as well.
    fn body(&mut self) -> Parsed<List> {
        self.skip_newlines()?;
        if self.take_reserved("{") {
            let list = self.list()?;
            self.expect_reserved("}")?;
            return Ok(list);
        }
        self.expect_reserved("do")?;
        let list = self.list()?;
        self.expect_reserved("done")?;
        Ok(list)
    }

    fn iteration(&mut self) -> Parsed<Kind> {
        self.skip_blanks();
        if self.looking_at("((") {
            let start = self.at;
            self.at += 2;
            let Some(parts) = self.arithmetic(Closing::Parentheses)? else {
                return self.fail("the header of a `for` cannot be read");
            };
            let header = Word { parts, span: self.span_from(start) };
            self.skip_blanks();
            self.take(";");
            return Ok(Kind::ArithmeticFor { header, body: self.body()? });
        }
        let word = self.expect_word("for")?;
        let Some(name) = word.bare().map(str::to_owned) else {
            return self.fail("the variable of a `for` is not a name");
        };
        self.skip_newlines()?;
        let words = if self.take_reserved("in") {
            let mut words = vec![];
            loop {
                self.skip_blanks();
                match self.word()? {
                    Some(word) => words.push(word),
                    None => break,
                }
            }
            Some(words)
        } else {
            None
        };
        self.skip_blanks();
        if !self.looking_at(";;") {
            self.take(";");
        }
        Ok(Kind::For { name, words, body: self.body()? })
    }

    fn case(&mut self) -> Parsed<Kind> {
        let subject = self.expect_word("case")?;
        self.expect_reserved("in")?;
        let mut arms = vec![];
        loop {
            self.skip_newlines()?;
            if self.take_reserved("esac") {
                return Ok(Kind::Case { subject, arms });
            }
            if self.take("(") {
                self.skip_blanks();
            }
            let mut patterns = vec![];
            loop {
                patterns.push(self.expect_word("case")?);
                self.skip_blanks();
                if !self.take("|") {
                    break;
                }
            }
            if !self.take(")") {
                return self.fail("`)` is missing after a pattern");
            }
            let body = self.list()?;
            let ended = self.take(";;&") || self.take(";;") || self.take(";&");
            if !ended && !self.at_reserved("esac") {
                return self.fail("`;;` is missing");
            }
            arms.push(Arm { patterns, body });
        }
    }

    /// The words of `[[ … ]]`.
    fn test(&mut self) -> Parsed<Vec<Word>> {
        let mut words: Vec<Word> = vec![];
        loop {
            self.skip_newlines()?;
            if self.take_reserved("]]") {
                return Ok(words);
            }
            let start = self.at;
            let matches = words.last().and_then(Word::bare) == Some("=~");
            let word = if matches { self.expression()? } else { self.word()? };
            match word {
                Some(word) => words.push(word),
                None => {
                    let operators = ["&&", "||", "(", ")", "<", ">"];
                    let Some(operator) = operators.iter().find(|operator| self.looking_at(operator)) else {
                        return self.fail("`]]` is missing");
                    };
                    self.at += operator.len();
                    let parts = vec![Part::Bare((*operator).to_owned())];
                    words.push(Word { parts, span: self.span_from(start) });
                }
            }
        }
    }

    /// A regular expression: parentheses belong to it.
    fn expression(&mut self) -> Parsed<Option<Word>> {
        let start = self.at;
        let mut parts = Parts::default();
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\n' if depth == 0 => break,
                b'(' => depth += 1,
                b')' if depth == 0 => break,
                b')' => depth -= 1,
                _ => {}
            }
            self.word_part(&mut parts, Quoting::None)?;
        }
        Ok((self.at > start).then(|| Word { parts: parts.list, span: self.span_from(start) }))
    }

    fn function(&mut self, name: &Word) -> Parsed<Kind> {
        let Some(name) = name.bare().map(str::to_owned) else {
            return self.fail("the name of a function is not plain");
        };
        self.skip_newlines()?;
        let body = self.command()?;
        if matches!(body.kind, Kind::Simple(_) | Kind::Function { .. } | Kind::Coprocess(_)) {
            return self.fail("the body of a function is not a group");
        }
        Ok(Kind::Function { name, body: Box::new(body) })
    }

    /// `coproc [NAME] command`: a name is one only before a compound command.
    fn coprocess(&mut self) -> Parsed<Kind> {
        self.skip_blanks();
        let start = self.at;
        if let Some(word) = self.word()?
            && word.bare().is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
        {
            self.skip_blanks();
            let compound = ["{", "(", "while", "until", "for", "if", "case", "select", "[["];
            if compound.iter().any(|word| if *word == "(" { self.looking_at("(") } else { self.at_reserved(word) }) {
                return Ok(Kind::Coprocess(Box::new(self.command()?)));
            }
        }
        self.at = start;
        Ok(Kind::Coprocess(Box::new(self.command()?)))
    }

    fn simple(&mut self) -> Parsed<Command> {
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
        let append = self.take("+=");
        if !append && !self.take("=") {
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
                None if self.take(")") => return Ok(words),
                None => return self.fail("an array is not closed"),
            }
        }
    }

    fn redirect(&mut self) -> Parsed<Option<Redirect>> {
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
        self.at += ahead;
        if self.take("<<<") {
            return self.target(fd, Operator::HereString, start).map(Some);
        }
        if self.take("<<") {
            let strip = self.take("-");
            return self.heredoc(fd, start, strip).map(Some);
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
        let mut redirect = self.target(fd, operator, start)?;
        if text == ">&" && fd.is_none() && !is_descriptor(&redirect.target) {
            operator = Operator::WriteBoth;
        }
        redirect.operator = operator;
        Ok(Some(redirect))
    }

    fn target(&mut self, fd: Option<u32>, operator: Operator, start: usize) -> Parsed<Redirect> {
        let target = self.expect_word("a redirection")?;
        Ok(Redirect { fd, operator, target, span: self.span_from(start) })
    }

    /// The length of `{name}` if a redirection follows.
    fn named_descriptor(&self) -> usize {
        let rest = &self.text[self.at..];
        let Some(end) = rest.find('}') else { return 0 };
        let is_name = end > 1 && rest[1..end].bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
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
