//! OpenAI's chat completions, which opencode and our examples speak.

use serde_json::{Value, json};

use super::http::{Reply, Request};
use super::{Call, Dialect};

pub(super) struct Chat;

impl Dialect for Chat {
    fn is_spoken_by(&self, request: &Request) -> bool {
        request.path.ends_with("/chat/completions")
    }

    fn tools(&self, body: &Value) -> Vec<String> {
        let tools = body["tools"].as_array().into_iter().flatten();
        tools.filter_map(|tool| tool["function"]["name"].as_str()).map(str::to_owned).collect()
    }

    fn result(&self, body: &Value) -> Option<String> {
        let mut messages = body["messages"].as_array()?.iter();
        let content = &messages.find(|message| message["role"] == "tool")?["content"];
        Some(content.as_str().map_or(content.to_string(), str::to_owned))
    }

    fn call(&self, request: &Request, call: &Call) -> Reply {
        let function = json!({ "name": call.tool, "arguments": call.arguments.to_string() });
        let calls = json!([{ "index": 0, "id": "call_1", "type": "function", "function": function }]);
        turn(request, &json!({ "role": "assistant", "tool_calls": calls }), "tool_calls")
    }

    fn say(&self, request: &Request, text: &str) -> Reply {
        turn(request, &json!({ "role": "assistant", "content": text }), "stop")
    }
}

fn turn(request: &Request, delta: &Value, reason: &str) -> Reply {
    let usage = json!({ "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 });
    if request.body["stream"] != true {
        return Reply::json(&json!({
            "id": "chat_1", "object": "chat.completion", "created": 0, "model": "scripted", "usage": usage,
            "choices": [{ "index": 0, "message": delta, "finish_reason": reason }],
        }));
    }
    let chunk = |delta: &Value, reason: Value| {
        json!({
            "id": "chat_1", "object": "chat.completion.chunk", "created": 0, "model": "scripted", "usage": usage,
            "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }],
        })
    };
    let chunks = [chunk(delta, Value::Null), chunk(&json!({}), reason.into())];
    Reply::events(chunks.into_iter().map(|chunk| (None, chunk))).and_last("data: [DONE]\n\n")
}
