//! What clients and their models are told.

use std::io::Write;

use serde_json::{Value, json};

use crate::stdio::{Client, modern, text};
use crate::world;

fn tools(options: &[&str]) -> Vec<Value> {
    let world = world();
    let mut client = Client::with_capabilities(&world, options, &json!({}));
    let id = client.request("tools/list", &json!({}));
    client.answer(id)["result"]["tools"].as_array().unwrap().clone()
}

#[test]
fn there_are_six_tools_in_this_order() {
    let names = |options: &[&str]| -> Vec<String> {
        tools(options).iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    let all = ["bash", "task_list", "task_output", "task_wait", "task_kill", "approval"];
    assert_eq!(names(&[]), all);
    assert_eq!(names(&[]), all, "always the same");
    assert_eq!(names(&["--approve", "never"]), all[..5]);
}

#[test]
fn every_tool_says_what_it_does_and_takes() {
    for tool in tools(&[]) {
        let (name, schema) = (&tool["name"], &tool["inputSchema"]);
        assert!(tool["description"].as_str().unwrap().len() > 60, "{name}");
        assert_eq!(
            (&schema["type"], &schema["additionalProperties"]),
            (&json!("object"), &json!(false)),
            "{name}"
        );
        for (field, about) in schema["properties"].as_object().unwrap() {
            assert!(about["description"].is_string() && about["type"].is_string(), "{name} {field}");
            assert!(about.get("format").is_none(), "{name} {field}");
        }
        for hint in ["readOnlyHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{name} {hint}");
        }
        assert_eq!(tool["outputSchema"]["type"], "object", "{name}");
    }
}

#[test]
fn the_model_is_told_how_it_is_confined_how_long_and_what_to_do() {
    let world = world();
    let mut client = Client::new(&world);
    let id = client.request("tools/list", &json!({}));
    let listed = client.answer(id);
    let about = listed["result"]["tools"][0]["description"].as_str().unwrap();
    let place = format!("Working directory: {}", world.work().display());
    for said in [
        &place, "ends after 2m", "30,000 characters", "no network", "mode background", "task_output",
        "needs_approval",
    ] {
        assert!(about.contains(said), "{said} is not in {about}");
    }
    assert_eq!(listed["result"]["tools"][0]["annotations"]["openWorldHint"], false);
    assert_eq!(tools(&["--network", "on"])[0]["annotations"]["openWorldHint"], true);
    assert_eq!(tools(&["--sandbox", "read-only"])[0]["annotations"]["destructiveHint"], false);
}

/// A model has no options of the command line, but somebody to ask.
#[test]
fn a_denial_says_what_to_ask_the_user_for() {
    let world = world();
    std::fs::create_dir(world.work().join("../other")).unwrap();
    let other = world.work().join("../other").canonicalize().unwrap();
    let mut client = Client::new(&world);
    let result = client.bash("touch ../other/file 2>&1 | tail -3");
    let advice = format!(
        "ask your user to allow it with writable = [\"{}\"] under [sandbox] in the configuration",
        other.display()
    );
    assert!(text(&result).contains(&advice), "{}", text(&result));
    let denial = result["structuredContent"]["denials"][0].as_str().unwrap();
    assert!(denial.contains(&advice) && !denial.contains("--"), "{denial}");
    // Done as asked, it works.
    let config = world.work().join("../config.toml");
    std::fs::write(&config, format!("[sandbox]\nwritable = [\"{}\"]\n", other.display())).unwrap();
    let finished = world
        .bashtion()
        .env("BASHTION_CONFIG", config.to_str().unwrap())
        .args(&["run", "touch ../other/file 2>&1 | tail -3"])
        .finish();
    assert!(finished.code() == Some(0) && other.join("file").exists(), "{finished:?}");
}

