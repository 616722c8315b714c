//! The agents whose hooks are understood.

use std::fmt;
use std::str::FromStr;

/// An agent with a hook that is asked before a command runs.
///
/// ```
/// use bashtion_server::hooks::Agent;
/// assert_eq!("claude-code".parse(), Ok(Agent::ClaudeCode));
/// assert!("emacs".parse::<Agent>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Agent {
    /// Claude Code: `PreToolUse`.
    ClaudeCode,
    /// Codex: `PreToolUse`.
    Codex,
    /// Gemini CLI: `BeforeTool`.
    Gemini,
    /// GitHub Copilot CLI: `preToolUse`.
    Copilot,
    /// Cursor: `beforeShellExecution`.
    Cursor,
    /// opencode: a plugin that starts us.
    Opencode,
}

impl Agent {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::ClaudeCode, Self::Codex, Self::Gemini, Self::Copilot, Self::Cursor, Self::Opencode];

    /// As it is written on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Copilot => "copilot",
            Self::Cursor => "cursor",
            Self::Opencode => "opencode",
        }
    }

    /// Whether its hook can make it ask the user.
    #[must_use]
    pub fn can_ask(self) -> bool {
        match self {
            Self::ClaudeCode | Self::Gemini | Self::Copilot | Self::Cursor => true,
            // Codex takes the word for an error, and runs the command.
            Self::Codex | Self::Opencode => false,
        }
    }

    /// Whether its hook can put another command in the place of the one it was asked about.
    #[must_use]
    pub fn can_rewrite(self) -> bool {
        self != Self::Cursor
    }

    /// Whether its hook can spare the user a question that the agent would ask.
    #[must_use]
    pub fn can_allow(self) -> bool {
        match self {
            Self::ClaudeCode | Self::Copilot | Self::Cursor => true,
            Self::Codex | Self::Gemini | Self::Opencode => false,
        }
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// There is no such agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no agent {name:?}; known are {}", Agent::ALL.map(Agent::name).join(", "))]
pub struct UnknownAgent {
    name: String,
}

impl FromStr for Agent {
    type Err = UnknownAgent;

    fn from_str(name: &str) -> Result<Self, UnknownAgent> {
        let found = Self::ALL.into_iter().find(|agent| agent.name() == name);
        found.ok_or_else(|| UnknownAgent { name: name.to_owned() })
    }
}
