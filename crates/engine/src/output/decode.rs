//! UTF-8 that comes in pieces.

/// Decodes bytes that come in pieces, with U+FFFD for what is not UTF-8. A character split between two pieces is
/// whole when its rest has come.
///
/// ```
/// use bashtion::Decoder;
/// let (mut decoder, mut text) = (Decoder::default(), String::new());
/// for piece in [b"caf\xc3".as_slice(), b"\xa9 \xff!"] {
///     decoder.push(piece, |decoded| text.push_str(decoded));
/// }
/// decoder.finish(|decoded| text.push_str(decoded));
/// assert_eq!(text, "café \u{fffd}!");
/// assert!(decoder.has_replaced());
/// ```
#[derive(Debug, Default)]
pub struct Decoder {
    /// The beginning of a character whose rest has not come yet.
    partial: Vec<u8>,
    replaced: bool,
}

const REPLACEMENT: &str = "\u{fffd}";

impl Decoder {
    /// Passes what can be decoded on to `sink`, perhaps in several parts.
    pub fn push(&mut self, bytes: &[u8], sink: impl FnMut(&str)) {
        if self.partial.is_empty() {
            self.decode(bytes, sink);
        } else {
            let mut joined = std::mem::take(&mut self.partial);
            joined.extend_from_slice(bytes);
            self.decode(&joined, sink);
        }
    }

    /// No more comes: half a character is none.
    pub fn finish(&mut self, mut sink: impl FnMut(&str)) {
        if !std::mem::take(&mut self.partial).is_empty() {
            self.replaced = true;
            sink(REPLACEMENT);
        }
    }

    /// Whether anything was not UTF-8.
    #[must_use]
    pub fn has_replaced(&self) -> bool {
        self.replaced
    }

    pub(super) fn is_between_characters(&self) -> bool {
        self.partial.is_empty()
    }

    fn decode(&mut self, mut bytes: &[u8], mut sink: impl FnMut(&str)) {
        loop {
            match std::str::from_utf8(bytes) {
                Ok(text) => return sink(text),
                Err(error) => {
                    let (valid, rest) = bytes.split_at(error.valid_up_to());
                    sink(std::str::from_utf8(valid).unwrap_or_default());
                    let Some(length) = error.error_len() else {
                        self.partial = rest.to_vec();
                        return;
                    };
                    self.replaced = true;
                    sink(REPLACEMENT);
                    bytes = &rest[length..];
                }
            }
        }
    }
}
