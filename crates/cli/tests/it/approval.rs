//! Questions without a terminal: they wait, and `approve` and `deny` answer them.

use std::fs;

use bashtion_testkit::{Finished, World};
use serde_json::Value;

use crate::world;

/// Asked about because nobody knows what it would run.
const ASKED: &str = "echo ran | tee -a made; $UNSET true";

fn waiting(world: &World) -> String {
    let finished = world.run_with(&["--json"], ASKED).finish();
    assert_eq!(finished.code(), Some(126), "{finished:?}");
    let json = finished.json();
    assert_eq!(json["status"], "needs_approval");
    json["approval_id"].as_str().unwrap().to_owned()
}

fn verb(world: &World, args: &[&str]) -> Finished {
    world.bashtion().args(args).finish()
}

fn times_run(world: &World) -> usize {
    fs::read_to_string(world.work().join("made")).map_or(0, |text| text.lines().count())
}

#[test]
fn a_question_waits_and_is_told() {
    let world = world();
    let finished = world.run(ASKED).finish();
    assert_eq!((finished.code(), finished.stdout().as_str()), (Some(126), ""));
    let told = finished.stderr();
    let id = told.lines().find_map(|line| line.strip_prefix("waiting: ")).unwrap().to_owned();
    let last = format!(
        "help: the user can agree with `bashtion approve {id}`, which runs nothing by itself; run the command again after that\n"
    );
    assert!(told.starts_with("needs approval: ") && told.ends_with(&last), "{told}");
    let again = world.run(ASKED).finish().stderr();
    assert!(again.contains(&format!("waiting: {id}\n")), "{again}");
    assert_eq!(times_run(&world), 0);
}

#[test]
fn approve_lists_shows_and_lets_it_run_once() {
    let world = world();
    assert_eq!(verb(&world, &["approve"]).stdout(), "nothing waits for approval\n");
    assert_eq!(verb(&world, &["approve", "--json"]).json(), Value::Array(vec![]));
    let id = waiting(&world);
    let listed = verb(&world, &["approve"]).stdout();
    assert!(listed.contains(&id) && listed.contains(ASKED) && listed.contains("opaque: "), "{listed}");
    let json = verb(&world, &["approve", "--json"]).json();
    assert_eq!((&json[0]["approval_id"], &json[0]["state"]), (&id.as_str().into(), &"waiting".into()));
    assert_eq!((&json[0]["command"], &json[0]["verdict"]["decision"]), (&ASKED.into(), &"ask".into()));

    let approved = verb(&world, &["approve", &id[4..7]]);
    assert_eq!(approved.code(), Some(0), "{approved:?}");
    let text = approved.stdout();
    assert!(text.contains(&format!("│ {ASKED}\n")), "{text}");
    let last = format!(
        "└ approved: {id} may run once, if the very same request is made again within 15m0s; nothing runs by itself\n"
    );
    assert!(text.ends_with(&last), "{text}");
    assert_eq!(times_run(&world), 0);
    assert_eq!(verb(&world, &["approve"]).stdout(), "nothing waits for approval\n");

    let ran = world.run_with(&["--json"], ASKED).finish();
    assert_eq!((ran.code(), times_run(&world)), (Some(0), 1), "{ran:?}");
    let json = ran.json();
    assert_eq!(json["approval_id"], id.as_str());
    assert!(json["notes"][0].as_str().unwrap().starts_with("approved by "), "{json}");
    assert_ne!(waiting(&world), id);
    assert_eq!(times_run(&world), 1);
}

#[test]
fn deny_tells_why() {
    let world = world();
    let id = waiting(&world);
    let denied = verb(&world, &["deny", &id, "--reason", "use a branch", "--json"]).json();
    assert_eq!((&denied["state"], &denied["reason"]), (&"denied".into(), &"use a branch".into()));
    let finished = world.run_with(&["--json"], ASKED).finish();
    let json = finished.json();
    assert_eq!((finished.code(), &json["status"]), (Some(126), &"refused".into()));
    let finding = &json["verdict"]["findings"][0];
    assert_eq!(finding["rule"], "approval");
    assert!(finding["message"].as_str().unwrap().ends_with("has refused it: use a branch"), "{finding}");
    assert_eq!(times_run(&world), 0);
}

