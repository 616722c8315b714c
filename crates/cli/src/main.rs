//! The command line: argv in, engine call, text and exit code out.

mod args;
mod commands;
mod error;
mod exit_code;
mod state_dir;
mod ui;

use std::process::ExitCode;

fn main() -> ExitCode {
    commands::dispatch(<args::Cli as clap::Parser>::parse())
}
