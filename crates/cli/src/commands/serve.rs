//! `bashtion serve`

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bashtion::{Answer, Engine, Reader, approve_with};
use bashtion_server::{
    Http, HttpSettings, Provenance, Questions, ServeError, Server, Setup, Token, serve_stdio,
};
use clap::ArgAction;
use rustix::process::{Resource, getrlimit};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use super::run::Approve;
use crate::commands::interrupt::Interrupts;
use crate::commands::{confining, run};
use crate::config::{self, Loaded};
use crate::error::CliError;
use crate::exit_code::{BASHTION_FAILED, USAGE};
use crate::state_dir::state_dir;
use crate::ui::{self, Format};

/// Serve agents over the Model Context Protocol (MCP), on standard input and output or over HTTP.
///
/// Commands run in this directory, and can change only its project, as with `bashtion run`. Background tasks outlive the
/// server. It ends when its client does, or with SIGTERM: commands that somebody waits for are ended then.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// Serve over HTTP on this address instead: 127.0.0.1:8931, or port 0 for any that is free.
    ///
    /// MCP is at /mcp, and clients must send the token that is made at the first start and shown then. /health tells
    /// whether it runs. There is no encryption: put a proxy in front of it for other machines.
    #[arg(long, value_name = "ADDRESS:PORT")]
    http: Option<SocketAddr>,

    /// Let every program on this machine run commands, without a token. Only for loopback addresses.
    #[arg(long, requires = "http", conflicts_with = "token_file")]
    no_auth: bool,

    /// The file with the token, which is made if it is not there. [default: private/server-token in the state directory]
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,

    /// A name under which clients may call the server, beside localhost and its address. Can be repeated.
    #[arg(long = "host", value_name = "NAME", requires = "http", action = ArgAction::Append)]
    hosts: Vec<String>,

    /// Run commands in this directory. [default: the current one]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// One more directory in which commands may run, and which they may change. Can be repeated.
    #[arg(long = "root", value_name = "DIR", action = ArgAction::Append)]
    roots: Vec<PathBuf>,

    /// Judge, confine, run and report as this profile says: one that is built in, or a file.
    #[arg(long, value_name = "NAME|FILE")]
    profile: Option<String>,

    #[command(flatten)]
    confinement: confining::Confinement,

    /// What to do when somebody has to agree first: ask, never or always.
    ///
    /// ask: the user is asked through their client, if it can; else the question waits until it is answered with
    /// `bashtion approve`. never: it is not run. always: it is run. What is denied is never run.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    approve: Approve,

    /// Leave out the structured part of results, for clients that show their model both parts.
    #[arg(long)]
    text_only: bool,

    /// Say on standard error what is called. Commands and what they print are never in it.
    #[arg(long, short)]
    verbose: bool,
}

const EXAMPLES: &str = "\
Examples:
  claude mcp add bashtion -- bashtion serve
  codex mcp add bashtion -- bashtion serve
  bashtion serve --http 127.0.0.1:8931
  bashtion serve --profile phoenix --sandbox read-only

Exit codes:
  0   the client has gone, or a signal has ended it
  2   wrong usage
  125 it could not begin";

