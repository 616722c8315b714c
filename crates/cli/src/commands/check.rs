//! `bashtion check`

mod lines;

use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

use bashtion::{
    Decision, Engine, Found, Judgement, Network, Opaque, Policy, Request, SandboxMode, SyntaxError,
    ToolContext, Verdict,
};
use clap::ArgAction;
use serde::Serialize;

use super::{confining, judging};
use crate::commands::run::parse_env;
use crate::config::{self, Loaded};
use crate::error::CliError;
use crate::exit_code;
use crate::ui::{self, Format};

/// Judge a command without running it: the verdict, the reason, what to do instead.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES_AND_EXIT_CODES)]
pub(crate) struct Args {
    /// The command, as you would type it into bash; quote it. With - it is read from standard input.
    #[arg(required_unless_present_any = ["stdin", "lines", "json_lines", "list_rules", "rule"])]
    command: Option<String>,

    /// Read the command from standard input.
    #[arg(long, conflicts_with_all = ["command", "lines", "json_lines"])]
    stdin: bool,

    /// Read one command per line from standard input, and print one JSON object per line.
    #[arg(long, conflicts_with = "command")]
    lines: bool,

    /// The same with a JSON string on each line, so that a command can have several lines.
    #[arg(long, conflicts_with_all = ["command", "lines"])]
    json_lines: bool,

    /// Judge as if it ran in this directory. It need not exist.
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// Judge as if this environment variable were set. Can be repeated.
    #[arg(long = "env", value_name = "NAME=VALUE", action = ArgAction::Append, value_parser = parse_env())]
    env: Vec<(OsString, OsString)>,

    /// Judge as if it had no environment but what --env sets.
    #[arg(long)]
    clear_env: bool,

    /// Judge as if it ran in this session: in its working directory, with its variables.
    #[arg(long, value_name = "NAME")]
    session: Option<String>,

    /// Judge as this profile says: one that is built in, or a file.
    #[arg(long, value_name = "NAME|FILE")]
    profile: Option<String>,

    #[command(flatten)]
    confinement: confining::Confinement,

    /// Show how it would be confined, every command that was found, what it resolved to, what decided, and what would allow it.
    #[arg(long)]
    explain: bool,

    /// List the rules.
    #[arg(long, conflicts_with_all = ["command", "stdin", "lines", "json_lines", "rule"])]
    list_rules: bool,

    /// Show the page of a rule.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["command", "stdin", "lines", "json_lines"])]
    rule: Option<String>,

    /// Print one JSON object: the verdict, and every command with its effects.
    #[arg(long)]
    json: bool,
}

const EXAMPLES_AND_EXIT_CODES: &str = "\
Examples:
  bashtion check 'cd / && rm -rf *'
  bashtion check --explain 'sudo env X=1 git reset --hard'
  bashtion check --sandbox off 'pkill node'
  bashtion check --lines < commands.txt
  bashtion check --rule removes-root

Exit codes:
  0   allow
  3   ask: somebody has to agree
  4   deny
  2   bash itself cannot read it; or wrong usage
  1   it could not be judged, for example because the configuration is wrong

The verdict is the one that `bashtion run` with the same options has. With --lines and --json-lines
the exit code is that of the strictest line. Nothing is run.";

impl Args {
    pub(crate) fn error_format(&self) -> Format {
        if self.json || self.lines || self.json_lines { Format::Json } else { Format::Text }
    }

    fn request(&self, command: String, cwd: &std::path::Path) -> Request {
        let mut request = Request::new(command).envs(self.env.iter().cloned());
        if self.clear_env {
            request = request.clear_env();
        }
        if let Some(name) = &self.session {
            request = request.session(name);
            if self.cwd.is_some() {
                request = request.cwd(cwd);
            }
        }
        request
    }
}

/// Everything that judging needs, for one command or many.
struct Bench<'a> {
    args: &'a Args,
    engine: Engine,
    policy: Policy,
    context: ToolContext,
    cwd: PathBuf,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Answer<'a> {
    command: &'a str,
    cwd: String,
    /// As in `verdict`, or `invalid`, for those who need nothing else.
    decision: &'static str,
    verdict: &'a Verdict,
    syntax_error: Option<&'a SyntaxError>,
    commands: &'a [Found],
    opaque: &'a [Opaque],
    /// What would have to be in `[guard] allow`.
    permission: Option<Vec<String>>,
    sandbox: SandboxMode,
    network: Network,
    /// How it would run, in words.
    circumstances: &'a [String],
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    if args.list_rules {
        return list_rules(args);
    }
    if let Some(name) = &args.rule {
        return show_rule(name, args);
    }
    let failed = |error: CliError| CliError { exit_code: exit_code::FAILURE, ..error };
    let cwd = judging::directory(args.cwd.as_deref(), args.session.as_deref()).map_err(failed)?;
    if args.lines || args.json_lines {
        let loaded = config::load_for_judging(&cwd, args.profile.as_deref())?;
        return lines::check(&Bench::new(args, cwd, loaded)?);
    }
    let command = match args.command.as_deref() {
        Some("-") | None => read_command()?,
        Some(command) => command.to_owned(),
    };
    let loaded = config::load_for_judging_command(&cwd, args.profile.as_deref(), &command)?;
    check(command, &Bench::new(args, cwd, loaded)?).map_err(failed)
}

