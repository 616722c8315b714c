//! "Error Handling", "Process Cleanup" and "Error Codes".

use std::time::Duration;

use bashtion_testkit::living_with;

use super::{ran, text};
use crate::{profile_file, string, world};

#[test]
fn code_0_is_a_success() {
    let json = ran(&[], "true");
    assert_eq!((&json["success"], &json["exit_code"]), (&true.into(), &0.into()));
}

#[test]
fn another_code_is_returned_with_the_output() {
    let finished = world().run_with(&["--profile", "tunacode"], "cat /etc/hostname /nowhere/file").finish();
    assert_eq!(finished.code(), Some(1));
    let text = finished.stdout();
    assert!(text.contains("\nExit Code: 1\n") && !text.contains("STDOUT:\n(no output)"), "{text}");
}

#[test]
fn a_timeout_is_told_with_what_to_try() {
    let finished = world().run_with(&["--profile", "tunacode", "--timeout", "1s"], "sleep 60").finish();
    assert_eq!(finished.code(), Some(124));
    assert_eq!(
        finished.stdout(),
        "Command timed out after 1s: sleep 60\n\
         Use a longer timeout (at most 300 seconds), or split the work into shorter commands.\n"
    );
}

#[test]
fn what_was_printed_before_a_timeout_is_not_lost() {
    let world = world();
    std::fs::write(world.work().join("log"), "begun\n").unwrap();
    let options = ["--json", "--profile", "tunacode", "--timeout", "1s"];
    let json = world.run_with(&options, "tail -f log").finish().json();
    assert_eq!(json["status"], "timed_out", "{json}");
    assert!(string(&json["text"]).ends_with("\n\nSTDOUT:\nbegun"), "{json}");
}

#[test]
fn a_timed_out_command_leaves_no_process() {
    assert_eq!(ran(&["--timeout", "1s"], "sleep 4401.1 | sleep 4401.1")["status"], "timed_out");
    assert_eq!(living_with("sleep 4401.1"), Vec::<i32>::new());
}

#[test]
fn processes_have_five_seconds_after_sigterm() {
    let profile = bashtion::Profile::built_in("tunacode").unwrap();
    assert_eq!(profile.limits.grace, Duration::from_secs(5));
}

#[test]
fn what_ends_on_sigterm_is_not_killed() {
    assert_eq!(ran(&["--timeout", "1s"], "sleep 60")["killed"], 0);
}

#[test]
fn what_ignores_sigterm_is_killed() {
    let world = world();
    let profile = profile_file(&world, "inherits = 'tunacode'\n[limits]\ngrace = '300ms'\n");
    std::fs::write(world.work().join("deaf"), "trap '' TERM; while :; do sleep 0.05; done").unwrap();
    let options = ["--json", "--profile", &profile, "--timeout", "1s"];
    let json = world.run_with(&options, "bash ./deaf").finish().json();
    assert_eq!(json["status"], "timed_out", "{json}");
    assert!(json["killed"].as_u64() >= Some(1), "{json}");
}

#[test]
fn a_security_violation_is_told_with_the_pattern() {
    let finished = world().run_with(&["--profile", "tunacode"], "mkfs -V").finish();
    assert_eq!(finished.code(), Some(126));
    let told = finished.stdout();
    assert!(told.starts_with("Command rejected: Command contains destructive pattern: mkfs\n"), "{told}");
}

#[test]
fn a_missing_shell_is_a_problem_of_the_system() {
    let script = "unshare -m \"$BASH\" -c 'mount --bind /dev/null /bin/bash; exec \"$BASHTION\" run --profile tunacode true'";
    let finished = world().program("/bin/bash").args(&["-c", script]).finish();
    assert_eq!(finished.code(), Some(125), "{finished:?}");
    assert!(finished.stderr().contains("there is no bash in "), "{}", finished.stderr());
}

#[test]
fn a_missing_program_has_a_hint() {
    let text = text(&[], "tunafish --version");
    assert!(text.contains("\nExit Code: 127\n"), "{text}");
    assert!(text.contains("\n\nHint: The command is not installed or not on the PATH."), "{text}");
}

#[test]
fn a_missing_file_has_a_hint() {
    assert!(text(&[], "cat /nowhere/file").contains("\n\nHint: A path does not exist."));
}

#[test]
fn a_missing_permission_has_a_hint() {
    let world = world();
    std::fs::write(world.work().join("script"), "true").unwrap();
    let json = world.run_with(&["--json", "--profile", "tunacode"], "./script").finish().json();
    assert!(string(&json["text"]).contains("\n\nHint: There is no permission for this."), "{json}");
}

#[test]
fn a_success_has_no_hint() {
    assert!(!text(&[], "echo command not found > /dev/stderr").contains("Hint:"));
}
