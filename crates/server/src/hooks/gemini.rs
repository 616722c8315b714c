//! Gemini CLI: `BeforeTool` for the tool `run_shell_command`.
//!
//! Its own rules are asked whatever a hook says, about the arguments that the hook has given.

use serde_json::{Map, Value, json};

use super::answer::{Answer, Said};
use super::call::{Heard, Misheard, Names, arguments, shell, text};

const NAMES: Names = Names { directory: Some("dir_path"), timeout: None };

pub(super) fn hear(fields: &Map<String, Value>) -> Result<Heard, Misheard> {
    let event = fields.get("hook_event_name").and_then(Value::as_str);
    if event.is_some_and(|event| event != "BeforeTool") || text(fields, "tool_name")? != "run_shell_command" {
        return Ok(Heard::Other);
    }
    shell(fields, arguments(fields, "tool_input")?, &NAMES)
}

pub(super) fn say(answer: Answer) -> Value {
    let mut words = match answer.decision {
        Said::Nothing | Said::Allow => json!({}),
        // What the user is shown is the message, what the model is told the reason.
        Said::Ask => json!({ "decision": "ask", "reason": answer.reason, "systemMessage": answer.reason }),
        Said::Deny => json!({ "decision": "deny", "reason": answer.reason }),
    };
    if let Some(arguments) = answer.arguments {
        words["hookSpecificOutput"] = json!({ "hookEventName": "BeforeTool", "tool_input": arguments });
    }
    words
}
