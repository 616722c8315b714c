//! `bashtion hook` as agents call it, and whether `doctor` notices that it does not work.

use std::fs;
use std::path::{Path, PathBuf};

use bashtion_testkit::{Finished, World};
use serde_json::{Value, json};

use crate::world;

const AGENTS: [&str; 6] = ["claude-code", "codex", "gemini", "copilot", "cursor", "opencode"];

fn home(world: &World) -> PathBuf {
    world.work().parent().unwrap().join("home")
}

fn claude(world: &World, options: &[&str], arguments: &Value) -> Finished {
    let event = json!({
        "session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": world.work(),
        "tool_input": arguments,
    });
    let run = world.bashtion().args(&["hook", "claude-code"]).args(options);
    run.finish_with_input(event.to_string().as_bytes())
}

/// What the agent would run instead, and everything else it would pass.
fn rewritten(world: &World, command: &str) -> String {
    let arguments = json!({ "command": command, "description": "d", "run_in_background": true });
    let said = claude(world, &["--confine"], &arguments).json();
    let words = &said["hookSpecificOutput"];
    assert_eq!(words["updatedInput"]["description"], "d");
    assert_eq!(words["updatedInput"]["run_in_background"], true);
    words["updatedInput"]["command"].as_str().unwrap().to_owned()
}

fn sh(world: &World, line: &str) -> Finished {
    world.program("/bin/sh").args(&["-c", line]).finish()
}

#[test]
fn a_hook_judges_as_check_does() {
    let world = world();
    let decision = |command: &str| {
        let finished = claude(&world, &[], &json!({ "command": command }));
        assert_eq!((finished.code(), finished.stderr().as_str()), (Some(0), ""));
        finished.json()["hookSpecificOutput"]["permissionDecision"].clone()
    };
    for (command, expected) in
        [("ls", Value::Null), ("git reset --hard", json!("ask")), ("rm -rf /", json!("deny"))]
    {
        assert_eq!(decision(command), expected);
        let code = world.bashtion().args(&["check", command]).finish().code();
        assert_eq!(
            code,
            Some(match &expected {
                Value::Null => 0,
                word if word == "ask" => 3,
                _ => 4,
            })
        );
    }
    assert_eq!(decision("bashtion run --approve always 'git reset --hard'"), "deny");
    assert_eq!(decision("bashtion hook claude-code --uninstall"), "deny");
    fs::write(world.work().join(".bashtion.toml"), "[guard]\nblock = ['frobnicate']\n").unwrap();
    assert_eq!(decision("frobnicate"), "deny");
    fs::write(world.work().join(".bashtion.toml"), "no TOML").unwrap();
    let finished = claude(&world, &[], &json!({ "command": "make" }));
    assert_eq!((finished.code(), finished.stdout().as_str()), (Some(2), ""));
    assert!(
        finished.stderr().contains(".bashtion.toml") && finished.stderr().contains("repair"),
        "{finished:?}"
    );
    let looks = claude(&world, &[], &json!({ "command": "cat .bashtion.toml" }));
    assert_eq!((looks.code(), looks.stdout().as_str()), (Some(0), "{}\n"), "{looks:?}");
    let repairs = claude(&world, &[], &json!({ "command": "rm .bashtion.toml" }));
    assert_eq!(repairs.json()["hookSpecificOutput"]["permissionDecision"], "ask");
}

#[test]
fn a_hook_tells_the_model_what_bash_cannot_read() {
    let world = world();
    for options in [&[][..], &["--confine"]] {
        let said = claude(&world, options, &json!({ "command": "ls\necho \"unclosed" })).json();
        let words = &said["hookSpecificOutput"];
        assert_eq!(words["permissionDecision"], "deny");
        let reason = words["permissionDecisionReason"].as_str().unwrap();
        assert_eq!(
            reason.lines().next(),
            Some(
                r#"not run, because bash cannot read it: line 2: unexpected EOF while looking for matching `"' (syntax)"#
            )
        );
    }
}

