//! "4-Zone Layout Pattern", on a real terminal.

use std::fs;

use crate::{on_terminal, world};

const PLAIN: [(&str, &str); 1] = [("NO_COLOR", "1")];

fn seen(command: &str) -> String {
    let seen = on_terminal(&world(), "--profile tunacode --cwd /usr", command, &PLAIN);
    regex::Regex::new(r"\d+ms\n").unwrap().replace(&seen, "Nms\n").into_owned()
}

#[test]
fn four_zones() {
    assert_eq!(
        seen("printf 'tuna\\nfish\\n'"),
        "$ printf 'tuna\\nfish\\n'  ok\n\
         cwd: /usr  timeout: 30s\n\
         \n\
         tuna\nfish\n\
         \n\
         stdout: 2 lines stderr: 0 lines Nms\n"
    );
}

#[test]
fn a_failure_with_both_streams() {
    assert_eq!(
        seen("echo tuna | cat - /nowhere/file"),
        "$ echo tuna | cat - /nowhere/file  exit 1\n\
         cwd: /usr  timeout: 30s\n\
         \n\
         tuna\n\
         cat: /nowhere/file: No such file or directory\n\
         \n\
         stdout: 1 lines stderr: 1 lines Nms\n"
    );
}

#[test]
fn the_command_is_cut_to_fifty_characters() {
    let command = format!("echo {}", "x".repeat(60));
    assert!(seen(&command).starts_with(&format!("$ {}...  ok\n", &command[..50])));
}

#[test]
fn the_timeout_that_was_given_is_shown() {
    let seen = on_terminal(&world(), "--profile tunacode --timeout 2m --cwd /", "true", &PLAIN);
    assert!(seen.contains("\ncwd: /  timeout: 120s\n"), "{seen}");
}

#[test]
fn truncation_is_shown() {
    let seen = seen("seq 3000");
    assert!(seen.contains("\n...\n[truncated]\n...\n") && seen.contains("\n(truncated) stdout: "), "{seen}");
}

#[test]
fn ok_is_green() {
    let seen = on_terminal(&world(), "--profile tunacode", "true", &[]);
    assert!(seen.contains("$ true  \u{1b}[32mok\u{1b}[0m\n"), "{seen:?}");
}

#[test]
fn a_failure_and_standard_error_are_red() {
    let seen = on_terminal(&world(), "--profile tunacode", "ls /nowhere", &[]);
    assert!(seen.contains("$ ls /nowhere  \u{1b}[31mexit 2\u{1b}[0m\n"), "{seen:?}");
    assert!(seen.contains("\u{1b}[31mls: cannot access '/nowhere': "), "{seen:?}");
}

#[test]
fn json_and_diffs_are_highlighted() {
    let world = world();
    for (file, text) in [("a.json", "{\"a\": 1}\n"), ("b", "tuna\n"), ("c", "fish\n")] {
        fs::write(world.work().join(file), text).unwrap();
    }
    let json = on_terminal(&world, "--profile tunacode", "cat a.json", &[]);
    assert!(json.contains("{\u{1b}[36m\"a\"\u{1b}[0m: \u{1b}[33m1\u{1b}[0m}\n"), "{json:?}");
    let diff = on_terminal(&world, "--profile tunacode", "diff -u b c", &[]);
    assert!(diff.contains("\u{1b}[31m-tuna\u{1b}[0m\n\u{1b}[32m+fish\u{1b}[0m\n"), "{diff:?}");
    let plain = on_terminal(&world, "--profile tunacode", "cat a.json", &PLAIN);
    assert!(plain.contains("\n{\"a\": 1}\n"), "{plain:?}");
}

#[test]
fn a_timeout_is_told_in_the_header() {
    let seen = on_terminal(&world(), "--profile tunacode --timeout 1s", "sleep 60", &PLAIN);
    assert!(seen.contains("$ sleep 60  timed out after 1s\n"), "{seen:?}");
}

#[test]
fn nothing_in_it_drives_the_terminal() {
    let world = world();
    fs::write(world.work().join("bad"), "\u{1b}]0;title\u{7}\u{1b}[2J\u{202e}x\n").unwrap();
    let seen = on_terminal(&world, "--profile tunacode", "cat bad |\n\u{1b}[2J cat", &PLAIN);
    assert!(seen.starts_with("$ cat bad |␊␛[2J cat  exit 127\n"), "{seen:?}");
    assert!(!seen.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{seen:?}");
}

#[test]
fn a_refused_command_has_no_zones() {
    let seen = on_terminal(&world(), "--profile tunacode", "mkfs -V", &PLAIN);
    assert!(seen.contains("refused: Command contains destructive pattern: mkfs\n"), "{seen:?}");
    assert!(!seen.contains("timeout:"), "{seen:?}");
}

#[test]
fn any_profile_can_have_a_screen() {
    let world = world();
    let text = "[wording]\nscreen = '''{short_status}: {stdout} in {limit}'''\n";
    let profile = crate::profile_file(&world, text);
    let options = format!("--timeout 1.5s --profile {profile}");
    assert_eq!(on_terminal(&world, &options, "echo fish", &PLAIN), "ok: fish in 1.5s\n");
}