#[test]
fn errors_say_what_is_wrong() {
    let world = world();
    let told = |args: &[&str]| {
        let finished = verb(&world, args);
        assert_eq!(finished.code(), Some(1), "{args:?}: {finished:?}");
        finished.stderr()
    };
    insta::assert_snapshot!(told(&["approve", "ask-222222"]), @"
    error: there is no question ask-222222
    help: `bashtion approve` shows what waits
    ");
    let id = waiting(&world);
    verb(&world, &["approve", &id]).code().unwrap();
    let answered = told(&["approve", &id]).replace(&id, "ID");
    assert!(answered.starts_with("error: the question ID was answered already: approved by "), "{answered}");
    assert!(
        answered
            .ends_with("help: an answer that nobody uses expires by itself, and then it can be asked anew\n"),
        "{answered}"
    );
    let json = world.bashtion().args(&["approve", "nope", "--json"]).finish().json();
    assert_eq!(json["error"]["message"], "there is no question nope");
    assert_eq!(world.bashtion().args(&["deny"]).finish().code(), Some(2));
    let inside = world.bashtion().args(&["approve", &id]).env("AI_AGENT", "bashtion").finish();
    insta::assert_snapshot!(inside.stderr(), @"
    error: a command that Bashtion runs cannot answer for the user
    help: tell the user which question waits
    ");
}

#[test]
fn an_expired_question_is_told() {
    let world = world();
    let config = world.work().join("../config.toml");
    fs::write(&config, "[permissions]\nanswer-within = '1s'\n").unwrap();
    let run = world.run_with(&["--json"], ASKED).env("BASHTION_CONFIG", config.to_str().unwrap());
    let id = run.finish().json()["approval_id"].as_str().unwrap().to_owned();
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let finished = verb(&world, &["approve", &id]);
    assert_eq!(finished.code(), Some(1));
    assert_eq!(
        finished.stderr(),
        format!("error: the question {id} has expired\nhelp: run the command again to ask anew\n")
    );
    assert_ne!(waiting(&world), id);
}

#[test]
fn a_file_that_was_edited_is_named_and_does_not_count() {
    let world = world();
    let id = waiting(&world);
    let file = world.state().join(format!("private/approvals/{id}.json"));
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("echo ran", "echo RAN")).unwrap();
    let refused = verb(&world, &["approve", &id]);
    assert_eq!(refused.code(), Some(1));
    insta::assert_snapshot!(refused.stderr().replace(&file.display().to_string(), "FILE"), @"
    error: FILE does not count: its seal does not fit, so something other than Bashtion has changed or made it
    help: remove it, and run the command again to ask anew; if no update explains it, look for what wrote the file
    ");
    assert!(verb(&world, &["approve"]).stderr().contains(&format!("note: {}", file.display())));
    assert_ne!(waiting(&world), id);
    assert_eq!(times_run(&world), 0);
}

#[test]
fn deny_revokes_an_approval() {
    let world = world();
    let id = waiting(&world);
    assert_eq!(verb(&world, &["approve", &id]).code(), Some(0));
    let revoked = verb(&world, &["deny", &id]);
    assert_eq!(revoked.code(), Some(0), "{revoked:?}");
    let closing = format!("└ denied: {id}, which revokes the approval by ");
    assert!(revoked.stdout().contains(&closing), "{}", revoked.stdout());
    let finished = world.run_with(&["--json"], ASKED).finish();
    assert_eq!((&finished.json()["status"], times_run(&world)), (&"refused".into(), 0));

    let id = waiting(&world);
    verb(&world, &["approve", &id]).code().unwrap();
    assert_eq!(world.run_with(&["--json"], ASKED).finish().code(), Some(0));
    let late = verb(&world, &["deny", &id]);
    assert_eq!(late.code(), Some(1));
    let said = format!("error: the answer to {id} was used already: approved by ");
    assert!(late.stderr().starts_with(&said), "{}", late.stderr());
}

#[test]
fn a_broken_file_is_a_note() {
    let world = world();
    let id = waiting(&world);
    fs::write(world.state().join("private/approvals/ask-222222.json"), "{").unwrap();
    let listed = verb(&world, &["approve"]);
    assert!(listed.stdout().contains(&id));
    assert!(listed.stderr().starts_with("note: cannot read "), "{}", listed.stderr());
    assert_eq!(verb(&world, &["approve", &id]).code(), Some(0));
}

#[test]
fn never_and_always() {
    let world = world();
    let never = world.run_with(&["--approve", "never", "--json"], ASKED).finish();
    assert_eq!(
        (&never.json()["status"], &never.json()["approval_id"]),
        (&"needs_approval".into(), &Value::Null)
    );
    assert!(!world.state().join("private/approvals").exists());
    let always = world.run_with(&["--approve", "always", "--json"], ASKED).finish();
    assert_eq!((always.code(), times_run(&world)), (Some(0), 1));
    assert_eq!(always.json()["notes"][0], "approved by --approve always");
    let denied = world.run_with(&["--approve", "always"], "echo ran >> made; rm -rf /").finish();
    assert_eq!((denied.code(), times_run(&world)), (Some(126), 1));
}

#[test]
fn an_answer_is_not_for_another_place_or_sandbox() {
    let world = world();
    fs::create_dir(world.work().join("sub")).unwrap();
    let id = waiting(&world);
    verb(&world, &["approve", &id]).code().unwrap();
    for options in [
        ["--json", "--cwd", "sub"],
        ["--json", "--sandbox", "off"],
        ["--json", "--env", "A=1"],
        ["--json", "--timeout", "9s"],
        ["--json", "--limit", "cpu=9s"],
        ["--json", "--session", "s"],
    ] {
        let json = world.run_with(&options, ASKED).finish().json();
        assert_eq!(json["status"], "needs_approval", "{options:?}");
        assert_ne!(json["approval_id"], id.as_str(), "{options:?}");
    }
    let background = world.run_with(&["--json", "--background"], ASKED).finish().json();
    assert_eq!(background["status"], "needs_approval");
    assert_eq!(times_run(&world), 0);
}

#[test]
fn one_of_many_processes_gets_it() {
    let world = world();
    let id = waiting(&world);
    verb(&world, &["approve", &id]).code().unwrap();
    let children: Vec<_> = (0..50).map(|_| world.run_with(&["--json"], ASKED).start()).collect();
    let codes: Vec<_> =
        children.into_iter().map(|child| child.wait_with_output().unwrap().status.code()).collect();
    let ran = codes.iter().filter(|code| **code == Some(0)).count();
    assert_eq!((ran, times_run(&world)), (1, 1), "{codes:?}");
    assert!(codes.iter().all(|code| [Some(0), Some(126)].contains(code)), "{codes:?}");
}

#[test]
fn in_the_background_too() {
    let world = world();
    let start = |options: &[&str]| {
        let options: Vec<_> = ["--background", "--json"].iter().chain(options).copied().collect();
        world.run_with(&options, ASKED).finish().json()
    };
    let first = start(&[]);
    assert_eq!((&first["status"], &first["task_id"]), (&"needs_approval".into(), &Value::Null));
    let id = first["approval_id"].as_str().unwrap().to_owned();
    assert_eq!(start(&[])["approval_id"], id.as_str());
    verb(&world, &["approve", &id]).code().unwrap();
    let started = start(&[]);
    assert_eq!((&started["status"], &started["approval_id"]), (&"running".into(), &id.as_str().into()));
    let wait =
        |started: &Value| verb(&world, &["wait", started["task_id"].as_str().unwrap(), "--json"]).json();
    let ended = wait(&started);
    assert_eq!((&ended["status"], &ended["approval_id"]), (&"exited".into(), &id.as_str().into()));
    assert_eq!((times_run(&world), &start(&[])["status"]), (1, &"needs_approval".into()));
    let always = start(&["--approve", "always"]);
    assert_eq!(always["status"], "running");
    assert_eq!(wait(&always)["notes"][0], "approved by --approve always");
    assert_eq!(times_run(&world), 2);
}

#[test]
fn it_is_written_down() {
    let world = world();
    let id = waiting(&world);
    verb(&world, &["approve", &id]).code().unwrap();
    assert_eq!(world.run_with(&["--json"], ASKED).finish().code(), Some(0));
    let rows = verb(&world, &["audit", "list", "--json"]).json();
    let rows = rows.as_array().unwrap();
    let kinds: Vec<_> = rows.iter().rev().map(|row| row["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["judged", "asked", "ended", "answered", "judged", "answered", "started", "ended"]);
    let kind = |kind: &str| verb(&world, &["audit", "list", "--json", "--kind", kind]).json();
    let (asked, answered) = (kind("asked"), kind("answered"));
    assert_eq!(
        (&asked[0]["data"]["approval_id"], &asked[0]["command"]),
        (&id.as_str().into(), &ASKED.into())
    );
    assert_eq!(answered[1]["operation_id"], asked[0]["operation_id"], "of the call that asked");
    assert_ne!(answered[0]["operation_id"], asked[0]["operation_id"], "of the one that used it");
    assert_eq!(
        (&answered[1]["decision"], &answered[1]["data"]["approval_id"]),
        (&"allow".into(), &id.as_str().into())
    );
    assert_eq!(verb(&world, &["audit", "verify"]).code(), Some(0));
}

#[test]
fn observers_see_it() {
    let world = world();
    let events = |finished: &Finished| -> Vec<String> {
        finished.json_lines().iter().map(|line| line["event"].as_str().unwrap().to_owned()).collect()
    };
    let waiting = world.run_with(&["--stream"], ASKED).finish();
    assert_eq!(events(&waiting), ["asked", "ended"]);
    let id = waiting.json_lines()[0]["approval_id"].as_str().unwrap().to_owned();
    verb(&world, &["approve", &id]).code().unwrap();
    let ran = world.run_with(&["--stream"], ASKED).finish();
    assert_eq!(events(&ran), ["answered", "started", "output", "ended"]);
    assert_eq!(ran.json_lines()[0]["answer"], "approved");
}

#[test]
fn a_command_cannot_answer() {
    let world = world();
    let id = waiting(&world);
    let denied = world.run(format!("bashtion approve {id}")).finish();
    assert!(denied.stderr().starts_with("refused: this answers for the user\n"), "{}", denied.stderr());
    let script = world.work().join("script.sh");
    fs::write(&script, "env -u AI_AGENT $BASHTION approve \"$1\"; ls $BASHTION_STATE_DIR/private/approvals")
        .unwrap();
    let (program, state) = (env!("CARGO_BIN_EXE_bashtion"), world.state());
    let options = [
        "--env",
        &format!("BASHTION={program}"),
        "--env",
        &format!("BASHTION_STATE_DIR={}", state.display()),
    ];
    let hidden = world.run_with(&options, format!("bash script.sh {id}")).finish();
    assert!(!hidden.stdout().contains("approved"), "{hidden:?}");
    let listed = verb(&world, &["approve", "--json"]).json();
    assert_eq!((&listed[0]["approval_id"], listed.as_array().unwrap().len()), (&id.as_str().into(), 1));
}

#[test]
fn whoever_is_asked_sees_how_it_would_run() {
    let world = world();
    let options = ["--sandbox", "off", "--network", "on", "--env", "EDITION=7", "--timeout", "none"];
    assert_eq!(world.run_with(&options, ASKED).finish().code(), Some(126));
    let waiting = world.bashtion().args(&["approve", "--json"]).finish().json();
    let told: Vec<_> =
        waiting[0]["circumstances"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    let expected = ["not confined: it can do whatever you can", "EDITION=7", "for as long as it takes"];
    assert_eq!(told, expected, "{waiting}");
    let listed = world.bashtion().arg("approve").finish().stdout();
    assert!(
        listed.contains("not confined: it can do whatever you can (and 2 more, see it in full)"),
        "{listed}"
    );
    let id = waiting[0]["approval_id"].as_str().unwrap();
    let shown = world.bashtion().args(&["approve", "--show", id]).finish().stdout();
    assert!(shown.contains("│ EDITION=7\n") && shown.contains("nothing was answered"), "{shown}");
    let still = world.bashtion().args(&["approve", "--show", id, "--json"]).finish().json();
    assert_eq!(still["state"], "waiting");
}

#[test]
fn variables_beside_a_command_are_judged_as_those_in_it() {
    let world = world();
    fs::write(world.work().join("evil.sh"), "touch made\n").unwrap();
    for variable in
        ["BASH_ENV=evil.sh", "BASH_FUNC_ls%%=() { touch made; }", "LD_PRELOAD=./x.so", "PATH=.:/usr/bin:/bin"]
    {
        let finished = world.run_with(&["--json", "--env", variable], "ls").finish();
        assert_eq!(finished.code(), Some(126), "{variable}: {finished:?}");
        let finding = &finished.json()["verdict"]["findings"][0];
        assert_eq!(finding["rule"], "hijacks-programs", "{variable}: {finding}");
    }
    assert!(!world.work().join("made").exists());
    assert_eq!(world.run_with(&["--env", "EDITION=7"], "test $EDITION = 7").finish().code(), Some(0));
    let path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    assert_eq!(world.run_with(&["--env", path], "true").finish().code(), Some(0), "as it is anyway");
}

#[test]
fn what_would_change_the_shell_is_not_inherited() {
    let world = world();
    fs::write(world.work().join("evil.sh"), "touch made\n").unwrap();
    let run = world.run_with(&["--profile", "phoenix", "--json"], "ls; echo $EDITION");
    let run = run.env("BASH_ENV", "evil.sh").env("BASH_FUNC_ls%%", "() { touch made; }").env("EDITION", "7");
    let json = run.finish().json();
    assert_eq!(json["output"], "evil.sh\n7\n", "{json}");
}
