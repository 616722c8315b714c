//! What may run without asking, what needs an answer, and what may not run: lists of entries over commands.
//!
//! The order is deny, allow, ask, default. A deny that fits any part of a command denies all of it; an allow counts for
//! the part that it fits, and all parts need one. This is the first promise of the house: what is allowed here is
//! proven to be nothing else than what the entries name, and whatever cannot be told is not allowed.

mod broad;
mod decide;
mod entry;
mod expression;
mod forms;
mod harmless;
mod hidden;
mod pattern;
mod say;
mod suggest;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verdict::Decision;
pub use decide::{DecidedBy, PartDecision};
use entry::{Entry, Purpose};
pub use suggest::Suggestion;

/// The part of a configuration that is about permissions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct PermissionSettings {
    /// What happens to a command that no entry decides.
    pub default: Decision,
    /// What may run: `git log *`, `> build/*`, or a regular expression `tool:bash:make( .*)?`.
    pub allow: Vec<String>,
    /// What somebody must agree to.
    pub ask: Vec<String>,
    /// What may not run, whatever the other lists say.
    pub deny: Vec<String>,
}

impl Default for PermissionSettings {
    fn default() -> Self {
        Self { default: Decision::Allow, allow: vec![], ask: vec![], deny: vec![] }
    }
}

/// What a project adds. It may only make permissions stricter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct PermissionLayer {
    /// Stricter than before, or nothing.
    pub default: Option<Decision>,
    /// Must be empty; it is here so that the error can say so.
    pub allow: Vec<String>,
    /// More that somebody must agree to.
    pub ask: Vec<String>,
    /// More that may not run.
    pub deny: Vec<String>,
}

/// What is wrong with the settings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PermissionError {
    /// An entry that cannot be read, or that would allow anything.
    #[error("the permission {entry:?} in `{list}` cannot be used: {reason}")]
    Entry {
        /// The list: `allow`, `ask` or `deny`.
        list: Decision,
        /// The entry as written.
        entry: String,
        /// Why, and what to write instead.
        reason: String,
    },
    /// A project's file tried to allow something.
    #[error("a project may only make permissions stricter, but {what}")]
    Widens {
        /// How.
        what: String,
    },
}

/// Lists of entries over commands, ready to be asked.
///
/// ```
/// use bashtion_guard::{Decision, PermissionSettings, Permissions, Policy, World, analyze};
/// let permissions = Permissions::new(&PermissionSettings {
///     default: Decision::Ask,
///     allow: vec!["git log *".to_owned()],
///     ..PermissionSettings::default()
/// })?;
/// let policy = Policy::default().permissions(permissions);
/// let world = World::new("/w", "/home/dev");
/// let decide = |command: &str| policy.judge(&analyze(command, &world), &world).decision;
/// assert_eq!(decide("git log -1"), Decision::Allow);
/// assert_eq!(decide("git log -1; make"), Decision::Ask);
/// # Ok::<(), bashtion_guard::PermissionError>(())
/// ```
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(try_from = "PermissionSettings", into = "PermissionSettings")]
pub struct Permissions {
    settings: PermissionSettings,
    allow: Vec<Entry>,
    ask: Vec<Entry>,
    deny: Vec<Entry>,
}

impl Permissions {
    /// Reads the entries.
    pub fn new(settings: &PermissionSettings) -> Result<Self, PermissionError> {
        let read = |list: Decision, texts: &[String]| -> Result<Vec<Entry>, PermissionError> {
            let purpose = if list == Decision::Allow { Purpose::Allow } else { Purpose::Restrict };
            let entry = |text: &String| {
                Entry::parse(text, purpose).map_err(|reason| {
                    let entry = text.clone();
                    PermissionError::Entry { list, entry, reason }
                })
            };
            texts.iter().map(entry).collect()
        };
        Ok(Self {
            settings: settings.clone(),
            allow: read(Decision::Allow, &settings.allow)?,
            ask: read(Decision::Ask, &settings.ask)?,
            deny: read(Decision::Deny, &settings.deny)?,
        })
    }

    /// Adds what a project says, which may only make permissions stricter.
    ///
    /// ```
    /// use bashtion_guard::{PermissionLayer, Permissions};
    /// let layer = PermissionLayer { allow: vec!["make".to_owned()], ..PermissionLayer::default() };
    /// let error = Permissions::default().narrow(&layer).unwrap_err();
    /// assert_eq!(error.to_string(), "a project may only make permissions stricter, but it allows \"make\"");
    /// ```
    pub fn narrow(&self, layer: &PermissionLayer) -> Result<Self, PermissionError> {
        let widens = |what: String| Err(PermissionError::Widens { what });
        if let Some(entry) = layer.allow.first() {
            return widens(format!("it allows {entry:?}"));
        }
        let mut settings = self.settings.clone();
        if let Some(default) = layer.default {
            if default < settings.default {
                return widens(format!(
                    "it sets the default to {default}, which is {} already",
                    settings.default
                ));
            }
            settings.default = default;
        }
        settings.ask.extend(layer.ask.iter().cloned());
        settings.deny.extend(layer.deny.iter().cloned());
        Self::new(&settings)
    }

    /// The entry that allows exactly this text, whatever is in it.
    ///
    /// ```
    /// use bashtion_guard::Permissions;
    /// assert_eq!(Permissions::exact("ls *.rs"), r"tool:bash:ls \*\.rs");
    /// ```
    #[must_use]
    pub fn exact(command: &str) -> String {
        expression::exact(command)
    }

    /// What they were made from.
    #[must_use]
    pub fn settings(&self) -> &PermissionSettings {
        &self.settings
    }

    /// Whether they change nothing.
    pub(crate) fn are_empty(&self) -> bool {
        self.settings.default == Decision::Allow
            && self.ask.is_empty()
            && self.deny.is_empty()
            && self.allow.is_empty()
    }
}

impl TryFrom<PermissionSettings> for Permissions {
    type Error = PermissionError;

    fn try_from(settings: PermissionSettings) -> Result<Self, PermissionError> {
        Self::new(&settings)
    }
}

impl From<Permissions> for PermissionSettings {
    fn from(permissions: Permissions) -> Self {
        permissions.settings
    }
}
