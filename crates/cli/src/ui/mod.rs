//! Everything that is printed.

mod face;
mod json;
mod plain;
mod sanitize;
mod terminal;

use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;

use crate::error::CliError;
pub(crate) use face::Face;

/// How to speak to whoever called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    Json,
    JsonEvent,
}

pub(crate) fn print(bytes: &[u8]) -> Result<ExitCode, CliError> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush())?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn print_json(value: &impl Serialize) -> Result<ExitCode, CliError> {
    let mut line = serde_json::to_vec(value).map_err(io::Error::other)?;
    line.push(b'\n');
    print(&line)
}

/// Tells an error on standard error, and to programs as JSON on standard output too.
pub(crate) fn report(error: &CliError, format: Format) -> ExitCode {
    let mut text = format!("error: {}\n", sanitize::text(&error.message));
    for cause in &error.causes {
        text += &format!("  cause: {}\n", sanitize::text(cause));
    }
    if let Some(help) = &error.help {
        text += &format!("help: {}\n", sanitize::text(help));
    }
    // If even this cannot be printed, the exit code is all there is.
    let _ = io::stderr().lock().write_all(text.as_bytes());
    let told = serde_json::json!({ "message": error.message, "causes": error.causes, "help": error.help });
    let _ = match format {
        Format::Text => Ok(ExitCode::SUCCESS),
        Format::Json => print_json(&serde_json::json!({ "error": told })),
        Format::JsonEvent => print_json(&serde_json::json!({ "event": "error", "error": told })),
    };
    ExitCode::from(error.exit_code)
}
