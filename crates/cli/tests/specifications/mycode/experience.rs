//! "User Experience", as exact text.

use crate::{on_terminal, without_times, world};

const PLAIN: [(&str, &str); 1] = [("NO_COLOR", "1")];

fn printed(options: &[&str], command: &str) -> String {
    let options = [&["--profile", "mycode"], options].concat();
    world().run_with(&options, command).finish().stdout()
}

#[test]
fn foreground_with_a_description() {
    let command = "printf '> mycode@1.0.0 build\\n> tsc\\n\\nBuild completed successfully.\\n'";
    let text = printed(&["--description", "Build the project"], command);
    assert_eq!(
        without_times(&text),
        "Running: Build the project\n\n✓ Command completed (Ns)\nstdout:\n  > mycode@1.0.0 build\n  > tsc\n\n  \
         Build completed successfully.\n"
    );
}

#[test]
fn a_failure() {
    let text = printed(&[], "echo half; echo broken >&2; exit 2");
    assert_eq!(
        without_times(&text),
        "Running: echo half; echo broken >&2; exit 2\n\n✗ Command failed (Ns)\nstdout:\n  half\nstderr:\n  broken\n\
         Exit code: 2\nDuration: Ns\n"
    );
}

#[test]
fn a_timeout() {
    let text = printed(&["--timeout", "300ms", "--description", "Wait"], "echo begun; sleep 60");
    assert_eq!(text, "Running: Wait\n\n✗ Command timed out after 300ms\nstdout:\n  begun\n");
}

/// The box of a task, with its lines, and the task ended.
fn task_box(command: &str) -> Vec<String> {
    let world = world();
    let text = world.run_with(&["--profile", "mycode", "--background"], command).finish().stdout();
    let id = regex::Regex::new("bash-[a-z0-9]+").unwrap().find(&text).unwrap().as_str().to_owned();
    assert!(world.bashtion().args(&["wait", &id]).finish().code().is_some());
    let output = world.state().canonicalize().unwrap().join("task-output").join(&id);
    let lines = text.lines().map(|line| line.replace(output.to_str().unwrap(), "OUTPUT").replace(&id, "ID"));
    let lines: Vec<String> = lines.collect();
    // Whatever the length of the path: every line ends in the same column.
    let widths: Vec<_> = text.lines().map(|line| line.chars().count()).collect();
    assert!(widths.iter().all(|width| *width == widths[0]), "{text}");
    lines
}

fn inside(line: &str) -> &str {
    line.strip_prefix("│ ").and_then(|line| line.strip_suffix('│')).unwrap().trim_end()
}

#[test]
fn background_execution() {
    let lines = task_box("true");
    assert!(lines[0].starts_with("┌─ Background Task Started ──") && lines[0].ends_with("─┐"));
    let middle: Vec<_> = lines[1..lines.len() - 1].iter().map(|line| inside(line)).collect();
    let expected = [
        "Task ID: ID", "Command: true", "Output: OUTPUT", "", "Use /tasks to check status",
        "Use TaskOutput to get results",
    ];
    assert_eq!(middle, expected);
    assert!(lines.last().unwrap().starts_with("└──") && lines.last().unwrap().ends_with("─┘"));
}

#[test]
fn the_box_grows_with_a_long_command() {
    let command = format!("true {}", "x".repeat(300));
    assert_eq!(inside(&task_box(&command)[2]), format!("Command: {command}"));
}

#[test]
fn the_box_has_a_row_for_each_line_of_a_command() {
    let lines = task_box("true a\n\ttrue b");
    assert_eq!((inside(&lines[2]), inside(&lines[3])), ("Command: true a", "\\ttrue b"));
}

#[test]
fn streaming_output() {
    let seen = on_terminal(&world(), "--profile mycode --timeout 5m", "echo 'added 1 package'", &PLAIN);
    let line = "─".repeat(52);
    assert_eq!(
        without_times(&seen),
        format!(
            "Running: echo 'added 1 package'\n{line}\nadded 1 package\n{line}\nExit code: 0\nDuration: Ns\n"
        )
    );
}

#[test]
fn a_spinner_while_nothing_is_printed() {
    let seen = on_terminal(&world(), "--profile mycode", "sleep 1.2", &PLAIN);
    assert!(seen.contains("\r⠙ ") || seen.contains("\r⠹ ") || seen.contains("\r⠸ "), "{seen:?}");
}

#[test]
fn the_description_is_harmless_on_a_terminal() {
    let options = "--profile mycode --description $'Build\\e[2J\\nFake'";
    let line = format!("\"$BASHTION\" run {options} true");
    let world = world();
    let run = world.program("script").args(&["-qec", &line, "/dev/null"]).env("SHELL", "/bin/bash");
    let seen = run.env("TERM", "xterm").env("NO_COLOR", "1").finish().stdout();
    assert!(seen.starts_with("Running: Build␛[2J␊Fake\r\n"), "{seen:?}");
}

#[test]
fn safety_block() {
    assert_eq!(
        printed(&[], "rm -rf /"),
        "⚠️ Command Blocked\n\n\
         This command matches a blocked pattern:\n  \"rm -rf /\" - Recursive delete from root\n\n\
         This operation is not allowed for safety.\nIf you need to delete files, specify exact paths.\n"
    );
}

#[test]
fn output_truncation() {
    let text = printed(&[], "head -c 75678 /dev/zero | tr '\\0' x");
    let (line, half) = ("─".repeat(52), "x".repeat(15_000));
    assert_eq!(
        text,
        format!(
            "Output (truncated):\n{line}\n{half}\n\n... (45,678 characters truncated) ...\n\n{half}\n{line}\n"
        )
    );
}
