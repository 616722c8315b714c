//! Names of tasks.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::short_name;

/// The name of a background task.
///
/// ```
/// use bashtion::TaskId;
/// let id: TaskId = "bash-7k2m9q".parse()?;
/// assert_eq!(id.to_string(), "bash-7k2m9q");
/// assert!("../etc".parse::<TaskId>().is_err());
/// # Ok::<(), bashtion::InvalidTaskId>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TaskId(String);

/// Not the name of any task.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} cannot be a task: they are called like bash-7k2m9q")]
pub struct InvalidTaskId {
    /// What was given.
    pub given: String,
}

const PREFIX: &str = "bash-";

impl TaskId {
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

impl FromStr for TaskId {
    type Err = InvalidTaskId;

    fn from_str(text: &str) -> Result<Self, InvalidTaskId> {
        if short_name::is_one(PREFIX, text) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidTaskId { given: text.to_owned() })
        }
    }
}

impl TryFrom<String> for TaskId {
    type Error = InvalidTaskId;

    fn try_from(text: String) -> Result<Self, InvalidTaskId> {
        text.parse()
    }
}

impl From<TaskId> for String {
    fn from(id: TaskId) -> Self {
        id.0
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_names_are_names_and_differ() {
        let (one, other) = (TaskId::random(), TaskId::random());
        assert_ne!(one, other);
        assert_eq!(one.as_str().parse(), Ok(one));
    }
}
