//! Whether Codex runs a hook: it skips what its user has not looked at, and says nothing.
//!
//! What was looked at is in `config.toml` by the hook's place and a hash of what it does (found in version 0.166).

use std::path::Path;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// What Codex does with a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// It runs it.
    Trusted,
    /// It was never looked at.
    Untrusted,
    /// It was another when it was looked at.
    Changed,
    /// It was switched off.
    Disabled,
}

/// What Codex does with the hook at this position of `file`, whose text is `hooks`, by the text of its `config.toml`. None
/// if that cannot be told.
#[must_use]
pub fn codex_trust(file: &Path, hooks: &str, position: (usize, usize), config: &str) -> Option<Trust> {
    let hooks: Value = serde_json::from_str(hooks).ok()?;
    let config: toml::Table = toml::from_str(config).ok()?;
    let group = hooks.get("hooks")?.get("PreToolUse")?.get(position.0)?;
    let key = format!("{}:pre_tool_use:{}:{}", file.display(), position.0, position.1);
    let state = config.get("hooks").and_then(|hooks| hooks.get("state")).and_then(|state| state.get(&key));
    let Some(state) = state else { return Some(Trust::Untrusted) };
    if state.get("enabled").and_then(toml::Value::as_bool) == Some(false) {
        return Some(Trust::Disabled);
    }
    let known = state.get("trusted_hash").and_then(toml::Value::as_str);
    Some(match known {
        None => Trust::Untrusted,
        Some(known) if known == hash(group, position.1)? => Trust::Trusted,
        Some(_) => Trust::Changed,
    })
}

/// Of everything that matters, with keys in order and without spaces.
fn hash(group: &Value, hook: usize) -> Option<String> {
    let hook = group.get("hooks")?.get(hook)?;
    let mut known = Map::new();
    known.insert("async".to_owned(), hook.get("async").cloned().unwrap_or(json!(false)));
    known.insert("command".to_owned(), hook.get("command")?.clone());
    if let Some(message) = hook.get("statusMessage") {
        known.insert("statusMessage".to_owned(), message.clone());
    }
    known.insert("timeout".to_owned(), hook.get("timeout").cloned().unwrap_or(json!(600)));
    known.insert("type".to_owned(), hook.get("type")?.clone());
    let mut identity = Map::from_iter([
        ("event_name".to_owned(), json!("pre_tool_use")),
        ("hooks".to_owned(), json!([known])),
    ]);
    if let Some(matcher) = group.get("matcher") {
        identity.insert("matcher".to_owned(), matcher.clone());
    }
    let digest = Sha256::digest(Value::Object(identity).to_string());
    Some(format!("sha256:{}", digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hash is one that Codex 0.166 has made.
    #[test]
    fn a_hook_that_codex_runs_and_others() {
        let hooks = r#"{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"'/tmp/x y/bashtion' hook codex"}]}]}}"#;
        let trust = |config: &str| codex_trust(Path::new("/h/hooks.json"), hooks, (0, 0), config);
        let state = "[hooks.state.\"/h/hooks.json:pre_tool_use:0:0\"]\n";
        let hash =
            "trusted_hash = \"sha256:6db262b60c701ec1d81e07d8b1cd9bc4719e407eac6020be1005cef712b731d8\"\n";
        assert_eq!(trust(&format!("{state}{hash}")), Some(Trust::Trusted));
        assert_eq!(trust(&format!("{state}enabled = false\n{hash}")), Some(Trust::Disabled));
        assert_eq!(trust(&format!("{state}trusted_hash = \"sha256:00\"\n")), Some(Trust::Changed));
        assert_eq!(trust("model = \"gpt-5\"\n"), Some(Trust::Untrusted));
        assert_eq!(trust("= not TOML"), None);
    }
}
