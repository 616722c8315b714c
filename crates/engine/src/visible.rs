//! Text that a person decides by: nothing in it may hide, reorder or drive anything.

use std::fmt::Write;

/// A text in which everything can be seen: control characters, marks that turn the direction of text, characters without width,
/// and what looks like a space and is none. Line feeds are made visible, too.
///
/// ```
/// assert_eq!(bashtion::visible("ls\u{202e}\r\n"), "ls<U+202E>␍␊");
/// ```
#[must_use]
pub fn visible(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\n' | '\t' | '\r' | '\u{8}' => safe.extend(char::from_u32(0x2400 + u32::from(char))),
            _ if is_unseen(char) => {
                let _ = write!(safe, "<U+{:04X}>", u32::from(char));
            }
            _ => show_character(char, &mut safe),
        }
    }
    safe
}

/// Fillers, joiners, selectors, spaces other than the usual one, and line separators.
fn is_unseen(char: char) -> bool {
    (char != ' ' && char.is_whitespace())
        || matches!(char,
            '\u{ad}' | '\u{34f}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200c}'..='\u{200d}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffc}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0080}'..='\u{e0fff}')
}

/// Adds one character of text that may have lines and tabs, but may not drive a terminal.
#[doc(hidden)]
pub fn show_character(char: char, safe: &mut String) {
    match char {
        '\n' | '\t' | '\r' | '\u{8}' => safe.push(char),
        '\0'..='\u{1f}' => safe.extend(char::from_u32(0x2400 + u32::from(char))),
        '\u{7f}' => safe.push('\u{2421}'),
        _ if is_deceptive(char) => {
            let _ = write!(safe, "<U+{:04X}>", u32::from(char));
        }
        _ => safe.push(char),
    }
}

/// Controls of the upper range, marks that turn the direction of text, characters without width.
fn is_deceptive(char: char) -> bool {
    matches!(char,
        '\u{80}'..='\u{9f}' | '\u{61c}' | '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}
