//! What can be written on the command line. The comments here are the help texts.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::commands::approvals::{approve, deny};
use crate::commands::{
    audit, check, completions, config, doctor, hook, man, rooms, run, schema, serve, tasks,
};
use crate::ui;

/// The shell that AI agents run in.
///
/// Judges a command, confines it, runs it with bash, without a terminal and without your secrets, ends everything it
/// started, and reports exactly what happened.
#[derive(Debug, Parser)]
#[command(name = "bashtion", version, propagate_version = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(run::Args),
    Check(check::Args),
    Approve(approve::Args),
    Deny(deny::Args),
    #[command(alias = "status")]
    Tasks(tasks::list::Args),
    Rooms(rooms::Args),
    Output(tasks::output::Args),
    Wait(tasks::wait::Args),
    Kill(tasks::kill::Args),
    Serve(serve::Args),
    Hook(hook::Args),
    Audit(audit::Args),
    Config(config::Args),
    Schema(schema::Args),
    Doctor(doctor::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// What was typed, or the exit code after help was shown or a mistake was told.
pub(crate) fn parse() -> Result<Cli, ExitCode> {
    let typed: Vec<OsString> = std::env::args_os().collect();
    let parsed = frequent(&typed).map_or_else(|| Cli::try_parse_from(&typed), |command| Ok(Cli { command }));
    parsed.map_err(|error| {
        let mut options = typed.iter().take_while(|arg| *arg != "--");
        if !error.use_stderr() {
            // Help and version; if they cannot be printed, the exit code is all there is.
            let _ = error.print();
        } else if options.any(|arg| arg == "--json" || arg == "--stream") {
            ui::report_usage(&error.to_string(), ui::Format::Json);
        } else {
            ui::report_usage(&error.to_string(), ui::Format::Text);
        }
        ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(u8::MAX))
    })
}

/// The verbs that agents call for every command, if nothing is wrong with what was typed.
///
/// The options of all the other verbs together take longer to set up than a command to judge. Whatever is refused here,
/// help among it, is for the whole.
fn frequent(typed: &[OsString]) -> Option<Command> {
    let (verb, rest) = typed.get(1..)?.split_first()?;
    match verb.to_str()? {
        "run" => alone(rest).map(Command::Run),
        "check" => alone(rest).map(Command::Check),
        "hook" => alone(rest).map(Command::Hook),
        _ => None,
    }
}

fn alone<A: Args>(typed: &[OsString]) -> Option<A> {
    let verb = A::augment_args(clap::Command::new("bashtion").no_binary_name(true));
    A::from_arg_matches(&verb.try_get_matches_from(typed).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(line: &str) -> Vec<OsString> {
        ["bashtion"].into_iter().chain(line.split(' ')).map(OsString::from).collect()
    }

    #[test]
    fn a_verb_alone_is_parsed_as_in_the_whole() {
        for line in [
            "run true",
            "run --json --env A=1 --env B=2 --timeout 5s ls",
            "run --sandbox=off -- --help",
            "run -",
            "run --limit memory=1G --writable /tmp --network on make",
            "run --session s --reset",
            "check ls",
            "check --json --explain --cwd / ls",
            "hook codex --confine",
            "hook claude-code --profile chorus --print",
        ] {
            let whole = Cli::try_parse_from(typed(line)).expect(line).command;
            assert_eq!(format!("{:?}", frequent(&typed(line)).expect(line)), format!("{whole:?}"), "{line}");
        }
    }

    #[test]
    fn what_is_wrong_or_asks_for_help_is_for_the_whole() {
        for line in [
            "run", "run --help", "run -V", "run --bogus x", "run --json --stream x", "check", "hook nobody",
            "tasks",
        ] {
            assert!(frequent(&typed(line)).is_none(), "{line}");
        }
    }
}