impl<'a> Bench<'a> {
    fn new(args: &'a Args, cwd: PathBuf, loaded: Loaded) -> Result<Self, CliError> {
        let Loaded { mut profile, repository, .. } = loaded;
        profile.sandbox = confining::with_flags(profile.sandbox, &args.confinement)?;
        let context = judging::context(&cwd, repository.as_deref());
        Ok(Self { args, engine: judging::engine(&profile).build(), policy: profile.policy, context, cwd })
    }

    fn judge(&self, command: String) -> Result<Judgement, bashtion::Error> {
        self.engine.judge(self.args.request(command, &self.cwd), &self.context)
    }
}

fn check(command: String, bench: &Bench<'_>) -> Result<ExitCode, CliError> {
    let judgement = bench.judge(command)?;
    if bench.args.json {
        ui::print_json(&answer(&judgement))?;
    } else if bench.args.explain {
        let parts = judgement.explain(&bench.policy);
        ui::print(ui::explained(&judgement, &parts, ui::is_coloured()).as_bytes())?;
    } else {
        ui::print(ui::shown(&judgement.command, &judgement.verdict, ui::is_coloured()).as_bytes())?;
    }
    Ok(exit_code(judgement.decision()))
}

fn answer(judgement: &Judgement) -> Answer<'_> {
    Answer {
        command: &judgement.command,
        cwd: judgement.cwd.to_string_lossy().into_owned(),
        decision: name(judgement.decision()),
        verdict: &judgement.verdict,
        syntax_error: judgement.syntax_error.as_ref(),
        commands: &judgement.analysis.commands,
        opaque: &judgement.analysis.opaque,
        permission: judgement.permission(),
        sandbox: judgement.sandbox,
        network: judgement.network,
        circumstances: &judgement.circumstances,
    }
}

/// None: bash cannot read it.
fn name(decision: Option<Decision>) -> &'static str {
    match decision {
        Some(Decision::Allow) => "allow",
        Some(Decision::Ask) => "ask",
        Some(Decision::Deny) => "deny",
        None => "invalid",
    }
}

fn exit_code(decision: Option<Decision>) -> ExitCode {
    match decision {
        Some(Decision::Allow) => ExitCode::SUCCESS,
        Some(Decision::Ask) => ExitCode::from(exit_code::ASK),
        Some(Decision::Deny) => ExitCode::from(exit_code::DENY),
        None => ExitCode::from(exit_code::UNREADABLE),
    }
}

fn read_command() -> Result<String, CliError> {
    const MOST: u64 = 16 << 20;
    let mut command = String::new();
    std::io::stdin().lock().take(MOST).read_to_string(&mut command).map_err(|error| {
        CliError::new("cannot read the command from standard input")
            .caused_by(&error)
            .help("it must be UTF-8 text")
    })?;
    Ok(command)
}

fn list_rules(args: &Args) -> Result<ExitCode, CliError> {
    let rules: Vec<_> = bashtion_guard::rules().collect();
    if args.json {
        return ui::print_json(&rules);
    }
    let summary = |page: &str| page.lines().next().unwrap_or_default().trim().to_owned();
    let lines: String = rules
        .iter()
        .map(|rule| format!("{:<22}  {:<4}  {}\n", rule.name, rule.severity.to_string(), summary(rule.page)))
        .collect();
    ui::print(lines.as_bytes())
}

fn show_rule(name: &str, args: &Args) -> Result<ExitCode, CliError> {
    let Some(rule) = bashtion_guard::rules().find(|rule| rule.name == name) else {
        let nearest = bashtion_guard::nearest_rule(name);
        let help = nearest.map_or_else(
            || "`bashtion check --list-rules` lists them".to_owned(),
            |name| format!("did you mean {name}?"),
        );
        return Err(CliError::new(format!("there is no rule {name:?}")).help(help));
    };
    if args.json {
        return ui::print_json(&rule);
    }
    let page: String = rule.page.lines().map(|line| format!("{}\n", line.trim())).collect();
    ui::print(format!("{} ({})\n\n{page}", rule.name, rule.severity).as_bytes())
}
