//! Everything is written down, and nobody can change it unnoticed.

use std::fs;

use bashtion_testkit::World;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::tasks::{start, waited};
use crate::world;

fn rows(world: &World, filter: &[&str]) -> Vec<Value> {
    let listed =
        world.bashtion().args(&["audit", "list", "--json", "--limit", "10000"]).args(filter).finish();
    assert_eq!(listed.code(), Some(0), "{}", listed.stderr());
    listed.json().as_array().unwrap().clone()
}

fn verified(world: &World) -> (Option<i32>, String) {
    let done = world.bashtion().args(&["audit", "verify"]).finish();
    (done.code(), done.stdout())
}

/// Changes the database behind our back.
fn tamper(world: &World, statement: &str) {
    let script = format!(
        "import sqlite3; c = sqlite3.connect('{}'); c.executescript(\"\"\"{statement}\"\"\"); c.commit()",
        world.state().join("private/audit/audit.db").display()
    );
    let done = world.program("/usr/bin/env").args(&["python3", "-c", &script]).finish();
    assert_eq!(done.code(), Some(0), "{}", done.stderr());
}

#[test]
fn requests_verdicts_starts_and_ends_are_rows() {
    let world = world();
    assert_eq!(world.bashtion().args(&["audit", "list"]).finish().code(), Some(1), "there is none yet");
    assert_eq!(world.run("echo out; exit 3").finish().code(), Some(3));
    assert_eq!(world.run("rm -rf ~").finish().code(), Some(126));
    let id = start(&world, &[], "echo in the background");
    waited(&world, &id);
    let all = rows(&world, &[]);
    let kinds: Vec<_> = all.iter().rev().map(|row| row["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["judged", "started", "ended", "judged", "ended", "judged", "started", "ended"]);
    assert_eq!(rows(&world, &["--decision", "deny"]).len(), 2);
    let refused = rows(&world, &["--status", "refused"]);
    assert_eq!(
        (refused.len(), &refused[0]["data"]["verdict"]["findings"][0]["rule"]),
        (1, &"removes-root".into())
    );
    let found = rows(&world, &["--text", "ECHO OUT", "--kind", "ended"]);
    assert_eq!((&found[0]["data"]["exit_code"], &found[0]["data"]["stdout"]), (&3.into(), &"out\n".into()));
    assert_eq!(found[0]["operation_id"], all.last().unwrap()["operation_id"]);
    assert_eq!(rows(&world, &["--since", "1h"]).len(), 8);
    assert_eq!(rows(&world, &["--until", "2020-01-01"]).len(), 0);
    let shown = world.bashtion().args(&["audit", "show", "3", "--json"]).finish().json();
    assert_eq!(shown[0]["status"], "exited");
    let call = found[0]["operation_id"].as_str().unwrap();
    assert_eq!(
        world.bashtion().args(&["audit", "show", call, "--json"]).finish().json().as_array().unwrap().len(),
        3
    );
    assert_eq!(world.bashtion().args(&["audit", "show", "99"]).finish().code(), Some(1));
    let exported = world.bashtion().args(&["audit", "export"]).finish().json_lines();
    assert_eq!(
        exported.iter().map(|row| row["id"].as_i64().unwrap()).collect::<Vec<_>>(),
        (1..=8).collect::<Vec<_>>()
    );
    let csv =
        world.bashtion().args(&["audit", "export", "--format", "csv", "--kind", "judged"]).finish().stdout();
    assert!(csv.starts_with("id,time,kind,operation_id,decision,status,command,cwd,data\n1,20"), "{csv}");
    assert_eq!(verified(&world), (Some(0), "ok: 8 rows are as they were written\n".to_owned()));
}

#[test]
fn secrets_are_called_by_their_names() {
    let world = world();
    let command = "echo value-of-the-token $TOKEN_HERE; echo AKIAIOSFODNN7EXAMPLE";
    let done = world
        .run_with(&["--env", "TOKEN_HERE=given-to-the-command", "--json"], command)
        .env("SERVICE_TOKEN", "value-of-the-token")
        .finish();
    assert!(done.json()["stdout"].as_str().unwrap().starts_with("value-of-the-token given-to-the-command\n"));
    let id = world
        .run_with(&["--background", "--json"], "echo value-of-the-token again")
        .env("SERVICE_TOKEN", "value-of-the-token")
        .finish()
        .json()["task_id"]
        .as_str()
        .unwrap()
        .to_owned();
    waited(&world, &id);
    let ended = &rows(&world, &["--kind", "ended"])[1];
    assert_eq!(ended["data"]["stdout"], "[secret:SERVICE_TOKEN] [secret:TOKEN_HERE]\n[secret:aws-key]\n");
    for entry in fs::read_dir(world.state().join("private/audit")).unwrap().flatten() {
        let bytes = fs::read(entry.path()).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        for secret in ["value-of-the-token", "given-to-the-command", "AKIAIOSFODNN7EXAMPLE"] {
            assert!(!text.contains(secret), "{secret} in {:?}", entry.path());
        }
    }
}

#[test]
fn every_change_is_noticed_and_named() {
    for (statement, problem) in [
        ("UPDATE entries SET command = 'innocent' WHERE id = 4", "row 4 was changed"),
        ("UPDATE entries SET data = replace(data, 'allow', 'deny') WHERE id = 2", "ok"),
        ("UPDATE entries SET time = time + 1 WHERE id = 5", "row 5 was changed"),
        ("UPDATE entries SET status = NULL WHERE id = 6", "row 6 was changed"),
        ("DELETE FROM entries WHERE id = 3", "row 3 is missing"),
        ("DELETE FROM entries WHERE id = 1", "row 1 is missing"),
        ("DELETE FROM entries WHERE id > 7", "the rows after 7 are missing"),
        ("DELETE FROM entries", "the rows after 0 are missing"),
        (
            "UPDATE entries SET id = 100 WHERE id = 4; UPDATE entries SET id = 4 WHERE id = 5; UPDATE entries SET id = 5 WHERE id = 100",
            "row 4 was changed",
        ),
        (
            "INSERT INTO entries SELECT 10, time, kind, operation, command, cwd, decision, status, data, hash FROM entries WHERE id = 9",
            "row 10 was changed",
        ),
        (
            "INSERT INTO ends VALUES ('first', 3, x'00', x'00'); DELETE FROM entries WHERE id <= 3",
            "the mark that says",
        ),
    ] {
        let world = world();
        for number in 0..3 {
            world.run(format!("echo {number}")).finish().code().unwrap();
        }
        assert_eq!(verified(&world).0, Some(0));
        tamper(&world, statement);
        let (code, said) = verified(&world);
        assert_eq!(code, Some(i32::from(problem != "ok")), "{statement}: {said}");
        assert!(said.contains(problem), "{statement}: {said}");
    }
}

#[test]
fn what_is_on_its_way_to_the_database_is_protected_too() {
    for (edit, problem) in [
        ("sed -i s/echo.2/echo.9/ audit.spool", "row 7 was changed"),
        ("sed -i 3d audit.spool", "row 5 is missing"),
        ("sed -i '6,$d' audit.spool", "the rows after 7 are missing"),
        ("sed -i 2s/.*/nonsense/ audit.spool", "row 4 is missing"),
        (": > audit.tail", "the mark that says"),
        ("rm audit.tail", "the mark that says"),
        ("rm audit.tail audit.spool", "the mark that says"),
        ("truncate -s 0 audit.spool", "the rows after 2 are missing"),
    ] {
        let world = world();
        for number in 0..3 {
            world.run(format!("echo {number}")).finish().code().unwrap();
        }
        let script = format!("cd $BASHTION_STATE_DIR/private/audit && {edit}");
        assert_eq!(world.program("/bin/bash").args(&["-c", &script]).finish().code(), Some(0));
        let (code, said) = verified(&world);
        assert_eq!(code, Some(1), "{edit}: {said}");
        assert!(said.contains(problem), "{edit}: {said}");
    }
}

#[test]
fn twenty_writers_at_once_lose_nothing() {
    let world = world();
    let children: Vec<_> = (0..20)
        .map(|writer| {
            let loop_ = format!(
                "for i in 1 2 3 4 5; do $BASHTION run --sandbox off \"echo {writer} $i\" 2>&1; [ $i = 3 ] && $BASHTION audit list > /dev/null; done; true"
            );
            world.program("/bin/bash").args(&["-c", &loop_]).start()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.lines().count() == 5, "{said}");
    }
    assert_eq!(rows(&world, &["--kind", "ended"]).len(), 100);
    assert_eq!(verified(&world), (Some(0), "ok: 300 rows are as they were written\n".to_owned()));
}

#[test]
fn killed_at_any_moment_the_log_stays_whole() {
    let world = world();
    for round in 0..60_u64 {
        let mut child = world.run_with(&["--sandbox", "off"], "true").start();
        std::thread::sleep(std::time::Duration::from_micros(round * 97 % 6_000));
        let _ = kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGKILL);
        child.wait().unwrap();
    }
    let (code, said) = verified(&world);
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn required_and_impossible_means_that_nothing_runs() {
    let world = world();
    fs::create_dir_all(world.state()).unwrap();
    let config = world.work().join("../config.toml");
    fs::write(&config, "[audit]\nmode = \"required\"\n").unwrap();
    let flags = if rustix::process::geteuid().is_root() { "-m" } else { "-rm" };
    let script = "mount -t tmpfs -o size=32k,mode=700 none $BASHTION_STATE_DIR || exit 99
        $BASHTION run --sandbox off 'touch first'; echo \"code $?\"
        head -c 100000 /dev/zero > $BASHTION_STATE_DIR/full 2> /dev/null
        for i in $(seq 40); do $BASHTION run --sandbox off \"touch ran.$i; : $(seq -s ' ' 200)\" 2> err || break; done; echo \"code $?\"
        $BASHTION run --background 'touch background' > /dev/null 2>&1; echo \"code $?\"; cat err >&2";
    let done = world
        .program("/usr/bin/unshare")
        .args(&[flags, "/bin/bash", "-c", script])
        .env("BASHTION_CONFIG", config.to_str().unwrap())
        .finish();
    let out = done.stdout();
    assert!(
        out.starts_with("code 0\n") && out.contains("code 125\ncode 125\n")
            || out.ends_with("code 0\ncode 125\n"),
        "{out}"
    );
    assert!(
        done.stderr().contains("cannot write down") || done.stderr().contains("cannot write the audit log"),
        "{}",
        done.stderr()
    );
    assert!(world.work().join("first").exists() && !world.work().join("background").exists());
    let ran = fs::read_dir(world.work()).unwrap().flatten();
    let ran = ran.filter(|entry| entry.file_name().to_string_lossy().starts_with("ran.")).count();
    assert!(ran < 40, "{ran}");
}

/// A name that is not text is a name.
#[test]
fn a_background_task_is_written_down_whatever_the_directory_is_called() {
    let world = world();
    let config = world.work().join("../config.toml");
    fs::write(&config, "[audit]\nmode = \"required\"\n").unwrap();
    let script = "export BASHTION_STATE_DIR=$PWD/../odd$'\\xff'
        id=$($BASHTION run --background --json 'echo hi' | sed 's/.*\"task_id\":\"\\([^\"]*\\).*/\\1/')
        $BASHTION wait $id > /dev/null; $BASHTION audit list --json";
    let done = world
        .program("/bin/bash")
        .args(&["-c", script])
        .env("BASHTION_CONFIG", config.to_str().unwrap())
        .finish();
    let text = done.stdout();
    for row in ["judged", "started", "ended"] {
        assert!(text.contains(&format!("\"{row}\"")), "{row}: {done:?}");
    }
}

#[test]
fn it_can_be_turned_off_and_a_project_cannot() {
    let world = world();
    let config = world.work().join("../config.toml");
    fs::write(&config, "[audit]\nmode = \"off\"\n").unwrap();
    let done = world.run("true").env("BASHTION_CONFIG", config.to_str().unwrap()).finish();
    assert_eq!(done.code(), Some(0));
    assert!(!world.state().join("private/audit/audit.key").exists());
    fs::write(world.work().join(".bashtion.toml"), "[audit]\nmode = \"off\"\n").unwrap();
    let done = world.run("touch x").finish();
    assert_eq!(done.code(), Some(125));
    assert!(
        done.stderr().contains("a project may only make things stricter, but it sets audit.mode to off"),
        "{}",
        done.stderr()
    );
}

#[test]
fn failing_again_is_told_if_nothing_has_changed() {
    let world = world();
    let notes = |options: &[&str], command: &str| {
        let options: Vec<&str> = ["--json"].into_iter().chain(options.iter().copied()).collect();
        world.run_with(&options, command).finish().json()["notes"].clone()
    };
    let nothing = serde_json::json!([]);
    assert_eq!(notes(&[], "exit 4"), nothing);
    let second = notes(&[], "exit 4");
    let told = second[0].as_str().unwrap();
    assert!(told.starts_with("the same command ended with exit 4 ") && told.contains("no file"), "{told}");
    assert_eq!(notes(&[], "exit 5"), nothing, "another command");
    assert_eq!(notes(&["--agent", "other"], "exit 4"), nothing, "another agent");
    assert_eq!(notes(&["--session", "s"], "exit 4"), nothing, "another session");
    assert_ne!(notes(&["--agent", "other"], "exit 4"), nothing, "the same agent");
    fs::write(world.work().join("changed"), "").unwrap();
    assert_eq!(notes(&[], "exit 4"), nothing, "something has changed");
    assert_ne!(notes(&[], "exit 4"), nothing, "not since then");
    for answer in ["grep -q x /dev/null", "test -e nothing", "rm -rf ~", "echo )", "kill -9 $$"] {
        notes(&[], answer);
        assert_eq!(notes(&[], answer), nothing, "{answer}");
    }
}

/// A small file system of its own, in a mount namespace of its own.
#[test]
fn a_full_disk_is_told_as_such_and_nothing_is_damaged() {
    let world = world();
    let script = r#"set -e
        mkdir -p "$BASHTION_STATE_DIR"; mount -t tmpfs -o size=300k none "$BASHTION_STATE_DIR"
        "$1" run --sandbox off 'echo one'
        head -c 1000000 /dev/zero > "$BASHTION_STATE_DIR/filler" 2> /dev/null || :
        "$1" audit verify || echo "exit $?"
        rm "$BASHTION_STATE_DIR/filler"; "$1" audit verify"#;
    let own = world.program("/usr/bin/env").args(&["unshare", "-Urm", "bash", "-c", script, "bash", PROGRAM]);
    let done = own.env("BASHTION_STATE_DIR", world.state().to_str().unwrap()).finish();
    assert_eq!(done.stdout(), "one\nexit 1\nok: 3 rows are as they were written\n", "{}", done.stderr());
    assert!(done.stderr().contains("is full: make room and try again"), "{}", done.stderr());
    assert!(!done.stderr().contains("damaged file"), "{}", done.stderr());
}

const PROGRAM: &str = env!("CARGO_BIN_EXE_bashtion");
