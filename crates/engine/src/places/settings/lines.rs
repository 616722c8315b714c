//! Formats with an entry on each line: npm's, Python's and Java's.

use super::cleaner::{Cleaner, Doubt};

/// `.npmrc`: npm cuts lines at both kinds of line end, and knows no continuation.
pub(super) fn npm(text: &str, cleaner: &mut Cleaner) -> Result<String, Doubt> {
    let mut shown = String::new();
    for line in text.split(['\r', '\n']).map(str::trim) {
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        // The entries of a section are not settings of npm.
        if line.starts_with('[') {
            cleaner.take("");
            break;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, "true"));
        // The rest is a comment.
        let end = [" ;", " #", "\t;", "\t#"].iter().filter_map(|mark| value.find(mark)).min();
        let (key, value) = (key.trim(), value[..end.unwrap_or(value.len())].trim());
        if cleaner.admits(key, value) {
            shown.push_str(&format!("{key}={}\n", cleaner.value(value)?));
        }
    }
    Ok(shown)
}

/// `pip.conf` and `.pypirc`, as Python's `configparser` reads them: an indented line goes on with the entry before it.
pub(super) fn ini(text: &str, cleaner: &mut Cleaner) -> Result<String, Doubt> {
    let mut shown = String::new();
    // None until an entry has begun.
    let mut is_shown = None;
    let mut in_section = false;
    let lines = text.replace("\r\n", "\n").replace('\r', "\n");
    for line in lines.lines() {
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with(['#', ';']) {
            continue;
        }
        match (line.starts_with([' ', '\t']), is_shown) {
            (true, Some(true)) => shown.push_str(&format!("    {}\n", cleaner.value(bare)?)),
            (true, Some(false)) => cleaner.take(bare),
            (true, None) => return Err(Doubt),
            (false, _) if bare.starts_with('[') && bare.ends_with(']') => {
                shown.push_str(&format!("{}\n", cleaner.value(bare)?));
                (is_shown, in_section) = (None, true);
            }
            (false, _) if !in_section => return Err(Doubt),
            (false, _) => {
                let at = bare.find(['=', ':']).ok_or(Doubt)?;
                let (key, value) = (bare[..at].trim(), bare[at + 1..].trim());
                let admitted = cleaner.admits(key, value);
                if admitted {
                    shown.push_str(&format!("{key} = {}\n", cleaner.value(value)?));
                }
                is_shown = Some(admitted);
            }
        }
    }
    Ok(shown)
}

/// `gradle.properties`, as Java reads them: a backslash at the end joins a line with the next.
pub(super) fn properties(text: &str, cleaner: &mut Cleaner) -> Result<String, Doubt> {
    let mut shown = String::new();
    let mut lines = text.split(['\r', '\n']).map(str::trim_start);
    while let Some(line) = lines.next() {
        if line.is_empty() || line.starts_with(['#', '!']) {
            continue;
        }
        let mut whole = line.to_owned();
        while ends_open(&whole) {
            whole.pop();
            // Between the two characters of a line end there is an empty line.
            match lines.by_ref().find(|next| !next.is_empty()) {
                Some(next) => whole.push_str(next),
                None => break,
            }
        }
        let whole = whole.replace("\\:", ":");
        let at = whole.find(['=', ':', ' ', '\t']).unwrap_or(whole.len());
        let (key, value) = (&whole[..at], whole[at..].trim_start_matches([' ', '\t', '=', ':']).trim_end());
        // Other escapes could spell anything.
        if whole.contains('\\') {
            cleaner.take(value);
        } else if cleaner.admits(key, value) {
            shown.push_str(&format!("{key}={}\n", cleaner.value(value)?));
        }
    }
    Ok(shown)
}

/// Returns true if the last character is a backslash that is not itself escaped.
fn ends_open(line: &str) -> bool {
    line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}
