//! Shell patterns against names, never against the disk.

/// Whether a pattern with `*`, `?` and `[…]` matches the whole name.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    // Names that begin with a dot are matched only by patterns that do.
    if name.first() == Some(&'.') && pattern.first() != Some(&'.') {
        return false;
    }
    matches_here(&pattern, &name)
}

/// As in `${name#pattern}`, where a dot is nothing special.
pub(crate) fn matches_text(pattern: &str, text: &str) -> bool {
    matches_here(&pattern.chars().collect::<Vec<_>>(), &text.chars().collect::<Vec<_>>())
}

/// With one point to return to, so that it takes at most the product of the lengths.
fn matches_here(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p + 1, n));
                p += 1;
                continue;
            }
            Some(_) => {
                if let Some(next) = matches_one(pattern, p, name[n]) {
                    p = next;
                    n += 1;
                    continue;
                }
            }
            None => {}
        }
        let Some((after, from)) = star else { return false };
        star = Some((after, from + 1));
        p = after;
        n = from + 1;
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// Where the pattern goes on if its next element matches the character.
fn matches_one(pattern: &[char], at: usize, c: char) -> Option<usize> {
    match pattern[at] {
        '?' => Some(at + 1),
        '[' => match class(&pattern[at + 1..], c) {
            Some((matched, length)) => matched.then_some(at + 1 + length),
            None => (c == '[').then_some(at + 1),
        },
        '\\' if at + 1 < pattern.len() => (pattern[at + 1] == c).then_some(at + 2),
        other => (other == c).then_some(at + 1),
    }
}

/// The inside of `[…]`: whether it matches, and how long it is with its bracket. None if it has no end.
fn class(pattern: &[char], c: char) -> Option<(bool, usize)> {
    let negated = matches!(pattern.first(), Some('!' | '^'));
    let start = usize::from(negated);
    let mut matched = false;
    let mut at = start;
    while let Some(&first) = pattern.get(at) {
        match first {
            ']' if at > start => return Some((matched != negated, at + 1)),
            '[' if pattern.get(at + 1) == Some(&':') => {
                let length = pattern[at..].iter().position(|c| *c == ']')?;
                let name: String =
                    pattern[at + 2..(at + length).saturating_sub(1).max(at + 2)].iter().collect();
                matched |= in_named_class(&name, c);
                at += length + 1;
            }
            _ if pattern.get(at + 1) == Some(&'-') && pattern.get(at + 2).is_some_and(|end| *end != ']') => {
                matched |= (first..=pattern[at + 2]).contains(&c);
                at += 3;
            }
            _ => {
                matched |= first == c;
                at += 1;
            }
        }
    }
    None
}

fn in_named_class(name: &str, c: char) -> bool {
    match name {
        "alpha" => c.is_alphabetic(),
        "alnum" => c.is_alphanumeric(),
        "digit" => c.is_ascii_digit(),
        "lower" => c.is_lowercase(),
        "upper" => c.is_uppercase(),
        "punct" => c.is_ascii_punctuation(),
        // The others are seldom; taking them for a match errs to the careful side.
        _ => true,
    }
}

/// Whether a pattern matches nearly everything: then it is no choice of files but all of them.
pub(crate) fn matches_nearly_all(pattern: &str) -> bool {
    const NAMES: [&str; 6] = ["src", "Makefile", "data.json", "README.md", "x1", "notes.txt"];
    NAMES.iter().filter(|name| matches(pattern, name)).count() >= 3
        || pattern.starts_with('.') && [".env", ".git", ".cache"].iter().all(|name| matches(pattern, name))
}

#[cfg(test)]
mod tests {
    use super::{matches, matches_nearly_all};

    #[test]
    fn names_are_matched_as_by_bash() {
        for (pattern, name) in [
            ("*", "a"),
            ("r?", "rm"),
            ("[a-z]*", "etc"),
            ("[!.]*", "x"),
            ("e?c", "etc"),
            (".g*", ".git"),
            ("a*b*c", "aXbYc"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("*", ".git"), ("*.o", "a.c"), ("[!a]*", "abc"), ("a", "ab"), ("?", "")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn a_choice_is_told_from_everything() {
        for pattern in ["*", "?*", "[a-zA-Z]*", ".*", "*.*", "[!.]*"] {
            assert!(matches_nearly_all(pattern), "{pattern}");
        }
        for pattern in ["*.o", "test_*", "a?", ".git*", "*.log"] {
            assert!(!matches_nearly_all(pattern), "{pattern}");
        }
    }
}
