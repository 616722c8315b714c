//! Denials: everything the sandbox stopped, with the setting that would allow it.
//!
//! The kernel tells the program that was stopped, not us. What it does tell us is believed as it is: limits that were
//! reached, connections that were refused, repositories that had to be put back. All else is told by messages of programs,
//! and a message is only believed where three things agree: something failed, or it stands on standard error
//! (`evidence.rs`); it has the form of an error message, with the reason that such a refusal has (`message.rs`); and the rules
//! really refuse that path, while the permissions of the file would not have (`files.rs`). In doubt nothing is said.

mod calls;
mod denial;
mod evidence;
mod files;
mod limits;
mod message;
mod network;
mod permissions;
mod printers;
mod remedy;
mod repositories;
mod wishes;

use std::path::Path;
use std::time::SystemTime;

use bashtion_sandbox::{Confinement, Exit, Limit, Mode, Report, Restored, Stopped};

use crate::Output;
use denial::Denial;
pub use denial::Reader;
use evidence::Evidence;
pub(crate) use wishes::Wishes;

/// The end of a confined command.
#[derive(Debug)]
pub(crate) struct End<'a> {
    pub(crate) command: &'a str,
    pub(crate) confinement: &'a Confinement,
    pub(crate) enforced: &'a Report,
    pub(crate) wishes: &'a Wishes,
    pub(crate) cwd: &'a Path,
    pub(crate) home: Option<&'a Path>,
    pub(crate) exit: Option<Exit>,
    /// The exit codes of the stages of its last pipeline, where they are known.
    pub(crate) stages: &'a [i32],
    /// When it began, or a little later.
    pub(crate) started: SystemTime,
    pub(crate) output: &'a Output,
    pub(crate) limits_reached: &'a [Limit],
    pub(crate) refused_sockets: &'a [String],
    pub(crate) restored: &'a [Restored],
    pub(crate) names: &'a [Stopped],
}

/// More would be repetition.
const MOST: usize = 6;

impl End<'_> {
    /// The denials in words for whoever reads them, the most important first.
    pub(crate) fn denials(&self, reader: Reader) -> Vec<String> {
        let mut told: Vec<String> = vec![];
        for denial in self.stopped() {
            let text = denial.told(reader);
            if !told.contains(&text) {
                told.push(text);
            }
        }
        told.truncate(MOST);
        told
    }

    fn stopped(&self) -> Vec<Denial> {
        let evidence = Evidence::gather(self);
        let mut denials = limits::reached(self, &evidence);
        denials.extend(repositories::restored(self.restored));
        denials.extend(repositories::stopped(self.names));
        if self.confinement.mode != Mode::Off {
            denials.extend(files::refused(self, &evidence));
            denials.extend(network::refused(self, &evidence));
            let so_far = denials.len();
            denials.extend(calls::refused(self, &evidence, so_far));
        }
        denials
    }

    /// The exit code 0 and no failed stage mean that the command itself saw nothing wrong.
    fn failed(&self) -> bool {
        /// The exit code of a stage whose reader has seen enough: `yes | head`.
        const BROKEN_PIPE: i32 = 128 + 13;
        self.exit != Some(Exit::Code(0)) || self.stages.iter().any(|code| ![0, BROKEN_PIPE].contains(code))
    }

    /// Returns true if the shell, or a stage of its last pipeline, was ended by this signal.
    fn ended_by(&self, name: &str) -> bool {
        let by_code =
            |code: i32| code > 128 && bashtion_sandbox::Signal::from_raw(code - 128).to_string() == name;
        let shell = match self.exit {
            Some(Exit::Signal(signal)) => signal.to_string() == name,
            Some(Exit::Code(code)) => by_code(code),
            None => false,
        };
        shell || self.stages.iter().copied().any(by_code)
    }
}
