//! Names of questions that wait.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::short_name;

/// The name of a question that waits for an answer.
///
/// ```
/// use bashtion::ApprovalId;
/// let id: ApprovalId = "ask-7k2m9q".parse()?;
/// assert_eq!(id.to_string(), "ask-7k2m9q");
/// assert!("../etc".parse::<ApprovalId>().is_err());
/// # Ok::<(), bashtion::InvalidApprovalId>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ApprovalId(String);

/// Not the name of any question.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} cannot be a question: they are called like ask-7k2m9q")]
pub struct InvalidApprovalId {
    /// What was given.
    pub given: String,
}

const PREFIX: &str = "ask-";

impl ApprovalId {
    /// Probably a new one.
    pub(super) fn random() -> Self {
        Self(short_name::random(PREFIX))
    }

    /// As it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ApprovalId {
    type Err = InvalidApprovalId;

    fn from_str(text: &str) -> Result<Self, InvalidApprovalId> {
        if short_name::is_one(PREFIX, text) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidApprovalId { given: text.to_owned() })
        }
    }
}

impl TryFrom<String> for ApprovalId {
    type Error = InvalidApprovalId;

    fn try_from(text: String) -> Result<Self, InvalidApprovalId> {
        text.parse()
    }
}

impl From<ApprovalId> for String {
    fn from(id: ApprovalId) -> Self {
        id.0
    }
}

impl fmt::Display for ApprovalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_names_are_names_and_differ() {
        let (one, other) = (ApprovalId::random(), ApprovalId::random());
        assert_ne!(one, other);
        assert_eq!(one.as_str().parse(), Ok(one));
    }
}
