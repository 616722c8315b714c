//! Colours for a text that is plainly JSON or a diff. Nothing but colours is added.

use anstyle::AnsiColor;
use serde::de::IgnoredAny;

use super::terminal::painted;

pub(super) fn highlighted(text: &str) -> String {
    if is_json(text) {
        json(text)
    } else if is_diff(text) {
        text.split_inclusive('\n').map(diff_line).collect()
    } else {
        text.to_owned()
    }
}

fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

fn is_diff(text: &str) -> bool {
    ["--- ", "+++ ", "@@ "].iter().all(|start| text.lines().any(|line| line.starts_with(start)))
}

fn diff_line(line: &str) -> String {
    let (text, end) = line.strip_suffix('\n').map_or((line, ""), |text| (text, "\n"));
    let colour = match text.as_bytes() {
        [b'+', ..] => AnsiColor::Green,
        [b'-', ..] => AnsiColor::Red,
        [b'@', b'@', ..] => AnsiColor::Cyan,
        _ => return line.to_owned(),
    };
    painted(colour, text) + end
}

/// Names, texts and other values; all else as it is.
fn json(text: &str) -> String {
    let mut coloured = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (length, colour) = match first {
            '"' => {
                let length = string_length(rest);
                let is_name = rest[length..].trim_start().starts_with(':');
                (length, Some(if is_name { AnsiColor::Cyan } else { AnsiColor::Green }))
            }
            _ if first == '-' || first.is_ascii_alphanumeric() => {
                let other = |char: char| !char.is_ascii_alphanumeric() && !matches!(char, '-' | '+' | '.');
                (rest.find(other).unwrap_or(rest.len()), Some(AnsiColor::Yellow))
            }
            _ => (first.len_utf8(), None),
        };
        let (token, after) = rest.split_at(length);
        match colour {
            Some(colour) => coloured += &painted(colour, token),
            None => coloured += token,
        }
        rest = after;
    }
    coloured
}

/// With both quotes.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (index, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !escaped => return index + 1,
            _ => escaped = byte == b'\\' && !escaped,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CYAN: &str = "\x1b[36m";
    const GREEN: &str = "\x1b[32m";
    const RED: &str = "\x1b[31m";
    const YELLOW: &str = "\x1b[33m";
    const RESET: &str = "\x1b[0m";

    #[test]
    fn json_is_coloured_by_kind() {
        assert_eq!(
            highlighted(r#"{"a\"": [1.5, "b", null]}"#),
            format!(
                r#"{{{CYAN}"a\""{RESET}: [{YELLOW}1.5{RESET}, {GREEN}"b"{RESET}, {YELLOW}null{RESET}]}}"#
            )
        );
    }

    #[test]
    fn a_diff_is_coloured_by_line() {
        assert_eq!(
            highlighted("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n z\n"),
            format!(
                "{RED}--- a{RESET}\n{GREEN}+++ b{RESET}\n{CYAN}@@ -1 +1 @@{RESET}\n{RED}-x{RESET}\n{GREEN}+y{RESET}\n z\n"
            )
        );
    }

    #[test]
    fn all_else_stays_as_it_is() {
        for text in ["", "plain", "{not json}", "[truncated", "- a list\n+ of things", "12", "\"text\""] {
            assert_eq!(highlighted(text), text);
        }
    }
}
