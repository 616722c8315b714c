//! `bashtion run` of what may not run.

use std::fs;

use crate::world;

#[test]
fn a_refused_command_is_told_and_not_run() {
    let world = world();
    let finished = world.run("touch made; rm -rf /").finish();
    assert_eq!((finished.code(), finished.stdout().as_str()), (Some(126), ""));
    assert_eq!(
        finished.stderr(),
        "refused: recursive deletion of the root directory: /\n  touch made; rm -rf /\n              ^^^^^^^^ removes-root\nhelp: name a directory inside the workspace, for example `rm -rf ./build`\n"
    );
    assert!(!world.work().join("made").exists());
}

#[test]
fn a_question_without_anybody_to_ask_is_not_run() {
    let world = world();
    let finished = world.run_with(&["--json"], "touch made; git stash clear").finish();
    assert_eq!(finished.code(), Some(126));
    let json = finished.json();
    assert_eq!((&json["status"], &json["success"]), (&"needs_approval".into(), &false.into()));
    assert_eq!((&json["pid"], &json["exit_code"]), (&serde_json::Value::Null, &serde_json::Value::Null));
    assert_eq!(json["verdict"]["findings"][0]["rule"], "git-history");
    assert!(!world.work().join("made").exists());
}

#[test]
fn observers_hear_of_it() {
    let lines = world().run_with(&["--stream"], "rm -rf ~").finish().json_lines();
    assert_eq!(lines.len(), 1);
    assert_eq!((&lines[0]["event"], &lines[0]["status"]), (&"ended".into(), &"refused".into()));
}

#[test]
fn variables_that_are_passed_are_known() {
    let world = world();
    let finished = world.run_with(&["--env", "DIR=/etc"], "rm -rf \"$DIR\"").finish();
    assert_eq!(finished.code(), Some(126));
    assert!(finished.stderr().contains("system files: /etc"), "{}", finished.stderr());
}

#[test]
fn what_the_user_allows_runs() {
    let world = world();
    let file = world.work().join("user.toml");
    fs::write(&file, "[guard]\nallow = ['truncate -s 0 data']\n").unwrap();
    fs::write(world.work().join("data"), "x").unwrap();
    let finished =
        world.run("truncate -s 0 data; wc -c < data").env("BASHTION_CONFIG", file.to_str().unwrap()).finish();
    assert_eq!((finished.code(), finished.stdout().trim()), (Some(0), "0"));
}