#[test]
fn a_hook_knows_whether_the_command_will_be_confined() {
    let world = world();
    let decision = |options: &[&str], command: &str| {
        let said = claude(&world, options, &json!({ "command": command })).json();
        said["hookSpecificOutput"]["permissionDecision"].clone()
    };
    assert_eq!(decision(&[], "pkill node"), "ask");
    assert_eq!(decision(&["--confine"], "pkill node"), Value::Null);
    // The link is judged as what it leads to, and the profile's HOME is not that of the agent's shell.
    std::os::unix::fs::symlink("/", world.work().join("root")).unwrap();
    let event = json!({
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": world.work().join("root"),
        "tool_input": { "command": "rm -rf ./bin" },
    });
    let run = world.bashtion().args(&["hook", "claude-code"]);
    let said = run.finish_with_input(event.to_string().as_bytes()).json();
    assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "deny", "{said}");
    assert_eq!(decision(&["--profile", "chorus"], "rm -rf ~"), "deny");
}

#[test]
fn a_hook_writes_down_what_it_refused() {
    let world = world();
    claude(&world, &[], &json!({ "command": "rm -rf /", "description": "clean up" }));
    let rows = world.bashtion().args(&["audit", "list", "--decision", "deny", "--json"]).finish().json();
    assert_eq!((&rows[0]["kind"], &rows[0]["command"]), (&json!("judged"), &json!("rm -rf /")));
}

#[test]
fn a_hook_s_command_runs_confined_with_the_same_output_and_exit_code() {
    let world = world();
    let texts = [
        "echo hello; echo oops >&2; exit 3",
        "printf '%s|' \"it's\" 'a\"b' '$HOME' \\\\ '!x' '`id`'\nprintf '\\n'; false",
        "-x; echo $?",
        "-",
        "--help",
        "cat <<'E'\nline '1'\n  $(id)\nE\n(exit 7)",
        "  # only a comment\n\n\ttrue",
        "echo é世界🎉; printf 'a\\tb'",
        "x=\"</dev/null' -- '\"; echo \"$x\"",
    ];
    for text in texts {
        let plain = world.program("/bin/bash").args(&["-c", "--", text]).finish();
        let line = rewritten(&world, text);
        let confined = sh(&world, &line);
        assert_eq!(confined.code(), plain.code(), "{line}\n{confined:?}");
        assert_eq!(confined.stdout_bytes(), plain.stdout_bytes(), "{line}");
        // Once more, as where two hooks are asked one after the other.
        assert_eq!(rewritten(&world, &line), line);
    }
    let outside = home(&world).join("outside");
    let finished = sh(&world, &rewritten(&world, &format!("touch inside; touch '{}'", outside.display())));
    assert_ne!(finished.code(), Some(0), "{finished:?}");
    assert!(world.work().join("inside").exists() && !outside.exists());
}

#[test]
fn a_hook_that_cannot_ask_leaves_the_question_in_the_queue() {
    let world = world();
    let setup = "git init -q . && git -c user.name=n -c user.email=e commit -q --allow-empty -m m && echo x > f && git add f";
    assert_eq!(sh(&world, setup).code(), Some(0));
    let event =
        json!({ "tool_name": "Bash", "cwd": world.work(), "tool_input": { "command": "git reset --hard" } });
    let run = world.bashtion().args(&["hook", "codex", "--confine"]);
    let said = run.finish_with_input(event.to_string().as_bytes()).json();
    let line = said["hookSpecificOutput"]["updatedInput"]["command"].as_str().unwrap();
    assert_eq!(sh(&world, line).code(), Some(126));
    let waiting = world.bashtion().args(&["approve", "--json"]).finish().json();
    let id = waiting[0]["id"].as_str().or(waiting[0]["approval_id"].as_str()).unwrap();
    assert_eq!(world.bashtion().args(&["approve", id]).finish().code(), Some(0));
    assert_eq!(sh(&world, line).code(), Some(0));
    assert!(!world.work().join("f").exists());
}

#[test]
fn a_hook_that_asks_does_not_ask_twice_and_what_is_denied_stays_denied() {
    let world = world();
    let line = rewritten(&world, "git reset --hard");
    assert!(line.contains(" --approve always "), "{line}");
    assert_eq!(sh(&world, &line).code(), Some(128), "no repository, but it ran");
    let denied = line.replace("git reset --hard", "rm -rf /");
    assert_eq!(sh(&world, &denied).code(), Some(126));
    // A model that has seen it cannot use it.
    let said = claude(&world, &[], &json!({ "command": line })).json();
    assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "deny");
}

