//! Names that a person can type and that cannot be paths: a prefix and six letters, `bash-7k2m9q`.

use std::hash::{BuildHasher, RandomState};

const LENGTH: usize = 6;

/// Probably a new one.
pub(crate) fn random(prefix: &str) -> String {
    /// Without those that look alike.
    const LETTERS: &[u8] = b"23456789abcdefghjkmnpqrstuvwxyz";
    let mut number = RandomState::new().hash_one(std::process::id());
    let mut name = prefix.to_owned();
    for _ in 0..LENGTH {
        let (rest, digit) = (number / LETTERS.len() as u64, number % LETTERS.len() as u64);
        name.push(char::from(LETTERS[usize::try_from(digit).unwrap_or(0)]));
        number = rest;
    }
    name
}

/// Whether it could be one.
pub(crate) fn is_one(prefix: &str, text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.strip_prefix(prefix).is_some_and(|rest| rest.len() == LENGTH && rest.bytes().all(is_letter))
}
