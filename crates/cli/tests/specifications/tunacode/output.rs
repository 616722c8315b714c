//! "Output Handling", "Constants" and "Output Format Parsing".

use bashtion::calls::{Vendor, parse};
use bashtion::{Engine, Profile, ToolContext};
use regex::Regex;
use serde_json::{Value, json};

use super::{ran, text};
use crate::{profile_file, string, world};

const MARKER: &str = "\n...\n[truncated]\n...\n";

#[test]
fn the_formatted_text() {
    let world = world();
    std::fs::write(world.work().join("list"), "tuna\n").unwrap();
    let json = world.run_with(&["--json", "--profile", "tunacode"], "cat list").finish().json();
    let expected = format!(
        "Command: cat list\nExit Code: 0\nWorking Directory: {}\n\nSTDOUT:\ntuna\n\nSTDERR:\n(no errors)",
        world.work().display()
    );
    assert_eq!(json["text"], expected);
}

#[test]
fn the_same_text_in_a_pipe() {
    let finished = world().run_with(&["--profile", "tunacode", "--cwd", "/"], "echo tuna").finish();
    let expected =
        "Command: echo tuna\nExit Code: 0\nWorking Directory: /\n\nSTDOUT:\ntuna\n\nSTDERR:\n(no errors)\n";
    assert_eq!((finished.code(), finished.stdout().as_str()), (Some(0), expected));
}

#[test]
fn streams_are_captured_apart() {
    let json = ran(&[], "cat /etc/hostname /nowhere/file");
    assert!(!string(&json["stdout"]).is_empty() && !string(&json["stdout"]).contains("/nowhere"));
    assert_eq!(json["stderr"], "cat: /nowhere/file: No such file or directory");
}

#[test]
fn no_output_and_no_errors_are_said() {
    let text = text(&[], "true");
    assert!(text.ends_with("\n\nSTDOUT:\n(no output)\n\nSTDERR:\n(no errors)"), "{text}");
}

#[test]
fn malformed_characters_are_replaced() {
    assert_eq!(ran(&[], r"printf 'tuna \xff\xfe!'")["stdout"], "tuna \u{fffd}\u{fffd}!");
}

#[test]
fn the_ends_are_stripped_of_white_space() {
    assert_eq!(ran(&[], r"printf '\n\t  tuna  fish \n\n'")["stdout"], "tuna  fish");
}

#[test]
fn what_is_stripped_does_not_count() {
    let json = ran(&[], "head -c 3500 /dev/zero | tr '\\0' x | sed G");
    assert_eq!((string(&json["stdout"]).len(), &json["truncated"]), (3500, &false.into()));
}

#[test]
fn output_up_to_the_threshold_is_whole() {
    let json = ran(&[], "head -c 3500 /dev/zero | tr '\\0' x");
    assert_eq!((string(&json["stdout"]).len(), &json["truncated"]), (3500, &false.into()));
}

#[test]
fn of_more_the_first_2500_and_the_last_1000_are_kept() {
    let json = ran(&[], "seq -s , 100000");
    let all = (1..=100_000).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    let expected = format!("{}{MARKER}{}", &all[..2500], &all[all.len() - 1000..]);
    assert_eq!((string(&json["stdout"]), &json["truncated"]), (expected.as_str(), &true.into()));
}

#[test]
fn standard_error_is_cut_alike() {
    let json = ran(&[], "seq -s , 100000 > /dev/stderr");
    let stderr = string(&json["stderr"]);
    assert_eq!(stderr.len(), 2500 + MARKER.len() + 1000);
    assert!(stderr.starts_with("1,2,3,") && stderr.contains(MARKER) && stderr.ends_with(",100000"));
}

#[test]
fn the_whole_text_has_at_most_5000_characters() {
    let both = "seq -s , 100000 | tee /dev/stderr";
    let text = text(&[], both);
    assert!(text.starts_with("Command: seq") && text.contains(MARKER), "{text}");
    assert!(text.chars().count() <= 5000 && text.ends_with(",100000"), "{}", text.len());
}

#[test]
fn in_local_mode_it_has_at_most_1500() {
    let options = ["--json", "--profile", "tunacode-local"];
    let json = world().run_with(&options, "seq -s , 100000 | tee /dev/stderr").finish().json();
    let text = string(&json["text"]);
    assert!(text.contains(MARKER) && text.chars().count() <= 1500 + MARKER.len(), "{}", text.len());
    assert!(text.chars().count() > 1400, "{}", text.len());
}

#[test]
fn the_constants() {
    let cut = |name: &str| Profile::built_in(name).unwrap().output.cut;
    let (usual, local) = (cut("tunacode"), cut("tunacode-local"));
    assert_eq!((usual.max, usual.head, usual.tail), (3500, 2500, 1000));
    assert_eq!(usual.marker.as_deref(), Some(MARKER));
    assert_eq!((local.max, local.head + local.tail), (1500, 1500));
}

#[test]
fn a_profile_can_capture_nothing() {
    let world = world();
    let profile = profile_file(&world, "inherits = 'tunacode'\n[output]\ncapture = false\n");
    let json = world.run_with(&["--json", "--profile", &profile], "echo tuna").finish().json();
    assert_eq!((&json["stdout"], &json["exit_code"]), (&"".into(), &0.into()));
    assert!(string(&json["text"]).contains("STDOUT:\n(no output)"), "{json}");
}

/// The reply of the tool in a program of one's own.
fn replied(call: Value) -> Value {
    let dir = tempfile::tempdir().unwrap();
    let profile = Profile::built_in("tunacode").unwrap();
    let engine = Engine::builder().profile(&profile).state_dir(dir.path().join("state")).build();
    let parsed = parse(Vendor::TunaCode, call).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let context = ToolContext::from_host("/usr");
    let results = runtime.block_on(parsed.call().run(&engine, &context));
    parsed.reply(&results)
}

#[test]
fn a_call_is_replied_to_with_the_text() {
    let expected =
        "Command: echo tuna\nExit Code: 0\nWorking Directory: /usr\n\nSTDOUT:\ntuna\n\nSTDERR:\n(no errors)";
    assert_eq!(replied(json!({"command": "echo tuna"})), expected);
}

#[test]
fn a_call_can_capture_nothing() {
    let reply = replied(json!({"command": "echo tuna", "capture_output": false}));
    assert!(string(&reply).contains("Exit Code: 0\n"), "{reply}");
    assert!(string(&reply).ends_with("STDOUT:\n(no output)\n\nSTDERR:\n(no errors)"), "{reply}");
}

#[test]
fn the_renderers_expressions_read_the_text() {
    let options = ["--json", "--profile", "tunacode", "--cwd", "/usr"];
    let json = world().run_with(&options, "cat /etc/hostname /nowhere/file").finish().json();
    let text = string(&json["text"]);
    let found = |expression: &str| {
        let captures = Regex::new(expression).unwrap().captures(text).unwrap();
        captures[1].to_owned()
    };
    assert_eq!(found(r"Command: (.+)"), "cat /etc/hostname /nowhere/file");
    assert_eq!(found(r"Exit Code: (\d+)"), "1");
    assert_eq!(found(r"Working Directory: (.+)"), "/usr");
    // `(?=\n\nSTDERR:|\Z)` as this engine, which does not look ahead, can say it.
    assert_eq!(found(r"(?s)STDOUT:\n(.*?)(?:\n\nSTDERR:|\z)"), string(&json["stdout"]));
    assert!(found(r"(?s)STDERR:\n(.*?)(?:\z)").starts_with("cat: /nowhere/file: No such file"));
}
