//! `bashtion check --lines` and `--json-lines`: many commands, each with an object of its own.

use std::io::BufRead;
use std::process::ExitCode;

use bashtion::{AdmitError, Decision, Error, Finding, Span, Verdict};
use serde_json::{Value, json};

use super::{Bench, answer, exit_code, name};
use crate::error::CliError;
use crate::ui;

/// How bad a line is: what is asked about weighs more than what bash cannot read, which runs nothing.
fn weight(decision: Option<Decision>) -> u8 {
    match decision {
        Some(Decision::Allow) => 0,
        None => 1,
        Some(Decision::Ask) => 2,
        Some(Decision::Deny) => 3,
    }
}

/// Judges each line of standard input. The exit code is that of the strictest.
pub(super) fn check(bench: &Bench<'_>) -> Result<ExitCode, CliError> {
    let mut strictest = Some(Decision::Allow);
    for (number, line) in std::io::stdin().lock().split(b'\n').enumerate() {
        let line = line.map_err(|error| CliError::new("cannot read standard input").caused_by(&error))?;
        let command = if bench.args.json_lines {
            if line.trim_ascii().is_empty() {
                continue;
            }
            decoded(&line, number + 1)?
        } else {
            String::from_utf8_lossy(&line).into_owned()
        };
        let decision = match bench.judge(command.clone()) {
            Ok(judgement) => {
                ui::print_json(&answer(&judgement))?;
                judgement.decision()
            }
            Err(Error::Admit(error)) => {
                let verdict = not_judged(&error, &command);
                ui::print_json(&without_analysis(&command, bench, &verdict))?;
                Some(verdict.decision)
            }
            Err(error) => return Err(error.into()),
        };
        strictest = [strictest, decision].into_iter().max_by_key(|decision| weight(*decision)).flatten();
    }
    Ok(exit_code(strictest))
}

fn decoded(line: &[u8], number: usize) -> Result<String, CliError> {
    serde_json::from_slice(line).map_err(|error| {
        CliError::new(format!("line {number} is not a JSON string")).caused_by(&error).help(
            "with --json-lines each line is one command as a JSON string; --lines takes them as they are",
        )
    })
}

/// An empty line does nothing; anything else that cannot be run as it is needs somebody to look at it.
fn not_judged(error: &AdmitError, command: &str) -> Verdict {
    if matches!(error, AdmitError::EmptyCommand) {
        return Verdict::new(vec![]);
    }
    Verdict::new(vec![Finding {
        rule: "opaque".to_owned(),
        severity: Decision::Ask,
        message: format!("this cannot be judged: {error}"),
        span: Span { start: 0, end: command.len() },
        help: "it could not be run as it is".to_owned(),
    }])
}

/// The same object without what only an analysis knows.
fn without_analysis(command: &str, bench: &Bench<'_>, verdict: &Verdict) -> Value {
    json!({
        "command": command,
        "cwd": bench.cwd.to_string_lossy(),
        "decision": name(Some(verdict.decision)),
        "verdict": verdict,
        "syntax_error": null,
        "commands": [],
        "opaque": [],
        "permission": null,
    })
}
