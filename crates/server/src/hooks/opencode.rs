//! opencode: its plugins are JavaScript, so ours (`install/plugin.js`) starts us and has words that we have chosen.

use serde_json::{Map, Value, json};

use super::answer::{Answer, Said};
use super::call::{Heard, Misheard, Names, arguments, shell, text};

const NAMES: Names = Names { directory: Some("workdir"), timeout: Some("timeout") };

pub(super) fn hear(fields: &Map<String, Value>) -> Result<Heard, Misheard> {
    if text(fields, "tool")? != "bash" {
        return Ok(Heard::Other);
    }
    shell(fields, arguments(fields, "args")?, &NAMES)
}

/// Always with a decision, so that silence is not taken for one.
pub(super) fn say(answer: Answer) -> Value {
    match (answer.decision, answer.arguments) {
        (Said::Nothing | Said::Allow, None) => json!({ "decision": "none" }),
        (Said::Nothing | Said::Allow, Some(arguments)) => json!({ "decision": "none", "args": arguments }),
        // Never asked: see `Agent::can_ask`.
        (Said::Ask | Said::Deny, _) => json!({ "decision": "deny", "reason": answer.reason }),
    }
}
