//! opencode.

use serde_json::{Value, json};

use crate::desk::{Desk, Talk};
use crate::model::Model;
use crate::scenarios::{self, Agent, Server};

struct Opencode;

impl Agent for Opencode {
    const NAME: &str = "opencode";
    const OUR_TOOL: &str = "bashtion_bash";
    const EXIT_7: &str = "exit 7";
    const SHELL: &str = "bash";

    fn for_shell(command: &str) -> Value {
        json!({ "command": command, "description": "what the test asks for" })
    }

    fn set_up(desk: &Desk, model: &Model, server: Server) {
        let mut settings = json!({
            "model": "scripted/model",
            "autoupdate": false,
            "share": "disabled",
            "provider": { "scripted": {
                "npm": "@ai-sdk/openai-compatible",
                "options": { "baseURL": format!("{}/v1", model.url()), "apiKey": "none" },
                "models": { "model": { "tool_call": true } },
            } },
        });
        if server == Server::Ours {
            settings["mcp"] = json!({
                "bashtion": { "type": "local", "command": [desk.bashtion(), "serve"], "enabled": true },
            });
        }
        desk.write(".config/opencode/opencode.json", &settings.to_string());
    }

    fn ask(desk: Desk, model: Model) -> Talk {
        let alone = [
            ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
            ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
            ("OPENCODE_DISABLE_SHARE", "1"),
            // It wants to fetch a package of types for every plugin, and waits more than a minute for no answer.
            ("npm_config_offline", "true"),
        ];
        let mut opencode = desk.client("opencode/bin/opencode");
        opencode.args(["run", "--format", "json", "Go on."]).envs(alone);
        desk.talk(opencode, model)
    }
}

#[test]
fn opencode_runs_our_tool_over_mcp() {
    scenarios::runs_our_tool_over_mcp::<Opencode>();
}

#[test]
fn opencode_is_refused_over_mcp() {
    scenarios::our_tool_refuses_over_mcp::<Opencode>();
}

#[test]
fn opencode_hook_denies_before_it_runs() {
    scenarios::hook_denies_before_it_runs::<Opencode>();
}

#[test]
fn opencode_hook_lets_the_harmless_run() {
    scenarios::hook_lets_the_harmless_run::<Opencode>();
}

#[test]
fn opencode_hook_confines() {
    scenarios::hook_confines::<Opencode>();
}

#[test]
fn opencode_hook_without_its_program_denies() {
    scenarios::hook_without_its_program_denies::<Opencode>();
}
