//! Background tasks when many use them at once, when processes die at any moment, and when the disk is full.

use std::fs;
use std::thread;
use std::time::Duration;

use bashtion_testkit::{World, wait_until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::tasks::{configure, start, status, supervisor, waited};
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
    // What never started leaves nothing after the next start, and what is over does not count.
    let config = configure(&world, "[tasks]\nlimit = 1\n");
    let next = world.run_with(&["--background", "--json"], "true").env("BASHTION_CONFIG", &config).finish();
    assert_eq!(next.code(), Some(0), "{}", next.stderr());
    let id = next.json()["task_id"].as_str().unwrap().to_owned();
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
    let edited = record.replace(boot.trim(), "another");
    fs::write(folder.join("task.json"), &edited).unwrap();
    let untrusted = world.bashtion().args(&["status", &id]).finish();
    assert!(untrusted.stderr().contains("its seal does not fit"), "{untrusted:?}");
    fs::write(folder.join("task.json"), without_seal(&edited)).unwrap();
    let lost = world.bashtion().args(&["status", &id, "--json"]).finish().json();
    assert_eq!((&lost["status"], &lost["reason"]), (&"lost".into(), &"the machine was restarted".into()));
    assert!(world.bashtion().args(&["output", &id]).finish().stdout().starts_with("before\n"));
}

/// A record as releases without seals wrote it.
fn without_seal(text: &str) -> String {
    text.rsplit_once(",\"seal\":").map_or_else(|| text.to_owned(), |(record, _)| format!("{record}}}"))
}

/// Copies the folder and the output of a finished task under other names.
fn multiply(world: &World, id: &str, count: usize) {
    let (folders, outputs) = (world.state().join("private/tasks"), world.state().join("task-output"));
    for number in 0..count {
        let name = format!("bash-z{number:05}");
        let copy = folders.join(&name);
        fs::create_dir(&copy).unwrap();
        for file in ["task.json", "result.json", "lock"] {
            let text = fs::read_to_string(folders.join(id).join(file)).unwrap();
            fs::write(copy.join(file), without_seal(&text.replace(id, &name))).unwrap();
        }
        fs::copy(outputs.join(id), outputs.join(&name)).unwrap();
    }
}

#[test]
fn the_limit_holds_among_many_that_are_over_and_for_many_at_once() {
    let world = world();
    let first = start(&world, &[], "true");
    waited(&world, &first);
    multiply(&world, &first, 300);
    let config = configure(&world, "[tasks]\nlimit = 3\n");
    let begin = || {
        let run = world.run_with(&["--background", "--json"], "sleep 4337.1");
        run.env("BASHTION_CONFIG", &config).finish().code() == Some(0)
    };
    let begun = thread::scope(|scope| {
        let starts: Vec<_> = (0..10).map(|_| scope.spawn(begin)).collect();
        starts.into_iter().map(|start| start.join().unwrap()).filter(|begun| *begun).count()
    });
    assert_eq!(begun, 3);
    assert_eq!(list(&world).len(), 304);
    // A place is free whichever way a task ends.
    let [one, other] = running(&world).try_into().map(|[one, other, _]: [String; 3]| [one, other]).unwrap();
    kill(supervisor(&world, &one), Signal::SIGKILL).unwrap();
    wait_until("it is lost", || status(&world, &one)["status"] == "lost");
    assert!(begin() && !begin());
    assert_eq!(world.bashtion().args(&["kill", &other]).finish().code(), Some(0));
    assert!(begin() && !begin());
    for id in running(&world) {
        world.bashtion().args(&["kill", &id]).finish().code().unwrap();
    }
}

fn running(world: &World) -> Vec<String> {
    let all = list(world).into_iter().filter(|task| task["status"] == "running");
    all.map(|task| task["task_id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_list_says_the_same_as_each_task_and_as_of_the_release_before() {
    let world = world();
    let config = configure(&world, "[tasks]\noutput-size = \"64K\"\n");
    let begin = |options: &[&str], command: &str| {
        let run = world.run_with(&[&["--background", "--json"], options].concat(), command);
        run.env("BASHTION_CONFIG", &config).finish().json()["task_id"].as_str().unwrap().to_owned()
    };
    let mut ids = vec![
        begin(&["--description", "a test"], "echo out; exit 3"),
        begin(&["--agent", "somebody"], "printf 'no newline'"),
        begin(&[], "seq 1 100000"),
        begin(&[], "kill -9 $$"),
        begin(&["--timeout", "100ms"], "echo begun; sleep 4338.1"),
    ];
    ids.iter().for_each(|id| drop(waited(&world, id)));
    ids.push(begin(&[], "seq 1 100000; sleep 4338.2"));
    ids.push(begin(&[], "seq 1 20000; sleep 4338.2"));
    for id in &ids[5..] {
        wait_until("it has printed", || status(&world, id)["last_line"].to_string().ends_with("0000\""));
    }
    kill(supervisor(&world, &ids[5]), Signal::SIGKILL).unwrap();
    wait_until("it is lost", || status(&world, &ids[5])["status"] == "lost");

    let mut listed = list(&world);
    listed.reverse();
    let mut each: Vec<_> = ids.iter().map(|id| status(&world, id)).collect();
    let statuses: Vec<_> = each.iter().map(|task| task["status"].as_str().unwrap().to_owned()).collect();
    assert_eq!(statuses, ["exited", "exited", "exited", "signaled", "timed_out", "lost", "running"]);
    let lines: Vec<_> = each.iter().map(|task| task["last_line"].as_str().unwrap().to_owned()).collect();
    assert_eq!(lines, ["out", "no newline", "100000", "", "begun", "100000", "20000"]);
    let bytes: Vec<_> = each.iter().map(|task| task["output_bytes"].as_u64().unwrap()).collect();
    assert_eq!(bytes, [4, 10, 588_895, 0, 6, 588_895, 108_894]);
    without_times(&mut listed);
    without_times(&mut each);
    assert_eq!(listed, each);

    for id in &ids[..5] {
        let result = world.state().join("private/tasks").join(id).join("result.json");
        let mut old: serde_json::Value = serde_json::from_slice(&fs::read(&result).unwrap()).unwrap();
        old.as_object_mut().unwrap().remove("brief").unwrap();
        fs::write(&result, old.to_string()).unwrap();
    }
    fs::remove_file(world.state().join("private/tasks/index.json")).unwrap();
    let mut listed = list(&world);
    listed.reverse();
    without_times(&mut listed);
    assert_eq!(listed, each);
    assert_eq!(waited(&world, &ids[0])["stdout"], "out\n");
    assert!(world.bashtion().args(&["output", &ids[2]]).finish().stdout().ends_with("99999\n100000\n"));
    world.bashtion().args(&["kill", &ids[6]]).finish().code().unwrap();
}

/// Leaves out what differs from one moment to the next.
fn without_times(tasks: &mut [serde_json::Value]) {
    for task in tasks {
        let is_over = task["ended"].is_string();
        let task = task.as_object_mut().unwrap();
        task.remove("age_ms");
        if !is_over {
            task.remove("duration_ms");
            task.remove("usage");
        }
    }
}
