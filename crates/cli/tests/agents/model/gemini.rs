//! Google's `generateContent`, which Gemini CLI speaks.

use serde_json::{Value, json};

use super::http::{Reply, Request};
use super::{Call, Dialect};

pub(super) struct Gemini;

impl Dialect for Gemini {
    fn is_spoken_by(&self, request: &Request) -> bool {
        request.path.contains(":generateContent") || is_streamed(request)
    }

    fn tools(&self, body: &Value) -> Vec<String> {
        let groups = body["tools"].as_array().into_iter().flatten();
        groups
            .flat_map(|group| group["functionDeclarations"].as_array().into_iter().flatten())
            .filter_map(|tool| tool["name"].as_str())
            .map(str::to_owned)
            .collect()
    }

    fn result(&self, body: &Value) -> Option<String> {
        let contents = body["contents"].as_array().into_iter().flatten();
        let mut parts = contents.flat_map(|content| content["parts"].as_array().into_iter().flatten());
        let response = parts.find_map(|part| part["functionResponse"]["response"].as_object())?;
        Some(response.values().map(|value| value.as_str().map_or(value.to_string(), str::to_owned)).collect())
    }

    fn call(&self, request: &Request, call: &Call) -> Reply {
        turn(request, &json!({ "functionCall": { "name": call.tool, "args": call.arguments } }))
    }

    fn say(&self, request: &Request, text: &str) -> Reply {
        turn(request, &json!({ "text": text }))
    }
}

fn turn(request: &Request, part: &Value) -> Reply {
    let turn = json!({
        "candidates": [{ "index": 0, "finishReason": "STOP", "content": { "role": "model", "parts": [part] } }],
        "usageMetadata": { "promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2 },
        "modelVersion": "scripted",
    });
    if is_streamed(request) { Reply::events([(None, turn)]) } else { Reply::json(&turn) }
}

fn is_streamed(request: &Request) -> bool {
    request.path.contains(":streamGenerateContent")
}
