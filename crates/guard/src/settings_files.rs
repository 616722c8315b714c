//! Files that agents, editors and Bashtion itself run or follow later, outside of any sandbox.
//!
//! One list, one line per entry, for everybody who keeps commands from changing them: the rules here judge by it, and a
//! sandbox can hold the same paths.

use crate::patterns::matches;

/// A file or directory that decides what an agent, an editor or Bashtion does later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SettingsFile {
    /// The path below its root, without a leading slash.
    pub pattern: &'static str,
    /// The directories that it is looked for in.
    pub root: SettingsRoot,
    /// With everything in it.
    pub is_directory: bool,
    /// The program that runs or follows it.
    pub owner: &'static str,
}

/// The directories in which a settings file counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsRoot {
    /// The user's home directory.
    Home,
    /// Any folder of a project.
    Project,
    /// The home directory, and any folder of a project.
    Both,
}

/// All settings files, Bashtion's own among them.
///
/// ```
/// use bashtion_guard::{SettingsRoot, settings_files};
/// let claude = settings_files().iter().find(|file| file.pattern == ".claude").unwrap();
/// assert!(claude.is_directory && claude.root == SettingsRoot::Both);
/// ```
#[must_use]
pub fn settings_files() -> &'static [SettingsFile] {
    &SETTINGS_FILES
}

const fn directory(pattern: &'static str, root: SettingsRoot, owner: &'static str) -> SettingsFile {
    SettingsFile { pattern, root, is_directory: true, owner }
}

const fn file(pattern: &'static str, root: SettingsRoot, owner: &'static str) -> SettingsFile {
    SettingsFile { pattern, root, is_directory: false, owner }
}

const OURS: &str = "Bashtion";

use SettingsRoot::{Both, Home, Project};

const SETTINGS_FILES: [SettingsFile; 51] = [
    directory(".config/bashtion", Home, OURS),
    directory(".local/state/bashtion", Home, OURS),
    file(".bashtion.toml", Project, OURS),
    directory(".claude", Both, "Claude Code"),
    file(".claude.json", Home, "Claude Code"),
    directory(".codex", Both, "Codex"),
    directory(".gemini", Both, "Gemini CLI"),
    directory(".qwen", Both, "Qwen Code"),
    directory(".cursor", Both, "Cursor"),
    directory(".config/cursor", Home, "Cursor"),
    directory(".config/Cursor/User", Home, "Cursor"),
    directory(".opencode", Both, "opencode"),
    directory(".config/opencode", Home, "opencode"),
    file("opencode.json", Both, "opencode"),
    file("opencode.jsonc", Both, "opencode"),
    directory(".copilot", Both, "GitHub Copilot"),
    directory(".config/github-copilot", Home, "GitHub Copilot"),
    directory(".github/hooks", Project, "GitHub Copilot"),
    file(".aider.conf.yml", Both, "aider"),
    directory(".goose", Both, "goose"),
    directory(".config/goose", Home, "goose"),
    directory(".continue", Both, "Continue"),
    directory(".windsurf", Both, "Windsurf"),
    directory(".codeium", Home, "Windsurf"),
    directory(".kiro", Both, "Kiro"),
    directory(".amazonq", Both, "Amazon Q"),
    directory(".aws/amazonq", Home, "Amazon Q"),
    directory(".roo", Both, "Roo Code"),
    directory(".factory", Both, "Droid"),
    directory(".amp", Both, "Amp"),
    directory(".config/amp", Home, "Amp"),
    directory(".config/crush", Home, "Crush"),
    file(".crush.json", Both, "Crush"),
    file("crush.json", Project, "Crush"),
    file(".mcp.json", Both, "MCP clients"),
    directory(".vscode", Both, "Visual Studio Code"),
    directory(".config/Code/User", Home, "Visual Studio Code"),
    directory(".zed", Project, "Zed"),
    directory(".config/zed", Home, "Zed"),
    directory(".idea", Project, "JetBrains IDEs"),
    directory(".devcontainer", Project, "development containers"),
    file(".devcontainer.json", Project, "development containers"),
    file(".envrc", Both, "direnv"),
    directory(".direnv", Project, "direnv"),
    directory(".config/direnv", Home, "direnv"),
    file(".hg/hgrc", Project, "Mercurial"),
    file(".hg/hgrc-not-shared", Project, "Mercurial"),
    file(".hg/sharedpath", Project, "Mercurial"),
    file(".sl/config", Project, "Sapling"),
    file(".jj/repo/config.toml", Project, "Jujutsu"),
    file(".jj/workspace-config.toml", Project, "Jujutsu"),
];

