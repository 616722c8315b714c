//! The part of YAML that settings are written in: one key or one element on each line.
//!
//! All else (anchors, tags, several documents, text over several lines, lists and maps on one line) is doubted.

use super::cleaner::{Cleaner, Doubt};

pub(super) fn yaml(text: &str, cleaner: &mut Cleaner) -> Result<String, Doubt> {
    let mut shown = String::new();
    // Deeper lines belong to an entry that was taken out.
    let mut taken: Option<usize> = None;
    // None: the line before has a value, so nothing can be deeper.
    let mut open: Option<usize> = None;
    // The names of the top level decide, and beneath them what does not speak of a secret.
    let mut beneath = Cleaner::new(super::Keys::AllButSecret);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let first = text.lines().position(|line| !is_empty(line));
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !is_empty(line)) {
        if line.trim_end() == "---" && Some(index) == first {
            continue;
        }
        let indent = line.len() - line.trim_start_matches(' ').len();
        let mut rest = line[indent..].trim_end();
        let mut prefix = " ".repeat(indent);
        if let Some(depth) = taken {
            let is_element = rest.starts_with("- ") && indent == depth;
            if indent > depth || is_element {
                cleaner.take(value_of(rest));
                continue;
            }
            taken = None;
        }
        if open.is_some_and(|depth| indent > depth) || rest.starts_with('\t') {
            return Err(Doubt);
        }
        let mut is_element = false;
        while let Some(element) = rest.strip_prefix("- ") {
            is_element = true;
            prefix.push_str("- ");
            rest = element.trim_start();
        }
        let deep = if is_element { prefix.len() } else { indent };
        match split(rest)? {
            Some((key, value)) => {
                let deciding = if indent == 0 && !is_element { &mut *cleaner } else { &mut beneath };
                if !deciding.admits(key, value) {
                    // What follows would belong to the element before.
                    if is_element {
                        return Err(Doubt);
                    }
                    taken = Some(deep);
                    cleaner.take(value);
                    continue;
                }
                shown.push_str(&format!("{prefix}{key}:"));
                if value.is_empty() {
                    open = None;
                } else {
                    shown.push_str(&format!(" {}", cleaner.value(scalar(value)?)?));
                    open = Some(deep);
                }
            }
            None if is_element => {
                shown.push_str(&format!("{prefix}{}", cleaner.value(scalar(rest)?)?));
                open = Some(indent);
            }
            None => return Err(Doubt),
        }
        shown.push('\n');
    }
    Ok(without_empty(&shown))
}

/// Takes out keys of which nothing is left.
fn without_empty(text: &str) -> String {
    let mut kept: Vec<&str> = vec![];
    for line in text.lines().rev() {
        let depth = |line: &str| line.len() - line.trim_start_matches(' ').len();
        let has_inner = kept.last().is_some_and(|next| {
            depth(next) > depth(line) || depth(next) == depth(line) && next.trim_start().starts_with("- ")
        });
        if has_inner || !line.ends_with(':') {
            kept.push(line);
        }
    }
    kept.iter().rev().map(|line| format!("{line}\n")).collect()
}

fn is_empty(line: &str) -> bool {
    line.trim().is_empty() || line.trim_start().starts_with('#')
}

fn value_of(entry: &str) -> &str {
    split(entry.trim_start_matches(['-', ' '])).ok().flatten().map_or(entry, |(_, value)| value)
}

/// A key and its value; none if there is no key.
fn split(entry: &str) -> Result<Option<(&str, &str)>, Doubt> {
    if let Some(quote) = entry.chars().next().filter(|first| ['"', '\''].contains(first)) {
        let end = entry[1..].find(quote).ok_or(Doubt)? + 2;
        // It could spell anything.
        if entry[..end].contains('\\') {
            return Err(Doubt);
        }
        return match entry[end..].strip_prefix(':') {
            Some(value) if value.is_empty() || value.starts_with(' ') => {
                Ok(Some((&entry[..end], value.trim())))
            }
            Some(_) => Err(Doubt),
            None => Ok(None),
        };
    }
    if entry.starts_with(['?', '&', '*', '!', '{', '[', '%', '@', '`', '|', '>']) {
        return Err(Doubt);
    }
    Ok(match entry.split_once(": ") {
        Some((key, value)) => Some((key, value.trim())),
        None => entry.strip_suffix(':').map(|key| (key, "")),
    })
}

/// A value that ends where its line does, without a comment.
fn scalar(value: &str) -> Result<&str, Doubt> {
    match value.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            let end = value[1..].find(quote).ok_or(Doubt)? + 2;
            let rest = value[end..].trim();
            let is_whole = rest.is_empty() || rest.starts_with('#');
            if is_whole && !value[..end].contains('\\') { Ok(&value[..end]) } else { Err(Doubt) }
        }
        Some('|' | '>' | '&' | '*' | '!' | '{' | '[' | '?' | '%' | '@' | '`') => Err(Doubt),
        Some(_) | None => Ok(value.split(" #").next().unwrap_or(value).trim_end()),
    }
}
