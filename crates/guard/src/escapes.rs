//! Backslash escapes: of `$'…'`, and of `printf` and `echo -e`.

/// The text of a `$'…'` after its opening quote, and how many bytes it takes with the closing one.
pub(crate) fn dollar_quoted(text: &str) -> Option<(String, usize)> {
    let mut bytes = vec![];
    let mut chars = text.char_indices();
    // An escaped NUL ends the string, and the rest of it is thrown away.
    let mut ended = false;
    while let Some((at, next)) = chars.next() {
        match next {
            '\'' => return Some((String::from_utf8_lossy(&bytes).into_owned(), at + 1)),
            '\\' => {
                let (decoded, length) = escape(&text[at + 1..], Dialect::DollarQuote)?;
                ended |= decoded == [0];
                if !ended {
                    bytes.extend(decoded);
                }
                let resume = at + 1 + length;
                while chars.offset() < resume {
                    chars.next()?;
                }
            }
            _ if ended => {}
            _ => bytes.extend(next.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    None
}

/// The text with its escapes replaced, as `printf` does with its format and `echo -e` with its arguments.
pub(crate) fn interpret(text: &str) -> String {
    let mut bytes = vec![];
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        bytes.extend(rest[..at].bytes());
        let after = &rest[at + 1..];
        match escape(after, Dialect::Printf) {
            Some((decoded, length)) => {
                bytes.extend(decoded);
                rest = &after[length..];
            }
            None => {
                bytes.push(b'\\');
                rest = after;
            }
        }
    }
    bytes.extend(rest.bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    DollarQuote,
    Printf,
}

/// What follows a backslash: the bytes it stands for, and how long it is.
fn escape(text: &str, dialect: Dialect) -> Option<(Vec<u8>, usize)> {
    let first = text.chars().next()?;
    let simple = |byte: u8| Some((vec![byte], 1));
    match first {
        'a' => simple(7),
        'b' => simple(8),
        'e' | 'E' => simple(27),
        'f' => simple(12),
        'n' => simple(b'\n'),
        'r' => simple(b'\r'),
        't' => simple(b'\t'),
        'v' => simple(11),
        '\\' | '\'' | '"' | '?' => simple(first as u8),
        'x' => number(&text[1..], 16, 2).map_or_else(
            || Some((b"\\x".to_vec(), 1)),
            |(value, length)| Some((vec![(value & 0xff) as u8], 1 + length)),
        ),
        'u' | 'U' => {
            let most = if first == 'u' { 4 } else { 8 };
            let Some((value, length)) = number(&text[1..], 16, most) else {
                return Some((vec![b'\\', first as u8], 1));
            };
            let decoded = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
            Some((decoded.to_string().into_bytes(), 1 + length))
        }
        '0'..='7' => {
            let most = if dialect == Dialect::Printf && first == '0' { 4 } else { 3 };
            let (value, length) = number(text, 8, most)?;
            Some((vec![(value & 0xff) as u8], length))
        }
        'c' if dialect == Dialect::DollarQuote => {
            let control = text.as_bytes().get(1)?;
            control.is_ascii().then(|| (vec![control & 0x1f], 2))
        }
        _ => {
            let mut kept = vec![b'\\'];
            kept.extend(first.to_string().bytes());
            Some((kept, first.len_utf8()))
        }
    }
}

fn number(text: &str, radix: u32, most: usize) -> Option<(u32, usize)> {
    let length = text.bytes().take(most).take_while(|byte| char::from(*byte).is_digit(radix)).count();
    Some((u32::from_str_radix(&text[..length], radix).ok()?, length))
}
