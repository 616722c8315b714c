//! What the tools beside `bash` are given.

use bashtion::calls::{self, CallError};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::wrong::Wrong;

/// `task_list`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct List {
    /// Only those that run now.
    pub(super) running: Option<bool>,
}

/// `task_output`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    /// The task, as `bash` or `task_list` has named it.
    pub(super) task_id: String,
    /// Only what was printed from this byte on: the next_offset of the last call, to get what came since.
    pub(super) since: Option<u64>,
    /// Only so many of the last lines.
    #[schemars(range(min = 1))]
    pub(super) tail: Option<u32>,
}

/// `task_wait`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Wait {
    /// The task, as `bash` or `task_list` has named it.
    pub(super) task_id: String,
    /// Wait at most so many milliseconds. If it still runs then, the result says so.
    #[schemars(range(min = 0, max = 3_600_000))]
    pub(super) timeout_ms: Option<u64>,
}

/// `task_kill`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Kill {
    /// The task, as `bash` or `task_list` has named it.
    pub(super) task_id: String,
    /// Send this signal to all its processes instead of ending it: HUP, INT, USR1, KILL …
    pub(super) signal: Option<String>,
}

/// `approval`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Look {
    /// The question, as the result with status needs_approval has named it.
    pub(super) approval_id: String,
    /// Wait at most so many milliseconds for the answer.
    #[schemars(range(min = 0, max = 3_600_000))]
    pub(super) timeout_ms: Option<u64>,
}

/// What was given, or what is wrong with it.
pub(super) fn read<T: DeserializeOwned + JsonSchema>(given: Option<JsonObject>) -> Result<T, Wrong> {
    calls::read(Value::Object(given.unwrap_or_default())).map_err(|error| not_understood(&error))
}

pub(super) fn not_understood(error: &CallError) -> Wrong {
    Wrong(format!("the call was not understood: {error}"))
}
