//! XML: known elements with known attributes are kept, all others are taken out with what is in them.
//!
//! Document types, entities of one's own and unparsed text are doubted.

use super::cleaner::{Cleaner, Doubt};

pub(super) fn xml(text: &str, cleaner: &mut Cleaner) -> Result<String, Doubt> {
    let mut shown = String::new();
    // The elements around the place, and whether each is shown.
    let mut around: Vec<(&str, bool)> = vec![];
    let text = without_comments(text)?;
    let mut rest = text.as_str();
    while let Some(at) = rest.find('<') {
        add_text(&rest[..at], &around, cleaner, &mut shown)?;
        rest = &rest[at..];
        let end = rest.find('>').ok_or(Doubt)?;
        let tag = &rest[1..end];
        rest = &rest[end + 1..];
        if tag.starts_with('!') {
            return Err(Doubt);
        }
        if tag.starts_with('?') {
            continue;
        }
        if let Some(name) = tag.strip_prefix('/') {
            let (open, is_shown) = around.pop().ok_or(Doubt)?;
            if open != name.trim() {
                return Err(Doubt);
            }
            if is_shown {
                shown.push_str(&format!("</{open}>"));
            }
            continue;
        }
        let (tag, is_empty) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let name = tag.split_whitespace().next().ok_or(Doubt)?;
        let is_shown = around.last().is_none_or(|(_, is_shown)| *is_shown) && cleaner.admits(name, "");
        if is_shown {
            let attributes = attributes(tag.trim_start()[name.len()..].trim(), cleaner)?;
            shown.push_str(&format!("<{name}{attributes}{}>", if is_empty { "/" } else { "" }));
        }
        if !is_empty {
            around.push((name, is_shown));
        }
    }
    if around.is_empty() && rest.trim().is_empty() { Ok(shown + "\n") } else { Err(Doubt) }
}

/// First of all, because they could stand within a secret.
fn without_comments(text: &str) -> Result<String, Doubt> {
    let mut parts = text.split("<!--");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str(part.split_once("-->").ok_or(Doubt)?.1);
    }
    Ok(plain)
}

fn add_text(
    text: &str,
    around: &[(&str, bool)],
    cleaner: &mut Cleaner,
    shown: &mut String,
) -> Result<(), Doubt> {
    match around.last() {
        Some((_, true)) if text.trim().is_empty() => shown.push_str(text),
        // An entity could spell anything.
        Some((_, true)) if text.contains('&') => return Err(Doubt),
        Some((_, true)) => shown.push_str(&cleaner.value(text)?),
        Some((_, false)) => cleaner.take(text),
        None if text.trim().is_empty() => {}
        None => return Err(Doubt),
    }
    Ok(())
}

fn attributes(mut rest: &str, cleaner: &mut Cleaner) -> Result<String, Doubt> {
    let mut shown = String::new();
    while !rest.is_empty() {
        let (name, after) = rest.split_once('=').ok_or(Doubt)?;
        let (name, after) = (name.trim(), after.trim_start());
        let quote = after.chars().next().filter(|quote| ['"', '\''].contains(quote)).ok_or(Doubt)?;
        let end = after[1..].find(quote).ok_or(Doubt)? + 1;
        let value = &after[1..end];
        rest = after[end + 1..].trim_start();
        // Namespaces say nothing but their own addresses.
        if name.starts_with("xmlns") || name == "xsi:schemaLocation" {
            continue;
        }
        if value.contains('&') || name.contains(char::is_whitespace) {
            return Err(Doubt);
        }
        if cleaner.admits(name, value) {
            shown.push_str(&format!(" {name}={quote}{}{quote}", cleaner.value(value)?));
        }
    }
    Ok(shown)
}
