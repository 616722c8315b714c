//! "Input Parameters" and "Input Handling".

use bashtion::calls::{TunaCodeBash, Vendor, parse, read};
use serde_json::json;

use super::{ran, text};
use crate::{string, world};

#[test]
fn the_parameters_in_every_format() {
    for (format, at) in [
        ("mcp", "/inputSchema"),
        ("anthropic", "/input_schema"),
        ("openai", "/parameters"),
        ("gemini", "/parametersJsonSchema"),
    ] {
        let args = ["schema", "--profile", "tunacode", "--format", format];
        let tool = world().bashtion().args(&args).finish().json();
        assert_eq!(tool["name"], "bash", "{format}");
        let schema = tool.pointer(at).unwrap();
        let types: Vec<_> = ["command", "cwd", "env", "timeout", "capture_output"]
            .iter()
            .map(|name| string(&schema["properties"][name]["type"]).to_owned())
            .collect();
        assert_eq!(types, ["string", "string", "object", "integer", "boolean"], "{format}");
        assert_eq!(schema["required"], json!(["command"]), "{format}");
        let timeout = &schema["properties"]["timeout"];
        assert_eq!((&timeout["minimum"], &timeout["maximum"]), (&1.into(), &300.into()), "{format}");
        assert_eq!(schema["properties"]["env"]["additionalProperties"], json!({"type": "string"}));
    }
}

#[test]
fn only_the_command_is_required_and_nothing_else_is_known() {
    parse(Vendor::TunaCode, json!({"command": "ls"})).unwrap();
    let missing = parse(Vendor::TunaCode, json!({"cwd": "/tmp"})).unwrap_err().to_string();
    assert!(missing.contains("command"), "{missing}");
    let unknown =
        parse(Vendor::TunaCode, json!({"command": "ls", "capture_ouput": true})).unwrap_err().to_string();
    assert!(unknown.contains("did you mean \"capture_output\"?"), "{unknown}");
}

#[test]
fn only_texts_are_accepted_as_variables() {
    let error = read::<TunaCodeBash>(json!({"command": "ls", "env": {"N": 1}})).unwrap_err().to_string();
    assert!(error.contains("env.N"), "{error}");
}

#[test]
fn a_call_with_a_wrong_timeout_is_told_the_range() {
    for seconds in [0, 301, -1] {
        let sent = json!({"command": "ls", "timeout": seconds});
        let error = read::<TunaCodeBash>(sent).unwrap_err().to_string();
        assert!(error.contains("timeout") && error.contains('1') && error.contains("300"), "{error}");
    }
}

#[test]
fn a_timeout_outside_the_range_is_an_error() {
    for seconds in ["0.5s", "301s"] {
        let options = ["--profile", "tunacode", "--timeout", seconds];
        let finished = world().run_with(&options, "touch ran").finish();
        assert_eq!((finished.code(), finished.stdout().as_str()), (Some(125), ""));
        let told = finished.stderr();
        assert!(told.contains("is not possible here: it must be between 1s and 300s"), "{told}");
    }
}

#[test]
fn a_command_must_have_a_timeout() {
    let finished = world().run_with(&["--profile", "tunacode", "--timeout", "none"], "true").finish();
    assert_eq!(finished.code(), Some(125));
    let told = finished.stderr();
    assert_eq!(told, "error: a command must have a timeout here, of at most 300s\n");
}

#[test]
fn a_timeout_at_either_end_of_the_range_is_possible() {
    for seconds in ["1s", "300s"] {
        assert_eq!(ran(&["--timeout", seconds], "true")["success"], true, "{seconds}");
    }
}

#[test]
fn the_timeout_is_thirty_seconds_if_nothing_is_said() {
    let profile = bashtion::Profile::built_in("tunacode").unwrap();
    assert_eq!(profile.limits.timeout.as_secs(), 30);
}

#[test]
fn an_empty_command_is_an_error() {
    for command in ["", "  \n "] {
        let finished = world().run_with(&["--profile", "tunacode"], command).finish();
        assert_eq!(finished.code(), Some(125));
        assert!(finished.stderr().starts_with("error: the command is empty\n"), "{}", finished.stderr());
    }
}

#[test]
fn a_directory_that_does_not_exist_is_an_error() {
    let finished = world().run_with(&["--profile", "tunacode", "--cwd", "/nowhere"], "ls").finish();
    assert_eq!(finished.code(), Some(125));
    let told = finished.stderr();
    assert!(told.starts_with("error: cannot open the working directory /nowhere\n"), "{told}");
}

#[test]
fn the_directory_is_the_current_one_unless_another_is_named() {
    let world = world();
    let here = world.run_with(&["--json", "--profile", "tunacode"], "pwd").finish().json();
    assert_eq!(string(&here["stdout"]), world.work().to_str().unwrap());
    assert_eq!(ran(&["--cwd", "/usr"], "pwd")["stdout"], "/usr");
}

#[test]
fn the_environment_is_inherited() {
    let world = world();
    let run = world.run_with(&["--json", "--profile", "tunacode"], "echo $FLAVOUR");
    assert_eq!(run.env("FLAVOUR", "tuna").finish().json()["stdout"], "tuna");
}

#[test]
fn variables_that_are_given_win() {
    let options = ["--json", "--profile", "tunacode", "--env", "FLAVOUR=given", "--env", "MORE=too"];
    let world = world();
    let run = world.run_with(&options, "echo $FLAVOUR $MORE");
    assert_eq!(run.env("FLAVOUR", "inherited").finish().json()["stdout"], "given too");
}

#[test]
fn the_tool_is_described_with_its_limits() {
    let tool = world().bashtion().args(&["schema", "--profile", "tunacode", "--format", "mcp"]).finish();
    let json = tool.json();
    let description = string(&json["description"]);
    for said in ["30s by default, 1 to 300 seconds", "the first 2500 and the last 1000", "`;`, `&`"] {
        assert!(description.contains(said), "{said}: {description}");
    }
}

#[test]
fn it_is_not_read_only() {
    let world = world();
    let json = world.run_with(&["--json", "--profile", "tunacode"], "touch made").finish().json();
    assert!(json["success"] == true && world.work().join("made").exists(), "{json}");
}

#[test]
fn the_text_names_the_directory_that_was_given() {
    assert!(text(&["--cwd", "/usr"], "true").contains("\nWorking Directory: /usr\n"));
}
