//! Nothing that a command prints may drive the terminal of the person who watches.
//!
//! Colours, tabs, line feeds, carriage returns and erasing the line pass, because output looks wrong without them.
//! All other control characters, and those that hide or reorder text, are made visible.

use bashtion::show_character as show;
pub(super) use bashtion::visible;

/// The state between two pieces of output.
#[derive(Debug, Default)]
pub(super) struct Sanitizer {
    /// An escape sequence whose end has not come yet, with its escape character.
    pending: String,
}

const ESCAPE: char = '\u{1b}';
const LONGEST_SEQUENCE: usize = 64;

impl Sanitizer {
    pub(super) fn push(&mut self, text: &str) -> String {
        let mut safe = String::with_capacity(text.len());
        for char in text.chars() {
            self.push_char(char, &mut safe);
        }
        safe
    }

    pub(super) fn finish(&mut self) -> String {
        let mut safe = String::new();
        self.give_up(&mut safe);
        safe
    }

    fn push_char(&mut self, char: char, safe: &mut String) {
        if self.pending.is_empty() {
            if char == ESCAPE {
                self.pending.push(char);
            } else {
                show(char, safe);
            }
            return;
        }
        let is_parameter = char.is_ascii_digit() || matches!(char, ';' | ':');
        match char {
            '[' if self.pending.len() == 1 => self.pending.push(char),
            'm' | 'K' | 'G' if self.pending.len() > 1 => {
                safe.push_str(&self.pending);
                safe.push(char);
                self.pending.clear();
            }
            _ if is_parameter && (2..LONGEST_SEQUENCE).contains(&self.pending.len()) => {
                self.pending.push(char);
            }
            _ => {
                self.give_up(safe);
                self.push_char(char, safe);
            }
        }
    }

    fn give_up(&mut self, safe: &mut String) {
        for char in std::mem::take(&mut self.pending).chars() {
            show(char, safe);
        }
    }
}

/// One whole text in which nothing may drive the terminal, colours neither.
pub(super) fn text(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\r' | '\u{8}' => safe.extend(char::from_u32(0x2400 + u32::from(char))),
            _ => show(char, &mut safe),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sanitize(text: &str) -> String {
        let mut whole = Sanitizer::default();
        let result = whole.push(text) + &whole.finish();
        let mut single = Sanitizer::default();
        let pieces: String = text.chars().map(|char| single.push(&char.to_string())).collect();
        assert_eq!(pieces + &single.finish(), result, "pieces must not matter");
        result
    }

    #[test]
    fn ordinary_output_passes() {
        for text in ["plain\n", "tab\tbar\r100%\x08", "\x1b[1;31mred\x1b[0m", "\r\x1b[2Kx", "ä中🦀👩‍💻"]
        {
            assert_eq!(sanitize(text), text);
        }
    }

    #[test]
    fn what_would_drive_the_terminal_is_made_visible() {
        assert_eq!(sanitize("\x1b]52;c;aGk=\x07"), "␛]52;c;aGk=␇");
        assert_eq!(sanitize("\x1b[2J\x1b[H"), "␛[2J␛[H");
        assert_eq!(sanitize("\x1bc\0\x7f"), "␛c␀␡");
        assert_eq!(sanitize("\x1b\x1b[31m"), "␛\x1b[31m");
        assert_eq!(sanitize("a\u{202e}b\u{200b}c\u{9b}d"), "a<U+202E>b<U+200B>c<U+009B>d");
        assert_eq!(sanitize("cut\x1b[3"), "cut␛[3");
    }

    #[test]
    fn a_message_may_not_even_colour() {
        assert_eq!(text("no\x1b[31m\rsuch"), "no␛[31m␍such");
    }
}
