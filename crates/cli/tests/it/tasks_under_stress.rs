//! Background tasks when many use them at once, when processes die at any moment, and when the disk is full.

use std::fs;
use std::thread;
use std::time::Duration;

use bashtion_testkit::{World, wait_until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::tasks::{start, waited};
use crate::world;

fn list(world: &World) -> Vec<serde_json::Value> {
    let listed = world.bashtion().args(&["tasks", "--json"]).finish();
    assert_eq!((listed.code(), listed.stderr().as_str()), (Some(0), ""));
    listed.json().as_array().unwrap().clone()
}

#[test]
fn many_at_once() {
    let world = world();
    thread::scope(|scope| {
        for worker in 0..12 {
            let world = &world;
            scope.spawn(move || {
                for round in 0..3 {
                    let id = start(world, &[], &format!("echo {worker} {round}; sleep 0.05; exit {worker}"));
                    list(world);
                    if worker % 4 == 0 {
                        world.bashtion().args(&["kill", &id]).finish().code().unwrap();
                    }
                    let ended = waited(world, &id);
                    assert!(["exited", "cancelled"].contains(&ended["status"].as_str().unwrap()), "{ended}");
                    assert!(worker % 4 == 0 || ended["exit_code"] == worker, "{ended}");
                    assert!(worker % 4 == 0 || ended["stdout"] == format!("{worker} {round}\n"), "{ended}");
                }
            });
        }
    });
    let all = list(&world);
    assert_eq!(all.len(), 36);
    assert!(all.iter().all(|task| task["status"] != "running" && task["status"] != "lost"), "{all:?}");
}

#[test]
fn killed_at_any_moment() {
    let world = world();
    for round in 0..60_u64 {
        let mut starter =
            world.run_with(&["--background", "--json"], "echo line; sleep 0.01; echo end").start();
        thread::sleep(Duration::from_micros(round * 173 % 9_000));
        if round % 2 == 0 {
            let _ = starter.kill();
        } else {
            for pid in supervisors(&world) {
                let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
            }
        }
        starter.wait().unwrap();
        list(&world);
    }
    wait_until("all are over", || list(&world).iter().all(|task| task["status"] != "running"));
    for task in list(&world) {
        let id = task["task_id"].as_str().unwrap();
        let output = world.bashtion().args(&["output", id]).finish();
        assert_eq!((output.code(), output.stderr().as_str()), (Some(0), ""), "{task}");
        assert!("line\nend\n".starts_with(&output.stdout()), "{task}");
        assert!(["exited", "lost"].contains(&task["status"].as_str().unwrap()), "{task}");
        assert!(task["status"] != "exited" || output.stdout() == "line\nend\n", "{task}");
    }
    // What never started leaves nothing after the next start.
    let id = start(&world, &[], "true");
    waited(&world, &id);
    let folders = fs::read_dir(world.state().join("private/tasks")).unwrap().flatten();
    let folders: Vec<_> = folders.filter(|entry| entry.file_type().unwrap().is_dir()).collect();
    assert!(folders.iter().all(|folder| folder.path().join("task.json").exists()), "{folders:?}");
}

/// The supervisors of this world's tasks, also of those that have no record yet.
fn supervisors(world: &World) -> Vec<i32> {
    let state = world.state().display().to_string();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let holds = |pid: &i32| {
        let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains("__supervise")
            && files.filter_map(|file| fs::read_link(file.path()).ok()).any(|path| path.starts_with(&state))
    };
    pids.filter(holds).collect()
}

/// Runs a script with the state directory on a small or read-only file system of its own.
fn on_other_disk(world: &World, script: &str) -> bashtion_testkit::Finished {
    fs::create_dir_all(world.state()).unwrap();
    let flags = if rustix::process::geteuid().is_root() { "-m" } else { "-rm" };
    world.program("/usr/bin/unshare").args(&[flags, "/bin/bash", "-c", script]).finish()
}

#[test]
fn a_full_disk_loses_no_exit_code() {
    let world = world();
    let script = "mount -t tmpfs -o size=1m,mode=700 none $BASHTION_STATE_DIR || exit 99
        id=$($BASHTION run --background --json 'head -c 3000000 /dev/zero | tr \"\\0\" x; exit 6' | sed 's/.*\"task_id\":\"\\([^\"]*\\).*/\\1/')
        $BASHTION wait --json $id; echo \"code $?\"
        $BASHTION output $id | wc -c
        head -c 2000000 /dev/zero > $BASHTION_STATE_DIR/fill 2> /dev/null
        $BASHTION run --background 'echo more' > /dev/null; echo \"code $?\"";
    let done = on_other_disk(&world, script);
    let (out, err) = (done.stdout(), done.stderr());
    let lines: Vec<_> = out.lines().collect();
    let result: serde_json::Value = serde_json::from_str(lines[0]).unwrap_or_else(|_| panic!("{err}"));
    assert_eq!((&result["exit_code"], &result["stdout_bytes"]), (&6.into(), &3_000_000.into()));
    let notes = result["notes"].to_string();
    assert!(notes.contains("not complete: No space left on device"), "{notes}");
    assert!(notes.contains("could not be written down"), "{notes}");
    assert_eq!(lines[1], "code 6");
    let kept: u64 = lines[2].trim().parse().unwrap();
    assert!((100_000..1_000_000).contains(&kept), "{kept}");
    // Nothing can be started where nothing can be written down.
    assert_eq!(lines.last(), Some(&"code 125"), "{err}");
    assert!(err.contains("No space left on device"), "{err}");
}

#[test]
fn a_read_only_state_directory_is_told() {
    let world = world();
    let script = "mount -t tmpfs -o mode=700 none $BASHTION_STATE_DIR && mount -o remount,ro $BASHTION_STATE_DIR || exit 99
        $BASHTION run --background 'touch ran'; echo \"code $?\"; $BASHTION tasks; echo \"code $?\"";
    let done = on_other_disk(&world, script);
    assert!(done.stderr().contains("Read-only file system"), "{}", done.stderr());
    assert!(done.stdout().starts_with("code 125\n"), "{}", done.stdout());
    assert!(done.stdout().ends_with("code 0\n"), "{}", done.stdout());
    assert!(!world.work().join("ran").exists());
}

#[test]
fn a_record_of_another_version_or_a_damaged_one_is_told_and_spoils_nothing() {
    let world = world();
    let ids =
        [start(&world, &[], "echo one"), start(&world, &[], "echo two"), start(&world, &[], "echo three")];
    ids.iter().for_each(|id| drop(waited(&world, id)));
    let folder = |id: &str| world.state().join("private/tasks").join(id);
    fs::write(folder(&ids[0]).join("task.json"), "{\"version\": 99}").unwrap();
    fs::write(folder(&ids[1]).join("result.json"), "{\"version\": 1, \"ended\"").unwrap();
    let listed = world.bashtion().args(&["tasks", "--json"]).finish();
    assert_eq!(listed.json().as_array().unwrap().len(), 1);
    assert!(listed.stderr().contains("version 99"), "{}", listed.stderr());
    assert!(listed.stderr().contains(&ids[1]), "{}", listed.stderr());
    let wait = world.bashtion().args(&["wait", &ids[0]]).finish();
    assert_eq!(wait.code(), Some(1));
    assert!(wait.stderr().contains("version 99"), "{}", wait.stderr());
    assert_eq!(waited(&world, &ids[2])["stdout"], "three\n");
}

#[test]
fn a_restart_of_the_machine_is_told() {
    let world = world();
    let id = start(&world, &[], "echo before");
    waited(&world, &id);
    // As it is when the machine stops in the middle: a record of another boot, no result, no lock.
    let folder = world.state().join("private/tasks").join(&id);
    fs::remove_file(folder.join("result.json")).unwrap();
    let record = fs::read_to_string(folder.join("task.json")).unwrap();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    fs::write(folder.join("task.json"), record.replace(boot.trim(), "another")).unwrap();
    let lost = world.bashtion().args(&["status", &id, "--json"]).finish().json();
    assert_eq!((&lost["status"], &lost["reason"]), (&"lost".into(), &"the machine was restarted".into()));
    assert!(world.bashtion().args(&["output", &id]).finish().stdout().starts_with("before\n"));
}
