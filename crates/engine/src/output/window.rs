//! The beginning and the end of a text of any length.

use std::collections::VecDeque;

use super::piece::{Piece, begins_char};

/// Keeps the first and the last half of a number of characters, and counts exactly what lies between.
#[derive(Debug)]
pub(super) struct Window {
    head: Vec<u8>,
    head_chars: usize,
    head_limit: usize,
    tail: VecDeque<u8>,
    tail_limit: usize,
    seen: u64,
}

/// How far a cut may move so that it falls on a line end.
const NEAR: usize = 200;
const LONGEST_CHAR: usize = 4;

impl Window {
    pub(super) fn new(most: usize) -> Self {
        let head_limit = most / 2;
        Self {
            head: vec![],
            head_chars: 0,
            head_limit,
            tail: VecDeque::new(),
            tail_limit: most - head_limit,
            seen: 0,
        }
    }

    pub(super) fn push<'a>(&mut self, piece: impl Into<Piece<'a>>) {
        let piece = piece.into();
        self.seen += piece.chars() as u64;
        let (first, rest) = piece.split_after_chars(self.head_limit - self.head_chars);
        self.head.extend_from_slice(first.bytes());
        self.head_chars += first.chars();
        self.push_to_tail(rest);
    }

    pub(super) fn is_cut(&self) -> bool {
        self.seen > (self.head_limit + self.tail_limit) as u64
    }

    /// The text and how many characters were cut, with `marker` on a line of its own where they were.
    pub(super) fn finish(self, marker: impl FnOnce(u64) -> String) -> (String, u64) {
        let is_cut = self.is_cut();
        let (mut head, tail) = (into_text(self.head), into_text(self.tail.into()));
        if !is_cut {
            head.push_str(&tail);
            return (head, 0);
        }
        let head = to_line_end(&head, self.head_limit);
        let tail = from_line_start(last_chars(&tail, self.tail_limit), self.tail_limit);
        let kept = head.chars().count() + tail.chars().count();
        let cut = self.seen - kept as u64;
        let before = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
        (format!("{head}{before}{}\n{tail}", marker(cut)), cut)
    }

    fn push_to_tail(&mut self, piece: Piece<'_>) {
        let enough = self.tail_limit.saturating_mul(LONGEST_CHAR);
        let end = piece.last_bytes(enough).bytes();
        if piece.bytes().len() >= enough {
            self.tail.clear();
        }
        self.tail.extend(end);
        let mut surplus = self.tail.len().saturating_sub(enough);
        while self.tail.get(surplus).is_some_and(|byte| !begins_char(*byte)) {
            surplus -= 1;
        }
        self.tail.drain(..surplus);
    }
}

/// Only pieces of valid UTF-8 were put together, so nothing is replaced.
fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn last_chars(text: &str, count: usize) -> &str {
    match count.checked_sub(1) {
        None => "",
        Some(before) => text.char_indices().rev().nth(before).map_or(text, |(index, _)| &text[index..]),
    }
}

/// Without the beginning of a line at the end, if that is short.
fn to_line_end(head: &str, limit: usize) -> &str {
    match head.rfind('\n') {
        Some(newline) if head[newline + 1..].chars().count() <= near(limit) => &head[..=newline],
        Some(_) | None => head,
    }
}

/// Without the end of a line at the beginning, if that is short.
fn from_line_start(tail: &str, limit: usize) -> &str {
    match tail.find('\n') {
        Some(newline) if tail[..newline].chars().count() < near(limit) => &tail[newline + 1..],
        Some(_) | None => tail,
    }
}

fn near(limit: usize) -> usize {
    NEAR.min(limit / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(most: usize, pieces: &[&str]) -> (String, u64) {
        let mut window = Window::new(most);
        for piece in pieces {
            window.push(*piece);
        }
        window.finish(|cut| format!("<{cut}>"))
    }

    #[test]
    fn what_fits_is_whole() {
        assert_eq!(window(10, &["01234", "56789"]), ("0123456789".into(), 0));
        assert_eq!(window(10, &[]), (String::new(), 0));
        assert_eq!(window(5, &["äöüßé"]), ("äöüßé".into(), 0));
    }

    #[test]
    fn one_too_many_is_cut_in_the_middle() {
        assert_eq!(window(10, &["0123456789a"]), ("01234\n<1>\n6789a".into(), 1));
        assert_eq!(window(3, &["äöüßé"]), ("ä\n<2>\nßé".into(), 2));
    }

    #[test]
    fn nothing_at_all_may_be_kept() {
        assert_eq!(window(0, &["abc"]), ("<3>\n".into(), 3));
        assert_eq!(window(1, &["abc"]), ("<2>\nc".into(), 2));
    }

    #[test]
    fn cuts_move_to_line_ends_that_are_near() {
        let text: String =
            (0..1000).flat_map(|n| ["line ".to_owned(), n.to_string(), "\n".to_owned()]).collect();
        let (cut, _) = window(400, &[&text]);
        let lines: Vec<_> = cut.lines().collect();
        assert!(lines.iter().all(|line| line.starts_with("line ") || line.starts_with('<')), "{cut}");
    }

    #[test]
    fn kept_and_cut_is_what_was_seen() {
        let alphabet = ['a', 'ß', '中', '🦀', '\n'];
        for most in [0, 1, 2, 7, 50, 400, 3000] {
            let mut window = Window::new(most);
            let mut seen = 0_u64;
            for round in 0..200_usize {
                let piece: String = (0..(round * 37 % 90)).map(|n| alphabet[(n * 7 + round) % 5]).collect();
                seen += piece.chars().count() as u64;
                window.push(piece.as_str());
            }
            let (text, cut) = window.finish(|_| String::from("\u{1}"));
            let kept = match text.split_once('\u{1}') {
                None => text.chars().count(),
                Some((head, tail)) => {
                    let tail = tail.strip_prefix('\n').unwrap();
                    // The line break before the marker is ours if the head did not end in one.
                    let all = head.chars().count() + tail.chars().count();
                    if all as u64 + cut > seen { all - 1 } else { all }
                }
            };
            assert!(kept <= most, "{most}: {kept}");
            assert_eq!(kept as u64 + cut, seen, "{most}");
        }
    }
}
