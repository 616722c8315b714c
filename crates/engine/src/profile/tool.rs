//! The tool as a model sees it.

use super::layer::ToolLayer;

/// What a model is told about the tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSettings {
    /// What it is called.
    pub name: String,
    /// What it is for, as a template; none: as it is built in.
    pub description: Option<String>,
    /// The shape of its calls; none: our own.
    pub input: Option<String>,
    /// Whether each call has to say what it is for.
    pub require_description: bool,
}

impl Default for ToolSettings {
    fn default() -> Self {
        Self { name: "bash".to_owned(), description: None, input: None, require_description: false }
    }
}

impl ToolSettings {
    pub(super) fn from_layer(layer: ToolLayer) -> Result<Self, String> {
        let usual = Self::default();
        Ok(Self {
            name: layer.name.unwrap_or(usual.name),
            description: layer.description.filter(|text| !text.is_empty()),
            input: layer.input.filter(|text| !text.is_empty()),
            require_description: layer.require_description.unwrap_or(usual.require_description),
        })
    }
}
