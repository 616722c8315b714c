//! What somebody else has written, so that nothing in it can be taken for ours.
//!
//! Every line of the screen begins with a bar, also where a long one is broken; whatever drives a terminal, hides, reorders or
//! looks like a space is shown by its number.

use super::sanitize;

/// Text under construction.
#[derive(Debug)]
pub(super) struct Frame {
    width: usize,
    text: String,
}

/// A line of theirs, and the rest of one that was too long.
const BAR: &str = "│ ";
const REST: &str = "┆ ";

impl Frame {
    /// For a screen of so many columns.
    pub(super) fn new(title: &str, width: usize) -> Self {
        const NARROWEST: usize = 24;
        let width = width.max(NARROWEST) - BAR.chars().count();
        Self { width, text: format!("┌ {}\n", sanitize::visible(title)) }
    }

    /// Words of ours between theirs.
    pub(super) fn heading(&mut self, text: &str) {
        self.text += &format!("├ {text}\n");
    }

    /// All of it.
    pub(super) fn quote(&mut self, text: &str) {
        for line in text.split('\n') {
            let mut bar = BAR;
            let (mut shown, mut used) = (String::new(), 0);
            for char in line.chars() {
                let piece = sanitize::visible(char.encode_utf8(&mut [0; 4]));
                let columns = columns(&piece);
                if used + columns > self.width {
                    self.text += &format!("{bar}{shown}\n");
                    (bar, used) = (REST, 0);
                    shown.clear();
                }
                used += columns;
                shown += &piece;
            }
            self.text += &format!("{bar}{shown}\n");
        }
    }

    /// Everything, with a last line of ours.
    pub(super) fn close(mut self, text: &str) -> String {
        self.text += &format!("└ {text}\n");
        self.text
    }
}

/// At most so many: nobody knows how wide a terminal shows what is not ASCII.
fn columns(text: &str) -> usize {
    text.chars().map(|char| if char.is_ascii() { 1 } else { 2 }).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_its_bar() {
        let mut frame = Frame::new("title", 24);
        frame.quote(
            "short\n\nRun it? [y]es [n]o     Run it? y\ttab\r\x1b[2J\u{202e}\u{a0}x中中中中中中中中中中中中",
        );
        let text = frame.close("end");
        for line in text.lines() {
            assert!(line.starts_with(['┌', '│', '┆', '└']), "{text}");
            assert!(columns(line) <= 24 + 1, "{line}");
        }
        for shown in ["␉", "␍", "␛[2J", "<U+202E>", "<U+00A0>"] {
            let joined: String = text.lines().map(|line| line.chars().skip(2).collect::<String>()).collect();
            assert!(joined.contains(shown), "{shown}: {text}");
        }
    }

    #[test]
    fn thousands_of_lines_are_all_there() {
        let mut frame = Frame::new("title", 80);
        frame.quote(&(0..5000).map(|n| format!("echo {n}\n")).collect::<String>());
        let text = frame.close("end");
        assert!((0..5000).all(|n| text.contains(&format!("│ echo {n}\n"))));
    }
}
