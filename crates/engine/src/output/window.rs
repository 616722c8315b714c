//! The beginning and the end of a text of any length.

use std::collections::VecDeque;

use super::cut::{Cut, Unit};
use super::piece::{Piece, begins_char};

/// Keeps the beginning and the end, as much as its [`Cut`] says, and counts exactly what lies between.
#[derive(Debug)]
pub(super) struct Window {
    cut: Cut,
    head: Vec<u8>,
    /// How much of the room for the head is taken.
    head_taken: usize,
    /// More than is shown of the beginning of what was cut, so that what is not too long is whole.
    head_room: usize,
    tail: VecDeque<u8>,
    seen: u64,
    /// Space at the end so far, if that is to be left out; about [`MOST_HELD`] at most.
    held: Option<String>,
}

/// How far a cut may move so that it falls on a line end.
const NEAR: usize = 200;
const LONGEST_CHAR: usize = 4;
const MOST_HELD: usize = 16 * 1024;

impl Window {
    pub(super) fn new(cut: Cut) -> Self {
        let head_room = cut.max.saturating_sub(cut.tail).max(cut.head);
        Self { cut, head: vec![], head_taken: 0, head_room, tail: VecDeque::new(), seen: 0, held: None }
    }

    /// Without space at the beginning and the end, which does not count either.
    pub(super) fn trimmed(self) -> Self {
        Self { held: Some(String::new()), ..self }
    }

    pub(super) fn push<'a>(&mut self, piece: impl Into<Piece<'a>>) {
        let piece = piece.into();
        match self.held.take() {
            None => self.keep(piece),
            Some(held) => self.held = Some(self.keep_trimmed(held, piece)),
        }
    }

    /// What is to be held now.
    fn keep_trimmed(&mut self, mut held: String, piece: Piece<'_>) -> String {
        let text = std::str::from_utf8(piece.bytes()).unwrap_or_default();
        let text = if self.seen == 0 { text.trim_start() } else { text };
        let (body, space) = text.split_at(text.trim_end().len());
        if !body.is_empty() || held.len() + space.len() > MOST_HELD {
            self.keep(held.as_str().into());
            self.keep(body.into());
            held.clear();
        }
        held.push_str(space);
        held
    }

    fn keep(&mut self, piece: Piece<'_>) {
        self.seen += self.measure(piece) as u64;
        let (first, rest) = self.split_after(piece, self.head_room - self.head_taken);
        self.head.extend_from_slice(first.bytes());
        // The first that does not fit ends it: what is shorter must not come before it.
        self.head_taken =
            if rest.is_empty() { self.head_taken + self.measure(first) } else { self.head_room };
        self.push_to_tail(rest);
    }

    pub(super) fn is_cut(&self) -> bool {
        self.seen > self.cut.max as u64
    }

    pub(super) fn cut(&self) -> &Cut {
        &self.cut
    }

    /// The text, how much was cut, with the marker where it was. Its arguments: how much is missing, how much there was.
    pub(super) fn finish(self, marker: impl FnOnce(u64, u64) -> String) -> (String, u64) {
        let is_cut = self.is_cut();
        let (mut head, tail) = (into_text(self.head), into_text(self.tail.into()));
        if !is_cut {
            head.push_str(&tail);
            return (head, 0);
        }
        let Cut { head: head_limit, tail: tail_limit, unit, .. } = self.cut;
        let (head, tail) = (first(&head, head_limit, unit), last(&tail, tail_limit, unit));
        let exact = self.cut.marker.is_some();
        let head = if exact { head } else { to_line_end(head, head_limit) };
        let tail = if exact { tail } else { from_line_start(tail, tail_limit) };
        let kept = size(head, unit) + size(tail, unit);
        let cut = self.seen - kept as u64;
        let marker = marker(cut, self.seen);
        if exact {
            return (format!("{head}{marker}{tail}"), cut);
        }
        let before = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
        (format!("{head}{before}{marker}\n{tail}"), cut)
    }

    fn push_to_tail(&mut self, piece: Piece<'_>) {
        let enough = match self.cut.unit {
            Unit::Characters => self.cut.tail.saturating_mul(LONGEST_CHAR),
            // The head may have left a little less than one character of its room.
            Unit::Bytes => self.cut.tail.saturating_add(LONGEST_CHAR),
        };
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

    fn measure(&self, piece: Piece<'_>) -> usize {
        match self.cut.unit {
            Unit::Characters => piece.chars(),
            Unit::Bytes => piece.bytes().len(),
        }
    }

    fn split_after<'a>(&self, piece: Piece<'a>, count: usize) -> (Piece<'a>, Piece<'a>) {
        match self.cut.unit {
            Unit::Characters => piece.split_after_chars(count),
            Unit::Bytes => piece.split_after_bytes(count),
        }
    }
}