#[test]
fn a_hook_is_installed_and_removed_and_doctor_sees_it() {
    let world = world();
    for agent in AGENTS {
        let install =
            |option: &str| world.bashtion().args(&["hook", agent, option, "--json"]).finish().json();
        let file = PathBuf::from(install("--print")["file"].as_str().unwrap());
        assert!(file.starts_with(home(&world)) && !file.exists());
        assert_eq!(
            (&install("--install")["changed"], &install("--install")["changed"]),
            (&json!(true), &json!(false))
        );
        let hook = hook(&world, agent);
        assert_eq!(hook["fires"], agent != "codex", "{hook}");
        assert!(agent != "codex" || hook["problems"][0].as_str().unwrap().contains("not trusted"), "{hook}");
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replace(env!("CARGO_BIN_EXE_bashtion"), "/nowhere/bashtion")).unwrap();
        assert_eq!(self::hook(&world, agent)["fires"], false);
        assert_eq!(install("--uninstall")["changed"], true);
        assert!(Path::new(&format!("{}.bashtion-backup", file.display())).exists());
        assert_eq!(install("--uninstall")["changed"], false);
    }
}

fn hook(world: &World, agent: &str) -> Value {
    let json = world.bashtion().args(&["doctor", "--json"]).finish().json();
    json["hooks"].as_array().unwrap().iter().find(|hook| hook["agent"] == agent).unwrap().clone()
}

#[test]
fn a_hook_that_answers_wrongly_does_not_fire() {
    let world = world();
    let program = world.work().join("bashtion");
    fs::write(&program, "#!/bin/sh\necho '{}'\n").unwrap();
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(world.bashtion().args(&["hook", "gemini", "--install"]).finish().code(), Some(0));
    let file = home(&world).join(".gemini/settings.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace(env!("CARGO_BIN_EXE_bashtion"), program.to_str().unwrap())).unwrap();
    assert_eq!(hook(&world, "gemini")["fires"], false);
    fs::write(&file, text.replacen('{', "{\"hooksConfig\": {\"enabled\": false},", 1)).unwrap();
    let hook = hook(&world, "gemini");
    assert!(hook["problems"][0].as_str().unwrap().contains("hooksConfig.enabled"), "{hook}");
}

#[test]
fn a_hook_is_not_put_into_a_file_with_comments() {
    let world = world();
    let file = home(&world).join(".gemini/settings.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "{ // mine\n}").unwrap();
    let finished = world.bashtion().args(&["hook", "gemini", "--install"]).finish();
    assert_eq!(finished.code(), Some(1));
    assert!(
        finished.stderr().contains("comments") && finished.stderr().contains("\"BeforeTool\": ["),
        "{finished:?}"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), "{ // mine\n}");
}

#[test]
fn a_hook_of_the_project_follows_no_link_out_of_it() {
    let world = world();
    let outside = world.state();
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("settings.json"), "{}").unwrap();
    std::os::unix::fs::symlink(&outside, world.work().join(".claude")).unwrap();
    let finished = world.bashtion().args(&["hook", "claude-code", "--install", "--project"]).finish();
    assert_eq!(finished.code(), Some(1));
    assert!(finished.stderr().contains("leads out of the project by a link"), "{}", finished.stderr());
    assert_eq!(fs::read_to_string(outside.join("settings.json")).unwrap(), "{}");
}

#[test]
fn a_hook_of_the_project_goes_into_the_project() {
    let world = world();
    let finished = world.bashtion().args(&["hook", "cursor", "--install", "--project"]).finish();
    assert_eq!(finished.code(), Some(0));
    assert!(world.work().join(".cursor/hooks.json").exists() && !home(&world).join(".cursor").exists());
    for args in [["cursor", "--confine"], ["codex", "--allow"], ["gemini", "--project"]] {
        assert_eq!(world.bashtion().arg("hook").args(&args).finish().code(), Some(2));
    }
    assert_eq!(world.bashtion().args(&["hook", "emacs"]).finish().code(), Some(2));
}
