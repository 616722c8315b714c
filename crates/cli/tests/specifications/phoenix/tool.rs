//! REQ-BASH-004 to 006: no terminal, the schema, errors.

use super::*;

// REQ-BASH-004: No TTY attached

#[test]
fn req_bash_004_no_stream_is_a_terminal() {
    // Called from a terminal all the same.
    let script =
        "\"$BASHTION\" run --profile phoenix 'for fd in 0 1 2; do [ -t $fd ] && echo $fd; done; echo none'";
    let finished =
        world().program("script").args(&["-qec", script, "/dev/null"]).env("SHELL", "/bin/bash").finish();
    assert_eq!(finished.stdout().lines().next(), Some("none"), "{finished:?}");
}

#[test]
fn req_bash_004_there_is_no_controlling_terminal() {
    let script = "\"$BASHTION\" run --profile phoenix 'exec 3</dev/tty'";
    let finished =
        world().program("script").args(&["-qec", script, "/dev/null"]).env("SHELL", "/bin/bash").finish();
    assert!(finished.stdout().contains("/dev/tty: No such device or address"), "{finished:?}");
}

// REQ-BASH-005: Tool schema

#[test]
fn req_bash_005_command_is_a_required_string() {
    let input = &schema("phoenix")["input_schema"];
    assert_eq!(
        (&input["required"], &input["properties"]["command"]["type"]),
        (&json!(["command"]), &"string".into())
    );
}

#[test]
fn req_bash_005_mode_is_an_optional_enum() {
    let input = &schema("phoenix")["input_schema"];
    assert_eq!(input["properties"]["mode"]["enum"], json!(["default", "slow", "background"]));
    assert_eq!(input["properties"].as_object().unwrap().len(), 2);
}

#[test]
fn req_bash_005_other_modes_are_rejected() {
    let error = calls::parse(Vendor::Phoenix, json!({"command": "ls", "mode": "fast"})).unwrap_err();
    assert!(error.to_string().contains(r#"must be "default", "slow" or "background""#), "{error}");
}

#[tokio::test]
async fn req_bash_005_an_omitted_mode_is_the_default_one() {
    let dir = TempDir::new().unwrap();
    let mut profile = Profile::built_in("phoenix").unwrap();
    profile.limits.timeout = Duration::from_millis(200);
    let engine = Engine::builder().profile(&profile).state_dir(dir.path().join("state")).build();
    let parsed = calls::parse(Vendor::Phoenix, json!({"command": "sleep 10"})).unwrap();
    assert_eq!(parsed.call().placement, Placement::Foreground);
    let results = parsed.call().run(&engine, &ToolContext::from_host(dir.path())).await;
    assert_eq!(parsed.reply(&results)["timed_out"], true);
}

#[test]
fn req_bash_005_the_background_mode_is_for_the_background() {
    let parsed = calls::parse(Vendor::Phoenix, json!({"command": "ls", "mode": "background"})).unwrap();
    assert_eq!(parsed.call().placement, Placement::Background);
}

#[test]
fn req_bash_005_the_description_names_the_working_directory() {
    let world = world();
    let definition = world.bashtion().args(&["schema", "--profile", "phoenix"]).finish().json();
    let line = format!("\nWorking directory: {}\n", world.work().display());
    assert!(definition["description"].as_str().unwrap().contains(&line), "{definition}");
}

// REQ-BASH-006: Error reporting

#[test]
fn req_bash_006_a_failure_has_its_exit_code_and_output() {
    let json = run(&world(), "echo why >&2; exit 5");
    assert_eq!((&json["exit_code"], &json["output"]), (&5.into(), &"why\n".into()));
    assert_eq!(json["text"], "why\n[exit code: 5]");
}

#[test]
fn req_bash_006_a_system_error_is_described() {
    let finished = run_with(&world(), &["--cwd", "/nowhere"], "true");
    let error = &finished.json()["error"];
    assert_eq!(error["message"], "cannot open the working directory /nowhere");
    assert_eq!(error["causes"], json!(["No such file or directory (os error 2)"]));
}

#[test]
fn req_bash_006_a_system_error_is_told_apart_from_a_failure() {
    let world = world();
    // A command may end with our own code for errors, too.
    let failed = run_with(&world, &[], "exit 125");
    let error = run_with(&world, &["--cwd", "/nowhere"], "true");
    assert_eq!((failed.code(), error.code()), (Some(125), Some(125)));
    assert_eq!((failed.json().get("error"), error.json().get("exit_code")), (None, None));
}

#[tokio::test]
async fn req_bash_006_the_tools_reply_tells_them_apart() {
    let dir = TempDir::new().unwrap();
    let parsed = calls::parse(Vendor::Phoenix, json!({"command": "exit 5"})).unwrap();
    let reply = async |cwd: &Path| {
        let results = parsed.call().run(&engine(&dir), &ToolContext::from_host(cwd)).await;
        parsed.reply(&results)
    };
    let failed = reply(dir.path()).await;
    assert_eq!((&failed["exit_code"], &failed["is_error"]), (&5.into(), &true.into()));
    let error = reply(Path::new("/nowhere")).await;
    assert_eq!((&error["exit_code"], &error["is_error"]), (&Value::Null, &true.into()));
    let text = error["output"].as_str().unwrap();
    assert!(text.contains("not run: cannot open the working directory /nowhere"), "{text}");
}
