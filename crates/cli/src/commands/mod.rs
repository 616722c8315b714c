//! One file for each verb.

pub(crate) mod approvals;
pub(crate) mod audit;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod config;
mod confining;
pub(crate) mod doctor;
pub(crate) mod hook;
mod interrupt;
pub(crate) mod judging;
pub(crate) mod man;
pub(crate) mod rooms;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod tasks;

use std::process::ExitCode;

use crate::args::{Cli, Command};
use crate::ui;

pub(crate) fn dispatch(cli: Cli) -> ExitCode {
    let (result, format) = match cli.command {
        Command::Run(args) => (run::run(&args), args.error_format()),
        Command::Check(args) => (check::run(&args), args.error_format()),
        Command::Approve(args) => (approvals::approve::run(&args), args.error_format()),
        Command::Deny(args) => (approvals::deny::run(&args), args.error_format()),
        Command::Tasks(args) => (tasks::list::run(&args), args.error_format()),
        Command::Rooms(args) => (rooms::run(&args), args.error_format()),
        Command::Output(args) => (tasks::output::run(&args), args.error_format()),
        Command::Wait(args) => (tasks::wait::run(&args), args.error_format()),
        Command::Kill(args) => (tasks::kill::run(&args), args.error_format()),
        Command::Audit(args) => (audit::run(&args), args.error_format()),
        Command::Config(args) => (config::run(&args), args.error_format()),
        Command::Serve(args) => (serve::run(&args), args.error_format()),
        Command::Schema(args) => (schema::run(&args), args.error_format()),
        Command::Hook(args) => (hook::run(&args), args.error_format()),
        Command::Doctor(args) => (doctor::run(&args), args.error_format()),
        Command::Completions(args) => (completions::run(&args), args.error_format()),
        Command::Man(args) => (man::run(&args), args.error_format()),
    };
    result.unwrap_or_else(|error| ui::report(&error, format))
}
