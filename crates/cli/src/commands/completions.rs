//! `bashtion completions`

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Cli;
use crate::error::CliError;
use crate::ui::{self, Format};

/// Print a completion script for a shell.
///
/// For bash, put this into ~/.bashrc:  source <(bashtion completions bash)
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell to complete for.
    shell: Shell,

    /// Print {"shell", "script"} as JSON.
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(crate) fn error_format(&self) -> Format {
        if self.json { Format::Json } else { Format::Text }
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    let mut script = vec![];
    clap_complete::generate(args.shell, &mut Cli::command(), "bashtion", &mut script);
    if args.json {
        let script = String::from_utf8_lossy(&script);
        return ui::print_json(&serde_json::json!({ "shell": args.shell.to_string(), "script": script }));
    }
    ui::print(&script)
}
