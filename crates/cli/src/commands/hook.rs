//! `bashtion hook`

mod install;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bashtion::{AdmitError, Base, Decision, EnvSettings, Error, Event, Home, Request, SandboxMode, Verdict};
use bashtion_server::hooks::{Agent, Call, Confine, Judged, LONGEST_INPUT, Options, Reply, answer, refusal};

pub(crate) use install::{project as project_scope, user as user_scope};

use super::{judging, run};
use crate::config::{self, Loaded};
use crate::error::CliError;
use crate::exit_code::USAGE;
use crate::ui::{self, Format};

/// Guard the shell of another agent: its hook's JSON on standard input, its answer on standard output.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// claude-code, codex, gemini, copilot, cursor or opencode.
    #[arg(value_parser = |name: &str| name.parse::<Agent>())]
    agent: Agent,

    /// Have its commands run by `bashtion run`, so that they are confined too.
    #[arg(long)]
    confine: bool,

    /// Spare the user the agent's own question about what the guard allows.
    #[arg(long)]
    allow: bool,

    /// Judge and confine as this profile says: one that is built in, or a file.
    #[arg(long, value_name = "NAME|FILE")]
    profile: Option<String>,

    /// Make the agent ask this program, with these options, before it runs a command.
    #[arg(long, conflicts_with_all = ["uninstall", "print"])]
    install: bool,

    /// Take that back.
    #[arg(long, conflicts_with_all = ["print", "confine", "allow", "profile"])]
    uninstall: bool,

    /// Show what --install would write and where, and change nothing.
    #[arg(long)]
    print: bool,

    /// In the settings of this project, not in your own.
    #[arg(long)]
    project: bool,

    /// Say what was done as JSON.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  bashtion hook claude-code --print
  bashtion hook claude-code --install --confine
  bashtion hook codex --uninstall
  bashtion doctor    # do they really fire?

What the guard allows gets no opinion, so that the agent asks its user as it would without us. What
it asks about is asked by the agent, or refused where its hooks cannot ask. What cannot be
understood is refused. See docs/hooks.md.";

impl Args {
    pub(crate) fn error_format(&self) -> Format {
        if self.json { Format::Json } else { Format::Text }
    }

    /// What cannot be had with this agent is not promised.
    fn check(&self) -> Result<(), CliError> {
        let agent = self.agent;
        let problem = if self.confine && !agent.can_rewrite() {
            format!("a hook of {agent} cannot change a command, so --confine is not possible")
        } else if self.allow && !agent.can_allow() {
            format!("a hook of {agent} cannot spare the user a question, so --allow is not possible")
        } else if self.project && !(self.install || self.uninstall || self.print) {
            "--project goes with --install, --uninstall or --print".to_owned()
        } else {
            return Ok(());
        };
        Err(CliError { exit_code: USAGE, ..CliError::new(problem) })
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    args.check()?;
    if args.install || args.print {
        return install::install(args);
    }
    if args.uninstall {
        return install::uninstall(args);
    }
    let reply = reply(args).unwrap_or_else(|error| refusal(args.agent, &error.told()));
    ui::print_error(&reply.stderr);
    ui::print(reply.stdout.as_bytes())?;
    Ok(ExitCode::from(reply.exit))
}

fn reply(args: &Args) -> Result<Reply, CliError> {
    let confine = if args.confine {
        Some(Confine { program: program()?, profile: args.profile.clone() })
    } else {
        None
    };
    let options = Options { confine, allow: args.allow };
    let mut input = vec![];
    // One byte more than is taken, so that it can be told that it is too much.
    let most = LONGEST_INPUT as u64 + 1;
    std::io::stdin()
        .lock()
        .take(most)
        .read_to_end(&mut input)
        .map_err(|error| CliError::new("cannot read standard input").caused_by(&error))?;
    Ok(answer(args.agent, &input, &options, |call| judge(args, call).map_err(|error| error.told_with_help())))
}

/// As `bashtion run` would, if the command is to be run by it; else as it would in the agent's own shell.
fn judge(args: &Args, call: &Call) -> Result<Judged, CliError> {
    let cwd = config::directory(call.cwd.as_deref())?;
    let Loaded { mut profile, audit, repository } =
        config::load_for_command(&cwd, args.profile.as_deref(), &call.command)?;
    if !args.confine {
        profile.sandbox.mode = SandboxMode::Off;
        profile.env = of_another_shell();
    }
    let engine = judging::engine(&profile).build();
    let verdict =
        match engine.judge(Request::new(&call.command), &judging::context(&cwd, repository.as_deref())) {
            Ok(judgement) => judgement.verdict,
            // It does nothing, wherever it runs.
            Err(Error::Admit(AdmitError::EmptyCommand)) => Verdict::new(vec![]),
            Err(error) => return Err(error.into()),
        };
    // What is run by us is written down there.
    if !args.confine || verdict.decision != Decision::Allow {
        write_down(args.agent, call, &cwd, &verdict, audit.as_ref())?;
    }
    Ok(Judged { verdict, limits: profile.limits })
}

/// The environment of a shell that is not ours: all that the agent has, which this program has from it, too.
fn of_another_shell() -> EnvSettings {
    EnvSettings {
        base: Base::Inherit,
        allow: vec![],
        withhold: vec![],
        home: Home::Caller,
        non_interactive: false,
        set: BTreeMap::new(),
    }
}

fn write_down(
    agent: Agent,
    call: &Call,
    cwd: &Path,
    verdict: &Verdict,
    audit: Option<&bashtion_audit::Settings>,
) -> Result<(), CliError> {
    let Some(settings) = audit else { return Ok(()) };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let event = Event::Judged {
        operation_id: Arc::from(format!("hook-{agent}-{}-{}", now.as_millis(), std::process::id())),
        command: call.command.clone(),
        description: call.description.clone(),
        cwd: cwd.to_owned(),
        verdict: verdict.clone(),
    };
    let failed = |error: &dyn std::error::Error| match settings.mode {
        bashtion_audit::Mode::Required => {
            Err(CliError::new("cannot write the audit log, which is required").caused_by(error))
        }
        bashtion_audit::Mode::On | bashtion_audit::Mode::Off => Ok(()),
    };
    match run::ledger(settings) {
        Ok(ledger) => ledger.record(&event).or_else(|error| failed(&error)),
        Err(error) => failed(&error),
    }
}

/// Where this program is.
fn program() -> Result<String, CliError> {
    let path = std::env::current_exe()
        .map_err(|error| CliError::new("cannot tell where this program is").caused_by(&error))?;
    path.into_os_string().into_string().map_err(|path| {
        CliError::new(format!("the path of this program is not UTF-8: {}", path.display()))
            .help("move it elsewhere")
    })
}
