//! The entry of each agent: what it looks like, where it stands, how it is found again.

use serde_json::{Value, json};

use super::super::Agent;
use super::text::{Container, pretty};

/// What is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The program and its arguments.
    pub words: Vec<String>,
}

/// An entry of ours in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// What the agent gives to a shell.
    pub line: String,
    /// The program and its arguments.
    pub words: Vec<String>,
    /// Whether it says how long the agent waits for an answer.
    pub has_timeout: bool,
    /// Where it stands: which group, and which one of that.
    pub position: (usize, usize),
}

/// Why a file is left as it is.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// It cannot be read as JSON.
    #[error("it is not plain JSON (comments cannot be kept)")]
    Json {
        /// Why.
        source: serde_json::Error,
    },
    /// It is not what the agent documents.
    #[error("`{path}` in it is not {expected}")]
    Shape {
        /// The keys that lead there.
        path: String,
        /// What it should be.
        expected: &'static str,
    },
    /// There is a file of that name, but not one of ours.
    #[error("it is not a file that Bashtion has written")]
    NotOurs,
}

/// How long an agent waits for an answer, in seconds. Most run the command if none comes, so this is far beyond what judging takes.
const PATIENCE: u64 = 30;

const PLUGIN: &str = include_str!("plugin.js");
const PLUGIN_COMMAND: &str = "const COMMAND = ";

impl Entry {
    /// What a shell is given. Whatever goes wrong there is a refusal, also that there is no such program any more.
    #[must_use]
    pub fn line(&self) -> String {
        let plain = |word: &str| {
            !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-=".contains(c))
        };
        let quoted = |word: &String| if plain(word) { word.clone() } else { bashtion::escape_arg(word) };
        let words: Vec<String> = self.words.iter().map(quoted).collect();
        format!("{} || exit 2", words.join(" "))
    }

    fn value(&self, agent: Agent) -> Value {
        let line = self.line();
        match agent {
            Agent::ClaudeCode | Agent::Codex => {
                json!({ "matcher": "Bash", "hooks": [{ "type": "command", "command": line, "timeout": PATIENCE }] })
            }
            Agent::Gemini => json!({
                "matcher": "run_shell_command",
                "hooks": [{ "type": "command", "name": "bashtion", "command": line, "timeout": PATIENCE * 1000 }],
            }),
            Agent::Copilot => json!({ "type": "command", "bash": line, "timeoutSec": PATIENCE }),
            Agent::Cursor => json!({ "command": line, "failClosed": true, "timeout": PATIENCE }),
            Agent::Opencode => json!(self.words),
        }
    }
}

/// The list in which an agent looks, under `hooks`.
fn event(agent: Agent) -> &'static str {
    match agent {
        Agent::ClaudeCode | Agent::Codex => "PreToolUse",
        Agent::Gemini => "BeforeTool",
        Agent::Copilot => "preToolUse",
        Agent::Cursor => "beforeShellExecution",
        Agent::Opencode => "tool.execute.before",
    }
}

/// The whole content of a file that has nothing but our entry.
#[must_use]
pub fn snippet(agent: Agent, entry: &Entry) -> String {
    let hooks = json!({ event(agent): [entry.value(agent)] });
    let file = match agent {
        Agent::ClaudeCode | Agent::Codex | Agent::Gemini => json!({ "hooks": hooks }),
        Agent::Copilot | Agent::Cursor => json!({ "version": 1, "hooks": hooks }),
        Agent::Opencode => {
            return PLUGIN.replace("const COMMAND = []", &format!("{PLUGIN_COMMAND}{}", json!(entry.words)));
        }
    };
    format!("{}\n", pretty(&file, "  "))
}

/// The text of the file with our entry, as it is to be; None if it is so already.
pub fn installed(agent: Agent, text: &str, entry: &Entry) -> Result<Option<String>, EditError> {
    let wanted = snippet(agent, entry);
    if agent == Agent::Opencode {
        let ours = text.trim().is_empty() || !found(agent, text)?.is_empty();
        return if ours { Ok(Some(wanted).filter(|wanted| wanted != text)) } else { Err(EditError::NotOurs) };
    }
    if text.trim().is_empty() {
        return Ok(Some(wanted));
    }
    let now = found(agent, text)?;
    if let [only] = now.as_slice()
        && only.line == entry.line()
        && only.has_timeout
    {
        return Ok(None);
    }
    let cleared = uninstalled(agent, text)?.unwrap_or_else(|| text.to_owned());
    if cleared.is_empty() {
        return Ok(Some(wanted));
    }
    let root = object(&cleared, 0, "the file")?;
    let Some(hooks) = root.get("hooks") else {
        let hooks = json!({ event(agent): [entry.value(agent)] });
        let text = root.with(Some("hooks"), &hooks, 1);
        return Ok(Some(with_version(agent, text)?));
    };
    let hooks = object(&cleared, hooks.value.start, "hooks")?;
    let text = match hooks.get(event(agent)) {
        None => hooks.with(Some(event(agent)), &json!([entry.value(agent)]), 2),
        Some(member) => list(&cleared, member.value.start, event(agent))?.with(None, &entry.value(agent), 3),
    };
    Ok(Some(with_version(agent, text)?))
}

/// Cursor reads no file without it.
fn with_version(agent: Agent, text: String) -> Result<String, EditError> {
    let root = object(&text, 0, "the file")?;
    let needed = agent == Agent::Cursor && root.get("version").is_none();
    Ok(if needed { root.with(Some("version"), &json!(1), 1) } else { text })
}

