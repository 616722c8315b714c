//! `bashtion hook --install`, `--uninstall` and `--print`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bashtion_server::hooks::Agent;
use bashtion_server::hooks::install::{
    EditError, Entry, FileError, Places, Scope, installed, read, replace, snippet, uninstalled,
};
use serde_json::json;

use super::{Args, program};
use crate::config;
use crate::error::CliError;
use crate::ui;

pub(super) fn install(args: &Args) -> Result<ExitCode, CliError> {
    let entry = Entry { words: words(args)? };
    let file = file(args)?;
    let snippet = snippet(args.agent, &entry);
    if args.print {
        if args.json {
            return ui::print_json(&json!({ "agent": args.agent.name(), "file": file, "content": snippet }));
        }
        return ui::print(format!("# {}\n{snippet}", file.display()).as_bytes());
    }
    let by_hand = format!("add it by hand:\n{snippet}");
    let text = read(&file).map_err(|error| told(&error, &by_hand))?;
    let edited = installed(args.agent, &text, &entry).map_err(|error| unedited(&file, &error, &by_hand))?;
    let change = Change { done: "installed", not_needed: "is installed already" };
    finish(args, &file, edited.as_deref(), &change, Some(note(args.agent)))
}

pub(super) fn uninstall(args: &Args) -> Result<ExitCode, CliError> {
    let file = file(args)?;
    let by_hand = "remove the entry that runs `bashtion hook` by hand";
    let text = read(&file).map_err(|error| told(&error, by_hand))?;
    let edited = uninstalled(args.agent, &text).map_err(|error| unedited(&file, &error, by_hand))?;
    let change = Change { done: "removed", not_needed: "is not installed" };
    finish(args, &file, edited.as_deref(), &change, None)
}

struct Change {
    done: &'static str,
    not_needed: &'static str,
}

fn finish(
    args: &Args,
    file: &Path,
    text: Option<&str>,
    change: &Change,
    note: Option<&str>,
) -> Result<ExitCode, CliError> {
    let copy = match text {
        Some(text) => {
            replace(file, text).map_err(|error| told(&error, "make it a file that you can write"))?
        }
        None => None,
    };
    if args.json {
        return ui::print_json(&json!({
            "agent": args.agent.name(), "file": file, "changed": text.is_some(), "backup": copy, "note": note,
        }));
    }
    let mut said = match text {
        Some(_) => format!("the hook of {} is {}: {}\n", args.agent, change.done, file.display()),
        None => format!("the hook of {} {}: {}\n", args.agent, change.not_needed, file.display()),
    };
    if let Some(copy) = copy {
        said += &format!("what was there is in {}\n", copy.display());
    }
    if let Some(note) = note {
        said += &format!("note: {note}\n");
    }
    ui::print(said.as_bytes())
}

/// What is still to be done.
fn note(agent: Agent) -> &'static str {
    match agent {
        Agent::Codex => {
            "Codex skips hooks that you have not trusted, and does not say so: start it once, trust this one with /hooks, then see `bashtion doctor`"
        }
        Agent::ClaudeCode | Agent::Gemini | Agent::Copilot | Agent::Cursor | Agent::Opencode => {
            "start the agent anew, then see `bashtion doctor`"
        }
    }
}

/// This program with the options that were given.
fn words(args: &Args) -> Result<Vec<String>, CliError> {
    let mut words = vec![program()?, "hook".to_owned(), args.agent.name().to_owned()];
    if args.confine {
        words.push("--confine".to_owned());
    }
    if args.allow {
        words.push("--allow".to_owned());
    }
    if let Some(profile) = &args.profile {
        // Wherever the agent works, it is the same file.
        let is_path = profile.contains('/') || profile.ends_with(".toml");
        let path = config::directory(is_path.then_some(Path::new(profile)))?;
        let profile = if is_path { path.to_string_lossy().into_owned() } else { profile.clone() };
        words.push(format!("--profile={profile}"));
    }
    Ok(words)
}

fn file(args: &Args) -> Result<PathBuf, CliError> {
    if args.project {
        let scope = project()?;
        let file = scope.file(args.agent);
        return if leads_out(&file, &scope) {
            let message = format!("{} leads out of the project by a link", file.display());
            Err(CliError::new(message).help("make it a file of the project, or leave out --project"))
        } else {
            Ok(file)
        };
    }
    let scope = user()
        .ok_or_else(|| CliError::new("there is no home directory").help("set HOME, or use --project"))?;
    Ok(scope.file(args.agent))
}

/// Whoever made the project may have put a link there, to what is the user's own.
fn leads_out(file: &Path, scope: &Scope) -> bool {
    let Scope::Project(project) = scope else { return false };
    let existing = file.ancestors().find(|path| path.symlink_metadata().is_ok());
    let real = existing.map(Path::canonicalize);
    !matches!((real, project.canonicalize()), (Some(Ok(real)), Ok(project)) if real.starts_with(&project))
}

/// The project that we are in.
pub(crate) fn project() -> Result<Scope, CliError> {
    let here = config::directory(None)?;
    Ok(Scope::Project(config::repository(&here).unwrap_or(here)))
}

/// The user's own settings. None without a home.
pub(crate) fn user() -> Option<Scope> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    Some(Scope::User(Places {
        home: absolute("HOME")?,
        claude_config_dir: absolute("CLAUDE_CONFIG_DIR"),
        codex_home: absolute("CODEX_HOME"),
        xdg_config_home: absolute("XDG_CONFIG_HOME"),
    }))
}

fn told(error: &FileError, help: &str) -> CliError {
    CliError::new(error.to_string()).caused_by(&error.source).help(help)
}

fn unedited(file: &Path, error: &EditError, help: &str) -> CliError {
    CliError::new(format!("{} was left as it is", file.display())).caused_by(error).help(help)
}
