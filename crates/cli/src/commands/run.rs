//! `bashtion run`

mod approving;
mod background;
mod settings;

use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use bashtion::{Engine, Ledger, LedgerError, Status, ToolContext};
use clap::{ArgAction, ValueEnum};
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::process::{Resource, getrlimit};

use crate::commands::confining;
use crate::commands::interrupt::Interrupts;
use crate::commands::judging;
use crate::commands::tasks::parse_agent;
use crate::error::CliError;
use crate::exit_code;
use crate::ui::{self, Face, Format};
use settings::{Patience, Settings, parse_timeout};
pub(crate) use settings::{hand_down, ledger, parse_env, with_ledger};

/// Run a command, print its output, pass its exit code through.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES_AND_EXIT_CODES)]
pub(crate) struct Args {
    /// The command, as you would type it into bash; quote it. With - it is read from standard input.
    #[arg(required_unless_present = "reset")]
    command: Option<String>,

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
    ///
    /// background is the same as --background: it takes as long as it takes.
    #[arg(long, value_enum, default_value_t)]
    mode: Mode,

    /// Start it, say what it is called, and leave it running: see `bashtion tasks`.
    #[arg(long)]
    background: bool,

    /// What to do when the time is over: end it, or leave it running as a background task.
    ///
    /// With background its standard output and standard error are shown together while it is waited for, and the exit
    /// code is 124 if it goes on.
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    on_timeout: OnTimeout,

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
    /// The result names them either way. Kept ones run on, but nobody reads what they print. [default: end]
    #[arg(long, value_enum, value_name = "WHAT")]
    leftovers: Option<Leftovers>,

    /// Judge, confine, run and report as this profile says: one that is built in, or a file.
    ///
    /// See `bashtion config list` and `bashtion config show --profile NAME`. What is said with other options, in your
    /// configuration and in the project's lies on top.
    #[arg(long, value_name = "NAME|FILE")]
    profile: Option<String>,

    #[command(flatten)]
    confinement: confining::Confinement,

    /// What to do when somebody has to agree first: ask, never or always.
    ///
    /// ask: you are asked if you sit at a terminal; else the question waits until you answer it with `bashtion approve`,
    /// and the command has to be run again. never: it is not run, and nothing waits. always: it is run. What is denied is
    /// never run.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    approve: Approve,

    /// Go on where the last command of this session left off: its working directory and exported variables.
    ///
    /// No shell is kept: the state is taken from each command at its end. It stays as it was if the command ends by
    /// exec or by a signal. What may be changed stays the project where the session was begun.
    #[arg(long, value_name = "NAME")]
    session: Option<String>,

    /// Begin the session anew. A command is not needed then.
    #[arg(long, requires = "session")]
    reset: bool,

    /// The agent that it belongs to: see `bashtion tasks --agent`.
    #[arg(long, value_name = "NAME", value_parser = parse_agent)]
    agent: Option<String>,

    /// Print its output as it comes, byte for byte, and nothing else, also on a terminal.
    #[arg(long, conflicts_with_all = ["json", "stream", "max_output"])]
    raw: bool,

    /// Print one result object as JSON when the command has ended.
    #[arg(long, conflicts_with = "stream")]
    json: bool,