/// Only pieces of valid UTF-8 were put together, so nothing is replaced.
fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn size(text: &str, unit: Unit) -> usize {
    match unit {
        Unit::Characters => text.chars().count(),
        Unit::Bytes => text.len(),
    }
}

fn first(text: &str, count: usize, unit: Unit) -> &str {
    match unit {
        Unit::Characters => text.char_indices().nth(count).map_or(text, |(index, _)| &text[..index]),
        Unit::Bytes => {
            let end = (0..=count.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
            &text[..end.unwrap_or(0)]
        }
    }
}

fn last(text: &str, count: usize, unit: Unit) -> &str {
    match (unit, count.checked_sub(1)) {
        (_, None) => "",
        (Unit::Characters, Some(before)) => {
            text.char_indices().rev().nth(before).map_or(text, |(index, _)| &text[index..])
        }
        (Unit::Bytes, _) => {
            let start =
                (text.len().saturating_sub(count)..=text.len()).find(|start| text.is_char_boundary(*start));
            &text[start.unwrap_or(text.len())..]
        }
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
        cut_to(Cut::default().to(most), pieces)
    }

    fn cut_to(cut: Cut, pieces: &[&str]) -> (String, u64) {
        let mut window = Window::new(cut);
        for piece in pieces {
            window.push(*piece);
        }
        window.finish(|cut, _| format!("<{cut}>"))
    }

    #[test]
    fn a_marker_of_ones_own_stands_exactly_there() {
        let cut = |max, head, tail, unit| Cut { max, head, tail, unit, marker: Some(String::new()) };
        assert_eq!(cut_to(cut(4, 0, 4, Unit::Characters), &["a\nb\nc\nd"]), ("<3>\nc\nd".into(), 3));
        assert_eq!(cut_to(cut(4, 4, 0, Unit::Characters), &["a\nb\nc\nd"]), ("a\nb\n<3>".into(), 3));
        assert_eq!(cut_to(cut(9, 2, 1, Unit::Characters), &["0123", "45678"]), ("012345678".into(), 0));
        assert_eq!(cut_to(cut(9, 2, 1, Unit::Characters), &["0123", "456789"]), ("01<7>9".into(), 7));
    }

    #[test]
    fn space_at_the_ends_does_not_count() {
        let exact = Cut { max: 4, head: 2, tail: 2, unit: Unit::Characters, marker: Some(String::new()) };
        let trimmed = |pieces: &[&str]| {
            let mut window = Window::new(exact.clone()).trimmed();
            pieces.iter().for_each(|piece| window.push(*piece));
            window.finish(|cut, _| format!("<{cut}>"))
        };
        assert_eq!(trimmed(&[" \n", "\tab", "cd", "\n", " \n"]), ("abcd".into(), 0));
        assert_eq!(trimmed(&["a ", " ", "b\n"]), ("a  b".into(), 0));
        assert_eq!(trimmed(&["abc", "def\n"]), ("ab<2>ef".into(), 2));
        assert_eq!(trimmed(&[" ", "\n"]), (String::new(), 0));
    }

    #[test]
    fn bytes_are_counted_and_characters_kept_whole() {
        let cut = |max, head, tail| Cut { max, head, tail, unit: Unit::Bytes, marker: Some(String::new()) };
        assert_eq!(cut_to(cut(6, 3, 3), &["ä", "ä", "ä"]), ("äää".into(), 0));
        assert_eq!(cut_to(cut(6, 3, 3), &["ä", "äää"]), ("ä<4>ä".into(), 4));
        assert_eq!(cut_to(cut(5, 4, 1), &["aaa中b"]), ("aaa<3>b".into(), 3));
        assert_eq!(cut_to(cut(7, 4, 1), &["aaa", "中", "b"]), ("aaa中b".into(), 0));
        assert_eq!(cut_to(cut(8, 2, 2), &["aaaa", "中", "b"]), ("aaaa中b".into(), 0));
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
            let mut window = Window::new(Cut::default().to(most));
            let mut seen = 0_u64;
            for round in 0..200_usize {
                let piece: String = (0..(round * 37 % 90)).map(|n| alphabet[(n * 7 + round) % 5]).collect();
                seen += piece.chars().count() as u64;
                window.push(piece.as_str());
            }
            let (text, cut) = window.finish(|_, _| String::from("\u{1}"));
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