impl SettingsFile {
    /// Returns true for Bashtion's own configuration and state. A project's file is none: it can only make things
    /// stricter.
    #[must_use]
    pub fn is_guard(&self) -> bool {
        self.owner == OURS && self.root == Home
    }
}

/// The settings file that a path is, or is inside of. A name in the path may be a pattern; one that begins with a
/// wildcard means other files.
#[must_use]
pub fn settings_file_at(path: &str, home: &str) -> Option<&'static SettingsFile> {
    let parts: Vec<&str> = path.split('/').collect();
    let at_home = below(path, home).map(|rest| rest.split('/').collect::<Vec<_>>());
    SETTINGS_FILES.iter().find(|file| {
        let in_project = || (0..parts.len()).any(|at| file.begins(&parts[at..]));
        match file.root {
            Home => at_home.as_ref().is_some_and(|parts| file.begins(parts)),
            // The home directory is a folder like any other.
            Project | Both => in_project(),
        }
    })
}

/// The settings file in the home directory that goes with a directory around it.
pub(crate) fn settings_file_below(path: &str, home: &str) -> Option<&'static SettingsFile> {
    let around = below(path, home)?;
    SETTINGS_FILES.iter().find(|file| {
        file.root != Project && file.pattern.strip_prefix(around).is_some_and(|rest| rest.starts_with('/'))
    })
}

impl SettingsFile {
    fn begins(&self, parts: &[&str]) -> bool {
        let mut rest = parts.iter();
        let same = self.pattern.split('/').all(|name| {
            rest.next().is_some_and(|part| !part.starts_with(['*', '?', '[']) && matches(part, name))
        });
        // Agents keep whole checkouts there, which are projects of their own.
        let is_checkout = |rest: &[&str]| rest.len() > 1 && rest[0] == "worktrees";
        let rest = rest.as_slice();
        same && (self.is_directory && !is_checkout(rest) || rest.is_empty())
    }
}

fn below<'a>(path: &'a str, directory: &str) -> Option<&'a str> {
    path.strip_prefix(directory)?.strip_prefix('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_plain_and_stand_once() {
        for (at, file) in SETTINGS_FILES.iter().enumerate() {
            let plain = !file.pattern.starts_with('/') && !file.pattern.ends_with('/');
            assert!(plain && !file.pattern.contains(['*', '~']), "{}", file.pattern);
            assert!(
                SETTINGS_FILES[..at].iter().all(|other| other.pattern != file.pattern),
                "{}",
                file.pattern
            );
        }
    }

    #[test]
    fn a_path_is_looked_up_by_its_names() {
        let owner = |path: &str| settings_file_at(path, "/home/dev").map(|file| file.owner);
        assert_eq!(owner("/home/dev/project/.claude/settings.json"), Some("Claude Code"));
        assert_eq!(owner("/srv/x/.vscode"), Some("Visual Studio Code"));
        assert_eq!(owner("/home/dev/project/.c*"), Some("Claude Code"));
        assert_eq!(owner("/home/dev/.config/goose/config.yaml"), Some("goose"));
        assert_eq!(owner("/home/dev/project/.config/goose/config.yaml"), None);
        assert_eq!(owner("/home/dev/project/*.json"), None);
        assert_eq!(owner("/home/dev/project/.claude/worktrees/one/src/main.rs"), None);
        assert_eq!(owner("/home/dev/project/.claude/worktrees/one/.mcp.json"), Some("MCP clients"));
        assert_eq!(owner("/home/dev/project/.claude.md"), None);
    }
}