    /// Print one JSON event per line: started, output, ended with the whole result.
    #[arg(long)]
    stream: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Mode {
    #[default]
    Default,
    Slow,
    Background,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum OnTimeout {
    #[default]
    End,
    Background,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Approve {
    #[default]
    Ask,
    Never,
    Always,
}

/// Where a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Foreground,
    Background,
    BackgroundLater,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Leftovers {
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
  125                 Bashtion itself failed (no such directory, no bash)
  126                 refused, or waiting for approval: nothing was run
  128 + n             signal n ended it, or was sent to bashtion and cancelled it
  141                 whoever read our output has gone away
  2                   bash itself cannot read it: nothing was run; or wrong usage

The command is judged first, as `bashtion check` shows.
It runs with `bash -c`, standard input empty, no terminal, its own session. The
result comes when the shell ends, even if a background process still holds the output.";

impl Args {
    pub(crate) fn error_format(&self) -> Format {
        match (self.json, self.stream) {
            (true, _) => Format::Json,
            (false, true) => Format::JsonEvent,
            (false, false) => Format::Text,
        }
    }

    fn place(&self) -> Place {
        match (self.background || self.mode == Mode::Background, self.on_timeout) {
            (true, _) => Place::Background,
            (false, OnTimeout::Background) => Place::BackgroundLater,
            (false, OnTimeout::End) => Place::Foreground,
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    check_descriptors()?;
    let settings = Settings::new(args)?;
    let (face, place) = (settings.face, args.place());
    // First of all, while we have no child: from here on orphans come to us.
    let engine = match place {
        Place::Foreground => settings.engine(place)?.adopt_orphans().build(),
        Place::Background | Place::BackgroundLater => settings.engine(place)?.build(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| CliError::failed("cannot start", &error))?;
    let interrupts =
        Interrupts::watch(&runtime).map_err(|error| CliError::failed("cannot watch signals", &error))?;
    let context = context(&settings, &interrupts);
    let context = args.agent.iter().fold(context, ToolContext::agent);
    let context = if face.is_terminal() { context.without_repetition_notes() } else { context };
    let code = runtime.block_on(async {
        match place {
            Place::Foreground => run_and_show(engine, settings, context, face, &interrupts).await,
            Place::Background => background::start(&engine, settings, &context, face).await,
            Place::BackgroundLater => {
                background::start_and_wait(&engine, settings, &context, face, &interrupts).await
            }
        }
    });
    // A thread that still waits for its reader is not waited for; one that still ends a command is.
    runtime.shutdown_background();
    bashtion::wait_for_stopping();
    code
}

fn context(settings: &Settings, interrupts: &Interrupts) -> ToolContext {
    judging::context(&settings.cwd, settings.repository.as_deref())
        .cancel(interrupts.cancel.clone())
        .kill(interrupts.kill.clone())
}

async fn run_and_show(
    engine: Engine,
    settings: Settings,
    context: ToolContext,
    face: Face,
    interrupts: &Interrupts,
) -> Result<ExitCode, CliError> {
    let (context, screen) = face.attach(context, interrupts.cancel.clone(), settings.words())?;
    let result = engine.run(settings.request, &context).await;
    drop(context);
    let shown = tokio::select! {
        shown = screen.finish(result.as_ref().ok().cloned()) => shown?,
        signal = interrupts.patience_over() => return Ok(exit_code::signal(signal)),
    };
    let outcome = result?;
    if matches!(outcome.status, Status::Refused | Status::NeedsApproval | Status::Invalid)
        && face.is_for_people()
    {
        if outcome.text.is_none() || face != Face::Cut {
            ui::report_refusal(&outcome);
        }
    } else if face.is_for_people() {
        ui::report_sandbox(&outcome);
    }
    match (interrupts.first(), shown) {
        (None, Err(error)) if error.kind() == ErrorKind::BrokenPipe => {
            Ok(exit_code::signal(exit_code::SIGPIPE))
        }
        (None, Err(error)) => Err(CliError::failed("cannot print", &error)),
        (interrupted_by, _) => Ok(exit_code::of(&outcome, interrupted_by)),
    }
}

/// The ledger of a background task, as whoever started it has said.
pub(crate) fn handed_down(text: Option<&str>) -> Result<Option<Arc<dyn Ledger>>, LedgerError> {
    let Some(text) = text else { return Ok(None) };
    let settings: bashtion_audit::Settings =
        serde_json::from_str(text).map_err(|error| LedgerError { source: error.into() })?;
    match ledger(&settings) {
        Ok(ledger) => Ok(Some(ledger)),
        Err(error) if settings.mode == bashtion_audit::Mode::Required => {
            Err(LedgerError { source: error.into() })
        }
        Err(_) => Ok(None),
    }
}

/// The runtime panics where it cannot open what it needs; this says why instead.
fn check_descriptors() -> Result<(), CliError> {
    const NEEDED: u64 = 24;
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let first_free =
        fcntl_dupfd_cloexec(rustix::stdio::stderr(), 3).map(|fd| u64::from(fd.as_raw_fd().unsigned_abs()));
    match first_free {
        Ok(free) if free.saturating_add(NEEDED) <= limit => Ok(()),
        Ok(_) | Err(_) => {
            let message =
                format!("no file descriptors are left: {limit} may be open, and a command needs {NEEDED}");
            Err(CliError::failed(message, &std::io::Error::from(Errno::MFILE))
                .help("raise the limit with `ulimit -n`"))
        }
    }
}
