//! The command line: argv in, engine call, text and exit code out.

mod args;
mod commands;
mod config;
mod error;
mod exit_code;
mod state_dir;
mod ui;

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = bashtion::supervise_if_asked_with(commands::run::handed_down) {
        return code;
    }
    bashtion::note_umask();
    match args::parse() {
        Ok(cli) => commands::dispatch(cli),
        Err(code) => code,
    }
}
