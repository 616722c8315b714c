//! The block around a call in Anthropic's Messages API.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::check::read;
use super::{Answer, AnthropicBash, Call, CallError, ClaudeCodeBash, ToolCall};

/// A block `tool_use` of a message, answered by a block `tool_result`.
///
/// The name is not looked at: whoever offered the tool knows what it is called.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolUse<T> {
    /// What kind of block it is.
    pub r#type: ToolUseType,
    /// The name of the call, which comes back in the reply.
    #[schemars(length(min = 1, max = 256))]
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// What the tool is given.
    pub input: T,
    /// Who called it, in newer versions of the API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<Value>,
    /// A mark for the cache of the API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<Value>,
}

/// The only type that a [`ToolUse`] has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolUseType {
    /// A call of a tool.
    ToolUse,
}

pub(super) fn read_bash(value: Value) -> Result<Box<dyn ToolCall>, CallError> {
    read_either::<AnthropicBash>(value)
}

pub(super) fn read_claude_code(value: Value) -> Result<Box<dyn ToolCall>, CallError> {
    read_either::<ClaudeCodeBash>(value)
}

/// The whole block, or only what the tool is given; then the caller has to add `tool_use_id` to the reply.
fn read_either<T>(value: Value) -> Result<Box<dyn ToolCall>, CallError>
where
    T: ToolCall + DeserializeOwned + JsonSchema + 'static,
{
    if is_block(&value) { Ok(Box::new(read::<ToolUse<T>>(value)?)) } else { Ok(Box::new(read::<T>(value)?)) }
}

fn is_block(value: &Value) -> bool {
    value.get("type").is_some_and(|kind| kind == "tool_use")
}

impl<T: ToolCall> ToolCall for ToolUse<T> {
    fn to_call(&self) -> Result<Call, CallError> {
        self.input.to_call()
    }

    fn reply(&self, answers: &[Answer<'_>]) -> Value {
        let mut reply = self.input.reply(answers);
        reply["tool_use_id"] = json!(self.id);
        reply
    }
}

/// A block `tool_result` that does not know yet what it is the result of.
pub(super) fn tool_result(answer: Answer<'_>, text: &str) -> Value {
    json!({"type": "tool_result", "content": text, "is_error": answer.is_error()})
}

/// The reply to what could not be read.
pub(super) fn rejected_tool_use(sent: &Value, text: &str) -> Value {
    let mut reply = json!({"type": "tool_result", "content": text, "is_error": true});
    if let Some(id) = sent.get("id").filter(|id| id.is_string() && is_block(sent)) {
        reply["tool_use_id"] = id.clone();
    }
    reply
}
