//! One line of a list of permissions.

use super::broad::too_broad;
use super::expression;
use super::pattern::Pattern;

/// What every action of ours begins with.
pub(super) const ACTION: &str = "tool:bash:";

#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) text: String,
    pub(super) means: Means,
}

#[derive(Debug, Clone)]
pub(super) enum Means {
    /// A simple command.
    Command(Pattern),
    /// Writing to a file by redirection.
    Write { path: Pattern, appends: Appends },
    /// Exactly this action.
    Literal(String),
    /// Every action.
    Everything,
    /// Actions that a regular expression matches.
    Regex(regex_lite::Regex),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Appends {
    /// `>> PATTERN`.
    Only,
    /// `> PATTERN`, which is about any way to write.
    Too,
}

/// Whether a list makes things run or stops them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Allow,
    Restrict,
}

impl Entry {
    /// Reads an entry. What is wrong comes back as a phrase.
    pub(super) fn parse(text: &str, purpose: Purpose) -> Result<Self, String> {
        let means = if text.starts_with("tool:") {
            expression::parse(text)?
        } else if let Some(rest) = text.trim_start().strip_prefix('>') {
            write(rest, purpose)?
        } else {
            let pattern = Pattern::parse(text)?;
            if purpose == Purpose::Allow
                && let Some(reason) = too_broad(&pattern)
            {
                return Err(reason);
            }
            Means::Command(pattern)
        };
        Ok(Self { text: text.to_owned(), means })
    }

    /// Whether it is about one thing only.
    pub(super) fn is_exact(&self) -> bool {
        match &self.means {
            Means::Command(pattern) => pattern.is_exact(),
            Means::Write { path, .. } => path.is_exact(),
            Means::Literal(_) => true,
            Means::Everything | Means::Regex(_) => false,
        }
    }

    /// Whether it is a regular expression that matches this action.
    pub(super) fn matches_action(&self, command: &str) -> bool {
        match &self.means {
            Means::Command(_) | Means::Write { .. } => false,
            Means::Literal(literal) => literal.strip_prefix(ACTION) == Some(command),
            Means::Everything => true,
            Means::Regex(regex) => regex.is_match(&format!("{ACTION}{command}")),
        }
    }

    /// Whether it names exactly this whole text.
    pub(super) fn is_literally(&self, command: &str) -> bool {
        matches!(&self.means, Means::Literal(literal) if literal.strip_prefix(ACTION) == Some(command))
    }
}

fn write(rest: &str, purpose: Purpose) -> Result<Means, String> {
    let (rest, appends) = match rest.strip_prefix('>') {
        Some(rest) => (rest, Appends::Only),
        None => (rest, Appends::Too),
    };
    let rest = rest.trim();
    let path = Pattern::parse(rest.strip_prefix("./").unwrap_or(rest))
        .map_err(|_| "a path must follow, as in `> build/*`".to_owned())?;
    let words = path.words();
    let [word] = words.as_slice() else {
        return Err("one path must follow; quote a blank in it".to_owned());
    };
    // In the workspace it may be any file.
    let anywhere = word.starts_with('/') && word[1..].split('/').next().is_none_or(|name| name.contains('*'))
        || word.starts_with("~/*");
    if purpose == Purpose::Allow && anywhere {
        return Err("any file would fit; name a directory, as in `> /tmp/build/*`".to_owned());
    }
    Ok(Means::Write { path, appends })
}
