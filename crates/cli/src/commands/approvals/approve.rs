//! `bashtion approve`

use std::process::ExitCode;

use bashtion::{ApprovalList, ApprovalState, Approvals};

use super::{Sure, answer, approvals};
use crate::error::CliError;
use crate::ui::{self, Format};

/// Agree to a command that waits for approval; without a name, show what waits.
///
/// Nothing runs by itself: the very same request may be made once more within 15 minutes, and is not asked about then.
/// It must be the same in everything: command, directory, environment, sandbox, limits and configuration.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES_AND_EXIT_CODES)]
pub(crate) struct Args {
    /// The question, as results and this list name it, or enough of its beginning: ask-7k2m9q.
    id: Option<String>,

    /// Only show it in full.
    #[arg(long, requires = "id")]
    show: bool,

    /// Agree without being asked again. Without a terminal there is no asking.
    #[arg(long, short, conflicts_with = "show")]
    yes: bool,

    /// Print the questions as a JSON array; with a name, the one that was answered.
    #[arg(long)]
    json: bool,
}

const EXAMPLES_AND_EXIT_CODES: &str = "\
Examples:
  bashtion approve
  bashtion approve --show ask-7k2m9q
  bashtion approve ask-7k2m9q
  bashtion approve 7k

Exit codes:
  0   shown, or approved
  1   there is no such question, it has expired, or it was answered already
  2   wrong usage

Questions wait for a day. What the guard denies cannot be approved.";

impl Args {
    pub(crate) fn error_format(&self) -> Format {
        if self.json { Format::Json } else { Format::Text }
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    match &args.id {
        Some(id) if args.show => show(id, args),
        Some(id) => {
            let sure = if args.yes { Sure::Yes } else { Sure::IfNobodyCanBeAsked };
            answer(id, args.error_format(), sure, Approvals::approve)
        }
        None => list(args),
    }
}

fn show(id: &str, args: &Args) -> Result<ExitCode, CliError> {
    let approvals = approvals();
    let approval = approvals.get(&approvals.find(id)?)?;
    if args.json {
        return ui::print_json(&ui::approval_as_json(&approval));
    }
    ui::print(ui::approval_in_full(&approval, "nothing was answered").as_bytes())
}

fn list(args: &Args) -> Result<ExitCode, CliError> {
    let ApprovalList { approvals: mut found, problems } = approvals().list()?;
    found.retain(|approval| matches!(approval.state, ApprovalState::Waiting { .. }));
    for problem in problems {
        ui::note(&problem.to_string());
    }
    if args.json {
        ui::print_json(&found.iter().map(ui::approval_as_json).collect::<Vec<_>>())
    } else {
        ui::print(ui::approval_table(&found).as_bytes())
    }
}
