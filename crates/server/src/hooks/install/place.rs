//! Which file.

use std::path::{Path, PathBuf};

use super::super::Agent;

/// The user's directories, as the environment names them.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// `$HOME`
    pub home: PathBuf,
    /// `$CLAUDE_CONFIG_DIR`
    pub claude_config_dir: Option<PathBuf>,
    /// `$CODEX_HOME`
    pub codex_home: Option<PathBuf>,
    /// `$XDG_CONFIG_HOME`
    pub xdg_config_home: Option<PathBuf>,
}

/// For whom a hook is installed.
#[derive(Debug, Clone)]
pub enum Scope {
    /// For everything the user does.
    User(Places),
    /// For the project in this directory.
    Project(PathBuf),
}

impl Scope {
    /// The file that an agent reads its hooks from.
    ///
    /// ```
    /// use bashtion_server::hooks::{Agent, install::Scope};
    /// let file = Scope::Project("/w".into()).file(Agent::Cursor);
    /// assert_eq!(file.to_str(), Some("/w/.cursor/hooks.json"));
    /// ```
    #[must_use]
    pub fn file(&self, agent: Agent) -> PathBuf {
        match self {
            Self::User(places) => places.file(agent),
            Self::Project(directory) => directory.join(match agent {
                Agent::ClaudeCode => ".claude/settings.json",
                Agent::Codex => ".codex/hooks.json",
                Agent::Gemini => ".gemini/settings.json",
                Agent::Copilot => ".github/hooks/bashtion.json",
                Agent::Cursor => ".cursor/hooks.json",
                Agent::Opencode => ".opencode/plugin/bashtion.js",
            }),
        }
    }
}

impl Places {
    fn file(&self, agent: Agent) -> PathBuf {
        let named = |named: &Option<PathBuf>, usual: &str| {
            named.as_deref().map_or_else(|| self.home.join(usual), Path::to_owned)
        };
        match agent {
            Agent::ClaudeCode => named(&self.claude_config_dir, ".claude").join("settings.json"),
            Agent::Codex => named(&self.codex_home, ".codex").join("hooks.json"),
            Agent::Gemini => self.home.join(".gemini/settings.json"),
            Agent::Copilot => self.home.join(".copilot/hooks/bashtion.json"),
            Agent::Cursor => self.home.join(".cursor/hooks.json"),
            Agent::Opencode => named(&self.xdg_config_home, ".config").join("opencode/plugin/bashtion.js"),
        }
    }
}
