//! From bytes to text that can be read: what a terminal would show, line by line.
//!
//! Invalid UTF-8 becomes U+FFFD. Escape sequences are dropped. A carriage return lets the line be written anew, so
//! a progress bar is left as it ended. A backspace takes one character back. Moving the cursor to another line is
//! not followed: the lines it would overwrite stay. Works on pieces of any size and never holds more than a line.

use memchr::{memchr3, memrchr};

use super::decode::Decoder;
use super::piece::Piece;
use super::window::Window;

/// The state between two pieces.
#[derive(Debug, Default)]
pub(super) struct Cleaner {
    decoder: Decoder,
    /// The unfinished line, as far as it can still be rewritten.
    line: String,
    /// A carriage return came: the next character but a line feed begins the line anew.
    returned: bool,
    /// An escape sequence whose end has not come yet, without its escape character.
    escape: Option<String>,
    altered: bool,
}

const ESCAPE: u8 = 0x1b;
const BACKSPACE: u8 = 0x08;
/// A line longer than this is passed on in parts; no progress bar is.
const LONGEST_LINE: usize = 16 * 1024;
/// A longer sequence is none: hostile, or not meant for a terminal.
const LONGEST_ESCAPE: usize = 4096;

impl Cleaner {
    pub(super) fn push(&mut self, bytes: &[u8], out: &mut Window) {
        let between = self.escape.is_none() && self.decoder.is_between_characters();
        if let Some(piece) = Piece::ascii(bytes).filter(|_| between && first_special(bytes).is_none()) {
            return self.plain(piece, out);
        }
        let mut decoder = std::mem::take(&mut self.decoder);
        decoder.push(bytes, |text| self.text(text, out));
        self.decoder = decoder;
    }

    /// Whether the text differs from the bytes.
    pub(super) fn has_altered(&self) -> bool {
        self.altered || self.decoder.has_replaced()
    }

    pub(super) fn finish(&mut self, out: &mut Window) {
        let mut decoder = std::mem::take(&mut self.decoder);
        decoder.finish(|text| self.text(text, out));
        self.decoder = decoder;
        if let Some(sequence) = self.escape.take() {
            self.give_up_escape(&sequence, out);
        }
        self.pass_on_line(out);
    }

    fn text(&mut self, mut text: &str, out: &mut Window) {
        while !text.is_empty() {
            if self.escape.is_some() {
                text = self.continue_escape(text, out);
                continue;
            }
            let special = first_special(text.as_bytes());
            let (plain, rest) = text.split_at(special.unwrap_or(text.len()));
            self.plain(plain.into(), out);
            let Some(&byte) = rest.as_bytes().first() else { return };
            self.altered = true;
            match byte {
                b'\r' => self.returned = true,
                BACKSPACE => drop(self.line.pop()),
                _ => self.escape = Some(String::new()),
            }
            text = &rest[1..];
        }
    }

    fn plain(&mut self, piece: Piece<'_>, out: &mut Window) {
        if piece.is_empty() {
            return;
        }
        if std::mem::take(&mut self.returned) && !piece.bytes().starts_with(b"\n") {
            self.line.clear();
        }
        let finished_at = memrchr(b'\n', piece.bytes()).map_or(0, |newline| newline + 1);
        let (finished, begun) = piece.split_at(finished_at);
        if !finished.is_empty() {
            self.pass_on_line(out);
            out.push(finished);
        }
        if self.line.len() + begun.bytes().len() > LONGEST_LINE {
            self.pass_on_line(out);
            out.push(begun);
        } else {
            self.line.push_str(std::str::from_utf8(begun.bytes()).unwrap_or_default());
        }
    }

    fn pass_on_line(&mut self, out: &mut Window) {
        if !self.line.is_empty() {
            out.push(self.line.as_str());
            self.line.clear();
        }
    }

    /// Takes characters until the sequence ends; what turns out not to be one is text after all.
    fn continue_escape<'a>(&mut self, text: &'a str, out: &mut Window) -> &'a str {
        let mut sequence = self.escape.take().unwrap_or_default();
        for (index, char) in text.char_indices() {
            let after = &text[index + char.len_utf8()..];
            match judge(&sequence, char) {
                Judgement::More if sequence.len() < LONGEST_ESCAPE => sequence.push(char),
                Judgement::End => {
                    sequence.push(char);
                    self.obey(&sequence);
                    return after;
                }
                Judgement::More | Judgement::NotOne => {
                    self.give_up_escape(&sequence, out);
                    return &text[index..];
                }
            }
        }
        self.escape = Some(sequence);
        ""
    }

    /// Its words are text; what else was in it is not looked at again, lest a hostile one cost more than its length.
    fn give_up_escape(&mut self, sequence: &str, out: &mut Window) {
        let words = sequence.replace(['\u{1b}', '\r', '\u{8}'], "");
        self.plain(words.as_str().into(), out);
    }

    /// The few sequences that rewrite a line, as progress bars use them.
    fn obey(&mut self, sequence: &str) {
        match sequence {
            // Erase the whole line, or its rest from the beginning.
            "[2K" => self.line.clear(),
            "[K" | "[0K" if self.returned => self.line.clear(),
            // Go to the first column.
            "[G" | "[0G" | "[1G" => self.returned = true,
            _ => {}
        }
    }
}

