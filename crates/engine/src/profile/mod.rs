//! Profiles: everything that can be different about how commands are judged, confined, run and reported, as data.
//!
//! A profile is what comes of layers, the lowest first: one that is built in, a file over it, the user's configuration, and a
//! project's, which an agent can write and which therefore can only narrow.

mod layer;
mod layers;
mod narrow;
mod settings;
mod template;
mod tool;
mod wording;

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Builder;
use crate::engine::USUAL_DEADLINE;
use crate::{
    ApprovalLimits, EnvSettings, Leftovers, Limits, OutputSettings, Policy, SandboxSettings, TaskLimits,
};
pub use layer::Hint;
use layer::Layer;
pub use layers::{Layers, Origin, ProfileError, Setting};
pub use tool::{ToolFormat, ToolSettings, UnknownFormat};
pub use wording::Wording;

/// How commands are judged, confined, run and reported.
///
/// ```
/// use bashtion::{Engine, Profile, Request, ToolContext};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let engine = Engine::builder().profile(&Profile::built_in("phoenix")?).build();
/// let outcome = engine.run(Request::new("git add -A"), &ToolContext::from_host("/tmp")).await?;
/// assert_eq!(outcome.verdict.findings[0].rule, "git-add-everything");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Profile {
    /// Times.
    pub limits: Limits,
    /// What happens to processes that outlive the shell.
    pub leftovers: Leftovers,
    /// How output is captured and cut.
    pub output: OutputSettings,
    /// What environment commands get.
    pub env: EnvSettings,
    /// How commands are judged, and what is permitted.
    pub policy: Policy,
    /// How long judging may take; what takes longer is asked about.
    pub judge_within: Duration,
    /// How long questions about them, and the answers, hold.
    pub approvals: ApprovalLimits,
    /// How commands are confined.
    pub sandbox: SandboxSettings,
    /// Background tasks.
    pub tasks: TaskLimits,
    /// What is written down.
    pub audit: AuditSettings,
    /// How results are put into words.
    pub wording: Wording,
    /// The tool as a model sees it.
    pub tool: ToolSettings,
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            leftovers: Leftovers::default(),
            output: OutputSettings::default(),
            env: EnvSettings::default(),
            policy: Policy::default(),
            judge_within: USUAL_DEADLINE,
            approvals: ApprovalLimits::default(),
            sandbox: SandboxSettings::default(),
            tasks: TaskLimits::default(),
            audit: AuditSettings::default(),
            wording: Wording::default(),
            tool: ToolSettings::default(),
        }
    }
}

/// What is to be written down, by whoever has a [`crate::Ledger`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditSettings {
    /// Whether.
    pub mode: AuditMode,
    /// For how long rows are kept.
    pub keep_for: Duration,
    /// How much they may take.
    pub keep_size: u64,
}

impl Default for AuditSettings {
    fn default() -> Self {
        Self {
            mode: AuditMode::default(),
            keep_for: Duration::from_secs(90 * 24 * 60 * 60),
            keep_size: 512 << 20,
        }
    }
}

/// Whether commands are written down.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AuditMode {
    /// They are not.
    Off,
    /// They are, as far as it can be done.
    #[default]
    On,
    /// What cannot be written down is not run.
    Required,
}

/// The profiles that are built in.
const BUILT_IN: [(&str, &str); 8] = [
    ("default", include_str!("../../profiles/default.toml")),
    ("chorus", include_str!("../../profiles/chorus.toml")),
    ("tachikoma", include_str!("../../profiles/tachikoma.toml")),
    ("tunacode", include_str!("../../profiles/tunacode.toml")),
    ("tunacode-local", include_str!("../../profiles/tunacode-local.toml")),
    ("mycode", include_str!("../../profiles/mycode.toml")),
    ("phoenix", include_str!("../../profiles/phoenix.toml")),
    ("phoenix-restricted", include_str!("../../profiles/phoenix-restricted.toml")),
];

impl Profile {
    /// One that is built in.
    pub fn built_in(name: &str) -> Result<Self, ProfileError> {
        Layers::built_in(name)?.profile()
    }

    /// The names of those that are built in, the default one first.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// Whether results are to be read as the profile puts them: it cuts output, or words results, in its own way.
    #[must_use]
    pub fn has_own_words(&self) -> bool {
        self.wording != Wording::default() || self.output.cut.marker.is_some()
    }

    /// The JSON schema of configuration files, for editors.
    #[must_use]
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Layer).to_value()
    }
}

impl Builder {
    /// Everything as a profile says.
    #[must_use]
    pub fn profile(self, profile: &Profile) -> Self {
        let builder = self
            .limits(profile.limits.clone())
            .leftovers(profile.leftovers)
            .output(profile.output.clone())
            .env(profile.env.clone())
            .policy(profile.policy.clone())
            .judge_within(profile.judge_within)
            .sandbox(profile.sandbox.clone())
            .task_limits(profile.tasks.clone())
            .wording(profile.wording.clone());
        if profile.tool.require_description { builder.require_description() } else { builder }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_that_is_built_in_is_valid() {
        for name in Profile::names() {
            Profile::built_in(name).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }

    #[test]
    fn the_default_profile_says_what_the_code_does() {
        let written = Profile::built_in("default").unwrap();
        assert_eq!(format!("{written:#?}"), format!("{:#?}", Profile::default()));
    }

    #[test]
    fn the_default_profile_says_everything() {
        let schema = Profile::schema();
        let said: toml::Table = toml::from_str(BUILT_IN[0].1).unwrap();
        let mut missing = vec![];
        for (section, value) in schema["properties"].as_object().unwrap() {
            let name = value["$ref"].as_str().and_then(|name| name.rsplit('/').next());
            let Some(fields) = name.and_then(|name| schema["$defs"][name]["properties"].as_object()) else {
                continue;
            };
            missing.extend(
                fields.keys().filter(|key| !says(&said, section, key)).map(|key| format!("{section}.{key}")),
            );
        }
        assert!(missing.is_empty(), "default.toml does not say {missing:?}");
    }

    fn says(table: &toml::Table, section: &str, key: &str) -> bool {
        table.get(section).and_then(|section| section.get(key)).is_some()
    }
}
