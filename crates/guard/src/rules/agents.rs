//! Agents, and with what they are started so that they ask nobody.

use crate::analysis::{Found, Machine};
use crate::text::Text;

/// The agent that a command starts without its own questions or its own sandbox, and how.
pub(super) fn unguarded(found: &Found) -> Option<(&str, &'static str)> {
    // That is where agents are meant to be left alone.
    if matches!(found.setting.machine, Machine::Container | Machine::RunningContainer) {
        return None;
    }
    let agent = AGENTS.iter().find(|agent| agent.programs.contains(&found.program.as_str()))?;
    let option = agent.options.iter().find(|option| is_given(option, &found.arguments));
    let variable = || agent.variables.iter().find(|variable| is_set(variable, &found.environment));
    Some((&found.program, option.or_else(variable)?))
}

/// An agent, and what makes it ask nobody.
struct Agent {
    /// Its names, as a program and as a package.
    programs: &'static [&'static str],
    /// Options, with the value that matters behind a space.
    options: &'static [&'static str],
    /// Variables, with the value that matters behind `=`.
    variables: &'static [&'static str],
}

const fn agent(
    programs: &'static [&'static str],
    options: &'static [&'static str],
    variables: &'static [&'static str],
) -> Agent {
    Agent { programs, options, variables }
}

#[rustfmt::skip]
const AGENTS: [Agent; 15] = [
    agent(&["claude", "claude-code", "@anthropic-ai/claude-code"], &["--dangerously-skip-permissions", "--allow-dangerously-skip-permissions", "--permission-mode bypassPermissions"], &[]),
    agent(&["codex", "@openai/codex"], &["--dangerously-bypass-approvals-and-sandbox", "--yolo", "--sandbox danger-full-access", "-s danger-full-access", "-c sandbox_mode=danger-full-access", "-c sandbox_mode=\"danger-full-access\"", "--config sandbox_mode=danger-full-access"], &[]),
    agent(&["gemini", "gemini-cli", "@google/gemini-cli"], &["--yolo", "-y", "--approval-mode yolo"], &[]),
    agent(&["qwen", "@qwen-code/qwen-code"], &["--yolo", "-y", "--approval-mode yolo"], &[]),
    agent(&["cursor-agent"], &["--force", "-f", "--yolo"], &[]),
    agent(&["opencode", "opencode-ai"], &["--dangerously-skip-permissions", "--yolo"], &["OPENCODE_PERMISSION", "OPENCODE_CONFIG_CONTENT"]),
    agent(&["copilot", "@github/copilot"], &["--allow-all-tools", "--allow-all", "--yolo"], &["COPILOT_ALLOW_ALL"]),
    agent(&["aider", "aider-chat"], &["--yes-always", "--yes"], &["AIDER_YES_ALWAYS"]),
    agent(&["goose"], &[], &["GOOSE_MODE=auto"]),
    agent(&["amp", "@sourcegraph/amp"], &["--dangerously-allow-all"], &[]),
    agent(&["droid"], &["--skip-permissions-unsafe", "--auto high"], &[]),
    agent(&["crush", "@charmland/crush"], &["--yolo", "-y"], &[]),
    agent(&["q", "kiro-cli"], &["--trust-all-tools"], &[]),
    agent(&["openhands"], &["--always-approve", "--yolo"], &[]),
    agent(&["kimi"], &["--yolo", "-y", "--yes"], &[]),
];

fn is_given(option: &str, arguments: &[Text]) -> bool {
    let (name, value) = option.split_once(' ').map_or((option, None), |(name, value)| (name, Some(value)));
    let mut words = arguments.iter().map(Text::value).take_while(|word| *word != Some("--")).peekable();
    while let Some(word) = words.next() {
        let Some(word) = word else { continue };
        let given = match value {
            None => word == name || word == format!("{name}=true"),
            Some(value) => {
                word == format!("{name}={value}") || word == name && words.peek() == Some(&Some(value))
            }
        };
        if given {
            return true;
        }
    }
    false
}

fn is_set(variable: &str, environment: &[(String, Text)]) -> bool {
    let (name, value) =
        variable.split_once('=').map_or((variable, None), |(name, value)| (name, Some(value)));
    environment.iter().any(|(own, text)| {
        own == name && value.is_none_or(|value| text.value().is_none_or(|text| text == value))
    })
}
