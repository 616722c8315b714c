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
    /// In a command: what a pattern of the shell stands for, without a slash. It may be several words.
    Glob,
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

/// How far something unknown and a wildcard go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// To allow: it must be covered by a wildcard, and a wildcard goes no further than its word.
    Proven,
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
            Symbol::Break | Symbol::Unknown | Symbol::Glob => ' ',
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

    /// Whether it proves that a command is one of those it names. Relative paths with a wildcard are those in the
    /// root of the workspace.
    pub(super) fn allows(&self, command: &[Symbol], home: &str, in_root: bool) -> bool {
        let symbols = self.resolved(home);
        let mut own: Vec<&[Symbol]> = symbols.split(|symbol| *symbol == Symbol::Break).collect();
        let words: Vec<&[Symbol]> = command.split(|symbol| *symbol == Symbol::Break).collect();
        if words.len() < own.len() || self.end == End::Here && words.len() > own.len() {
            return false;
        }
        if self.end == End::Colon
            && let Some(last) = own.pop()
        {
            let word = words[own.len()];
            if !word.strip_prefix(last).is_some_and(|rest| matches!(rest, [] | [Symbol::Char(':'), ..])) {
                return false;
            }
        }
        own.iter().zip(words).all(|(own, word)| match own {
            [Symbol::Any] => !word.iter().copied().any(is_unknown),
            own if own.contains(&Symbol::Any) => fits_word(own, word, in_root),
            own => *own == word,
        })
    }

    fn resolved(&self, home: &str) -> Vec<Symbol> {
        let symbols = self.symbols.iter().flat_map(|symbol| match symbol {
            Symbol::Home => home.chars().map(Symbol::Char).collect(),
            other => vec![*other],
        });
        symbols.collect()
    }

    /// Whether it fits a whole command.
    pub(super) fn fits(&self, command: &[Symbol], home: &str, reading: Reading) -> bool {
        let symbols = self.resolved(home);
        let fits = |end: &[Symbol]| matches(&[&symbols, end].concat(), command, reading);
        let words = || fits(&[]) || fits(&[Symbol::Break, Symbol::Any]);
        match self.end {
            End::Here => fits(&[]),
            End::Words => words(),
            End::Colon => words() || fits(&[Symbol::Char(':'), Symbol::Any]),
        }
    }
}

fn is_unknown(symbol: Symbol) -> bool {
    matches!(symbol, Symbol::Unknown | Symbol::Glob)
}

/// Whether a word with a wildcard in it fits one argument: not one that leads up, out of a workspace that a relative
/// path is in, or into a repository's own directory.
fn fits_word(own: &[Symbol], word: &[Symbol], in_root: bool) -> bool {
    use Symbol::{Char, Glob};
    let is_path = own.contains(&Char('/'));
    let absolute = |word: &[Symbol]| word.starts_with(&[Char('/')]);
    let current = |word: &[Symbol]| word.starts_with(&[Char('.'), Char('/')]);
    let (own, word) = if current(own) || is_path && current(word) {
        let rest = |word: &[Symbol]| if current(word) { word[2..].to_vec() } else { word.to_vec() };
        (rest(own), rest(word))
    } else {
        (own.to_vec(), word.to_vec())
    };
    let relative = !absolute(&own);
    if relative && (is_path && !in_root || absolute(&word)) || word.contains(&Symbol::Unknown) {
        return false;
    }
    let git: Vec<Symbol> = ".git".chars().map(Char).collect();
    let strange = |part: &[Symbol]| {
        // A pattern of the shell stands for `..` only if it begins with a dot.
        part == [Char('.'), Char('.')]
            || part.starts_with(&[Char('.')]) && part.contains(&Glob)
            || is_path && part == git && !own.windows(git.len()).any(|part| part == git)
    };
    let parts = word.split(|symbol| matches!(symbol, Char('/' | '=')));
    !parts.into_iter().any(strange) && matches(&own, &word, Reading::Certain)
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
    text.chars().map(|c| if matches!(c, '*' | '?') { Symbol::Glob } else { Symbol::Char(c) }).collect()
}

/// Takes at most the product of the lengths, and mostly ends at the first character that differs.
fn matches(pattern: &[Symbol], command: &[Symbol], reading: Reading) -> bool {
    if reading == Reading::Possible && command.iter().copied().any(is_unknown) {
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
            Some(symbol) if *symbol == command[c] => {
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
        row[at + 1] = row[at] && is_unknown(command[at]);
    }
    for symbol in pattern {
        let mut next = vec![false; command.len() + 1];
        next[0] = row[0] && *symbol == Symbol::Any;
        for at in 0..command.len() {
            let own = command[at];
            next[at + 1] = match (symbol, own) {
                (Symbol::Any, _) => row[at + 1] || next[at],
                (_, Symbol::Unknown | Symbol::Glob) => row[at + 1] || next[at] || row[at],
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
