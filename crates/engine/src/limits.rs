//! Times and sizes, with the defaults in one place.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Times and sizes that hold for every command of an engine.
///
/// ```
/// use bashtion::{Engine, Limits};
/// use std::time::Duration;
///
/// let limits = Limits { grace: Duration::from_secs(5), ..Limits::default() };
/// assert_eq!(limits.timeout, Duration::from_secs(120));
/// let engine = Engine::builder().limits(limits).build();
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// How long a command may take if the request does not say.
    pub timeout: Duration,
    /// The same in [`crate::Mode::Slow`].
    pub slow_timeout: Duration,
    /// The shortest and the longest time that a request may ask for, and what becomes of any other.
    pub shortest_timeout: Duration,
    /// See there.
    pub longest_timeout: Duration,
    /// See there.
    pub beyond: Beyond,
    /// How long processes have between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// The same for processes that outlived the shell.
    pub leftover_grace: Duration,
    /// How long output may still come after the shell has ended, while something holds the pipe in silence.
    pub settle: Duration,
    /// The same while output keeps coming.
    pub settle_longest: Duration,
    /// How many bytes of one command's output are written to a file.
    pub file_size: u64,
    /// How long such files are kept.
    pub keep_files_for: Duration,
    /// How many bytes such files may take together; the oldest go first, and none that is younger than an hour.
    pub keep_files_size: u64,
}

/// What becomes of a time that a request may not ask for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Beyond {
    /// It is an error.
    #[default]
    Reject,
    /// The nearest possible one is taken.
    Clamp,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(120),
            slow_timeout: Duration::from_secs(15 * 60),
            shortest_timeout: Duration::ZERO,
            longest_timeout: Duration::from_secs(365 * 24 * 60 * 60),
            beyond: Beyond::default(),
            grace: Duration::from_secs(2),
            leftover_grace: Duration::from_millis(500),
            settle: Duration::from_millis(500),
            settle_longest: Duration::from_millis(1200),
            file_size: 64 << 20,
            keep_files_for: Duration::from_secs(7 * 24 * 60 * 60),
            keep_files_size: 1 << 30,
        }
    }
}