#[test]
fn a_result_is_whole_as_text_and_as_an_object() {
    let world = world();
    let mut client = Client::new(&world);
    let result = client.bash("echo out; echo err >&2; exit 3");
    let (first, rest) = text(&result).split_once('\n').unwrap();
    assert!(first.starts_with("exit 3 after "), "{first}");
    assert_eq!(rest, "out\nstandard error:\nerr");
    let facts = &result["structuredContent"];
    assert_eq!(
        (&facts["status"], &facts["success"], &facts["exit_code"]),
        (&json!("exited"), &json!(false), &json!(3))
    );
    assert_eq!((&facts["stdout"], &facts["stderr"]), (&json!("out\n"), &json!("err\n")));
    assert_eq!(result["isError"], false, "a command that fails is a result");
    assert!(
        facts.get("command").is_none() && facts.get("usage").is_none(),
        "what nobody asked for costs tokens"
    );
}

#[test]
fn what_was_not_run_is_an_error_that_says_why_and_what_instead() {
    let world = world();
    let mut client = Client::new(&world);
    let result = client.bash("rm -rf /");
    assert_eq!(
        (&result["isError"], &result["structuredContent"]["status"]),
        (&json!(true), &json!("refused"))
    );
    assert!(
        text(&result).starts_with("refused: nothing was run: ") && text(&result).contains("help: "),
        "{result}"
    );
    assert_eq!(result["structuredContent"]["verdict"]["findings"][0]["rule"], "removes-root");
    let result = client.result("bash", &json!({"comand": "ls"}));
    assert!(text(&result).contains("did you mean \"command\"?") && result["isError"] == true, "{result}");
    let result = client.result("bash", &json!({"command": "ls", "cwd": "/"}));
    assert!(text(&result).contains("outside the allowed root") && result["isError"] == true, "{result}");
}

#[test]
fn a_profile_can_want_failures_to_be_errors_and_has_its_own_words() {
    let world = world();
    std::fs::write(world.work().join("p.toml"), "inherits = 'default'\n[tool]\nfailure-is-error = true\n")
        .unwrap();
    let mut client = Client::with_capabilities(&world, &["--profile", "p.toml"], &json!({}));
    assert_eq!(client.bash("exit 1")["isError"], true);
    assert_eq!(client.bash("exit 0")["isError"], false);
    let mut client = Client::with_capabilities(&world, &["--profile", "phoenix"], &json!({}));
    let result = client.bash("echo one; echo two >&2; exit 7");
    assert_eq!(text(&result), "one\ntwo\n[exit code: 7]");
    assert_eq!(result["structuredContent"]["text"], "one\ntwo\n[exit code: 7]");
    assert!(result["structuredContent"].get("output").is_none(), "not twice");
}

#[test]
fn the_structured_part_can_be_left_out() {
    let world = world();
    let mut client = Client::with_capabilities(&world, &["--text-only"], &json!({}));
    assert!(client.bash("true").get("structuredContent").is_none());
    assert!(tools(&["--text-only"]).iter().all(|tool| tool.get("outputSchema").is_none()));
}

#[test]
fn secrets_of_the_server_stay_with_it() {
    let world = world();
    let mut child = world.bashtion().arg("serve").arg("-v").env("API_KEY", "sesame-9931").start_with_input();
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"bash","arguments":{"command":"env; echo seen-4471"}}}"#;
    child.stdin.take().unwrap().write_all(format!("{hello}\n{call}\n").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let (stdout, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(stdout.contains("seen-4471") && !stdout.contains("sesame-9931"), "{stdout}");
    assert!(stderr.contains("called tool=\"bash\"") && !stderr.contains("seen-4471"), "{stderr}");
    assert!(!stderr.contains("sesame"), "{stderr}");
}

#[test]
fn every_version_of_the_protocol_is_spoken() {
    let world = world();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = Client::silent(&world, &[]);
        let hello = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let id = client.request("initialize", &hello);
        assert_eq!(client.answer(id)["result"]["protocolVersion"], version);
        assert_eq!(client.bash("echo in")["structuredContent"]["stdout"], "in\n", "{version}");
    }
    let mut client = Client::silent(&world, &[]);
    let id = client.request("server/discover", &json!({"_meta": modern(&json!({}))}));
    let found = client.answer(id);
    assert!(found["result"]["supportedVersions"].to_string().contains("2026-07-28"), "{found}");
    let call = json!({"name": "bash", "arguments": {"command": "echo in"}, "_meta": modern(&json!({}))});
    let id = client.request("tools/call", &call);
    assert_eq!(client.answer(id)["result"]["structuredContent"]["stdout"], "in\n");
}
