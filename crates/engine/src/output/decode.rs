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
    /// Passes what can be decoded on to `sink`.
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

    fn decode(&mut self, bytes: &[u8], mut sink: impl FnMut(&str)) {
        if let Ok(text) = std::str::from_utf8(bytes) {
            return sink(text);
        }
        // Put together before it is passed on: in binary output every other byte is invalid.
        let mut text = String::with_capacity(bytes.len());
        let mut rest = bytes;
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            rest = &rest[chunk.valid().len()..];
            let is_last = chunk.invalid().len() == rest.len();
            if is_last && is_unfinished(chunk.invalid()) {
                self.partial = chunk.invalid().to_vec();
            } else if !chunk.invalid().is_empty() {
                self.replaced = true;
                text.push_str(REPLACEMENT);
            }
            rest = &rest[chunk.invalid().len()..];
        }
        sink(&text);
    }
}

/// Whether this could be the beginning of a character.
fn is_unfinished(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}
