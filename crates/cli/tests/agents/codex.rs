//! Codex, by OpenAI.

use serde_json::{Value, json};

use crate::desk::{BASHTION, Desk, Talk};
use crate::model::Model;
use crate::scenarios::{self, Agent, Server};

struct Codex;

impl Agent for Codex {
    const NAME: &str = "codex";
    const OUR_TOOL: &str = "mcp__bashtion.bash";
    const SHELL: &str = "exec_command";

    fn for_shell(command: &str) -> Value {
        json!({ "cmd": command })
    }

    fn set_up(desk: &Desk, model: &Model, server: Server) {
        let model = format!(
            r#"
model = "gpt-5"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.scripted]
name = "scripted"
base_url = "{}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
"#,
            model.url()
        );
        let ours = format!(
            r#"
[mcp_servers.bashtion]
command = "{BASHTION}"
args = ["serve"]
startup_timeout_sec = 60
tool_timeout_sec = 600
default_tools_approval_mode = "approve"
"#
        );
        desk.write(".codex/config.toml", &(model + if server == Server::Ours { &ours } else { "" }));
    }

    fn ask(desk: Desk, model: Model) -> Talk {
        // A hook that nobody has said yes to in the terminal of Codex is passed over without a word.
        let agent = [
            ".bin/codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "--json",
            "Go on.",
        ];
        desk.talk(&agent, &[("SCRIPTED_KEY", "none")], model)
    }
}

#[test]
fn codex_runs_our_tool_over_mcp() {
    scenarios::runs_our_tool_over_mcp::<Codex>();
}

#[test]
fn codex_hook_denies_before_it_runs() {
    scenarios::hook_denies_before_it_runs::<Codex>();
}

#[test]
fn codex_hook_lets_the_harmless_run() {
    scenarios::hook_lets_the_harmless_run::<Codex>();
}
