//! Cursor: `beforeShellExecution`. From its documentation only: no such program could be tried.

use serde_json::{Map, Value, json};

use super::answer::{Answer, Said};
use super::call::{Heard, Misheard, Names, shell};

const NAMES: Names = Names { directory: None, timeout: None };

pub(super) fn hear(fields: &Map<String, Value>) -> Result<Heard, Misheard> {
    let event = fields.get("hook_event_name").and_then(Value::as_str);
    if event.is_some_and(|event| event != "beforeShellExecution") {
        return Ok(Heard::Other);
    }
    let mut place = fields.clone();
    let has_cwd = fields.get("cwd").and_then(Value::as_str).is_some_and(|cwd| !cwd.is_empty());
    if let (false, Some(root)) = (has_cwd, fields.get("workspace_roots").and_then(|roots| roots.get(0))) {
        place.insert("cwd".to_owned(), root.clone());
    }
    shell(&place, fields.clone(), &NAMES)
}

pub(super) fn say(answer: Answer) -> Value {
    let Answer { decision, reason, arguments: _ } = answer;
    let permission = match decision {
        Said::Nothing => return json!({}),
        Said::Allow => return json!({ "permission": "allow" }),
        Said::Ask => "ask",
        Said::Deny => "deny",
    };
    json!({ "permission": permission, "user_message": reason, "agent_message": Value::String(reason) })
}
