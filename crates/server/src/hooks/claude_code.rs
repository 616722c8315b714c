//! Claude Code: `PreToolUse` for the tool `Bash`.
//!
//! `allow` spares the user the agent's question, so it is said only if that was asked for. Other arguments can be given with
//! any decision and with none: then its own rules are asked about them.

use serde_json::{Map, Value, json};

use super::answer::{Answer, Said};
use super::call::{Heard, Misheard, Names, arguments, shell, text};

const NAMES: Names = Names { directory: None, timeout: Some("timeout") };

pub(super) fn hear(fields: &Map<String, Value>) -> Result<Heard, Misheard> {
    let event = fields.get("hook_event_name").and_then(Value::as_str);
    if event.is_some_and(|event| event != "PreToolUse") || text(fields, "tool_name")? != "Bash" {
        return Ok(Heard::Other);
    }
    shell(fields, arguments(fields, "tool_input")?, &NAMES)
}

pub(super) fn say(answer: Answer) -> Value {
    let decision = match answer.decision {
        Said::Nothing if answer.arguments.is_none() => return json!({}),
        Said::Nothing => None,
        Said::Allow => Some("allow"),
        Said::Ask => Some("ask"),
        Said::Deny => Some("deny"),
    };
    specific(decision, answer)
}

/// The words that Codex has taken over.
pub(super) fn specific(decision: Option<&str>, answer: Answer) -> Value {
    let mut words = Map::from_iter([("hookEventName".to_owned(), json!("PreToolUse"))]);
    if let Some(decision) = decision {
        words.insert("permissionDecision".to_owned(), json!(decision));
    }
    if !answer.reason.is_empty() {
        words.insert("permissionDecisionReason".to_owned(), json!(answer.reason));
    }
    if let Some(arguments) = answer.arguments {
        words.insert("updatedInput".to_owned(), Value::Object(arguments));
    }
    json!({ "hookSpecificOutput": words })
}
