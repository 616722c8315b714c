//! Command patterns against the words of a command.
//!
//! Both sides are symbols: what the shell takes for the end of a word is one of its own, so that `git 'log x'` is not
//! `git log x`, and so is what is not known, which only a wildcard covers.

use crate::text::{Piece, Text};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Symbol {
    Char(char),
    /// Between two words.
    Break,
    /// In a pattern: anything, also several words or nothing.
    Any,
    /// In a pattern: the home directory.
    Home,
    /// In a command: something that is not known.
    Unknown,
}

/// A pattern for one simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    /// Without the wildcard at the end that is a word of its own.
    symbols: Vec<Symbol>,
    end: End,
}

/// How a pattern ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Here,
    /// ` *`: in any further words, or none.
    Words,
    /// `:*`: the same, or the last word goes on after a colon.
    Colon,
}

/// How far something unknown goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// It must be covered by a wildcard.
    Certain,
    /// It may be whatever fits.
    Possible,
}

impl Pattern {
    /// Reads the text of an entry as the shell would read its words. What is wrong comes back as a phrase.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut symbols = vec![];
        let mut chars = text.trim().chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '\'' => loop {
                    match chars.next() {
                        Some('\'') => break,
                        Some(c) => symbols.push(Symbol::Char(c)),
                        None => return Err("a quote in it is not closed".to_owned()),
                    }
                },
                '"' => loop {
                    match chars.next() {
                        Some('"') => break,
                        Some('\\') => match chars.next() {
                            Some(c @ ('"' | '\\' | '$' | '`')) => symbols.push(Symbol::Char(c)),
                            Some(c) => symbols.extend([Symbol::Char('\\'), Symbol::Char(c)]),
                            None => return Err("a quote in it is not closed".to_owned()),
                        },
                        Some(c) => symbols.push(Symbol::Char(c)),
                        None => return Err("a quote in it is not closed".to_owned()),
                    }
                },
                '\\' => symbols.push(Symbol::Char(chars.next().ok_or("it ends in a backslash")?)),
                ';' | '|' | '&' | '<' | '>' | '\n' | '\r' => {
                    return Err(format!(
                        "an entry names one command, but it has {c:?}; write an entry for each command, and quote \
                         what is text"
                    ));
                }
                ' ' | '\t' => {
                    while matches!(chars.peek(), Some(' ' | '\t')) {
                        chars.next();
                    }
                    symbols.push(Symbol::Break);
                }
                '*' => symbols.push(Symbol::Any),
                '~' if at_start(&symbols) && matches!(chars.peek(), None | Some('/' | ' ')) => {
                    symbols.push(Symbol::Home);
                }
                c => symbols.push(Symbol::Char(c)),
            }
        }
        if symbols.is_empty() {
            return Err("it is empty".to_owned());
        }
        Ok(Self::ending(symbols))
    }

    fn ending(symbols: Vec<Symbol>) -> Self {
        use Symbol::{Any, Break, Char};
        match symbols.as_slice() {
            [base @ .., Break, Any] if !base.is_empty() => Self { symbols: base.to_vec(), end: End::Words },
            [base @ .., Char(':'), Any] if !base.is_empty() && !base.ends_with(&[Break]) => {
                Self { symbols: base.to_vec(), end: End::Colon }
            }
            _ => Self { symbols, end: End::Here },
        }
    }

    /// Whether it has no wildcard.
    pub(super) fn is_exact(&self) -> bool {
        self.end == End::Here && !self.symbols.contains(&Symbol::Any)
    }

    /// Its words as text, with `*` for wildcards.
    pub(super) fn words(&self) -> Vec<String> {
        let show = |symbol: &Symbol| match symbol {
            Symbol::Char(c) => *c,
            Symbol::Any => '*',
            Symbol::Home => '~',
            Symbol::Break | Symbol::Unknown => ' ',
        };
        self.symbols
            .split(|symbol| *symbol == Symbol::Break)
            .map(|word| word.iter().map(show).collect())
            .chain((self.end != End::Here).then(|| "*".to_owned()))
            .collect()
    }

    /// How many of its words come before the first with a wildcard.
    pub(super) fn constants(&self) -> usize {
        let words = self.symbols.split(|symbol| *symbol == Symbol::Break);
        words.take_while(|word| !word.contains(&Symbol::Any)).count()
    }

    /// The same with a word replaced by another text.
    pub(super) fn with_word(&self, index: usize, text: &str) -> Self {
        let words = self.symbols.split(|symbol| *symbol == Symbol::Break).enumerate();
        let mut symbols = vec![];
        for (at, word) in words {
            if at > 0 {
                symbols.push(Symbol::Break);
            }
            if at == index {
                symbols.extend(text.chars().map(Symbol::Char));
            } else {
                symbols.extend(word);
            }
        }
        Self { symbols, end: self.end }
    }

    /// Whether it fits a whole command.
    pub(super) fn fits(&self, command: &[Symbol], home: &str, reading: Reading) -> bool {
        let symbols = self.symbols.iter().flat_map(|symbol| match symbol {
            Symbol::Home => home.chars().map(Symbol::Char).collect(),
            other => vec![*other],
        });
        let symbols: Vec<Symbol> = symbols.collect();
        let fits = |end: &[Symbol]| matches(&[&symbols, end].concat(), command, reading);
        let words = || fits(&[]) || fits(&[Symbol::Break, Symbol::Any]);
        match self.end {
            End::Here => fits(&[]),
            End::Words => words(),
            End::Colon => words() || fits(&[Symbol::Char(':'), Symbol::Any]),
        }
    }
}

