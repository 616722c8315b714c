//! `${name#pattern}`, `${name/a/b}`, `${name:1:2}`, `${name^^}` on known strings.

use crate::patterns::matches_text;
use crate::text::{Text, Why};

/// The most bytes of a text that patterns are tried on.
const LONGEST: usize = 2_000;

pub(super) fn edit(text: &Text, operator: &str, words: &[Text]) -> Text {
    let edited = edit_known(text, operator, words);
    if text.has_pattern() { super::with_patterns(&edited) } else { edited }
}

fn edit_known(text: &Text, operator: &str, words: &[Text]) -> Text {
    let unknown = || Text::unknown(text.why().cloned().unwrap_or(Why::Many));
    let Some(value) = text.with_patterns() else { return unknown() };
    let words: Option<Vec<String>> = words.iter().map(Text::with_patterns).collect();
    let Some(words) = words else { return unknown() };
    let first = words.first().map(String::as_str).unwrap_or_default();
    // A pattern is tried at every place, so a long text takes its square.
    if value.len() > LONGEST && first.contains(['*', '?', '[', '\\', '(']) {
        return unknown();
    }
    let second = words.get(1).map(String::as_str);
    match operator {
        "#" => Text::known(without_prefix(&value, first, Length::Shortest)),
        "##" => Text::known(without_prefix(&value, first, Length::Longest)),
        "%" => Text::known(without_suffix(&value, first, Length::Shortest)),
        "%%" => Text::known(without_suffix(&value, first, Length::Longest)),
        "/" => Text::known(replaced(&value, first, second.unwrap_or_default(), 1)),
        "//" => Text::known(replaced(&value, first, second.unwrap_or_default(), usize::MAX)),
        "/#" => {
            let rest = without_prefix(&value, first, Length::Longest);
            let same = rest.len() == value.len();
            Text::known(if same { value } else { format!("{}{rest}", second.unwrap_or_default()) })
        }
        "/%" => {
            let rest = without_suffix(&value, first, Length::Longest);
            let same = rest.len() == value.len();
            Text::known(if same { value } else { format!("{rest}{}", second.unwrap_or_default()) })
        }
        ":" => substring(&value, first, second).map_or_else(unknown, Text::known),
        "^^" => Text::known(value.to_uppercase()),
        ",," => Text::known(value.to_lowercase()),
        "^" => Text::known(with_first(&value, |c| c.to_uppercase().collect())),
        "," => Text::known(with_first(&value, |c| c.to_lowercase().collect())),
        _ => unknown(),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Length {
    Shortest,
    Longest,
}

fn boundaries(text: &str) -> Vec<usize> {
    text.char_indices().map(|(at, _)| at).chain([text.len()]).collect()
}

fn without_prefix(value: &str, pattern: &str, length: Length) -> String {
    let mut ends = boundaries(value);
    if length == Length::Longest {
        ends.reverse();
    }
    let end = ends.into_iter().find(|end| matches_text(pattern, &value[..*end]));
    value[end.unwrap_or(0)..].to_owned()
}

fn without_suffix(value: &str, pattern: &str, length: Length) -> String {
    let mut starts = boundaries(value);
    if length == Length::Shortest {
        starts.reverse();
    }
    let start = starts.into_iter().find(|start| matches_text(pattern, &value[*start..]));
    value[..start.unwrap_or(value.len())].to_owned()
}

fn replaced(value: &str, pattern: &str, with: &str, most: usize) -> String {
    if !pattern.contains(['*', '?', '[', '\\']) {
        return if pattern.is_empty() { value.to_owned() } else { value.replacen(pattern, with, most) };
    }
    // Here it takes the third power.
    if value.len() > LONGEST / 4 {
        return value.to_owned();
    }
    let mut result = String::new();
    let (mut at, mut count) = (0, 0);
    while at < value.len() {
        let rest = &value[at..];
        let end = (count < most).then(|| {
            boundaries(rest).into_iter().rev().find(|end| *end > 0 && matches_text(pattern, &rest[..*end]))
        });
        match end.flatten() {
            Some(end) => {
                result.push_str(with);
                at += end;
                count += 1;
            }
            None => {
                let c = rest.chars().next().unwrap_or_default();
                result.push(c);
                at += c.len_utf8().max(1);
            }
        }
    }
    result
}

fn substring(value: &str, offset: &str, length: Option<&str>) -> Option<String> {
    let chars: Vec<char> = value.chars().collect();
    let count = i64::try_from(chars.len()).ok()?;
    let offset: i64 = offset.trim().parse().ok()?;
    let start = if offset < 0 { count + offset } else { offset }.clamp(0, count);
    let end = match length {
        None => count,
        Some(length) => {
            let length: i64 = length.trim().parse().ok()?;
            if length < 0 { count + length } else { start.saturating_add(length) }.clamp(start, count)
        }
    };
    Some(chars[usize::try_from(start).ok()?..usize::try_from(end).ok()?].iter().collect())
}

fn with_first(value: &str, change: impl Fn(char) -> String) -> String {
    let mut chars = value.chars();
    chars.next().map(change).unwrap_or_default() + chars.as_str()
}