/// The text without our entries, and without what is empty then; None if there are none. A file of our own becomes empty.
pub fn uninstalled(agent: Agent, text: &str) -> Result<Option<String>, EditError> {
    if found(agent, text)?.is_empty() {
        return Ok(None);
    }
    if agent == Agent::Opencode {
        return Ok(Some(String::new()));
    }
    let mut text = text.to_owned();
    // One at a time, because each moves what is behind it.
    while let Some(ours) = found(agent, &text)?.pop() {
        text = without(agent, &text, ours.position)?;
    }
    let is_empty = agent == Agent::Copilot && parsed(&text)?.get("hooks").is_none();
    Ok(Some(if is_empty { String::new() } else { text }))
}

fn without(agent: Agent, text: &str, (group, hook): (usize, usize)) -> Result<String, EditError> {
    let root = object(text, 0, "the file")?;
    let at = |container: &Container<'_>, key: &str| {
        container.members.iter().rposition(|member| member.key.as_deref() == Some(key)).unwrap_or_default()
    };
    let hooks_at = at(&root, "hooks");
    let hooks = object(text, root.members[hooks_at].value.start, "hooks")?;
    let list_at = at(&hooks, event(agent));
    let entries = list(text, hooks.members[list_at].value.start, event(agent))?;
    if is_grouped(agent) {
        let inside = object(text, entries.members[group].value.start, "a group")?;
        let inner = list(text, inside.members[at(&inside, "hooks")].value.start, "hooks of a group")?;
        if inner.members.len() > 1 {
            return Ok(inner.without(hook));
        }
    }
    Ok(match (entries.members.len(), hooks.members.len()) {
        (1, 1) => root.without(hooks_at),
        (1, _) => hooks.without(list_at),
        _ => entries.without(group),
    })
}

/// Our entries in the text of a file, in the order in which they stand there.
pub fn found(agent: Agent, text: &str) -> Result<Vec<Found>, EditError> {
    if agent == Agent::Opencode {
        return Ok(in_plugin(text).into_iter().collect());
    }
    if text.trim().is_empty() {
        return Ok(vec![]);
    }
    let file = parsed(text)?;
    let list = file.get("hooks").and_then(|hooks| hooks.get(event(agent))).and_then(Value::as_array);
    let mut ours = vec![];
    for (group, item) in list.into_iter().flatten().enumerate() {
        let single = std::slice::from_ref(item);
        let hooks = if is_grouped(agent) { item.get("hooks").and_then(Value::as_array) } else { None };
        for (position, hook) in hooks.map_or(single, Vec::as_slice).iter().enumerate() {
            let line = hook.get(if agent == Agent::Copilot { "bash" } else { "command" });
            let Some(line) = line.and_then(Value::as_str) else { continue };
            if let Some(words) = ours_of(agent, line) {
                let has_timeout = ["timeout", "timeoutSec"].iter().any(|name| hook.get(*name).is_some());
                ours.push(Found { line: line.to_owned(), words, has_timeout, position: (group, position) });
            }
        }
    }
    Ok(ours)
}

fn in_plugin(text: &str) -> Option<Found> {
    let line = text.lines().find_map(|line| line.strip_prefix(PLUGIN_COMMAND))?;
    let words: Vec<String> = serde_json::from_str(line).ok()?;
    let entry = Entry { words };
    ours_of(Agent::Opencode, &entry.line())?;
    let has_timeout = text.contains("timeout:");
    Some(Found { line: entry.line(), words: entry.words, has_timeout, position: (0, 0) })
}

fn is_grouped(agent: Agent) -> bool {
    match agent {
        Agent::ClaudeCode | Agent::Codex | Agent::Gemini => true,
        Agent::Copilot | Agent::Cursor | Agent::Opencode => false,
    }
}

/// The words of a line that begins `bashtion hook AGENT`, however the program is called in full.
fn ours_of(agent: Agent, line: &str) -> Option<Vec<String>> {
    let words = words(line.strip_suffix(" || exit 2").unwrap_or(line))?;
    let is_ours = match words.as_slice() {
        [program, verb, name, ..] => {
            let file = program.rsplit('/').next().unwrap_or_default();
            // A version may stand behind it, but not another word.
            let rest = file.strip_prefix("bashtion").map(|rest| rest.trim_start_matches(['-', '.']));
            let is_us =
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_digit()));
            is_us && verb == "hook" && name == agent.name()
        }
        _ => false,
    };
    is_ours.then_some(words)
}

/// As a shell splits what is quoted with single quotes and backslashes. None for anything that it would look at more closely.
fn words(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut letters) = (vec![], None::<String>, line.chars());
    while let Some(letter) = letters.next() {
        match letter {
            ' ' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        '\'' => break,
                        letter => word.push(letter),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(letters.next()?),
            '"' | '$' | '`' | '|' | '&' | ';' | '<' | '>' | '(' | ')' | '*' | '?' | '~' | '\n' => {
                return None;
            }
            letter => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    Some(words)
}

fn parsed(text: &str) -> Result<Value, EditError> {
    serde_json::from_str(text).map_err(|source| EditError::Json { source })
}

fn object<'a>(text: &'a str, at: usize, path: &str) -> Result<Container<'a>, EditError> {
    let opens = text[at..].trim_start().starts_with('{');
    let container = Container::at(text, at).filter(|_| opens);
    container.ok_or_else(|| EditError::Shape { path: path.to_owned(), expected: "an object" })
}

fn list<'a>(text: &'a str, at: usize, path: &str) -> Result<Container<'a>, EditError> {
    let opens = text[at..].trim_start().starts_with('[');
    let container = Container::at(text, at).filter(|_| opens);
    container.ok_or_else(|| EditError::Shape { path: path.to_owned(), expected: "a list" })
}

#[cfg(test)]
mod tests;
