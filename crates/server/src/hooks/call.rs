//! What an agent wants to run.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};

/// A command that an agent wants to run in its shell.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Call {
    /// The command.
    pub command: String,
    /// Where it would run, if the agent says so.
    pub cwd: Option<PathBuf>,
    /// What it is for, in the agent's words.
    pub description: Option<String>,
    /// When the agent would end it.
    pub(super) timeout: Option<Duration>,
    /// All arguments of the tool.
    pub(super) arguments: Map<String, Value>,
}

/// What a hook was told.
#[derive(Debug)]
pub(super) enum Heard {
    Shell(Box<Call>),
    /// Another tool, or another event: nothing of ours.
    Other,
}

/// What makes an input one that cannot be understood.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Misheard {
    #[error("the hook's input is longer than {} bytes", super::LONGEST_INPUT)]
    TooLong,
    #[error("the hook's input is not JSON: {0}")]
    Json(String),
    #[error("the hook's input is not an object")]
    NotAnObject,
    #[error("`{name}` in the hook's input is not {expected}")]
    Field { name: &'static str, expected: &'static str },
    #[error("the command contains a NUL character")]
    Nul,
}

/// How an agent names the arguments of its shell.
pub(super) struct Names {
    /// A directory beside the session's own.
    pub(super) directory: Option<&'static str>,
    /// Milliseconds.
    pub(super) timeout: Option<&'static str>,
}

/// The object that every hook gets.
pub(super) fn object(input: &[u8]) -> Result<Map<String, Value>, Misheard> {
    if input.len() > super::LONGEST_INPUT {
        return Err(Misheard::TooLong);
    }
    match serde_json::from_slice(input) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(Misheard::NotAnObject),
        Err(error) => Err(Misheard::Json(error.to_string())),
    }
}

/// A field that has to be text.
pub(super) fn text<'a>(fields: &'a Map<String, Value>, name: &'static str) -> Result<&'a str, Misheard> {
    fields.get(name).and_then(Value::as_str).ok_or(Misheard::Field { name, expected: "text" })
}

/// A call of a shell by the arguments of the tool.
pub(super) fn shell(
    fields: &Map<String, Value>,
    arguments: Map<String, Value>,
    names: &Names,
) -> Result<Heard, Misheard> {
    let command = text(&arguments, "command")?.to_owned();
    if command.contains('\0') {
        return Err(Misheard::Nul);
    }
    let path = |fields: &Map<String, Value>, name: &str| {
        fields.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(PathBuf::from)
    };
    let cwd = path(fields, "cwd");
    let cwd = match names.directory.and_then(|name| path(&arguments, name)) {
        Some(directory) => Some(cwd.map_or(directory.clone(), |cwd| cwd.join(directory))),
        None => cwd,
    };
    let timeout = names.timeout.and_then(|name| arguments.get(name)?.as_f64());
    let timeout = timeout.and_then(|millis| Duration::try_from_secs_f64(millis / 1000.0).ok());
    let description = arguments.get("description").and_then(Value::as_str).map(str::to_owned);
    let timeout = timeout.filter(|timeout| !timeout.is_zero());
    Ok(Heard::Shell(Box::new(Call { command, cwd, description, timeout, arguments })))
}

/// An object among the fields.
pub(super) fn arguments(
    fields: &Map<String, Value>,
    name: &'static str,
) -> Result<Map<String, Value>, Misheard> {
    let wrong = Misheard::Field { name, expected: "an object" };
    fields.get(name).and_then(Value::as_object).cloned().ok_or(wrong)
}
