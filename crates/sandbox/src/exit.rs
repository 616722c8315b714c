//! How a process ended and what it used.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// How the shell ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It returned this code.
    Code(i32),
    /// This signal ended it.
    Signal(Signal),
}

/// CPU time and peak memory of the shell and of all descendants that were waited for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// User and system time together.
    pub cpu: Duration,
    /// The largest resident set of any one process, in KiB.
    pub max_rss_kib: u64,
}

/// A signal number that prints as its name.
///
/// ```
/// use bashtion_sandbox::Signal;
/// assert_eq!(Signal::KILL.to_string(), "SIGKILL");
/// assert_eq!(Signal::from_raw(36).to_string(), "SIGRTMIN+2");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Signal(i32);

impl Signal {
    /// SIGTERM.
    pub const TERM: Self = Self(libc::SIGTERM);
    /// SIGKILL.
    pub const KILL: Self = Self(libc::SIGKILL);

    /// The signal with this number.
    #[must_use]
    pub const fn from_raw(number: i32) -> Self {
        Self(number)
    }

    /// Its number.
    #[must_use]
    pub const fn as_raw(self) -> i32 {
        self.0
    }
}

/// Not the name or number of a signal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no signal {name:?}; expected a name such as TERM, INT or USR1, or a number from 1 to {RTMAX}"
)]
pub struct UnknownSignal {
    /// What was given.
    pub name: String,
}

impl FromStr for Signal {
    type Err = UnknownSignal;

    /// `SIGTERM`, `TERM`, `term` or `15`.
    fn from_str(text: &str) -> Result<Self, UnknownSignal> {
        let unknown = || UnknownSignal { name: text.to_owned() };
        if let Ok(number) = text.parse::<i32>() {
            return (1..=RTMAX).contains(&number).then_some(Self(number)).ok_or_else(unknown);
        }
        let upper = text.to_ascii_uppercase();
        let named = |signal: &Self| {
            let name = signal.to_string();
            name == upper || name.strip_prefix("SIG") == Some(&upper)
        };
        (1..=RTMAX).map(Self).find(named).ok_or_else(unknown)
    }
}

const NAMES: &[(i32, &str)] = &[
    (libc::SIGHUP, "SIGHUP"),
    (libc::SIGINT, "SIGINT"),
    (libc::SIGQUIT, "SIGQUIT"),
    (libc::SIGILL, "SIGILL"),
    (libc::SIGTRAP, "SIGTRAP"),
    (libc::SIGABRT, "SIGABRT"),
    (libc::SIGBUS, "SIGBUS"),
    (libc::SIGFPE, "SIGFPE"),
    (libc::SIGKILL, "SIGKILL"),
    (libc::SIGUSR1, "SIGUSR1"),
    (libc::SIGSEGV, "SIGSEGV"),
    (libc::SIGUSR2, "SIGUSR2"),
    (libc::SIGPIPE, "SIGPIPE"),
    (libc::SIGALRM, "SIGALRM"),
    (libc::SIGTERM, "SIGTERM"),
    (libc::SIGCHLD, "SIGCHLD"),
    (libc::SIGCONT, "SIGCONT"),
    (libc::SIGSTOP, "SIGSTOP"),
    (libc::SIGTSTP, "SIGTSTP"),
    (libc::SIGTTIN, "SIGTTIN"),
    (libc::SIGTTOU, "SIGTTOU"),
    (libc::SIGURG, "SIGURG"),
    (libc::SIGXCPU, "SIGXCPU"),
    (libc::SIGXFSZ, "SIGXFSZ"),
    (libc::SIGVTALRM, "SIGVTALRM"),
    (libc::SIGPROF, "SIGPROF"),
    (libc::SIGWINCH, "SIGWINCH"),
    (libc::SIGIO, "SIGIO"),
    (libc::SIGSYS, "SIGSYS"),
];

/// The first real-time signal that programs may use under glibc.
const RTMIN: i32 = 34;
const RTMAX: i32 = 64;

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((_, name)) = NAMES.iter().find(|(number, _)| *number == self.0) {
            return f.write_str(name);
        }
        match self.0 {
            RTMIN => f.write_str("SIGRTMIN"),
            n if (RTMIN..=RTMAX).contains(&n) => write!(f, "SIGRTMIN+{}", n - RTMIN),
            n => write!(f, "signal {n}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers() {
        for text in ["TERM", "SIGTERM", "term", "sigterm", "15"] {
            assert_eq!(text.parse(), Ok(Signal::TERM), "{text}");
        }
        assert_eq!("RTMIN+2".parse(), Ok(Signal::from_raw(36)));
        for text in ["", "0", "65", "-9", "SIG", "NOPE", "TERM ", "signal 32"] {
            text.parse::<Signal>().expect_err(text);
        }
    }
}
