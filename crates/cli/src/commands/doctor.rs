//! `bashtion doctor`

mod hooks;

use std::path::PathBuf;
use std::process::ExitCode;

use bashtion::{
    Examination, Landlock, Report, RoomExamination, SandboxMode, landlock_lacks, temporary_directory,
};
use serde_json::{Value, json};

use crate::error::CliError;
use crate::exit_code::FAILURE;
use crate::state_dir::state_dir;
use crate::ui::{self, Format};

/// Say what this machine can enforce, what to do so that it can enforce more, and whether installed hooks really fire.
///
/// Each mode is tried on a process that applies it and ends, a room is made and ended, each hook is tried with a command that is to be refused, and that
/// nobody runs. The exit code is 0 if the default mode is enforced in every respect and no installed hook fails, else 1.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print it as JSON.
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(crate) fn error_format(&self) -> Format {
        if self.json { Format::Json } else { Format::Text }
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    let temporary = std::env::var_os("TMPDIR").map(PathBuf::from).filter(|path| path.is_absolute());
    let state = state_dir();
    let temporary = temporary_directory(temporary.as_deref(), state.as_deref());
    let examination = Examination::of_this_host(&temporary);
    let rooms = RoomExamination::of_this_host(state.as_deref(), &temporary);
    let hooks = hooks::examine();
    if args.json {
        let mut json = as_json(&examination);
        json["rooms"] = json!({
            "possible": rooms.problem.is_none(),
            "shared": rooms.shared(),
            "not_shared": rooms.not_shared(),
            "reason": rooms.problem,
            "kept": rooms.kept,
        });
        json["hooks"] = hooks.iter().map(hooks::Hook::as_json).collect();
        ui::print_json(&json)?;
    } else {
        let hooks: String = hooks.iter().map(hooks::Hook::as_text).collect();
        let title = if hooks.is_empty() { "" } else { "\nhooks\n" };
        let text = as_text(&examination, &rooms_as_text(&rooms));
        ui::print(format!("{text}{title}{hooks}").as_bytes())?;
    }
    let works = hooks.iter().all(hooks::Hook::works);
    Ok(if examination.is_full() && works { ExitCode::SUCCESS } else { ExitCode::from(FAILURE) })
}

fn as_json(examination: &Examination) -> Value {
    let modes = examination.modes.iter().map(|(mode, report)| match report {
        Ok(report) => json!({
            "mode": mode.to_string(),
            "possible": true,
            "filesystem": report.filesystem.to_string(),
            "network": report.network.to_string(),
            "signals": report.signals.to_string(),
            "limits": report.limits.to_string(),
            "reason": report.reason,
        }),
        Err(problem) => json!({ "mode": mode.to_string(), "possible": false, "reason": problem }),
    });
    json!({
        "ok": examination.is_full(),
        "kernel": examination.kernel,
        "architecture": std::env::consts::ARCH,
        "landlock": {
            "status": match examination.landlock {
                Landlock::Abi(_) => "available",
                Landlock::Disabled => "disabled",
                Landlock::Missing => "missing",
            },
            "abi": examination.landlock.abi(),
            "lacks": landlock_lacks(examination.landlock),
        },
        "seccomp": examination.seccomp,
        "namespaces": examination.namespaces,
        "cgroup_limits": examination.tree_limits,
        "root": examination.root,
        "container": examination.container,
        "modes": modes.collect::<Vec<_>>(),
        "advice": examination.advice(),
    })
}

fn rooms_as_text(rooms: &RoomExamination) -> String {
    let mut text = match &rooms.problem {
        None => "rooms        yes\n".to_owned(),
        Some(problem) => format!("rooms        no: {problem}\n"),
    };
    text += &format!("             - commands of a workspace share {}\n", rooms.shared().join(", "));
    if !rooms.not_shared().is_empty() {
        text += &format!("             - they do not share {}\n", rooms.not_shared().join(", "));
    }
    text + &format!("             - kept now: {}\n", rooms.kept)
}

fn as_text(examination: &Examination, rooms: &str) -> String {
    let yes = |is: bool| if is { "yes" } else { "no" };
    let landlock = match examination.landlock {
        Landlock::Abi(abi) => format!("ABI {abi}"),
        Landlock::Disabled => "built in, but disabled".to_owned(),
        Landlock::Missing => "none".to_owned(),
    };
    let mut text = format!("kernel       {} {}\n", examination.kernel, std::env::consts::ARCH);
    text += &format!("landlock     {landlock}\n");
    for gap in landlock_lacks(examination.landlock) {
        text += &format!("             - {gap}\n");
    }
    text += &format!("seccomp      {}\n", yes(examination.seccomp));
    text += &format!("namespaces   {}\n", yes(examination.namespaces));
    text += rooms;
    text += &format!("tree limits  {}\n", yes(examination.tree_limits));
    text += &format!("root         {}\n", yes(examination.root));
    text += &format!("container    {}\n", examination.container.unwrap_or("no"));
    for (mode, report) in &examination.modes {
        text += &format!("\n{mode}{}\n", if *mode == SandboxMode::default() { " (default)" } else { "" });
        text += &match report {
            Ok(report) => shown(report),
            Err(problem) => format!("  not possible: {problem}\n"),
        };
    }
    let advice = examination.advice();
    if !advice.is_empty() {
        text += "\nto enforce more:\n";
        for advice in advice {
            text += &format!("  - {advice}\n");
        }
    }
    text
}

fn shown(report: &Report) -> String {
    let mut text = format!(
        "  files {}, network {}, signals {}, limits {}\n",
        report.filesystem, report.network, report.signals, report.limits
    );
    if let Some(reason) = &report.reason {
        text += &format!("  because {reason}\n");
    }
    text
}
