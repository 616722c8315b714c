//! Whose calls they are.

use std::fmt;
use std::str::FromStr;

use bashtion_guard::nearest;

/// Whose tool a call is for.
///
/// ```
/// use bashtion::calls::Vendor;
/// let vendor: Vendor = "openai-shell".parse()?;
/// assert_eq!((vendor, vendor.to_string()), (Vendor::OpenAiShell, "openai-shell".to_owned()));
/// let error = "openai-shel".parse::<Vendor>().unwrap_err();
/// assert!(error.to_string().contains(r#"did you mean "openai-shell"?"#));
/// # Ok::<(), bashtion::calls::UnknownVendor>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Vendor {
    /// Our own `bash`.
    Bashtion,
    /// OpenAI's `shell` of the Responses API.
    OpenAiShell,
    /// OpenAI's older `local_shell`.
    OpenAiLocalShell,
    /// Anthropic's `bash_20250124`.
    AnthropicBash,
    /// Claude Code's `Bash`.
    ClaudeCode,
    /// mycode's `Bash`.
    MyCode,
    /// Phoenix's `bash`.
    Phoenix,
    /// TunaCode's `bash`.
    TunaCode,
    /// Chorus's `bash_execute`.
    Chorus,
    /// Tachikoma's `bash`.
    Tachikoma,
    /// Codex's `exec_command`.
    Codex,
    /// Gemini CLI's `run_shell_command`.
    Gemini,
}

/// Nobody whose calls can be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no vendor {name:?}{} (known: {})", did_you_mean(name), names().join(", "))]
pub struct UnknownVendor {
    /// What was given.
    pub name: String,
}

impl Vendor {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Bashtion,
        Self::OpenAiShell,
        Self::OpenAiLocalShell,
        Self::AnthropicBash,
        Self::ClaudeCode,
        Self::MyCode,
        Self::Phoenix,
        Self::TunaCode,
        Self::Chorus,
        Self::Tachikoma,
        Self::Codex,
        Self::Gemini,
    ];

    /// As it is written in settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bashtion => "bashtion",
            Self::OpenAiShell => "openai-shell",
            Self::OpenAiLocalShell => "openai-local-shell",
            Self::AnthropicBash => "anthropic-bash",
            Self::ClaudeCode => "claude-code",
            Self::MyCode => "mycode",
            Self::Phoenix => "phoenix",
            Self::TunaCode => "tunacode",
            Self::Chorus => "chorus",
            Self::Tachikoma => "tachikoma",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }
}

impl fmt::Display for Vendor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Vendor {
    type Err = UnknownVendor;

    fn from_str(text: &str) -> Result<Self, UnknownVendor> {
        let known = Self::ALL.into_iter().find(|vendor| vendor.name() == text);
        known.ok_or_else(|| UnknownVendor { name: text.to_owned() })
    }
}

fn names() -> Vec<&'static str> {
    Vendor::ALL.map(Vendor::name).to_vec()
}

fn did_you_mean(name: &str) -> String {
    nearest(name, names()).map(|near| format!("; did you mean {near:?}?")).unwrap_or_default()
}
