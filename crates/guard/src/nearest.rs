//! What may have been meant.

/// The name that is most like this one, if one is like it at all.
///
/// ```
/// let known = ["timeout", "grace"];
/// assert_eq!(bashtion_guard::nearest("timout", known).as_deref(), Some("timeout"));
/// assert_eq!(bashtion_guard::nearest("colour", known), None);
/// ```
#[must_use]
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let (distance, best) = known.into_iter().map(|known| (distance(name, known), known)).min()?;
    (distance <= 1 + name.len() / 3).then(|| best.to_owned())
}

/// How many letters have to be changed.
fn distance(name: &str, other: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (name.chars().take(64).collect(), other.chars().collect());
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
