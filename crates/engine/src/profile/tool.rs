//! The tool as a model sees it.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde_json::{Value, json};

use super::Profile;
use super::layer::ToolLayer;
use crate::calls::Vendor;
use crate::output::{Unit, separated};

/// What a model is told about the tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSettings {
    /// What it is called.
    pub name: String,
    /// What it is for, as a template; none: as it is built in.
    pub description: Option<String>,
    /// The shape of its calls.
    pub input: Vendor,
    /// Whether each call has to say what it is for.
    pub require_description: bool,
    /// Whether a command that ran and did not exit with 0 is an error of the tool, for protocols that tell errors from results.
    pub failure_is_error: bool,
}

/// Whose API a tool is defined for.
///
/// ```
/// use bashtion::{Profile, ToolFormat};
/// let profile = Profile::built_in("phoenix")?;
/// let tool = profile.tool_definition(ToolFormat::Anthropic, "/srv/project".as_ref());
/// assert_eq!(tool["input_schema"]["required"], serde_json::json!(["command"]));
/// assert!(tool["description"].as_str().unwrap().contains("Working directory: /srv/project"));
/// # Ok::<(), bashtion::ProfileError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolFormat {
    /// A tool of the Model Context Protocol.
    Mcp,
    /// A custom tool of Anthropic's Messages API.
    Anthropic,
    /// A function of OpenAI's Responses API.
    OpenAi,
    /// A function declaration of Google's Gemini API.
    Gemini,
}

/// Nobody whose format is known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no format {name:?}; expected mcp, anthropic, openai or gemini")]
pub struct UnknownFormat {
    /// What was given.
    pub name: String,
}

/// What a model is told if the profile does not say it otherwise.
const DESCRIPTION: &str = "\
Run a command with bash, without a terminal, and get exactly what happened: exit code, standard output, standard error, what was \
stopped and why.

Working directory: {cwd}

- A command ends after {timeout}; with mode slow (builds, tests) after {slow-timeout}; timeout_ms sets another limit. Then all its \
processes are ended, and what was printed so far comes back.
- With mode background it is started and left running: the result names the task, its process id and its output file. Processes that a \
foreground command leaves behind (`server &`) are ended with it, so start servers with mode background.
- {output}
- {sandbox}
- Commands are judged before they run. One that is refused, or that somebody has to agree to, is not run, and the result says why: do \
not try to get around it, do what the help says or ask the user.
- Programs must not ask questions: standard input is empty.";

impl Default for ToolSettings {
    fn default() -> Self {
        Self {
            name: "bash".to_owned(),
            description: None,
            input: Vendor::Bashtion,
            require_description: false,
            failure_is_error: false,
        }
    }
}

impl ToolSettings {
    pub(super) fn from_layer(layer: ToolLayer) -> Result<Self, String> {
        let usual = Self::default();
        let name = layer.name.unwrap_or(usual.name);
        let valid = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if name.is_empty() || name.len() > 64 || !name.chars().all(valid) {
            return Err(format!(
                "tool.name is {name:?}: it must be up to 64 letters, digits, underscores and dashes"
            ));
        }
        let known = ["cwd", "timeout", "slow-timeout", "longest-timeout", "max", "output", "sandbox"];
        super::settings::check_names("tool.description", layer.description.as_deref(), &known)?;
        let input = layer.input.filter(|text| !text.is_empty()).map(|text| text.parse::<Vendor>());
        Ok(Self {
            name,
            description: layer.description.filter(|text| !text.is_empty()),
            input: input.transpose().map_err(|error| format!("tool.input: {error}"))?.unwrap_or(usual.input),
            require_description: layer.require_description.unwrap_or(usual.require_description),
            failure_is_error: layer.failure_is_error.unwrap_or(usual.failure_is_error),
        })
    }
}

impl Profile {
    /// The definition of the tool, for a model that works in this directory.
    #[must_use]
    pub fn tool_definition(&self, format: ToolFormat, cwd: &Path) -> Value {
        let (name, description) = (&self.tool.name, self.tool_description(cwd));
        let mut parameters = self.tool.input.schema();
        if self.tool.require_description
            && parameters["properties"]["description"].is_object()
            && let Some(required) = parameters["required"].as_array_mut()
        {
            required.push(json!("description"));
        }
        match format {
            ToolFormat::Mcp => json!({"name": name, "description": description, "inputSchema": parameters}),
            ToolFormat::Anthropic => {
                json!({"name": name, "description": description, "input_schema": parameters})
            }
            // Strict functions must require every parameter.
            ToolFormat::OpenAi => json!({
                "type": "function",
                "name": name,
                "description": description,
                "parameters": parameters,
                "strict": false,
            }),
            // The other field for parameters does not know `additionalProperties`, and refuses it.
            ToolFormat::Gemini => {
                json!({"name": name, "description": description, "parametersJsonSchema": parameters})
            }
        }
    }

    /// What a model is told about the tool.
    #[must_use]
    pub fn tool_description(&self, cwd: &Path) -> String {
        let template = self.tool.description.as_deref().unwrap_or(DESCRIPTION);
        let time = |time| humantime::format_duration(time).to_string();
        let values = [
            ("{timeout}", time(self.limits.timeout)),
            ("{slow-timeout}", time(self.limits.slow_timeout)),
            ("{longest-timeout}", time(self.limits.longest_timeout)),
            ("{max}", self.output.cut.max.to_string()),
            ("{output}", self.output_in_words()),
            ("{sandbox}", self.sandbox.description()),
            // Last: a directory can be called anything.
            ("{cwd}", cwd.to_string_lossy().into_owned()),
        ];
        values.iter().fold(template.to_owned(), |text, (name, value)| text.replace(name, value))
    }

    fn output_in_words(&self) -> String {
        let cut = &self.output.cut;
        let unit = match cut.unit {
            Unit::Characters => "characters",
            Unit::Bytes => "bytes",
        };
        let [max, head, tail] = [cut.max, cut.head, cut.tail].map(|number| separated(number as u64));
        let kept = match (cut.head, cut.tail) {
            (_, 0) => format!("the first {head}"),
            (0, _) => format!("the last {tail}"),
            (_, _) => format!("the first {head} and the last {tail}"),
        };
        format!(
            "Of more than {max} {unit} of a stream {kept} are shown; `output_file` then names a file with all of it."
        )
    }
}

impl FromStr for ToolFormat {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, UnknownFormat> {
        let known = [Self::Mcp, Self::Anthropic, Self::OpenAi, Self::Gemini];
        let found = known.into_iter().find(|format| format.to_string() == text);
        found.ok_or_else(|| UnknownFormat { name: text.to_owned() })
    }
}

impl fmt::Display for ToolFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mcp => "mcp",
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Gemini => "gemini",
        })
    }
}