/// Where the first byte is that is not just text.
fn first_special(bytes: &[u8]) -> Option<usize> {
    memchr3(ESCAPE, b'\r', BACKSPACE, bytes)
}

enum Judgement {
    More,
    End,
    NotOne,
}

/// Whether `char` continues, ends or spoils the sequence that `so_far` began (ECMA-48).
fn judge(so_far: &str, char: char) -> Judgement {
    let continues = |yes| if yes { Judgement::More } else { Judgement::NotOne };
    match so_far.chars().next() {
        None => match char {
            '[' | ']' | 'P' | 'X' | '^' | '_' | ' '..='/' => Judgement::More,
            '0'..='~' => Judgement::End,
            _ => Judgement::NotOne,
        },
        Some('[') => match char {
            '@'..='~' => Judgement::End,
            _ => continues(matches!(char, ' '..='?')),
        },
        // A string for the terminal, such as a window title, ends with BEL or ESC \ .
        Some(']' | 'P' | 'X' | '^' | '_') => match char {
            '\u{7}' | '\u{9c}' => Judgement::End,
            '\\' if so_far.ends_with('\u{1b}') => Judgement::End,
            _ => continues(char != '\n'),
        },
        Some(_) => match char {
            '0'..='~' => Judgement::End,
            _ => continues(matches!(char, ' '..='/')),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(pieces: &[&[u8]]) -> (String, bool) {
        let (mut cleaner, mut window) =
            (Cleaner::default(), Window::new(crate::Cut::default().to(1_000_000)));
        for piece in pieces {
            cleaner.push(piece, &mut window);
        }
        cleaner.finish(&mut window);
        (window.finish(|_, _| String::new()).0, cleaner.has_altered())
    }

    fn text(bytes: &[u8]) -> String {
        let whole = clean(&[bytes]);
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(clean(&single), whole, "pieces must not matter: {bytes:?}");
        whole.0
    }

    #[test]
    fn plain_text_is_untouched() {
        for plain in ["", "a", "a\n", "\n\n", "tab\tä中🦀\n", "nul\0byte", "no newline at end"] {
            assert_eq!(clean(&[plain.as_bytes()]), (plain.to_owned(), false));
        }
    }

    #[test]
    fn progress_bars_are_left_as_they_ended() {
        assert_eq!(text(b"10%\r50%\r100%\ndone\n"), "100%\ndone\n");
        assert_eq!(text(b"dos\r\nlines\r\n"), "dos\nlines\n");
        assert_eq!(text(b"kept\r"), "kept");
        assert_eq!(text(b"a\r\r\nb"), "a\nb");
        assert_eq!(text(b"long one\rshort\n"), "short\n");
        assert_eq!(text(b"working\r\x1b[K\n"), "\n");
        assert_eq!(text(b"working\r\x1b[2Kdone\n"), "done\n");
        assert_eq!(text(b"spin |\x08/\x08-\x08ok\n"), "spin ok\n");
        assert_eq!(text(b"npm 1\x1b[1Gnpm 2\x1b[0G\n"), "npm 2\n");
        assert_eq!(text(b"\x08\x08a"), "a");
    }

    #[test]
    fn escape_sequences_are_dropped() {
        assert_eq!(text(b"\x1b[1;31mred\x1b[0m plain\n"), "red plain\n");
        assert_eq!(text(b"\x1b]0;title\x07x"), "x");
        assert_eq!(text(b"\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\"), "link");
        assert_eq!(text(b"\x1b(Bx\x1b=y\x1bMz"), "xyz");
        assert_eq!(text(b"\x1bPq#0;1\x1b\\x"), "x");
    }

    #[test]
    fn what_is_no_sequence_is_not_lost() {
        assert_eq!(text(b"\x1b[31\nnext"), "[31\nnext");
        assert_eq!(text(b"\x1b]never ended\nnext"), "]never ended\nnext");
        assert_eq!(text(b"\x1b]no end \x1b[31mred\rover\x08\n"), "]no end [31mredover\n");
        assert_eq!(text(b"end\x1b"), "end");
        assert_eq!(text(b"end\x1b[1"), "end[1");
        let long = [b"\x1b]".as_slice(), &[b'x'; 10_000]].concat();
        assert_eq!(text(&long).len(), 10_001);
    }

    #[test]
    fn invalid_utf8_is_replaced() {
        assert_eq!(text(b"a\xffb"), "a\u{fffd}b");
        assert_eq!(text(b"\xe4\xb8"), "\u{fffd}");
        assert_eq!(text(b"\xe4\xb8\xad"), "中");
        assert_eq!(text(b"\xf0\x9f\xa6\x80\xc3"), "🦀\u{fffd}");
    }

    #[test]
    fn a_line_of_any_length_is_passed_on() {
        let line = vec![b'x'; 200_000];
        assert_eq!(text(&line).len(), 200_000);
    }

    #[test]
    fn any_bytes_in_any_pieces_give_the_same_text() {
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut random = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let alphabet = b"ab\n\r\x08\x1b[];K2mG\\\x07\xff\xc3\xa4\xe4\xb8\xad ";
        for _ in 0..2000 {
            let length = random() % 40;
            let bytes: Vec<u8> =
                (0..length).map(|_| alphabet[usize::try_from(random()).unwrap() % alphabet.len()]).collect();
            text(&bytes);
        }
    }
}
