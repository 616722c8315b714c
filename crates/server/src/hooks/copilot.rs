//! GitHub Copilot CLI: `preToolUse`, which is asked about every tool; ours is `bash`.

use serde_json::{Map, Value, json};

use super::answer::{Answer, Said};
use super::call::{Heard, Misheard, Names, arguments, shell, text};

const NAMES: Names = Names { directory: None, timeout: None };

pub(super) fn hear(fields: &Map<String, Value>) -> Result<Heard, Misheard> {
    if text(fields, "toolName")? != "bash" {
        return Ok(Heard::Other);
    }
    // Some versions send them as the text of an object.
    let given = match fields.get("toolArgs").and_then(Value::as_str) {
        Some(text) => serde_json::from_str(text).map_err(|error| Misheard::Json(error.to_string()))?,
        None => arguments(fields, "toolArgs")?,
    };
    shell(fields, given, &NAMES)
}

pub(super) fn say(answer: Answer) -> Value {
    let mut words = match answer.decision {
        Said::Nothing => json!({}),
        Said::Allow => json!({ "permissionDecision": "allow" }),
        Said::Ask => json!({ "permissionDecision": "ask", "permissionDecisionReason": answer.reason }),
        Said::Deny => json!({ "permissionDecision": "deny", "permissionDecisionReason": answer.reason }),
    };
    if let Some(arguments) = answer.arguments {
        words["modifiedArgs"] = Value::Object(arguments);
    }
    words
}
