//! Errors in one line.

use std::error::Error;

/// An error and what was behind it.
///
/// ```
/// let error = "x".parse::<i32>().unwrap_err();
/// assert_eq!(bashtion::causes(&error), "invalid digit found in string");
/// ```
#[must_use]
pub fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text += &format!(": {cause}");
        next = cause.source();
    }
    text
}
