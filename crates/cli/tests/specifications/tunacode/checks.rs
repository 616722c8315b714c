//! "Security Validation". Nothing here is run.

use crate::{permits, refusals, refuses, world};

fn destructive(command: &str, pattern: &str) {
    refuses("tunacode", command, &format!("Command contains destructive pattern: {pattern}"));
}

fn dangerous(command: &str, pattern: &str) {
    refuses("tunacode", command, &format!("Command contains dangerous pattern: {pattern}"));
}

fn unsafe_character(command: &str, character: char) {
    refuses("tunacode", command, &format!("Potentially unsafe character in command: {character}"));
}

#[test]
fn destructive_rm_rf() {
    destructive("rm -rf build", "rm -rf");
}

#[test]
fn destructive_rm_r() {
    destructive("rm -r build", "rm -r");
}

#[test]
fn destructive_rm_of_an_absolute_path() {
    destructive("rm /srv/file", "rm /");
}

#[test]
fn destructive_dd() {
    destructive("dd if=image bs=1M", "dd if=");
}

#[test]
fn destructive_mkfs() {
    destructive("mkfs -V", "mkfs");
}

#[test]
fn destructive_fdisk() {
    destructive("fdisk -l", "fdisk");
}

#[test]
fn a_destructive_pattern_is_found_anywhere() {
    destructive("echo never rm -rf anything", "rm -rf");
}

#[test]
fn dangerous_rm_whatever_the_spaces() {
    dangerous("rm   -rf   /", r"rm\s+-rf\s+/");
}

#[test]
fn dangerous_sudo_rm() {
    dangerous("sudo  rm file", r"sudo\s+rm");
}

#[test]
fn dangerous_writing_to_a_disk() {
    dangerous("echo x >  /dev/sda", r">\s*/dev/sd[a-z]");
}

#[test]
fn dangerous_dd_to_a_device() {
    dangerous("dd bs=1 of=/dev/null", r"dd\s+.*of=/dev/");
}

#[test]
fn dangerous_format() {
    dangerous("mkfs.ext4 image", r"mkfs\.");
}

#[test]
fn dangerous_partitions() {
    dangerous("fdisk image", "fdisk");
}

#[test]
fn dangerous_fork_bomb() {
    dangerous(":(){ :|:& };:", r":\(\)\{.*\}\;");
}

#[test]
fn injection_after_a_semicolon() {
    refuses("tunacode", "ls; rm file", "Potential command injection: `;` before rm");
}

#[test]
fn injection_after_and() {
    refuses("tunacode", "ls && rm file", "Potential command injection: `&&` before rm");
}

#[test]
fn injection_in_substitutions() {
    for command in ["echo $(rm file)", "echo `rm file`", "echo $(cat x | rm file)"] {
        refuses("tunacode", command, "Potential command injection: rm in a command substitution");
    }
}

#[test]
fn injection_by_a_fork_bomb_under_any_name() {
    let reasons = refusals("tunacode", "bomb() { bomb | bomb & }; bomb");
    assert!(reasons.iter().any(|reason| reason.contains("starts itself")), "{reasons:?}");
}

#[test]
fn a_dollar_only_before_a_name() {
    for command in ["echo $(date)", "echo $1", "echo $((1+1))", "echo $?", "echo $'x'"] {
        unsafe_character(command, '$');
    }
}

#[test]
fn variables_are_allowed() {
    for command in ["echo $HOME", "echo ${HOME}", "echo $_x1 \"${PATH}\"/$USER"] {
        permits("tunacode", command);
    }
}

#[test]
fn braces_only_around_a_name() {
    unsafe_character("echo {a,b}", '{');
    unsafe_character("echo a}", '}');
    unsafe_character("echo ${x:-1}", '$');
}

#[test]
fn semicolons_ampersands_and_backticks_never() {
    unsafe_character("cd src; ls", ';');
    unsafe_character("sleep 1 &", '&');
    unsafe_character("make && make test", '&');
    unsafe_character("echo `date`", '`');
    unsafe_character("echo 'a;b'", ';');
}

#[test]
fn pipes_and_redirections_are_allowed() {
    permits("tunacode", "sort < list | uniq -c > counts");
}

#[test]
fn the_bans_belong_to_this_profile_alone() {
    permits("default", "cd src; echo {a,b} `date` $((1+1)) && rm -r build");
}

#[test]
fn rules_of_the_syntax_tree_hold_beside_the_patterns() {
    let reasons = refusals("tunacode", "find / -delete");
    assert!(reasons.iter().any(|reason| reason.contains("root directory")), "{reasons:?}");
}

#[test]
fn a_refused_command_is_not_run_and_the_pattern_is_named() {
    let world = world();
    let json = world.run_with(&["--json", "--profile", "tunacode"], "touch ran; rm file").finish().json();
    assert_eq!((&json["status"], &json["pid"]), (&"refused".into(), &serde_json::Value::Null));
    assert!(!world.work().join("ran").exists());
    let expected = "Command rejected: Potentially unsafe character in command: ;\n\
                    run one command per call; pipes and redirections are allowed, `;`, `&` and backticks are not";
    assert_eq!(json["text"], expected);
}
