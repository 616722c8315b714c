//! What a task printed, as text.

use super::{TaskError, TaskId, Tasks};
use crate::output::{Cut, Reading, Text};

/// A part of what a task printed, in whole characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// How many bytes from the offset asked for are gone: only the beginning and the end of long output are kept.
    pub dropped: u64,
    /// The offset of the first byte.
    pub offset: u64,
    /// The text; what is no text is replaced.
    pub text: String,
    /// The offset to ask for next.
    pub next: u64,
    /// Whether the task has ended, or is lost: no more output comes.
    pub over: bool,
}

const PIECE: usize = 1 << 20;

impl Tasks {
    /// At most so many bytes of what it printed, from this offset on. A character that is not all there comes with the next.
    pub fn passage(&self, id: &TaskId, since: u64, most: usize) -> Result<Passage, TaskError> {
        // In this order: what is there when it is over is all.
        let over = self.is_over(id)?;
        let mut chunk = self.read(id, since, most)?;
        let is_cut = chunk.bytes.len() == most || !over;
        if let Err(error) = std::str::from_utf8(&chunk.bytes)
            && is_cut
            && error.error_len().is_none()
            && error.valid_up_to() > 0
        {
            chunk.next -= (chunk.bytes.len() - error.valid_up_to()) as u64;
            chunk.bytes.truncate(error.valid_up_to());
        }
        let text = String::from_utf8_lossy(&chunk.bytes).into_owned();
        Ok(Passage { dropped: chunk.dropped, offset: chunk.offset, text, next: chunk.next, over })
    }

    /// The offset at which the last lines begin, so many.
    pub fn offset_of_last(&self, id: &TaskId, lines: usize) -> Result<u64, TaskError> {
        let end = self.output_bytes(id)?;
        let mut window = 64 * 1024;
        loop {
            let from = end.saturating_sub(window);
            let (mut since, mut bytes, mut first) = (from, vec![], from);
            while since < end {
                let chunk = self.read(id, since, PIECE)?;
                if chunk.bytes.is_empty() {
                    break;
                }
                if chunk.dropped > 0 || bytes.is_empty() {
                    // Only what is in one piece can be shown as one.
                    first = chunk.offset;
                    bytes.clear();
                }
                bytes.extend(chunk.bytes);
                since = chunk.next;
            }
            let text = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
            let ends = text.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
            if lines == 0 {
                return Ok(end);
            }
            match ends.clone().nth(lines - 1) {
                Some(at) => return Ok(first + at as u64 + 1),
                None if from == 0 => return Ok(first),
                None => window = window.saturating_mul(4),
            }
        }
    }

    /// What it has printed so far, readable, with at most so many characters from its beginning and its end.
    pub fn text(&self, id: &TaskId, most: usize) -> Result<Text, TaskError> {
        let mut reading = Reading::new(Cut::default().to(most));
        let mut since = 0;
        loop {
            let chunk = self.read(id, since, PIECE)?;
            if chunk.bytes.is_empty() {
                return Ok(reading.finish(&self.folder(id).output()));
            }
            reading.absorb(&chunk.bytes);
            since = chunk.next;
        }
    }
}
