//! `--json`: one object, whatever happens.

use crate::world;

#[test]
fn the_result_is_one_line() {
    let world = world();
    let finished =
        world.run_with(&["--json", "--description", "Say hi"], "echo hi; echo oops >&2; exit 3").finish();
    assert_eq!(finished.code(), Some(3));
    assert_eq!(finished.stderr(), "");
    assert_eq!(finished.stdout().lines().count(), 1);
    let json = finished.json();
    assert_eq!(json["status"], "exited");
    assert_eq!(json["success"], false);
    assert_eq!((&json["stdout"], &json["stderr"]), (&"hi\n".into(), &"oops\n".into()));
    assert_eq!(json["description"], "Say hi");
    assert_eq!(json["cwd"], world.work().to_str().unwrap());
}

#[test]
fn options_reach_the_engine() {
    let world = world();
    std::fs::create_dir(world.work().join("sub")).unwrap();
    let options =
        ["--json", "--cwd", "sub", "--env", "A=1", "--env", "B=x=y", "--env", "A=2", "--max-output", "20"];
    let json = world.run_with(&options, "echo $A $B; pwd; seq 1 100").finish().json();
    let file = std::fs::read_to_string(json["output_file"].as_str().unwrap()).unwrap();
    assert!(file.starts_with(&format!("2 x=y\n{}/sub\n1\n2\n", world.work().display())), "{file}");
    assert_eq!(json["truncated"], true);
    assert!(json["output_file"].as_str().unwrap().starts_with(world.state().to_str().unwrap()));

    let json = world.run_with(&["--json", "--combined"], "echo a; echo b >&2").finish().json();
    assert_eq!(json["output"], "a\nb\n");
    let json = world
        .run_with(&["--json", "--clear-env", "--env", "ONLY=1"], "echo $ONLY:$HOME:$PAGER")
        .finish()
        .json();
    assert_eq!(json["stdout"], "1::\n");
    let json = world.run_with(&["--json", "--leftovers", "keep"], "sleep 0.9 & true").finish().json();
    assert_eq!(json["leftovers"][0]["action"], "kept");
    let json = world.run_with(&["--json", "--timeout", "0.2"], "echo x; sleep 100").finish().json();
    assert_eq!(
        (&json["status"], &json["timed_out"], &json["stdout"]),
        (&"timed_out".into(), &true.into(), &"x\n".into())
    );
}

#[test]
fn the_command_can_come_from_standard_input() {
    let world = world();
    let long = format!("x={}\necho ${{#x}}\n", "a".repeat(300_000));
    let finished = world.bashtion().args(&["run", "--json", "-"]).finish_with_input(long.as_bytes());
    assert_eq!(finished.json()["stdout"], "300000\n");
    let empty = world.bashtion().args(&["run", "-"]).finish_with_input(b"");
    assert_eq!(empty.code(), Some(125));
}

#[test]
fn an_error_is_told_apart() {
    let finished = world().run_with(&["--json", "--cwd", "/nowhere"], "true").finish();
    assert_eq!(finished.code(), Some(125));
    insta::assert_snapshot!(finished.stdout(), @r#"{"error":{"message":"cannot open the working directory /nowhere","causes":["No such file or directory (os error 2)"],"help":"name an existing directory that you may enter with --cwd"}}"#);
    insta::assert_snapshot!(finished.stderr(), @"
    error: cannot open the working directory /nowhere
      cause: No such file or directory (os error 2)
    help: name an existing directory that you may enter with --cwd
    ");
    let finished = world().run_with(&["--stream"], "").finish();
    assert_eq!(finished.json_lines()[0]["event"], "error");
}

#[test]
fn the_hosts_secrets_do_not_reach_the_command() {
    let finished = world().run("env").env("OPENAI_API_KEY", "sk-123").env("GITHUB_TOKEN", "ghp").finish();
    assert!(!finished.stdout().contains("sk-123") && !finished.stdout().contains("ghp"));
    assert!(finished.stdout().contains("AI_AGENT=bashtion\n"));
}
