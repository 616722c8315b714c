//! Words, strings and marks of code in other languages.

use super::languages::Language;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Name(String),
    Text(String),
    /// Between backticks, where that runs a command.
    Run(String),
    Mark(char),
}

pub(super) fn tokens(code: &str, language: Language) -> Vec<Token> {
    let chars: Vec<char> = code.chars().collect();
    let mut tokens = vec![];
    let mut at = 0;
    while at < chars.len() && tokens.len() < 20_000 {
        let c = chars[at];
        if c == '/' && chars.get(at + 1) == Some(&'*') && matches!(language, Language::Node | Language::Php) {
            let end = chars[at + 2..].windows(2).position(|pair| pair == ['*', '/']);
            at = end.map_or(chars.len(), |end| at + end + 4);
            continue;
        }
        if c == '/' && begins_regex(&tokens, language) {
            at = after_regex(&chars, at);
            continue;
        }
        let slashes =
            matches!(language, Language::Node | Language::Php) && c == '/' && chars.get(at + 1) == Some(&'/');
        if slashes || c == '#' && language != Language::Node {
            while at < chars.len() && chars[at] != '\n' {
                at += 1;
            }
        } else if matches!(c, '"' | '\'') || c == '`' && language != Language::Awk {
            let (text, end) = string(&chars, at);
            let runs = c == '`' && language != Language::Node;
            tokens.push(if runs { Token::Run(text) } else { Token::Text(text) });
            at = end;
        } else if c.is_alphabetic() || matches!(c, '_' | '$' | '@') {
            let start = at;
            while at < chars.len()
                && (chars[at].is_alphanumeric() || matches!(chars[at], '_' | '.' | '$' | ':' | '@' | '!'))
            {
                at += 1;
            }
            let name: String = chars[start..at].iter().collect();
            let name = name.trim_end_matches([':', '.', '!']).to_owned();
            let matches_text =
                matches!(name.as_str(), "m" | "qr" | "s" | "tr" | "y") && language == Language::Perl;
            if matches_text && chars.get(at).is_some_and(|c| "/{([|!#".contains(*c)) {
                let (_, end) = delimited(&chars, at);
                // Two parts, in the same or in their own delimiters.
                at = match (name.as_str(), chars.get(end)) {
                    ("m" | "qr", _) | (_, None) => end,
                    (_, Some('{' | '(' | '[')) => delimited(&chars, end).1,
                    (_, Some(_)) => delimited(&chars, end - 1).1,
                };
                continue;
            }
            // Perl's and Ruby's other ways to write strings and commands.
            if matches!(name.as_str(), "qx" | "q" | "qq")
                && matches!(language, Language::Perl | Language::Ruby)
                && at < chars.len()
            {
                let (text, end) = delimited(&chars, at);
                tokens.push(if name == "qx" { Token::Run(text) } else { Token::Text(text) });
                at = end;
            } else if name == "qw" && language == Language::Perl && at < chars.len() {
                let (text, end) = delimited(&chars, at);
                push_words(&text, &mut tokens);
                at = end;
            } else {
                tokens.push(Token::Name(name));
            }
        } else if c == '%'
            && matches!(chars.get(at + 1), Some('w' | 'W' | 'i'))
            && chars.get(at + 2).is_some_and(|c| "([{<|!".contains(*c))
            && language == Language::Ruby
        {
            let (text, end) = delimited(&chars, at + 2);
            push_words(&text, &mut tokens);
            at = end;
        } else if c == '%'
            && chars.get(at + 1) == Some(&'x')
            && language == Language::Ruby
            && at + 2 < chars.len()
        {
            let (text, end) = delimited(&chars, at + 2);
            tokens.push(Token::Run(text));
            at = end;
        } else {
            if !c.is_whitespace() {
                tokens.push(Token::Mark(c));
            }
            at += 1;
        }
    }
    tokens
}

/// The words of a list that is written without quotes: `qw(rm -rf)`, `%w(rm -rf)`.
fn push_words(text: &str, tokens: &mut Vec<Token>) {
    for (at, word) in text.split_whitespace().enumerate() {
        tokens.extend((at > 0).then_some(Token::Mark(',')));
        tokens.push(Token::Text(word.to_owned()));
    }
}

/// A quoted string from its opening quote: the text and where it ends.
fn string(chars: &[char], start: usize) -> (String, usize) {
    let quote = chars[start];
    let triple = chars.len() >= start + 3 && chars[start + 1] == quote && chars[start + 2] == quote;
    let width = if triple { 3 } else { 1 };
    let mut text = String::new();
    let mut at = start + width;
    while at < chars.len() {
        if chars[at..].iter().take(width).filter(|c| **c == quote).count() == width {
            return (text, at + width);
        }
        if chars[at] == '\\' && at + 1 < chars.len() {
            at += 1;
            text.push(match chars[at] {
                'n' => '\n',
                't' => '\t',
                other => other,
            });
        } else {
            text.push(chars[at]);
        }
        at += 1;
    }
    (text, at)
}

fn delimited(chars: &[char], start: usize) -> (String, usize) {
    let close = match chars[start] {
        '(' => ')',
        '{' => '}',
        '[' => ']',
        '<' => '>',
        other => other,
    };
    let end = chars[start + 1..].iter().position(|c| *c == close).map_or(chars.len(), |end| start + 1 + end);
    (chars[start + 1..end].iter().collect(), (end + 1).min(chars.len()))
}

/// A slash after an operator, not after a value, begins a regular expression.
fn begins_regex(tokens: &[Token], language: Language) -> bool {
    let has_them = matches!(language, Language::Perl | Language::Ruby | Language::Node | Language::Awk);
    has_them
        && match tokens.last() {
            None => true,
            Some(Token::Mark(mark)) => "(,=~!&|{};:[?".contains(*mark),
            Some(Token::Name(name)) => {
                let words = ["if", "while", "and", "or", "not", "unless", "split", "grep", "return", "when"];
                words.contains(&name.as_str())
            }
            Some(Token::Text(_) | Token::Run(_)) => false,
        }
}

/// Where a regular expression that begins here has ended; here, if it has no end on its line.
fn after_regex(chars: &[char], start: usize) -> usize {
    let mut at = start + 1;
    while at < chars.len() && chars[at] != '\n' {
        match chars[at] {
            '\\' => at += 1,
            '/' => return at + 1,
            _ => {}
        }
        at += 1;
    }
    start + 1
}
