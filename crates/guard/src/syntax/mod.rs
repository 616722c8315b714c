//! Command text to syntax tree.
//!
//! The parser follows bash's own grammar and gives up on everything it does not know: text that it cannot read is an
//! [`Unreadable`], never a guess. A second parser, tree-sitter-bash, must not see a command where this one sees none.

pub(crate) mod ast;
mod commands;
mod cursor;
mod expansions;
mod heredocs;
mod second;
mod simple;
mod words;

use ast::{List, Span};
use cursor::Cursor;
pub(crate) use second::Second;

/// Why text could not be read as a script.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub(crate) struct Unreadable {
    pub(crate) what: String,
    /// In the text that was parsed.
    pub(crate) at: usize,
}

/// Where the text that is parsed comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Origin {
    /// It is the command itself.
    Command,
    /// It is the value of something: whatever is found in it stands there.
    Value(Span),
}

/// Parses a whole script.
pub(crate) fn parse(text: &str, origin: Origin) -> Result<List, Unreadable> {
    Cursor::new(text, origin, 0).script()
}
