//! `bashtion deny`

use std::process::ExitCode;

use super::{Sure, answer};
use crate::error::CliError;
use crate::ui::Format;

/// Refuse a command that waits for approval, and say why.
///
/// Whoever asked is told when the same request is made again, once. An approval that was not used yet is revoked by this.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Exit codes:\n  0   denied, or the approval is revoked\n  1   there is no such question, it has expired, or its answer was used already\n  2   wrong usage"
)]
pub(crate) struct Args {
    /// The question, as `bashtion approve` names it, or enough of its beginning.
    id: String,

    /// Why, for whoever wanted to run it.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    reason: String,

    /// Print the question as JSON.
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(crate) fn error_format(&self) -> Format {
        if self.json { Format::Json } else { Format::Text }
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    answer(&args.id, args.error_format(), Sure::Yes, |approvals, id, by| approvals.deny(id, by, &args.reason))
}
