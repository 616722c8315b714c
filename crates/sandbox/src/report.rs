//! What was really enforced for one command, said in every result.

/// How far the kernel holds a command, area by area.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Which confinement was asked for.
    pub mode: Mode,
    /// Files.
    pub filesystem: Enforced,
    /// Sockets.
    pub network: Enforced,
    /// Signals to other processes.
    pub signals: Enforced,
    /// Memory, processes, time.
    pub limits: Enforced,
    /// Why something is less than full.
    pub reason: Option<String>,
}

/// Which confinement was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// None.
    Off,
}

/// Whether an area is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enforced {
    /// Not at all.
    None,
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
            reason: Some("this version does not confine commands yet".to_owned()),
        }
    }
}
