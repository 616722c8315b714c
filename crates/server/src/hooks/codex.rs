//! Codex: `PreToolUse` for the tool `Bash`, which stands for its own `exec_command`.
//!
//! It has the words of Claude Code and its own opinion of them: `ask`, and `allow` without other arguments, are errors
//! after which the command runs. With other arguments `allow` must be said, and spares nobody a question.

use serde_json::{Map, Value, json};

use super::answer::{Answer, Said};
use super::call::{Heard, Misheard};
use super::claude_code;

pub(super) fn hear(fields: &Map<String, Value>) -> Result<Heard, Misheard> {
    claude_code::hear(fields)
}

pub(super) fn say(answer: Answer) -> Value {
    match answer.decision {
        Said::Nothing | Said::Allow if answer.arguments.is_none() => json!({}),
        Said::Nothing | Said::Allow => claude_code::specific(Some("allow"), answer),
        // Never asked: see `Agent::can_ask`.
        Said::Ask | Said::Deny => claude_code::specific(Some("deny"), Answer { arguments: None, ..answer }),
    }
}
