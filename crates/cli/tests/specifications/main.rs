//! The five specifications, criterion by criterion: `docs/specifications.md` says which test shows which.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod chorus;
mod defaults;
mod mycode;
mod phoenix;
mod tachikoma;
mod tunacode;

use bashtion_testkit::World;
use serde_json::Value;

fn world() -> World {
    World::new(env!("CARGO_BIN_EXE_bashtion"))
}

/// A profile of one's own; its path.
fn profile_file(world: &World, text: &str) -> String {
    let path = world.work().join("../profile.toml");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Why a command would not run, one message per finding; none if it would.
fn refusals(profile: &str, command: &str) -> Vec<String> {
    let finished = world().bashtion().args(&["check", "--json", "--profile", profile, command]).finish();
    let json = finished.json();
    assert_eq!(finished.code() == Some(0), json["decision"] == "allow", "{json}");
    let findings = json["verdict"]["findings"].as_array().unwrap().iter();
    findings
        .filter(|finding| finding["severity"] == "deny")
        .map(|finding| finding["message"].as_str().unwrap().to_owned())
        .collect()
}

#[track_caller]
fn refuses(profile: &str, command: &str, reason: &str) {
    let reasons = refusals(profile, command);
    assert!(reasons.iter().any(|found| found == reason), "{command}: {reasons:#?}");
}

#[track_caller]
fn permits(profile: &str, command: &str) {
    assert_eq!(refusals(profile, command), Vec::<String>::new(), "{command}");
}

/// What a terminal gets to see of a run.
fn on_terminal(world: &World, options: &str, command: &str, env: &[(&str, &str)]) -> String {
    let line = format!("\"$BASHTION\" run {options} \"$COMMAND\"");
    let run = world.program("script").args(&["-qec", &line, "/dev/null"]);
    let run = run.env("COMMAND", command).env("TERM", "xterm");
    let run = env.iter().fold(run, |run, (name, value)| run.env(name, value));
    run.finish().stdout().replace("\r\n", "\n")
}

/// With every time, which differs, as N.
fn without_times(text: &str) -> String {
    regex::Regex::new(r"\d+(\.\d+)?(ms|s)\b").unwrap().replace_all(text, "N$2").into_owned()
}

/// A text in a result.
#[track_caller]
fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value}"))
}
