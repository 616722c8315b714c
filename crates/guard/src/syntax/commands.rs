//! Lists, pipelines and commands.

use super::ast::{Arm, Command, Item, Kind, List, Part, Pipeline, Then, Word};
use super::cursor::{Cursor, Parsed, is_meta};
use super::expansions::Closing;
use super::words::{Parts, Quoting};

impl Cursor<'_> {
    /// The whole text.
    pub(super) fn script(&mut self) -> Parsed<List> {
        if self.text.contains('\0') {
            return self.fail("it has a NUL byte");
        }
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
            // After `)`, `}` and the like none is needed before `do` or `then`.
            Some(_) if self.ends_list() => Ok(Then::Next),
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
        let shell = self.subshell()?;
        // Bash reads the text of such a document in another way.
        if self.text[start..self.at].contains("<<") {
            return self.fail("a here-document stands in double parentheses");
        }
        Ok(shell)
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
            let goes_on = self.take(";;&") || self.take(";&");
            let ended = goes_on || self.take(";;");
            if !ended && !self.at_reserved("esac") {
                return self.fail("`;;` is missing");
            }
            arms.push(Arm { patterns, body, goes_on });
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

    pub(super) fn function(&mut self, name: &Word) -> Parsed<Kind> {
        let Some(name) = name.bare().map(str::to_owned) else {
            return self.fail("the name of a function is not plain");
        };
        self.skip_newlines()?;
        let body = self.command()?;
        if matches!(body.kind, Kind::Simple(_) | Kind::Function { .. } | Kind::Coprocess { .. }) {
            return self.fail("the body of a function is not a group");
        }
        Ok(Kind::Function { name, body: Box::new(body) })
    }

    /// `coproc [NAME] command`: a name is one only before a compound command.
    fn coprocess(&mut self) -> Parsed<Kind> {
        self.skip_blanks();
        let start = self.at;
        if let Some(word) = self.word()?
            && word
                .bare()
                .is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
        {
            self.skip_blanks();
            let compound = ["{", "(", "while", "until", "for", "if", "case", "select", "[["];
            if compound
                .iter()
                .any(|word| if *word == "(" { self.looking_at("(") } else { self.at_reserved(word) })
            {
                let name = word.bare().map(str::to_owned);
                return Ok(Kind::Coprocess { name, body: Box::new(self.command()?) });
            }
        }
        self.at = start;
        Ok(Kind::Coprocess { name: None, body: Box::new(self.command()?) })
    }
}
