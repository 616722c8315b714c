//! Codex, by OpenAI.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::desk::{Desk, Talk};
use crate::model::Model;
use crate::scenarios::{self, Agent, Server};

struct Codex;

impl Agent for Codex {
    const NAME: &str = "codex";
    const OUR_TOOL: &str = "mcp__bashtion.bash";
    // Of a result it passes on the structured part alone.
    const EXIT_7: &str = r#""exit_code":7"#;
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
command = "{}"
args = ["serve"]
startup_timeout_sec = 60
tool_timeout_sec = 600
default_tools_approval_mode = "approve"
"#,
            desk.bashtion().display()
        );
        desk.write(".codex/config.toml", &(model + if server == Server::Ours { &ours } else { "" }));
    }

    fn trust_hooks(desk: &Desk) {
        let mut server = desk.client(".bin/codex");
        server.arg("app-server").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = server.spawn().unwrap();
        let mut questions = server.stdin.take().unwrap();
        let client = json!({ "clientInfo": { "name": "test", "version": "1" } });
        for question in [
            json!({ "id": 1, "method": "initialize", "params": client }),
            json!({ "method": "initialized" }),
            json!({ "id": 2, "method": "hooks/list", "params": { "cwds": [desk.work()] } }),
        ] {
            writeln!(questions, "{question}").unwrap();
        }
        let lines = BufReader::new(server.stdout.take().unwrap()).lines().map(Result::unwrap);
        let mut answers = lines.map(|line| serde_json::from_str::<Value>(&line).unwrap());
        let answer = answers.find(|answer| answer["id"] == 2).unwrap();
        let hooks = answer["result"]["data"][0]["hooks"].as_array().unwrap();
        assert!(!hooks.is_empty(), "Codex does not see the hook: {answer}");
        for hook in hooks {
            let table = format!("[hooks.state.{}]\ntrusted_hash = {}\n", hook["key"], hook["currentHash"]);
            desk.write(".codex/config.toml", &table);
        }
        drop(questions);
        server.wait().unwrap();
    }

    fn ask(desk: Desk, model: Model) -> Talk {
        let mut codex = desk.client(".bin/codex");
        codex.args(["exec", "--skip-git-repo-check", "--json", "Go on."]).env("SCRIPTED_KEY", "none");
        desk.talk(codex, model)
    }
}

#[test]
fn codex_runs_our_tool_over_mcp() {
    scenarios::runs_our_tool_over_mcp::<Codex>();
}

#[test]
fn codex_is_refused_over_mcp() {
    scenarios::our_tool_refuses_over_mcp::<Codex>();
}

#[test]
fn codex_hook_denies_before_it_runs() {
    scenarios::hook_denies_before_it_runs::<Codex>();
}

#[test]
fn codex_hook_lets_the_harmless_run() {
    scenarios::hook_lets_the_harmless_run::<Codex>();
}

#[test]
fn codex_hook_confines() {
    scenarios::hook_confines::<Codex>();
}

#[test]
fn codex_hook_without_its_program_denies() {
    scenarios::hook_without_its_program_denies::<Codex>();
}

/// Without a word: this is what `bashtion doctor` is there to tell.
#[test]
fn codex_passes_over_a_hook_that_nobody_trusts() {
    scenarios::hook_is_passed_over_untrusted::<Codex>();
}
