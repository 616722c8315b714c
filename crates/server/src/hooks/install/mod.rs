//! The entries in the agents' settings that make them ask us.
//!
//! What is in a file already stays as it is written, byte for byte: entries are put into the text, and taken out of it.

mod entry;
mod file;
mod place;
mod text;
mod trust;

pub use entry::{EditError, Entry, Found, found, installed, snippet, uninstalled};
pub use file::{FileError, read, replace};
pub use place::{Places, Scope};
pub use trust::{Trust, codex_trust};
