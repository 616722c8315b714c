//! Everything a supervisor is told, on its standard input.

use std::ffi::OsString;

use serde::{Deserialize, Serialize};

use super::TaskId;
use super::log::Sizes;
use crate::Outcome;
use crate::Request;
use crate::approval::Foregone;
use crate::context::Caller;
use crate::engine::Settings;

/// A command to run as a task.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Assignment {
    pub(super) id: TaskId,
    pub(super) folder: OsString,
    pub(super) output: OsString,
    pub(super) sizes: Sizes,
    pub(super) settings: Settings,
    pub(super) caller: Caller,
    pub(super) request: Request,
    /// What somebody has said to it, if it was asked about.
    pub(super) foregone: Option<Foregone>,
}

/// What a supervisor answers, on its standard output, before it is on its own.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    /// It runs, or was judged and not run.
    Begun(Box<Outcome>),
    /// Bashtion itself failed.
    Failed { message: String, causes: Vec<String> },
}
