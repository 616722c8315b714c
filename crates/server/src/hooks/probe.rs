//! Trying whether a hook works: something that every guard refuses, and whether it was refused. It is judged, never run.

use serde_json::{Value, json};

use super::Agent;

/// Something to refuse, as the agent would ask about it.
#[must_use]
pub fn probe(agent: Agent) -> String {
    let arguments = json!({ "command": "rm -rf /", "description": "`bashtion doctor` tries the hook" });
    let event = match agent {
        Agent::ClaudeCode | Agent::Codex => {
            json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": arguments, "cwd": "/" })
        }
        Agent::Gemini => json!({
            "hook_event_name": "BeforeTool", "tool_name": "run_shell_command", "tool_input": arguments, "cwd": "/",
        }),
        Agent::Copilot => json!({ "toolName": "bash", "toolArgs": arguments, "cwd": "/" }),
        Agent::Cursor => json!({
            "hook_event_name": "beforeShellExecution", "command": "rm -rf /", "cwd": "/",
            "description": arguments["description"],
        }),
        Agent::Opencode => json!({ "tool": "bash", "args": arguments, "cwd": "/" }),
    };
    event.to_string()
}

/// Whether that is a no in the agent's words, and not merely a failure.
#[must_use]
pub fn is_refusal(agent: Agent, stdout: &[u8]) -> bool {
    let Ok(said) = serde_json::from_slice::<Value>(stdout) else { return false };
    let word = match agent {
        Agent::ClaudeCode | Agent::Codex => &said["hookSpecificOutput"]["permissionDecision"],
        Agent::Gemini | Agent::Opencode => &said["decision"],
        Agent::Copilot => &said["permissionDecision"],
        Agent::Cursor => &said["permission"],
    };
    word == "deny"
}
