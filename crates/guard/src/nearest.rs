//! What may have been meant.

/// The known name that is most like this one, if any is like it at all.
///
/// ```
/// let known = ["timeout", "grace"];
/// assert_eq!(bashtion_guard::nearest("timout", known), Some("timeout"));
/// assert_eq!(bashtion_guard::nearest("colour", known), None);
/// ```
#[must_use]
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let far = 1 + name.chars().take(LONGEST).count() / 3;
    let measured = known.into_iter().map(|other| (distance(name, other), other));
    let (distance, other) = measured.min()?;
    (distance <= far || abbreviates(name, other) || abbreviates(other, name)).then_some(other)
}

/// Names are short; what is not has no neighbours, and costs nothing.
const LONGEST: usize = 64;

/// As `cmd` does `command`.
fn abbreviates(short: &str, long: &str) -> bool {
    let mut rest = long.chars();
    short.len() >= 3 && short.chars().take(LONGEST).all(|letter| rest.any(|other| other == letter))
}

/// How many letters have to be put in, taken out or exchanged.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(LONGEST).collect(), b.chars().collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let next = (diagonal + usize::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], next);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_likeliest_or_none() {
        let known = ["command", "timeout", "cwd"];
        assert_eq!(nearest("comand", known), Some("command"));
        assert_eq!(nearest("timeout_ms", known), Some("timeout"));
        assert_eq!(nearest("command", ["cmd", "workdir"]), Some("cmd"));
        assert_eq!(nearest("xyzzy", known), None);
        assert_eq!(nearest(&"c".repeat(100_000), known), None);
        assert_eq!(nearest("", []), None);
    }
}
