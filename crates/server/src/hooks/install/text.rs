//! Putting things into the text of JSON, and taking them out of it, without touching the rest.
//!
//! Every text here has been parsed before, so it is known to be well formed.

use std::ops::Range;

use serde_json::Value;

/// A container in a text: where it opens, and what is in it.
#[derive(Debug)]
pub(super) struct Container<'a> {
    text: &'a str,
    open: usize,
    close: usize,
    pub(super) members: Vec<Member>,
}

/// A member of an object, or an item of an array.
#[derive(Debug, Clone)]
pub(super) struct Member {
    /// None in an array.
    pub(super) key: Option<String>,
    /// From the key on.
    whole: Range<usize>,
    pub(super) value: Range<usize>,
}

impl<'a> Container<'a> {
    /// The one that begins here, after white space. None if there is none.
    pub(super) fn at(text: &'a str, from: usize) -> Option<Self> {
        let bytes = text.as_bytes();
        let open = after_space(bytes, from);
        let is_object = *bytes.get(open)? == b'{';
        if !is_object && bytes[open] != b'[' {
            return None;
        }
        let mut members = vec![];
        let mut at = after_space(bytes, open + 1);
        while !matches!(bytes.get(at)?, b'}' | b']') {
            let start = at;
            let mut key = None;
            if is_object {
                let end = value_end(bytes, start);
                key = serde_json::from_str(text.get(start..end)?).ok();
                at = after_space(bytes, after_space(bytes, end) + 1);
            }
            let end = value_end(bytes, at);
            members.push(Member { key, whole: start..end, value: at..end });
            at = after_space(bytes, end);
            if *bytes.get(at)? == b',' {
                at = after_space(bytes, at + 1);
            }
        }
        Some(Self { text, open, close: at, members })
    }

    pub(super) fn get(&self, key: &str) -> Option<&Member> {
        // The last one counts.
        self.members.iter().rfind(|member| member.key.as_deref() == Some(key))
    }

    /// The text with one more thing at the end, which lies so many containers deep.
    pub(super) fn with(&self, key: Option<&str>, value: &Value, depth: usize) -> String {
        let unit = unit(self.text);
        let line = |depth: usize| unit.map_or_else(String::new, |unit| format!("\n{}", unit.repeat(depth)));
        let key = key.map_or_else(String::new, |key| format!("{}: ", Value::from(key)));
        let value = match unit {
            Some(unit) => pretty(value, unit).replace('\n', &line(depth)),
            None => value.to_string(),
        };
        let (before, after) = match self.members.last() {
            Some(last) => {
                (format!("{},", &self.text[..last.whole.end]), self.text[last.whole.end..].to_owned())
            }
            None => {
                let end = format!("{}{}", line(depth - 1), &self.text[self.close..]);
                (self.text[..=self.open].to_owned(), end)
            }
        };
        format!("{before}{}{key}{value}{after}", line(depth))
    }

    /// The text without one of its members.
    pub(super) fn without(&self, index: usize) -> String {
        let whole = |index: usize| self.members[index].whole.clone();
        let gone = match (index, self.members.len()) {
            (0, 1) => self.open + 1..self.close,
            (0, _) => whole(0).start..whole(1).start,
            _ => whole(index - 1).end..whole(index).end,
        };
        format!("{}{}", &self.text[..gone.start], &self.text[gone.end..])
    }
}

/// By what a line is moved in; none if everything stands on one line.
fn unit(text: &str) -> Option<&str> {
    let text = text.trim();
    if text == "{}" {
        return Some("  ");
    }
    let indent = |line: &'_ str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let first = text.lines().skip(1).find(|line| indent(line) > 0 && !line.trim().is_empty());
    match first {
        Some(line) => Some(&line[..indent(line)]),
        None => text.contains('\n').then_some("  "),
    }
}

/// As [`serde_json::to_string_pretty`] does it, with another indent.
pub(super) fn pretty(value: &Value, unit: &str) -> String {
    let mut bytes = vec![];
    let formatter = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    let written = serde::Serialize::serialize(value, &mut serializer);
    written.ok().and_then(|()| String::from_utf8(bytes).ok()).unwrap_or_else(|| value.to_string())
}

fn after_space(bytes: &[u8], from: usize) -> usize {
    let space = bytes[from.min(bytes.len())..].iter().take_while(|byte| b" \t\r\n".contains(byte)).count();
    from + space
}

/// Where the value ends that begins here.
fn value_end(bytes: &[u8], from: usize) -> usize {
    let (mut depth, mut at, mut in_string) = (0_usize, from, false);
    while let Some(byte) = bytes.get(at) {
        match (in_string, byte) {
            (true, b'\\') => at += 1,
            (true, b'"') => in_string = false,
            (false, b'"') => in_string = true,
            (false, b'{' | b'[') => depth += 1,
            (false, b'}' | b']' | b',') if depth == 0 => return at,
            (false, b'}' | b']') => depth -= 1,
            (false, b' ' | b'\t' | b'\r' | b'\n' | b':') if depth == 0 => return at,
            _ => {}
        }
        at += 1;
        let is_closed = depth == 0 && !in_string && matches!(byte, b'"' | b'}' | b']');
        if is_closed {
            return at;
        }
    }
    at
}
