//! `bashtion schema`

use std::path::PathBuf;
use std::process::ExitCode;

use bashtion::ToolFormat;
use clap::ValueEnum;

use crate::config;
use crate::error::CliError;
use crate::ui::{self, Format};

/// Print the definition of the tool, for a model's API: its name, what it is told, and its parameters.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The API that it is for.
    #[arg(long, value_enum, default_value_t)]
    format: For,

    /// The tool of this profile: one that is built in, or a file.
    #[arg(long, value_name = "NAME|FILE")]
    profile: Option<String>,

    /// For a model that works in this directory.
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// Print it in one line. It is JSON either way.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum For {
    /// The Model Context Protocol.
    #[default]
    Mcp,
    /// Anthropic's Messages API.
    Anthropic,
    /// OpenAI's Responses API.
    Openai,
    /// Google's Gemini API.
    Gemini,
}

impl Args {
    pub(crate) fn error_format(&self) -> Format {
        if self.json { Format::Json } else { Format::Text }
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    let cwd = config::directory(args.cwd.as_deref())?;
    let profile = config::profile_for(&cwd, args.profile.as_deref())?;
    let format = match args.format {
        For::Mcp => ToolFormat::Mcp,
        For::Anthropic => ToolFormat::Anthropic,
        For::Openai => ToolFormat::OpenAi,
        For::Gemini => ToolFormat::Gemini,
    };
    let tool = profile.tool_definition(format, &cwd);
    if args.json {
        return ui::print_json(&tool);
    }
    let text = serde_json::to_string_pretty(&tool).unwrap_or_default();
    ui::print(format!("{text}\n").as_bytes())
}
