//! OpenAI's Responses, which Codex speaks.

use serde_json::{Value, json};

use super::http::{Reply, Request};
use super::{Call, Dialect};

pub(super) struct Responses;

impl Dialect for Responses {
    fn is_spoken_by(&self, request: &Request) -> bool {
        request.path.ends_with("/responses") && request.method == "POST"
    }

    fn tools(&self, body: &Value) -> Vec<String> {
        let tools = body["tools"].as_array().into_iter().flatten();
        tools
            .flat_map(|tool| {
                let name = tool["name"].as_str().unwrap_or_default();
                match tool["tools"].as_array() {
                    Some(inner) => inner
                        .iter()
                        .map(|inner| format!("{name}.{}", inner["name"].as_str().unwrap_or_default()))
                        .collect(),
                    None => vec![name.to_owned()],
                }
            })
            .collect()
    }

    fn result(&self, body: &Value) -> Option<String> {
        let mut items = body["input"].as_array()?.iter();
        let item = items.find(|item| item["type"] == "function_call_output")?;
        match &item["output"] {
            Value::String(text) => Some(text.clone()),
            parts => Some(parts.as_array()?.iter().filter_map(|part| part["text"].as_str()).collect()),
        }
    }

    fn call(&self, _: &Request, call: &Call) -> Reply {
        let mut item = json!({
            "type": "function_call", "id": "fc_1", "call_id": "call_1", "status": "completed",
            "arguments": call.arguments.to_string(), "name": call.tool,
        });
        if let Some((namespace, name)) = call.tool.split_once('.') {
            item["namespace"] = namespace.into();
            item["name"] = name.into();
        }
        turn(&item)
    }

    fn say(&self, _: &Request, text: &str) -> Reply {
        turn(&json!({
            "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": text, "annotations": [] }],
        }))
    }
}

fn turn(item: &Value) -> Reply {
    let usage = json!({
        "input_tokens": 1, "input_tokens_details": { "cached_tokens": 0 },
        "output_tokens": 1, "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 2,
    });
    let events = [
        json!({ "type": "response.created", "response": { "id": "resp_1" } }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
        json!({ "type": "response.completed", "response": { "id": "resp_1", "output": [item], "usage": usage } }),
    ];
    let names: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect();
    Reply::events(names.iter().map(|name| Some(name.as_str())).zip(events))
}
