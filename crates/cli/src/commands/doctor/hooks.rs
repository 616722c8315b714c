//! Whether installed hooks really fire.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bashtion_server::hooks::install::{Found, Scope, Trust, codex_trust, found, read};
use bashtion_server::hooks::{Agent, is_refusal, probe};
use serde_json::{Value, json};

use crate::commands::hook;

/// An agent that is set up here, and our hook in its settings.
#[derive(Debug)]
pub(super) struct Hook {
    agent: Agent,
    file: PathBuf,
    installed: bool,
    /// Why it does not guard anything.
    problems: Vec<String>,
    /// What could not be found out.
    notes: Vec<String>,
}

/// Longer than any agent would like to wait.
const PATIENCE: Duration = Duration::from_secs(10);

/// Every agent whose settings are here, the user's and then the project's.
pub(super) fn examine() -> Vec<Hook> {
    let scopes = [hook::user_scope(), hook::project_scope().ok()];
    let scopes: Vec<Scope> = scopes.into_iter().flatten().collect();
    scopes.iter().flat_map(|scope| Agent::ALL.into_iter().filter_map(|agent| hook_in(scope, agent))).collect()
}

impl Hook {
    /// Whether what is installed does what it should.
    pub(super) fn works(&self) -> bool {
        self.problems.is_empty()
    }

    pub(super) fn as_json(&self) -> Value {
        json!({
            "agent": self.agent.name(),
            "file": self.file,
            "installed": self.installed,
            "fires": self.installed && self.works(),
            "problems": self.problems,
            "notes": self.notes,
        })
    }

    pub(super) fn as_text(&self) -> String {
        let state = match (self.installed, self.works()) {
            (true, true) => "fires",
            (true, false) => "DOES NOT FIRE",
            (false, true) => "not installed",
            (false, false) => "cannot be read",
        };
        let mut text = format!("  {:<12} {state}: {}\n", self.agent.name(), self.file.display());
        for line in self.problems.iter().chain(&self.notes) {
            text += &format!("               - {line}\n");
        }
        text
    }
}

/// None if the agent has no settings there.
fn hook_in(scope: &Scope, agent: Agent) -> Option<Hook> {
    let file = scope.file(agent);
    let is_set_up = file.exists()
        || is_own_file(agent) && file.parent()?.parent()?.is_dir() && matches!(scope, Scope::User(_));
    if !is_set_up {
        return None;
    }
    let mut hook = Hook { agent, file, installed: false, problems: vec![], notes: vec![] };
    let text = match read(&hook.file) {
        Ok(text) => text,
        Err(error) => {
            hook.problems.push(format!("{error}: {}", error.source));
            return Some(hook);
        }
    };
    match found(agent, &text) {
        Ok(entries) => {
            hook.installed = !entries.is_empty();
            entries.iter().for_each(|entry| hook.check(entry, &text));
        }
        // Perhaps it has comments, which the agent can read and we cannot.
        Err(error) => hook.notes.push(format!("it could not be looked for: {error}")),
    }
    Some(hook)
}

/// Whether the file has nothing but our hook, so that it says nothing when there is none.
fn is_own_file(agent: Agent) -> bool {
    match agent {
        Agent::Copilot | Agent::Opencode => true,
        Agent::ClaudeCode | Agent::Codex | Agent::Gemini | Agent::Cursor => false,
    }
}

impl Hook {
    fn check(&mut self, entry: &Found, text: &str) {
        let program = entry.words.first().map_or(Path::new(""), Path::new);
        if !program.is_file() {
            self.problems.push(format!("there is no program {}", program.display()));
            return;
        }
        let own = std::env::current_exe().ok();
        if own.as_deref() != Some(program) {
            match version(program) {
                Some(version) if version == env!("CARGO_PKG_VERSION") => {}
                Some(version) => self.notes.push(format!("{} is version {version}", program.display())),
                None => self.notes.push(format!("{} does not tell its version", program.display())),
            }
        }
        match fire(self.agent, &entry.line) {
            Ok(stdout) if is_refusal(self.agent, &stdout) => {}
            Ok(stdout) => {
                let said: String = String::from_utf8_lossy(&stdout).chars().take(200).collect();
                self.problems.push(format!("it does not refuse `rm -rf /`; it said {said:?}"));
            }
            Err(problem) => self.problems.push(problem),
        }
        match self.agent {
            Agent::Codex => self.check_trust(entry, text),
            Agent::Gemini => self.check_enabled(text),
            Agent::ClaudeCode => self.check_disabled(text),
            Agent::Copilot | Agent::Cursor | Agent::Opencode => {}
        }
    }

    fn check_trust(&mut self, entry: &Found, text: &str) {
        // Trust is the user's, wherever the hook stands.
        let config = hook::user_scope().map(|scope| scope.file(Agent::Codex).with_file_name("config.toml"));
        let config = config.and_then(|path| read(&path).ok()).unwrap_or_default();
        let problem = match codex_trust(&self.file, text, entry.position, &config) {
            Some(Trust::Trusted) => return,
            Some(Trust::Untrusted) => "Codex skips it, because it is not trusted",
            Some(Trust::Changed) => "Codex skips it, because it was another when it was trusted",
            Some(Trust::Disabled) => "Codex skips it, because it is switched off",
            None => "whether Codex trusts it cannot be told: its config.toml cannot be read",
        };
        self.problems.push(format!("{problem}: start codex and look at /hooks"));
    }

    fn check_enabled(&mut self, text: &str) {
        let settings: Value = serde_json::from_str(text).unwrap_or_default();
        if settings["hooksConfig"]["enabled"] == false {
            self.problems.push("`hooksConfig.enabled` is false, so Gemini runs no hooks".to_owned());
        }
        let off = settings["hooksConfig"]["disabled"].as_array();
        if off.is_some_and(|names| names.iter().any(|name| name == "bashtion")) {
            self.problems.push("`hooksConfig.disabled` names it".to_owned());
        }
    }

    fn check_disabled(&mut self, text: &str) {
        let settings: Value = serde_json::from_str(text).unwrap_or_default();
        if settings["disableAllHooks"] == true {
            self.problems.push("`disableAllHooks` is true, so Claude Code runs no hooks".to_owned());
        }
    }
}

fn version(program: &Path) -> Option<String> {
    let output = waited_for(Command::new(program).arg("--version"), b"").ok()?;
    let text = String::from_utf8(output).ok()?;
    Some(text.trim().strip_prefix("bashtion ")?.to_owned())
}

/// What the hook says, started as the agent would.
fn fire(agent: Agent, line: &str) -> Result<Vec<u8>, String> {
    waited_for(Command::new("/bin/sh").args(["-c", line]), probe(agent).as_bytes())
}

fn waited_for(command: &mut Command, input: &[u8]) -> Result<Vec<u8>, String> {
    let failed = |error: std::io::Error| format!("it cannot be started: {error}");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().map_err(failed)?;
    // Whoever does not read says something anyway, or nothing.
    let _ = child.stdin.take().map(|mut stdin| stdin.write_all(input));
    let ended = wait(&mut child);
    let mut stdout = vec![];
    if ended {
        let _ = child.stdout.take().map(|pipe| pipe.take(1 << 16).read_to_end(&mut stdout));
        return Ok(stdout);
    }
    let _ = child.kill().and_then(|()| child.wait());
    Err(format!("it has not answered within {} seconds", PATIENCE.as_secs()))
}

/// An answer fits into the pipe, so that it can be read afterwards.
fn wait(child: &mut Child) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        if !matches!(child.try_wait(), Ok(None)) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}