impl Args {
    #[expect(clippy::unused_self, reason = "like the other verbs")]
    pub(crate) fn error_format(&self) -> Format {
        Format::Text
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    log(args.verbose);
    let server = Server::new(setup(args)?);
    // Shown once, so only by a server that can begin.
    let token = args.http.map_or(Ok(None), |_| token(args))?;
    // One client is served quickest by one thread; many must not wait for one whose shell is slow to start.
    let mut runtime = match args.http {
        None => tokio::runtime::Builder::new_current_thread(),
        Some(_) => tokio::runtime::Builder::new_multi_thread(),
    };
    let runtime = runtime.enable_all().build();
    let runtime = runtime.map_err(|error| CliError::failed("cannot start", &error))?;
    let interrupts =
        Interrupts::watch(&runtime).map_err(|error| CliError::failed("cannot watch signals", &error))?;
    let served = runtime.block_on(async {
        tokio::select! {
            served = serve(args, token, &server, &interrupts) => served,
            // Asked twice.
            () = interrupts.kill.cancelled() => Ok(()),
        }
    });
    runtime.shutdown_background();
    bashtion::wait_for_stopping();
    served.map(|()| ExitCode::SUCCESS)
}

async fn serve(
    args: &Args,
    token: Option<Token>,
    server: &Server,
    interrupts: &Interrupts,
) -> Result<(), CliError> {
    let Some(address) = args.http else {
        if std::io::stdin().is_terminal() {
            ui::note(
                "this speaks MCP with a program on standard input; see `bashtion serve --help`, end with Ctrl-D",
            );
        }
        return serve_stdio(server, interrupts.cancel.clone()).await.map_err(|error| failed(&error));
    };
    let mut settings = HttpSettings::new(address, token);
    settings.hosts.clone_from(&args.hosts);
    let http = Http::bind(settings).await.map_err(|error| failed(&error))?;
    if args.no_auth {
        ui::note("WITHOUT A TOKEN: every program and every user of this machine can run commands as you");
    }
    let can_call = args.no_auth && (server.lets_commands_use_the_network() && args.approve == Approve::Ask);
    if can_call {
        ui::note(
            "commands have the network, so they can call this server and answer for you: use a token, or --approve never",
        );
    }
    if !address.ip().is_loopback() {
        ui::note(
            "other machines can reach this, and nothing is encrypted: put a proxy with TLS in front of it",
        );
    }
    ui::note(&format!("listening on {}", http.url()));
    http.serve(server, interrupts.cancel.clone()).await;
    Ok(())
}

/// The one that clients must bring. Shown when it is made, and never again.
fn token(args: &Args) -> Result<Option<Token>, CliError> {
    if args.no_auth {
        return Ok(None);
    }
    let usual = || state_dir().map(|dir| dir.join("private/server-token"));
    let Some(path) = args.token_file.clone().or_else(usual) else {
        return Err(
            CliError::new("there is no state directory for the token").help("name a file with --token-file")
        );
    };
    let (token, provenance) = Token::in_file(&path).map_err(|error| failed(&error))?;
    match provenance {
        Provenance::Made => ui::note(&format!(
            "clients must send this token, which is kept in {} and not shown again:\nAuthorization: Bearer {}",
            path.display(),
            token.reveal()
        )),
        Provenance::Found => ui::note(&format!("clients must send the token in {}", path.display())),
    }
    Ok(Some(token))
}

fn setup(args: &Args) -> Result<Setup, CliError> {
    let cwd = config::directory(args.cwd.as_deref())?;
    let cwd = real(&cwd, "--cwd")?;
    let Loaded { mut profile, audit, repository } = config::load_for(&cwd, args.profile.as_deref())?;
    profile.sandbox = confining::with_flags(profile.sandbox, &args.confinement)?;
    // Who has it can answer for the user. It is there when the first command is planned.
    if let Some(file) = &args.token_file {
        let absolute = std::path::absolute(file);
        profile
            .sandbox
            .secrets
            .push(absolute.map_err(|error| CliError::failed("cannot name the token", &error))?);
    }
    let mut roots = vec![repository.unwrap_or_else(|| cwd.clone())];
    for root in &args.roots {
        roots.push(real(root, "--root")?);
    }
    let mut engine = Engine::builder().profile(&profile).reader(Reader::Model);
    engine = match args.approve {
        Approve::Ask => engine.approval_limits(profile.approvals.clone()),
        Approve::Never => engine,
        Approve::Always => {
            engine.approver(approve_with(|_| async { Answer::Waived { by: "--approve always".to_owned() } }))
        }
    };
    if let Some(dir) = state_dir() {
        engine = engine.state_dir(dir);
    }
    if let Some(audit) = &audit {
        engine = engine.hand_down(run::hand_down(audit)?);
        engine = run::with_ledger(engine, audit)?;
    }
    let mut setup = Setup::new(engine.build(), profile, cwd);
    setup.roots = roots;
    setup.questions = if args.approve == Approve::Ask { Questions::Ask } else { Questions::Refuse };
    setup.structured = !args.text_only;
    setup.most_at_once = most_at_once(args);
    Ok(setup)
}

fn real(path: &Path, option: &str) -> Result<PathBuf, CliError> {
    let found = path.canonicalize().and_then(|real| {
        if real.is_dir() { Ok(real) } else { Err(std::io::ErrorKind::NotADirectory.into()) }
    });
    found.map_err(|error| {
        let told = CliError::new(format!("{option} {}: it cannot be used", path.display()));
        CliError { exit_code: USAGE, ..told.caused_by(&error) }
    })
}

/// As many as there are descriptors for, beside those of the server and of its connections.
fn most_at_once(args: &Args) -> usize {
    const OF_ONE: u64 = 12;
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    // Its connections may have a quarter.
    let others = 64 + if args.http.is_some() { (limit / 4).min(256) } else { 0 };
    usize::try_from((limit.saturating_sub(others) / OF_ONE).clamp(2, 64)).unwrap_or(2)
}

fn failed(error: &ServeError) -> CliError {
    let help = match error {
        ServeError::Handshake { .. } => {
            "the first message must be `initialize`, or have the metadata of protocol 2026-07-28"
        }
        ServeError::Listen { .. } => "choose another port, or 0 for any that is free",
        ServeError::OpenToAll { .. } => "leave out --no-auth, or listen on 127.0.0.1",
        ServeError::Token { .. } => "name another file with --token-file",
    };
    let told = CliError { exit_code: BASHTION_FAILED, ..CliError::new(error.to_string()) }.help(help);
    match std::error::Error::source(error) {
        Some(cause) => told.caused_by(cause),
        None => told,
    }
}

/// To standard error: what the server has to say, and of the protocol library only what went wrong.
fn log(verbose: bool) {
    let own = if verbose { LevelFilter::INFO } else { LevelFilter::WARN };
    let filter = Targets::new().with_target("bashtion_server", own).with_target("rmcp", LevelFilter::ERROR);
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false).without_time();
    let _ = tracing_subscriber::registry().with(filter).with(lines.with_target(false)).try_init();
}
