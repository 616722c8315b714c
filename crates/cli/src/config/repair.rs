//! A project's file that is wrong: it stops everything but what would repair it.

use std::path::{Path, PathBuf};

use bashtion::{Profile, Request};

use super::{
    Loaded, load_for, load_for_judging, load_to_judge, load_with, project_file, under_project, user_text,
};
use crate::commands::judging;
use crate::error::CliError;
use crate::ui;

/// Loads what is configured for one command. If the project's file is wrong, only a command that looks at the file or
/// repairs it gets anything: the rest of the configuration, and a note.
pub(crate) fn load_for_command(cwd: &Path, profile: Option<&str>, command: &str) -> Result<Loaded, CliError> {
    let error = match load_for(cwd, profile) {
        Ok(loaded) => return Ok(loaded),
        Err(error) => error,
    };
    load_with(cwd, repairing(cwd, profile, command, error)?)
}

/// The same without what only running a command needs.
pub(crate) fn load_for_judging_command(
    cwd: &Path,
    profile: Option<&str>,
    command: &str,
) -> Result<Loaded, CliError> {
    load_for_judging(cwd, profile)
        .or_else(|error| load_to_judge(cwd, repairing(cwd, profile, command, error)?))
}

/// Loads what somebody needs who answers a question. It can be about the very command that repairs the file.
pub(crate) fn load_for_answer(cwd: &Path) -> Result<Loaded, CliError> {
    load_for(cwd, None).or_else(|error| {
        let (_, profile) = without_project(cwd, None).ok_or(error)?;
        load_with(cwd, profile)
    })
}

fn repairing(cwd: &Path, profile: Option<&str>, command: &str, error: CliError) -> Result<Profile, CliError> {
    let Some((file, profile)) = without_project(cwd, profile) else { return Err(error) };
    let shown = file.display();
    if !only_repairs(cwd, &profile, command, &file) {
        let help = format!(
            "repair {shown} or remove it; until then only commands work that do nothing else, one file at a time: \
             `cat`, `sed -i s/old/new/`, `git checkout`, `mv`, `rm`; `bashtion config check {shown}` says whether it is right"
        );
        return Err(error.help(help));
    }
    ui::note(&format!(
        "{}; it is passed over for this command, which does nothing but look at it or repair it",
        error.told()
    ));
    Ok(profile)
}

/// Returns true if the command does nothing but look at the file or repair it.
fn only_repairs(cwd: &Path, profile: &Profile, command: &str, file: &Path) -> bool {
    let Ok(Loaded { profile, repository, .. }) = load_to_judge(cwd, profile.clone()) else { return false };
    let context = judging::context(cwd, repository.as_deref());
    let judged = judging::engine(&profile).build().judge(Request::new(command), &context);
    judged.is_ok_and(|judgement| judgement.only_repairs(&file.to_string_lossy()))
}

/// The project's file and what would hold without it. None if the file is not to blame.
fn without_project(cwd: &Path, profile: Option<&str>) -> Option<(PathBuf, Profile)> {
    let file = project_file(cwd)?;
    let layers = under_project(user_text().ok()?, profile).ok()?;
    Some((file, layers.profile().ok()?))
}
