//! A piece of valid UTF-8 that knows whether it is ASCII.
//!
//! Nearly all output is ASCII, and gigabytes of it are only counted and dropped. As bytes that costs one quick look;
//! as `str` it would cost a validation and a count of characters as well.

/// Valid UTF-8.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece<'a> {
    bytes: &'a [u8],
    ascii: bool,
}

impl<'a> Piece<'a> {
    /// None if anything but ASCII is in it.
    pub(super) fn ascii(bytes: &'a [u8]) -> Option<Self> {
        bytes.is_ascii().then_some(Self { bytes, ascii: true })
    }

    pub(super) fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    pub(super) fn is_empty(self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) fn chars(self) -> usize {
        if self.ascii {
            self.bytes.len()
        } else {
            self.bytes.iter().filter(|byte| begins_char(**byte)).count()
        }
    }

    /// In two, at a byte that must begin a character.
    pub(super) fn split_at(self, index: usize) -> (Self, Self) {
        debug_assert!(self.bytes.get(index).is_none_or(|byte| begins_char(*byte)), "inside a character");
        let (head, tail) = self.bytes.split_at(index);
        (Self { bytes: head, ..self }, Self { bytes: tail, ..self })
    }

    /// In two, after so many characters, or after all if there are fewer.
    pub(super) fn split_after_chars(self, count: usize) -> (Self, Self) {
        let index = if self.ascii {
            count.min(self.bytes.len())
        } else {
            let mut begins = self.bytes.iter().enumerate().filter(|(_, byte)| begins_char(**byte));
            begins.nth(count).map_or(self.bytes.len(), |(index, _)| index)
        };
        self.split_at(index)
    }

    /// In two, after at most so many bytes.
    pub(super) fn split_after_bytes(self, count: usize) -> (Self, Self) {
        let mut index = count.min(self.bytes.len());
        while self.bytes.get(index).is_some_and(|byte| !begins_char(*byte)) {
            index -= 1;
        }
        self.split_at(index)
    }

    /// Its end, of at least so many bytes if it has them.
    pub(super) fn last_bytes(self, count: usize) -> Self {
        let mut start = self.bytes.len().saturating_sub(count);
        while self.bytes.get(start).is_some_and(|byte| !begins_char(*byte)) {
            start -= 1;
        }
        self.split_at(start).1
    }
}

impl<'a> From<&'a str> for Piece<'a> {
    fn from(text: &'a str) -> Self {
        Self { bytes: text.as_bytes(), ascii: false }
    }
}

pub(super) fn begins_char(byte: u8) -> bool {
    byte & 0b1100_0000 != 0b1000_0000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_agree() {
        let text = "plain ascii";
        let (ascii, other) = (Piece::ascii(text.as_bytes()).unwrap(), Piece::from(text));
        for count in 0..=text.len() + 1 {
            assert_eq!(ascii.split_after_chars(count).0.bytes(), other.split_after_chars(count).0.bytes());
            assert_eq!(ascii.last_bytes(count).bytes(), other.last_bytes(count).bytes());
        }
        assert_eq!(ascii.chars(), other.chars());
        assert!(Piece::ascii("ä".as_bytes()).is_none());
    }

    #[test]
    fn no_character_is_divided() {
        let piece = Piece::from("aß中🦀");
        assert_eq!(piece.chars(), 4);
        assert_eq!(piece.split_after_chars(2).0.bytes(), "aß".as_bytes());
        assert_eq!(piece.split_after_chars(9).1.bytes(), b"");
        assert_eq!(piece.last_bytes(1).bytes(), "🦀".as_bytes());
        assert_eq!(piece.last_bytes(5).bytes(), "中🦀".as_bytes());
        assert_eq!(piece.last_bytes(99).bytes(), "aß中🦀".as_bytes());
    }
}
