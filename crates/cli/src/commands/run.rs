//! `bashtion run`

mod interrupt;
mod orphans;
mod settings;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use bashtion::{Engine, Outcome, ToolContext};
use clap::{ArgAction, ValueEnum};

use crate::error::CliError;
use crate::exit_code;
use crate::ui::{Face, Format};
use interrupt::Interrupts;
use settings::{Patience, Settings, parse_env, parse_timeout};

/// Run a command, print its output, pass its exit code through.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES_AND_EXIT_CODES)]
pub(crate) struct Args {
    /// The command, as you would type it into bash; quote it. With - it is read from standard input.
    command: String,

    /// Run it in this directory.
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// Set an environment variable. Can be repeated.
    #[arg(long = "env", value_name = "NAME=VALUE", action = ArgAction::Append, value_parser = parse_env())]
    env: Vec<(OsString, OsString)>,

    /// Pass no environment but what --env sets.
    ///
    /// Without it the command gets PATH, HOME, USER, LANG, LC_ALL, TERM, SHELL and TMPDIR as they are here, and
    /// variables that keep programs from asking, paging and colouring.
    #[arg(long)]
    clear_env: bool,

    /// End it after this long: 30s, 5m, 1h30m, 500ms, a number of seconds, or none.
    ///
    /// Then all its processes get SIGTERM and, two seconds later, SIGKILL. [default: by --mode]
    #[arg(long, value_name = "TIME", value_parser = parse_timeout, allow_negative_numbers = true)]
    timeout: Option<Patience>,

    /// How long it may take if --timeout does not say: default is 2 minutes, slow is 15.
    #[arg(long, value_enum, default_value_t)]
    mode: Mode,

    /// What the command is for, in words. It comes back in the result.
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,

    /// Keep this many characters of a stream, half from its beginning and half from its end.
    ///
    /// What is cut is in a file that the result names. In a pipe and on a terminal nothing is cut unless this is
    /// given. [default: 30000 with --json and --stream]
    #[arg(long, value_name = "N")]
    max_output: Option<usize>,

    /// Capture standard output and standard error together, in the order written.
    #[arg(long)]
    combined: bool,

    /// What to do with processes that outlive the shell, such as `server &`.
    ///
    /// They are named in the result either way. Kept ones run on, but nobody reads what they print.
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    leftovers: Leftovers,

    /// Print one result object as JSON when the command has ended.
    #[arg(long, conflicts_with = "stream")]
    json: bool,

    /// Print one JSON event per line: started, output, ended with the whole result.
    #[arg(long)]
    stream: bool,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum Mode {
    #[default]
    Default,
    Slow,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum Leftovers {
    #[default]
    End,
    Keep,
}

const EXAMPLES_AND_EXIT_CODES: &str = "\
Examples:
  bashtion run 'make test'
  bashtion run --timeout 30s --cwd backend 'cargo build 2>&1 | tail -20'
  bashtion run --json 'git status'
  bashtion run - < script.sh

Exit codes:
  the command's own   it ran to its end
  124                 it ran out of time
  125                 Bashtion itself failed (no such directory, no bash); nothing was run
  128 + n             signal n ended it, or signal n was sent to bashtion
  2                   wrong usage

The command runs with `bash -c`, standard input empty, no terminal, its own session. The
result comes when the shell ends, even if a background process still holds the output.";

impl Args {
    pub(crate) fn error_format(&self) -> Format {
        match (self.json, self.stream) {
            (true, _) => Format::Json,
            (false, true) => Format::JsonEvent,
            (false, false) => Format::Text,
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    let face = Face::choose(args.error_format(), args.max_output.is_some());
    let settings = Settings::new(args, face)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let interrupts = Interrupts::watch(&runtime)?;
    orphans::adopt(&runtime)?;
    let result = runtime.block_on(run_and_show(settings, face, &interrupts));
    orphans::reap_all();
    let (outcome, gone) = result?;
    Ok(exit_code::of(&outcome, gone.or(interrupts.first())))
}

/// The outcome, and the signal that stands for a reader of ours that went away, if one did.
async fn run_and_show(
    settings: Settings,
    face: Face,
    interrupts: &Interrupts,
) -> Result<(Outcome, Option<i32>), CliError> {
    let Settings { request, cwd, state_dir } = settings;
    let mut engine = Engine::builder();
    if let Some(dir) = state_dir {
        engine = engine.state_dir(dir);
    }
    let context = ToolContext::from_host(cwd)
        .any_root()
        .cancel(interrupts.cancel.clone())
        .kill(interrupts.kill.clone());
    let (context, screen) = face.attach(context, interrupts.cancel.clone());
    let result = engine.build().run(request, &context).await;
    drop(context);
    let shown = screen.finish(result.as_ref().ok()).await;
    Ok((result?, shown?))
}
