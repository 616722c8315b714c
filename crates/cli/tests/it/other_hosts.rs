//! Callers and hosts that are not as one would wish.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};

use bashtion_testkit::{Finished, Life, living_with, state_of, wait_until};

use crate::world;

/// `bash -c script`, with the binary as `$BASHTION`.
fn from_bash(script: &str) -> Finished {
    world().program("/bin/bash").args(&["-c", script]).finish()
}

#[test]
fn closed_standard_streams() {
    assert_eq!(
        from_bash("\"$BASHTION\" run 'echo out; echo err >&2; readlink /proc/self/fd/0' <&-").stdout(),
        "out\n/dev/null\n"
    );
    assert_eq!(from_bash("\"$BASHTION\" run 'echo out; echo err >&2' 2>&-").stdout(), "out\n");
    assert_eq!(from_bash("\"$BASHTION\" run 'echo out; exit 3' >&- 2>&- <&-; echo $?").stdout(), "3\n");
}

#[test]
fn ignored_signals() {
    assert_eq!(from_bash("trap '' CHLD; exec \"$BASHTION\" run 'exit 9'").code(), Some(9), "SIGCHLD");
    let grep = "grep -E '^Sig(Blk|Ign)' /proc/self/status";
    let finished = from_bash(&format!("trap '' INT QUIT PIPE USR1; exec \"$BASHTION\" run \"{grep}\""));
    assert_eq!(finished.stdout(), "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

#[test]
fn a_directory_that_was_removed() {
    let finished = from_bash("mkdir gone; cd gone; rmdir ../gone; \"$BASHTION\" run true");
    assert_eq!(finished.code(), Some(125));
    assert!(
        finished.stderr().starts_with("error: cannot tell the current directory\n"),
        "{}",
        finished.stderr()
    );
    assert_eq!(
        from_bash("mkdir gone; cd gone; rmdir ../gone; \"$BASHTION\" run --cwd / pwd").stdout(),
        "/\n"
    );
}

#[test]
fn no_bash() {
    let finished =
        from_bash("unshare -m \"$BASH\" -c 'mount --bind /dev/null /bin/bash; exec \"$BASHTION\" run true'");
    assert_eq!(finished.code(), Some(125), "{finished:?}");
    assert!(finished.stderr().contains("there is no bash in /usr/local/sbin, "), "{}", finished.stderr());
}

#[test]
fn orphans_are_reaped_by_us() {
    let count = "ps -eo stat=,ppid= | grep -c \"^Z.* $PPID\\$\"";
    let finished =
        world().run(format!("for i in {{1..50}}; do (setsid true &); done; sleep 1.5; {count}")).finish();
    assert_eq!(finished.stdout(), "0\n", "while it runs");
    let json = world()
        .run_with(&["--json"], "setsid sleep 4325.1 & setsid sleep 4325.1 & sleep 0.1")
        .finish()
        .json();
    for leftover in json["leftovers"].as_array().unwrap() {
        assert_eq!(state_of(i32::try_from(leftover["pid"].as_i64().unwrap()).unwrap()), Life::Gone);
    }
    assert_eq!(json["leftovers"].as_array().unwrap().len(), 2);
}

#[test]
fn children_from_before_are_not_the_commands() {
    let world = world();
    let script = "sleep 4325.2 >/dev/null 2>&1 & exec \"$BASHTION\" run --json 'sleep 4325.3 & exit 3'";
    let finished = world.program("/bin/bash").args(&["-c", script]).finish();
    let before = living_with("sleep 4325.2");
    assert_eq!(before.len(), 1, "it is left alone");
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(before[0]), nix::sys::signal::Signal::SIGKILL).unwrap();
    assert_eq!(finished.code(), Some(3), "{finished:?}");
    assert_eq!(living_with("sleep 4325.3"), Vec::<i32>::new());
}

#[test]
fn whoever_leaves_the_control_group_is_found_all_the_same() {
    let leave =
        "mount=$(grep -m1 ' cgroup2 ' /proc/self/mounts | cut -d' ' -f2); echo $$ > $mount/cgroup.procs";
    let command = format!(
        "(setsid bash -c \"{}; exec sleep 4325.4\" >/dev/null 2>&1 &); sleep 0.2; exit 3",
        leave.replace('$', "\\$")
    );
    let json = world().run_with(&["--json"], command).finish().json();
    assert_eq!((&json["exit_code"], &json["tracking"]), (&3.into(), &"cgroup".into()));
    assert_eq!(json["leftovers"][0]["command"], "sleep 4325.4", "{json}");
    assert_eq!(living_with("sleep 4325.4"), Vec::<i32>::new());
}

#[test]
fn limits_of_the_caller_that_hurt() {
    for (limit, word) in [("-n 5", "descriptors"), ("-n 9", "descriptors"), ("-n 20", "descriptors")] {
        let finished = from_bash(&format!("ulimit {limit}; exec \"$BASHTION\" run --json true"));
        assert_eq!(finished.code(), Some(125), "{limit}: {finished:?}");
        assert!(finished.json()["error"]["message"].as_str().unwrap().contains(word), "{finished:?}");
    }
    let finished = from_bash(
        "ulimit -f 1; exec \"$BASHTION\" run --json 'printf \"\\\\rx\"; head -c 200000 /dev/zero; exit 3'",
    );
    assert_eq!(finished.code(), Some(3), "the size of files: {finished:?}");
    assert_eq!(finished.json()["stdout_bytes"], 200_002);
    assert_eq!(finished.json()["output_file_bytes"], 1024);
    let finished = from_bash("ulimit -f 1; \"$BASHTION\" run 'head -c 200000 /dev/zero' > file; echo $?");
    assert_eq!(finished.stdout(), "125\n", "it cannot print there: {finished:?}");
}

#[test]
fn a_proc_that_shows_other_processes() {
    let script = "exec \"$BASHTION\" run --json --timeout 1s 'setsid sleep 4325.5 & sleep 4325.5'";
    let finished = world().program("unshare").args(&["-p", "-f", "bash", "-c", script]).finish();
    assert_eq!(finished.json()["status"], "timed_out");
    assert_eq!(living_with("sleep 4325.5"), Vec::<i32>::new());
}

#[test]
fn without_control_groups_and_nested_the_whole_tree_is_ended() {
    let world = world();
    let innermost = "(setsid sleep 4326.1 &); (setsid nohup setsid sleep 4326.1 &); trap '' TERM; sleep 4326.1; sleep 4326.1";
    // A mount namespace of our own, in which there is no cgroup file system.
    let script = r#"
        umount -l /sys/fs/cgroup/unified /sys/fs/cgroup
        exec "$BASHTION" run --json --timeout 1s --env BASHTION="$BASHTION" --env INNERMOST="$INNERMOST" \
            '"$BASHTION" run --env INNERMOST="$INNERMOST" -- "\"$BASHTION\" run -- \"\$INNERMOST\""' --env BASHTION="$BASHTION"
    "#;
    let run = world.program("unshare").args(&["-m", "bash", "-c", script]).env("INNERMOST", innermost);
    let child = run.start();
    wait_until("the innermost runs", || living_with("sleep 4326.1").len() >= 3);
    let finished = child.wait_with_output().unwrap();
    assert_eq!(living_with("sleep 4326.1"), Vec::<i32>::new());
    assert_eq!(finished.status.code(), Some(124), "{finished:?}");
}

#[test]
fn an_unprivileged_user() {
    let world = world();
    let closed = world.work().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    for dir in [world.work().parent().unwrap(), &world.work()] {
        fs::set_permissions(dir, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let theirs = tempfile::tempdir().unwrap();
    fs::set_permissions(theirs.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let (binary, home) = (theirs.path().join("bashtion"), theirs.path().join("home"));
    fs::copy(env!("CARGO_BIN_EXE_bashtion"), &binary).unwrap();
    let as_nobody = |args: &[&str]| {
        let state = home.join("state");
        let _ = fs::remove_dir_all(&state);
        fs::create_dir_all(home.join(".ssh")).unwrap();
        fs::write(home.join(".ssh/id"), "key").unwrap();
        for path in [&home, &home.join(".ssh"), &home.join(".ssh/id")] {
            chown(path, Some(65534), Some(65534)).unwrap();
        }
        let user = ["--reuid=65534", "--regid=65534", "--clear-groups"];
        let run = world
            .program("setpriv")
            .args(&user)
            .arg(&binary)
            .arg("run")
            .args(args)
            .env("HOME", home.to_str().unwrap())
            .env("BASHTION_STATE_DIR", state.to_str().unwrap());
        run.finish()
    };
    // Their own secret is hidden, another's was never theirs to read, and what lies beside it still is.
    let finished =
        as_nobody(&["--approve", "always", "cat ~/.ssh/id; cat /etc/shadow; head -c4 /etc/passwd"]);
    assert_eq!(finished.stdout(), "root");
    assert_eq!(finished.stderr().matches("Permission denied").count(), 2, "{}", finished.stderr());

    let finished = as_nobody(&["--cwd", closed.to_str().unwrap(), "true"]);
    assert_eq!(finished.code(), Some(125));
    let expected = format!(
        "error: cannot start /usr/bin/bash in {}\n  cause: cannot enter the working directory\n  cause: Permission denied (os error 13)\nhelp: name a directory that you may enter with --cwd\n",
        closed.display()
    );
    assert_eq!(finished.stderr(), expected);

    let json = as_nobody(&[
        "--json",
        "--timeout",
        "1s",
        "id -u; (setsid sleep 4327.1 &); trap '' TERM; while :; do sleep 0.1; done",
    ])
    .json();
    assert_eq!(json["stdout"], "65534\n");
    assert_eq!(json["status"], "timed_out");
    assert_eq!(living_with("sleep 4327.1"), Vec::<i32>::new());
    assert_eq!(json["tracking"], "limit tag");

    // What sheds the tag, and what is never where one has just looked.
    // In a file: on the command line the guard would see what it is.
    let script = world.work().join("hopper.pl");
    fs::write(&script, "use POSIX; $SIG{TERM} = q(IGNORE); while (1) { exit if fork; setsid }").unwrap();
    let hopper = format!("perl {} >/dev/null 2>&1 &", script.display());
    let unmarked = format!("ulimit -x 5; {hopper}");
    for escape in [
        "ulimit -x 5; sleep 4327.2 >/dev/null 2>&1 &",
        "(setsid bash -c 'ulimit -x 5; exec sleep 4327.2' &)",
        &hopper,
        &unmarked,
    ] {
        let json = as_nobody(&["--json", &format!("{escape}\nsleep 0.1; exit 3")]).json();
        assert_eq!(json["exit_code"], 3);
        assert_ne!(json["leftovers"].as_array().unwrap().len(), 0, "{escape}");
        assert_eq!(living_with("sleep 4327.2"), Vec::<i32>::new(), "{escape}");
        assert_eq!(living_with(script.to_str().unwrap()), Vec::<i32>::new());
    }
}

/// It makes room, and then the hooks that we had no room for.
#[test]
fn on_a_full_disk_no_hooks_appear() {
    let script = "mount -t tmpfs -o mode=700,nr_inodes=20 none . && cd \"$PWD\" || exit 99
        mkdir -p .git/objects && touch .git/config .git/HEAD
        echo 'rmdir filling-*; mkdir .git/hooks; echo evil > .git/hooks/pre-commit' > script
        number=0; while mkdir filling-$((number += 1)) 2> /dev/null; do :; done
        \"$BASHTION\" run --json 'bash script; ls .git'; ls .git/hooks";
    let finished = world().program("unshare").args(&["-m", "bash", "-c", script]).finish();
    let text = finished.stdout();
    let (json, after) = text.split_once('\n').unwrap();
    let json: serde_json::Value = serde_json::from_str(json).unwrap();
    assert_eq!(json["stdout"], "HEAD\nconfig\nhooks\nobjects\n", "{json}");
    assert!(json["denials"][0].as_str().unwrap().contains(".git/hooks/pre-commit: git would run"), "{json}");
    assert_eq!(after, "");
}

/// A repository's own files stay what they are also where they cannot be looked at.
#[test]
fn what_a_user_has_closed_is_not_lost() {
    let world = world();
    let script =
        "cd && mkdir -p work/git/objects work/git/info work/git/hooks && cd work && touch git/config git/HEAD
        mv git .git; echo '* text' > .git/info/attributes; chmod 000 .git/info; chmod 644 .git/hooks
        \"$BASHTION\" run 'chmod 755 .git/info; echo ran'; chmod 755 .git/info; cat .git/info/attributes";
    for config in ["", "[sandbox]\nnamespaces = false\n"] {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name).display().to_string();
        fs::copy(env!("CARGO_BIN_EXE_bashtion"), at("bashtion")).unwrap();
        fs::write(at("config.toml"), config).unwrap();
        for path in [at(""), at("config.toml")] {
            chown(path, Some(65534), Some(65534)).unwrap();
        }
        let run = world
            .program("setpriv")
            .args(&["--reuid=65534", "--regid=65534", "--clear-groups", "bash", "-c", script])
            .env("HOME", &at(""))
            .env("BASHTION", &at("bashtion"))
            .env("BASHTION_CONFIG", &at("config.toml"))
            .env("BASHTION_STATE_DIR", &at("state"));
        let finished = run.finish();
        assert_eq!(finished.stdout(), "ran\n* text\n", "{finished:?}");
    }
}

/// What the command has put there makes room for what was there. Nobody answers for one whose processes may stay.
#[test]
fn a_command_that_fills_the_disk_does_not_keep_its_configuration() {
    let world = world();
    let config = world.work().join("../config.toml");
    fs::write(&config, "[sandbox]\nnamespaces = false\n").unwrap();
    let script = "mount -t tmpfs -o mode=700,size=256k none . && cd \"$PWD\" || exit 99
        git init -q . && cp .git/config ../before
        echo 'git config core.fsmonitor ./evil; cat /dev/zero > filling 2> /dev/null' > script
        \"$BASHTION\" run --leftovers keep --json 'bash script'; cmp .git/config ../before && echo same";
    let run = world.program("unshare").args(&["-m", "bash", "-c", script]);
    let finished = run.env("BASHTION_CONFIG", config.to_str().unwrap()).finish();
    let text = finished.stdout();
    let (json, after) = text.split_once('\n').unwrap();
    let json: serde_json::Value = serde_json::from_str(json).unwrap();
    assert!(json["denials"].to_string().contains(".git/config was changed and has been put back"), "{json}");
    assert_eq!(after, "same\n");
}
