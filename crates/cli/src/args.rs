//! What can be written on the command line. The comments here are the help texts.

use clap::{Parser, Subcommand};

use crate::commands::{completions, man, run};

/// The shell that AI agents run in.
///
/// Runs a command with bash, without a terminal and without your secrets, ends everything it started, and reports
/// exactly what happened.
#[derive(Debug, Parser)]
#[command(name = "bashtion", version, propagate_version = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(run::Args),
    Completions(completions::Args),
    Man(man::Args),
}