fn at_start(symbols: &[Symbol]) -> bool {
    matches!(symbols.last(), None | Some(Symbol::Break))
}

/// The words of a command as symbols.
pub(super) fn symbols(words: &[Text]) -> Vec<Symbol> {
    let mut symbols = vec![];
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            symbols.push(Symbol::Break);
        }
        for piece in word.pieces() {
            match piece {
                Piece::Known(text) => symbols.extend(text.chars().map(Symbol::Char)),
                Piece::Pattern(text) => symbols.extend(glob(text)),
                Piece::Unknown(_) => symbols.push(Symbol::Unknown),
            }
        }
    }
    symbols
}

/// A pattern of the shell stands for names that are not known, but what is plain text in it is in each of them.
fn glob(text: &str) -> Vec<Symbol> {
    if text.contains(['(', '[', '\\']) {
        return vec![Symbol::Unknown];
    }
    text.chars().map(|c| if matches!(c, '*' | '?') { Symbol::Unknown } else { Symbol::Char(c) }).collect()
}

/// Takes at most the product of the lengths, and mostly ends at the first character that differs.
fn matches(pattern: &[Symbol], command: &[Symbol], reading: Reading) -> bool {
    if reading == Reading::Possible && command.contains(&Symbol::Unknown) {
        return may_match(pattern, command);
    }
    let (mut p, mut c) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while c < command.len() {
        match pattern.get(p) {
            Some(Symbol::Any) => {
                star = Some((p + 1, c));
                p += 1;
                continue;
            }
            Some(symbol) if *symbol == command[c] && *symbol != Symbol::Unknown => {
                p += 1;
                c += 1;
                continue;
            }
            Some(_) | None => {}
        }
        let Some((after, from)) = star else { return false };
        star = Some((after, from + 1));
        p = after;
        c = from + 1;
    }
    pattern[p..].iter().all(|symbol| *symbol == Symbol::Any)
}

/// Both sides have parts that stand for anything.
fn may_match(pattern: &[Symbol], command: &[Symbol]) -> bool {
    // Which ends of the command each beginning of the pattern can reach, one row after the other.
    let mut row: Vec<bool> = vec![false; command.len() + 1];
    row[0] = true;
    for at in 0..command.len() {
        row[at + 1] = row[at] && command[at] == Symbol::Unknown;
    }
    for symbol in pattern {
        let mut next = vec![false; command.len() + 1];
        next[0] = row[0] && *symbol == Symbol::Any;
        for at in 0..command.len() {
            let own = command[at];
            next[at + 1] = match (symbol, own) {
                (Symbol::Any, _) => row[at + 1] || next[at],
                (_, Symbol::Unknown) => row[at + 1] || next[at] || row[at],
                (symbol, own) => row[at] && *symbol == own,
            };
        }
        if !next.contains(&true) {
            return false;
        }
        row = next;
    }
    row[command.len()]
}

#[cfg(test)]
mod tests {
    use super::{Pattern, Reading, symbols};
    use crate::text::{Text, Why};

    fn fits(pattern: &str, words: &[&str]) -> bool {
        let words: Vec<Text> = words.iter().map(|word| Text::known(*word)).collect();
        Pattern::parse(pattern).unwrap().fits(&symbols(&words), "/home/dev", Reading::Certain)
    }

    #[test]
    fn words_are_words() {
        assert!(fits("git log *", &["git", "log"]));
        assert!(fits("git log *", &["git", "log", "-1", "a b"]));
        assert!(!fits("git log *", &["git", "logx"]));
        assert!(!fits("git log *", &["git log", "x"]));
        assert!(!fits("ls *", &["lsof"]));
        assert!(fits("git commit -m \"a b\"", &["git", "commit", "-m", "a b"]));
        assert!(!fits("git commit -m 'a b'", &["git", "commit", "-m", "a", "b"]));
        assert!(fits("cat ~/x", &["cat", "/home/dev/x"]));
        assert!(fits("echo '*'", &["echo", "*"]));
        assert!(!fits("echo '*'", &["echo", "x"]));
    }

    #[test]
    fn a_colon_before_the_wildcard_ends_a_word() {
        for words in [
            &["npm", "run", "test"][..],
            &["npm", "run", "test", "-w"],
            &["npm", "run", "test:unit"],
            &["npm", "run", "test:unit", "-w"],
        ] {
            assert!(fits("npm run test:*", words), "{words:?}");
        }
        assert!(!fits("npm run test:*", &["npm", "run", "tests"]));
    }

    #[test]
    fn what_is_not_known_is_covered_by_wildcards_only() {
        let unknown = Text::unknown(Why::Input);
        let words = [Text::known("git"), Text::known("push"), unknown];
        let fits = |pattern: &str, reading| {
            Pattern::parse(pattern).unwrap().fits(&symbols(&words), "/home/dev", reading)
        };
        assert!(fits("git push *", Reading::Certain));
        assert!(!fits("git push --force", Reading::Certain));
        assert!(fits("git push --force", Reading::Possible));
        assert!(!fits("git pull *", Reading::Possible));
    }
}
