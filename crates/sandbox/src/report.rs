//! What was really enforced for one command, said in every result.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Mode;

/// How far the kernel holds a command, area by area.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Which confinement was asked for.
    pub mode: Mode,
    /// Files.
    pub filesystem: Enforced,
    /// Sockets.
    pub network: Enforced,
    /// Signals to other processes, and looking into them.
    pub signals: Enforced,
    /// Memory, processes, time.
    pub limits: Enforced,
    /// Why something is less than full.
    pub reason: Option<String>,
    /// The room that it runs in, with the other commands of its workspace.
    #[serde(default)]
    pub room: Option<String>,
}

/// Whether an area is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Enforced {
    /// Not at all.
    None,
    /// With gaps; [`Report::reason`] names them.
    Partial,
    /// All that was asked for.
    Full,
}

/// What Landlock can do on a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Landlock {
    /// It works, with this version of its interface.
    Abi(u32),
    /// It is built in, but not among the security modules that were chosen at boot.
    Disabled,
    /// The kernel does not know it.
    Missing,
}

impl Landlock {
    /// The version, 0 where there is none.
    #[must_use]
    pub fn abi(self) -> u32 {
        match self {
            Self::Abi(abi) => abi,
            Self::Disabled | Self::Missing => 0,
        }
    }

    /// What is wrong and what to do, where it cannot be used.
    #[must_use]
    pub fn problem(self) -> Option<&'static str> {
        match self {
            Self::Abi(_) => None,
            Self::Disabled => Some(
                "Landlock is built into this kernel but disabled; add landlock to the lsm= list on the kernel's command line",
            ),
            Self::Missing => Some("there is no Landlock here; it needs Linux 5.13 or newer, built with it"),
        }
    }
}

impl Report {
    /// The report of a command that was not confined.
    #[must_use]
    pub fn unconfined() -> Self {
        Self {
            mode: Mode::Off,
            filesystem: Enforced::None,
            network: Enforced::None,
            signals: Enforced::None,
            limits: Enforced::None,
            reason: Some("the sandbox is off".to_owned()),
            room: None,
        }
    }

    /// Whether every area is held as the mode promises.
    #[must_use]
    pub fn is_full(&self) -> bool {
        [self.filesystem, self.network, self.signals, self.limits].iter().all(|area| *area == Enforced::Full)
    }
}

impl fmt::Display for Enforced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Partial => "partial",
            Self::Full => "full",
        })
    }
}
