//! `bashtion man`

use std::process::ExitCode;

use clap::CommandFactory;
use clap_mangen::Man;

use crate::args::Cli;
use crate::error::CliError;
use crate::ui::{self, Format};

/// Print the manual page, of Bashtion or of one of its commands.
///
/// Read it with:  bashtion man run | man -l -
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The command to describe.
    verb: Option<String>,

    /// Print {"page"} as JSON.
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(crate) fn error_format(&self) -> Format {
        if self.json { Format::Json } else { Format::Text }
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    // Built, so that the pages of the commands know the name of the whole.
    let mut cli = Cli::command();
    cli.build();
    let page = match &args.verb {
        None => cli,
        Some(verb) => {
            let names: Vec<_> =
                cli.get_subcommands().map(|c| c.get_name().to_owned()).filter(|n| n != "help").collect();
            cli.find_subcommand(verb).cloned().ok_or_else(|| {
                CliError::new(format!("there is no command `{verb}`"))
                    .help(format!("the commands are {}", names.join(", ")))
            })?
        }
    };
    let mut text = vec![];
    Man::new(page).render(&mut text).map_err(|error| CliError::failed("cannot write the page", &error))?;
    if args.json {
        return ui::print_json(&serde_json::json!({ "page": String::from_utf8_lossy(&text) }));
    }
    ui::print(&text)
}
