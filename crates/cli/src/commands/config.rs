//! `bashtion config`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bashtion::{Layers, Profile, Setting};
use rustix::fs::OFlags;
use serde::Serialize;

use crate::config;
use crate::error::CliError;
use crate::ui::{self, Format};

/// Show the merged configuration and where each value comes from; check a file.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Show(Show),
    Check(Check),
    Schema(Schema),
    List(List),
}

/// Show every value that holds here, and which layer has said so.
///
/// Layers, the lowest first: a profile, your configuration, the project's file, which can only make things stricter. What is
/// said with options of `run` lies on top of all.
#[derive(Debug, clap::Args)]
struct Show {
    /// As if this profile were chosen: one that is built in, or a file.
    #[arg(long, value_name = "NAME|FILE")]
    profile: Option<String>,

    /// As it is in this directory.
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// Only this value, or those of this section: limits.timeout, sandbox.
    key: Option<String>,

    /// Print a JSON array of objects with key, value and origin.
    #[arg(long)]
    json: bool,
}

/// Check a configuration file: that it can be read, that every value is possible, that every pattern is valid.
///
/// The exit code is 0 if it is right, and 1 if it is not.
#[derive(Debug, clap::Args)]
struct Check {
    /// The file.
    file: PathBuf,

    /// Check it as a project's file, which can only make things stricter. [default: if it is named .bashtion.toml]
    #[arg(long)]
    project: bool,

    /// Print one JSON object: valid, and error if it is not.
    #[arg(long)]
    json: bool,
}

/// Print the JSON schema of configuration files, for editors.
#[derive(Debug, clap::Args)]
struct Schema {
    /// It is JSON anyway.
    #[arg(long)]
    json: bool,
}

/// List the profiles that are built in.
#[derive(Debug, clap::Args)]
struct List {
    /// Print a JSON array of objects with name and description.
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(crate) fn error_format(&self) -> Format {
        let json = match &self.verb {
            Verb::Show(args) => args.json,
            Verb::Check(args) => args.json,
            Verb::Schema(args) => args.json,
            Verb::List(args) => args.json,
        };
        if json { Format::Json } else { Format::Text }
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    match &args.verb {
        Verb::Show(args) => show(args),
        Verb::Check(args) => check(args),
        Verb::Schema(_) => {
            let text = serde_json::to_string_pretty(&Profile::schema()).unwrap_or_default();
            ui::print(format!("{text}\n").as_bytes())
        }
        Verb::List(args) => list(args),
    }
}

fn show(args: &Show) -> Result<ExitCode, CliError> {
    let cwd = config::directory(args.cwd.as_deref())?;
    let layers = match config::layers(&cwd, args.profile.as_deref())? {
        Some(layers) => layers,
        None => Layers::built_in("default")?,
    };
    // What does not go together is an error here as it would be for a command.
    layers.profile()?;
    let mut settings = layers.settings();
    if let Some(key) = &args.key {
        let known: Vec<String> = settings.iter().map(|setting| setting.key.clone()).collect();
        settings.retain(|setting| setting.key == *key || setting.key.starts_with(&format!("{key}.")));
        if settings.is_empty() {
            let nearest = bashtion_guard::nearest(key, known.iter().map(String::as_str));
            let help = nearest.map_or_else(
                || "`bashtion config show` shows all".to_owned(),
                |name| format!("did you mean {name}?"),
            );
            return Err(CliError::new(format!("there is no value {key:?}")).help(help));
        }
    }
    if args.json {
        return ui::print_json(&settings);
    }
    ui::print(listed(&settings).as_bytes())
}

/// As a file that could be loaded again, with where each value comes from beside it.
fn listed(settings: &[Setting]) -> String {
    let mut text = String::new();
    let mut section = "";
    let (top, sections): (Vec<&Setting>, Vec<&Setting>) =
        settings.iter().partition(|setting| !setting.key.contains('.'));
    for setting in top.into_iter().chain(sections) {
        let (place, name) = setting.key.rsplit_once('.').unwrap_or(("", &setting.key));
        if place != section {
            text += &format!("\n[{place}]\n");
            section = place;
        }
        let line = format!("{name} = {}", setting.written);
        text += &if line.contains('\n') {
            format!("# {}\n{line}\n", setting.origin)
        } else {
            format!("{line:<50} # {}\n", setting.origin)
        };
    }
    text.trim_start_matches('\n').lines().map(|line| ui::visible(line) + "\n").collect()
}

#[derive(Serialize)]
struct Checked {
    file: String,
    valid: bool,
    error: Option<String>,
}

fn check(args: &Check) -> Result<ExitCode, CliError> {
    let file = args.file.display().to_string();
    let text = config::load(&args.file, OFlags::empty())?
        .ok_or_else(|| CliError::new(format!("there is no file {file}")))?;
    let named_so = args.file.file_name().is_some_and(|name| name == config::PROJECT_FILE);
    let result = checked(&args.file, &text, args.project || named_so);
    if args.json {
        let error = result.as_ref().err().map(CliError::told);
        ui::print_json(&Checked { file, valid: error.is_none(), error })?;
        return Ok(if result.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    result?;
    ui::print(format!("{} is valid\n", ui::visible(&file)).as_bytes())
}

/// A project's file is laid over what holds for the directory it is in.
fn checked(path: &Path, text: &str, is_project: bool) -> Result<(), CliError> {
    let origin = path.display().to_string();
    let layers = if is_project {
        config::layers_of_user()?.narrowed(&origin, text)?
    } else {
        let base = Layers::inherits(&origin, text)?.unwrap_or_else(|| "default".to_owned());
        Layers::inheriting(&base, &config::read_profile)?.over(&origin, text)?
    };
    layers.profile()?;
    Ok(())
}

#[derive(Serialize)]
struct Listed {
    name: &'static str,
    description: String,
}

fn list(args: &List) -> Result<ExitCode, CliError> {
    let mut profiles = vec![];
    for name in Profile::names() {
        let settings = Layers::built_in(name)?.settings();
        let description = settings.iter().find(|setting| setting.key == "description");
        let description = description.and_then(|found| found.value.as_str()).unwrap_or_default().to_owned();
        profiles.push(Listed { name, description });
    }
    if args.json {
        return ui::print_json(&profiles);
    }
    let lines: String =
        profiles.iter().map(|profile| format!("{:<20}  {}\n", profile.name, profile.description)).collect();
    ui::print(lines.as_bytes())
}
