//! Gemini CLI, by Google.

use serde_json::{Value, json};

use crate::desk::{Desk, Talk};
use crate::model::Model;
use crate::scenarios::{self, Agent, Server};

struct Gemini;

impl Agent for Gemini {
    const NAME: &str = "gemini";
    const OUR_TOOL: &str = "mcp_bashtion_bash";
    const EXIT_7: &str = "exit 7";
    const SHELL: &str = "run_shell_command";

    fn for_shell(command: &str) -> Value {
        json!({ "command": command, "description": "what the test asks for" })
    }

    fn set_up(desk: &Desk, _: &Model, server: Server) {
        let mut settings = json!({
            "security": { "auth": { "selectedType": "gemini-api-key" } },
            "general": { "enableAutoUpdate": false, "enableAutoUpdateNotification": false },
            "privacy": { "usageStatisticsEnabled": false },
            "telemetry": { "enabled": false },
        });
        if server == Server::Ours {
            settings["mcpServers"] = json!({
                "bashtion": { "command": desk.bashtion(), "args": ["serve"], "trust": true, "timeout": 600_000 },
            });
        }
        desk.write(".gemini/settings.json", &settings.to_string());
    }

    fn ask(desk: Desk, model: Model) -> Talk {
        let mut gemini = desk.client(".bin/gemini");
        gemini
            .args(["-m", "gemini-2.5-flash", "--approval-mode", "yolo", "--skip-trust"])
            .args(["--output-format", "stream-json", "-p", "Go on."])
            .env("GEMINI_API_KEY", "none")
            .env("GOOGLE_GEMINI_BASE_URL", model.url());
        desk.talk(gemini, model)
    }
}

#[test]
fn gemini_runs_our_tool_over_mcp() {
    scenarios::runs_our_tool_over_mcp::<Gemini>();
}

#[test]
fn gemini_is_refused_over_mcp() {
    scenarios::our_tool_refuses_over_mcp::<Gemini>();
}

#[test]
fn gemini_hook_denies_before_it_runs() {
    scenarios::hook_denies_before_it_runs::<Gemini>();
}

#[test]
fn gemini_hook_lets_the_harmless_run() {
    scenarios::hook_lets_the_harmless_run::<Gemini>();
}

#[test]
fn gemini_hook_confines() {
    scenarios::hook_confines::<Gemini>();
}

#[test]
fn gemini_hook_without_its_program_denies() {
    scenarios::hook_without_its_program_denies::<Gemini>();
}
