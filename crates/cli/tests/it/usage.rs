//! What was typed wrong, and what would be right.

use bashtion_testkit::Finished;

use crate::world;

fn usage(args: &[&str]) -> Finished {
    let finished = world().bashtion().args(args).finish();
    assert_eq!(finished.code(), Some(2), "{args:?}: {finished:?}");
    let is_told_twice = args.contains(&"--json");
    assert_eq!(finished.stdout().is_empty(), !is_told_twice);
    finished
}

fn first_paragraph(args: &[&str]) -> String {
    usage(args).stderr().split("\n\n").next().unwrap().to_owned()
}

#[test]
fn each_says_what_is_right() {
    insta::assert_snapshot!(first_paragraph(&["run", "--timeout", "soon", "true"]), @"error: invalid value 'soon' for '--timeout <TIME>': expected a time such as 30s, 5m, 1h30m or 500ms, a number of seconds, or none");
    insta::assert_snapshot!(first_paragraph(&["run", "--timeout", "0", "true"]), @"error: invalid value '0' for '--timeout <TIME>': it must be more than zero and at most a year; `none` for no limit");
    insta::assert_snapshot!(first_paragraph(&["run", "--timeout", "-3", "true"]), @"error: invalid value '-3' for '--timeout <TIME>': it must be more than zero and at most a year; `none` for no limit");
    insta::assert_snapshot!(first_paragraph(&["run", "--env", "NOVALUE", "true"]), @"error: invalid value 'NOVALUE' for '--env <NAME=VALUE>': expected NAME=VALUE, for example RUST_LOG=debug or EMPTY=");
    insta::assert_snapshot!(first_paragraph(&["run", "--env", "=x", "true"]), @"error: invalid value '=x' for '--env <NAME=VALUE>': expected NAME=VALUE, for example RUST_LOG=debug or EMPTY=");
    insta::assert_snapshot!(first_paragraph(&["run", "--max-output", "many", "true"]), @"error: invalid value 'many' for '--max-output <N>': invalid digit found in string");
    insta::assert_snapshot!(first_paragraph(&["run", "--json", "--stream", "true"]), @"error: the argument '--json' cannot be used with '--stream'");
    insta::assert_snapshot!(first_paragraph(&["run", "--mode", "fast", "true"]), @"
    error: invalid value 'fast' for '--mode <MODE>'
      [possible values: default, slow, background]
    ");
    insta::assert_snapshot!(first_paragraph(&["run", "echo", "two"]), @"error: unexpected argument 'two' found");
}

#[test]
fn a_program_is_told_as_json_too() {
    let json = usage(&["run", "--json", "--timeout", "soon", "true"]).json();
    let expected = "invalid value 'soon' for '--timeout <TIME>': expected a time such as 30s, 5m, 1h30m or 500ms, a number of seconds, or none";
    assert_eq!(json["error"]["message"], expected);
}

#[test]
fn a_forgotten_verb_or_command() {
    usage(&[]);
    usage(&["run"]);
    usage(&["rum", "true"]);
}

#[test]
fn help_is_complete() {
    let finished = world().bashtion().args(&["run", "--help"]).finish();
    assert_eq!(finished.code(), Some(0));
    insta::assert_snapshot!(finished.stdout());
}
