//! `bashtion check`

use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bashtion::{Decision, Policy, Verdict};
use bashtion_guard::{Analysis, Found, LONGEST_TEXT, Opaque, World, secrets};
use serde::Serialize;

use crate::error::CliError;
use crate::ui::{self, Format};
use crate::{config, exit_code};

/// Judge a command without running it: the verdict, the reason, what to do instead.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES_AND_EXIT_CODES)]
pub(crate) struct Args {
    /// The command, as you would type it into bash; quote it. With - it is read from standard input.
    #[arg(required_unless_present_any = ["stdin", "lines", "list_rules", "rule"])]
    command: Option<String>,

    /// Read the command from standard input.
    #[arg(long, conflicts_with_all = ["command", "lines"])]
    stdin: bool,

    /// Read one command per line from standard input, and print one JSON object per line.
    #[arg(long, conflicts_with = "command")]
    lines: bool,

    /// Judge as if it ran in this directory. It need not exist.
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// Judge as this profile says: one that is built in, or a file.
    #[arg(long, value_name = "NAME|FILE")]
    profile: Option<String>,

    /// Show every command that was found, what it resolved to, what decided, and what would allow it.
    #[arg(long)]
    explain: bool,

    /// List the rules.
    #[arg(long, conflicts_with_all = ["command", "stdin", "lines", "rule"])]
    list_rules: bool,

    /// Show the page of a rule.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["command", "stdin", "lines"])]
    rule: Option<String>,

    /// Print one JSON object: the verdict, and every command with its effects.
    #[arg(long)]
    json: bool,
}

const EXAMPLES_AND_EXIT_CODES: &str = "\
Examples:
  bashtion check 'cd / && rm -rf *'
  bashtion check --explain 'sudo env X=1 git reset --hard'
  bashtion check --lines < commands.txt
  bashtion check --rule removes-root

Exit codes:
  0   allow
  3   ask: somebody has to agree
  4   deny
  2   wrong usage
  1   it could not be judged, for example because the configuration is wrong

With --lines the exit code is that of the strictest line. Nothing is run, and nothing on the
disk is looked at but the configuration and where the repository begins.";

impl Args {
    pub(crate) fn error_format(&self) -> Format {
        if self.json || self.lines { Format::Json } else { Format::Text }
    }
}

/// What `--json` prints.
#[derive(Serialize)]
struct Answer<'a> {
    command: &'a str,
    cwd: &'a str,
    /// As in `verdict`, for those who need nothing else.
    decision: Decision,
    verdict: &'a Verdict,
    commands: &'a [Found],
    opaque: &'a [Opaque],
    /// What would have to be in `[guard] allow`.
    permission: Option<&'a [String]>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    if args.list_rules {
        return list_rules(args);
    }
    if let Some(name) = &args.rule {
        return show_rule(name, args);
    }
    let cwd = config::directory(args.cwd.as_deref())?;
    let world = world_in(&cwd, config::repository(&cwd).as_deref());
    if args.lines {
        let policy = config::profile_for(&cwd, args.profile.as_deref())?.policy;
        return check_lines(&policy, &world);
    }
    let command = match args.command.as_deref() {
        Some("-") | None => read_command()?,
        Some(command) => command.to_owned(),
    };
    let policy = config::profile_for_command(&cwd, args.profile.as_deref(), &command, &world)?.policy;
    check(&command, &policy, &world, args)
}

fn check(command: &str, policy: &Policy, world: &World, args: &Args) -> Result<ExitCode, CliError> {
    // No other verb would take it either.
    if command.len() > LONGEST_TEXT {
        return Err(CliError::new(format!(
            "the command has {} bytes, and at most {LONGEST_TEXT} can be judged; write it to a file and run the file",
            command.len()
        )));
    }
    let (analysis, verdict, permission) = judged(command, policy, world);
    if args.json {
        ui::print_json(&answer(command, world, &analysis, &verdict, permission.as_deref()))?;
    } else if args.explain {
        let parts = policy.explain(&analysis, world);
        let text =
            ui::explained(command, &analysis, &verdict, permission.as_deref(), &parts, ui::is_coloured());
        ui::print(text.as_bytes())?;
    } else {
        ui::print(ui::shown(command, &verdict, ui::is_coloured()).as_bytes())?;
    }
    Ok(exit_code(verdict.decision))
}

fn check_lines(policy: &Policy, world: &World) -> Result<ExitCode, CliError> {
    let mut strictest = Decision::Allow;
    for line in std::io::stdin().lock().split(b'\n') {
        let line = line.map_err(|error| CliError::new("cannot read standard input").caused_by(&error))?;
        let command = String::from_utf8_lossy(&line);
        let (analysis, verdict, permission) = judged(&command, policy, world);
        strictest = strictest.max(verdict.decision);
        ui::print_json(&answer(&command, world, &analysis, &verdict, permission.as_deref()))?;
    }
    Ok(exit_code(strictest))
}

fn judged(command: &str, policy: &Policy, world: &World) -> (Analysis, Verdict, Option<Vec<String>>) {
    let analysis = bashtion_guard::analyze(command, world);
    let verdict = policy.judge(&analysis, world);
    let permission = Policy::permission(&analysis, &verdict);
    (analysis, verdict, permission)
}

fn answer<'a>(
    command: &'a str,
    world: &'a World,
    analysis: &'a Analysis,
    verdict: &'a Verdict,
    permission: Option<&'a [String]>,
) -> Answer<'a> {
    Answer {
        command,
        cwd: world.cwd(),
        decision: verdict.decision,
        verdict,
        commands: &analysis.commands,
        opaque: &analysis.opaque,
        permission,
    }
}

fn exit_code(decision: Decision) -> ExitCode {
    match decision {
        Decision::Allow => ExitCode::SUCCESS,
        Decision::Ask => ExitCode::from(exit_code::ASK),
        Decision::Deny => ExitCode::from(exit_code::DENY),
    }
}

/// What is known about commands in this directory, which belongs to this repository.
pub(crate) fn world_in(cwd: &Path, repository: Option<&Path>) -> World {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).unwrap_or_else(|| "/root".into());
    let moved = secrets::moved_places(|name| std::env::var_os(name));
    let world = World::new(cwd.to_string_lossy(), home.to_string_lossy()).moved_places(moved);
    // A configuration that is wrong is told where it is loaded.
    let own = config::own_files().unwrap_or_default();
    let world = own.iter().fold(world, |world, path| world.own_file(path.to_string_lossy()));
    match repository {
        Some(root) => world.workspace(root.to_string_lossy()),
        None => world,
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
