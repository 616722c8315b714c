//! No process gets away, by whichever mark it is found.

use std::io::{BufRead, BufReader, PipeReader};

use bashtion_sandbox::Child;
use bashtion_testkit::{Life, in_a_thread_without_clone3, state_of, wait_until};

use crate::start;

/// Each way to leave, as a command that prints the id of the one that left.
const WAYS_TO_LEAVE: [(&str, &str); 7] = [
    ("background", "sleep 1000 & echo $!"),
    ("new session", "setsid sleep 1000 & echo $!"),
    ("re-parented", "(setsid bash -c 'echo $$; exec sleep 1000' &)"),
    ("empty environment", "(setsid env -i bash -c 'echo $$; exec sleep 1000' &)"),
    ("forked twice", "(setsid bash -c '(bash -c \"echo \\$\\$; exec sleep 1000\" &)' &)"),
    ("ignores SIGTERM", "(setsid bash -c 'trap \"\" TERM HUP; echo $$; while :; do sleep 0.1; done' &)"),
    ("stopped", "(setsid bash -c 'echo $$; kill -STOP $$; sleep 1000' &)"),
];

/// The same body for each mark: with what this host offers, and with the fallback.
fn with_each_mark(body: impl Fn(&str) + Sync) {
    body("cgroup");
    in_a_thread_without_clone3(38, || body("limit tag"));
}

fn leave(command: &str, method: &str) -> (Child, i32, PipeReader) {
    let (child, read) = start(&format!("{command}; wait; sleep 1000"));
    assert_eq!(child.tree().method(), method, "this host must offer it");
    let mut lines = BufReader::new(read);
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    (child, line.trim().parse().unwrap_or_else(|e| panic!("{e}: {line}")), lines.into_inner())
}

fn kill(child: &Child) {
    wait_until("all of them die", || {
        child.tree().kill().unwrap();
        child.tree().members().unwrap().is_empty()
    });
}

#[test]
fn whoever_leaves_is_found_and_killed() {
    with_each_mark(|method| {
        for (way, command) in WAYS_TO_LEAVE {
            let (mut child, leaver, _read) = leave(command, method);
            let members: Vec<i32> = child.tree().members().unwrap().iter().map(|p| p.pid).collect();
            assert!(members.contains(&leaver) && members.contains(&child.pid()), "{way}: {members:?}");
            assert!(!child.tree().is_clear().unwrap(), "{way}");
            kill(&child);
            assert_ne!(state_of(leaver), Life::Alive, "{way}");
            assert!(child.tree().is_clear().unwrap(), "{way}");
            child.wait().unwrap();
        }
    });
}

#[test]
fn whoever_outlives_the_shell_is_found_and_killed() {
    with_each_mark(|method| {
        for (way, command) in WAYS_TO_LEAVE {
            let (child, read) = start(command);
            assert_eq!(child.tree().method(), method);
            let mut line = String::new();
            let mut lines = BufReader::new(read);
            lines.read_line(&mut line).unwrap();
            let leaver: i32 = line.trim().parse().unwrap();
            wait_until("the shell ends", || child.has_ended().unwrap());
            assert!(!child.tree().is_clear().unwrap(), "{way}");
            let members: Vec<i32> = child.tree().members().unwrap().iter().map(|p| p.pid).collect();
            assert!(members.contains(&leaver) && !members.contains(&child.pid()), "{way}: {members:?}");
            kill(&child);
            assert_ne!(state_of(leaver), Life::Alive, "{way}");
        }
    });
}

#[test]
fn a_tree_that_grows_while_it_is_killed_is_killed() {
    with_each_mark(|method| {
        // Each generation leaves its session and is replaced by the next, a thousand times a second.
        let hop = "hop() { sleep 0.001; setsid bash -c \"$(declare -f hop); hop\" & }; hop; echo $!";
        let (child, _, _read) = leave(hop, method);
        kill(&child);
        std::thread::sleep(std::time::Duration::from_millis(100));
        assert!(child.tree().members().unwrap().is_empty());
    });
}

#[test]
fn terminating_reaches_all_and_continues_the_stopped() {
    with_each_mark(|method| {
        for (way, command) in WAYS_TO_LEAVE.iter().filter(|(way, _)| *way != "ignores SIGTERM") {
            let (child, leaver, _read) = leave(command, method);
            child.tree().terminate().unwrap();
            wait_until(way, || state_of(leaver) != Life::Alive);
            wait_until("the shell ends", || child.has_ended().unwrap());
            kill(&child);
        }
    });
}

#[test]
fn a_stranger_is_left_alone() {
    let mut stranger = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    with_each_mark(|method| {
        let (other, _other_read) = start("sleep 1000");
        let (child, _, _read) = leave("sleep 1000 & echo $!", method);
        kill(&child);
        assert_eq!(other.tree().members().unwrap().len(), 1, "another command of ours");
        kill(&other);
    });
    assert_eq!(state_of(i32::try_from(stranger.id()).unwrap()), Life::Alive);
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

#[test]
fn a_shell_that_leaves_its_control_group_is_killed() {
    let leave_group =
        "mount=$(grep -m1 ' cgroup2 ' /proc/self/mounts | cut -d' ' -f2); echo $$ > $mount/cgroup.procs";
    let command =
        format!("{leave_group}; grep -q bashtion- /proc/self/cgroup || echo $$; sleep 1000 & sleep 1000");
    let (child, left, _read) = leave(&command, "cgroup");
    assert_eq!(left, child.pid(), "it has left");
    wait_until("all are found", || child.tree().members().unwrap().len() == 3);
    kill(&child);
    wait_until("the shell ends", || child.has_ended().unwrap());
}

#[test]
fn no_control_group_stays_behind() {
    let groups = || {
        let mine = format!("bashtion-{}-", std::process::id());
        let found =
            std::process::Command::new("find").args(["/sys/fs/cgroup", "-name"]).arg(mine + "*").output();
        String::from_utf8(found.unwrap().stdout).unwrap()
    };
    let (mut child, _, read) = leave("sleep 1000 & echo $!", "cgroup");
    assert_ne!(groups(), "");
    kill(&child);
    child.wait().unwrap();
    drop((child, read));
    assert_eq!(groups(), "");
}
