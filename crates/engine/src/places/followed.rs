//! Files in a workspace that others run or follow later, outside of any sandbox. Data: add a line.

use std::path::PathBuf;

/// By the last parts of their paths: settings of agents and editors, and of tools that run them when a directory is entered.
const FOLLOWED: &[&str] = &[
    ".bashtion.toml", // Agents.
    ".claude", ".codex", ".gemini", ".cursor", ".opencode", ".windsurf", ".continue", ".mcp.json",
    "opencode.json", "opencode.jsonc", // Editors and what they start.
    ".vscode/tasks.json", ".vscode/settings.json", ".vscode/launch.json", ".vscode/mcp.json", ".idea",
    ".devcontainer", ".devcontainer.json", ".exrc", ".nvimrc", ".nvim.lua", ".dir-locals.el",
    // Shells and version managers.
    ".envrc", ".direnv", // Other version control, which runs what its configuration names.
    ".hg/hgrc", ".hg/hgrc-not-shared", ".hg/sharedpath", ".jj/repo/config.toml", ".jj/workspace-config.toml",
];

/// Lists them for the sandbox.
pub(crate) fn followed() -> Vec<PathBuf> {
    FOLLOWED.iter().map(PathBuf::from).collect()
}
