//! The end of rooms and of their commands: killed callers, killed keepers, many at once.

use std::fs;
use std::os::unix::fs::symlink;

use bashtion_testkit::{living_with, wait_until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::place::Place;

pub(crate) fn keepers(place: &Place) -> Vec<i32> {
    let folder = place.rooms_folder();
    let works_there = |pid: &i32| {
        fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|directory| directory.starts_with(&folder))
    };
    living_with("__keep").into_iter().filter(works_there).collect()
}

#[test]
fn fifty_first_commands_make_one_room() {
    for place in Place::both() {
        let started: Vec<_> =
            (0..50).map(|_| place.bashtion().args(&["run", "--json", "echo ok"]).start()).collect();
        let rooms: Vec<String> = started
            .into_iter()
            .map(|child| {
                let output = child.wait_with_output().unwrap();
                let json: Value = serde_json::from_slice(&output.stdout).unwrap();
                assert_eq!(json["stdout"], "ok\n", "{json}");
                json["sandbox"]["room"].as_str().unwrap().to_owned()
            })
            .collect();
        assert!(rooms.iter().all(|room| *room == rooms[0]));
        assert_eq!(keepers(&place).len(), 1);
    }
}

#[test]
fn a_killed_caller_takes_its_whole_tree_along_and_nobody_else() {
    for (number, place) in Place::both().into_iter().enumerate() {
        let sleep = format!("sleep 4411.{number}");
        let command = format!("(setsid {sleep} &); nohup {sleep} & (({sleep} &) &); {sleep}");
        let neighbour = place.start("sleep 60");
        let mut child = place.bashtion().args(&["run", "--", &command]).start();
        wait_until("all run", || living_with(&sleep).iter().filter(|pid| is_sleep(**pid)).count() >= 4);
        child.kill().unwrap();
        child.wait().unwrap();
        wait_until("nothing is left", || !living_with(&sleep).iter().any(|pid| is_sleep(*pid)));
        // Groups in which somebody was killed would kill whoever comes next.
        for _ in 0..3 {
            assert_eq!(place.prints("echo next"), "next\n");
        }
        assert_eq!(place.bashtion().args(&["kill", &neighbour]).finish().code(), Some(0));
    }
}

fn is_sleep(pid: i32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "sleep")
}

#[test]
fn after_a_command_that_had_to_be_killed_the_next_one_runs() {
    for place in Place::both() {
        let stubborn = "trap '' TERM; while :; do sleep 0.1; done";
        assert_eq!(place.run_with(&["--timeout", "300ms"], stubborn).code(), Some(124));
        for _ in 0..3 {
            assert_eq!(place.prints("echo next"), "next\n");
        }
    }
}

#[test]
fn a_killed_keeper_ends_what_runs_and_is_told() {
    for place in Place::both() {
        let task = place.start("echo begun; sleep 4412");
        place.prints_soon("grep -q begun ../state/task-output/* || true");
        let child = place.bashtion().args(&["run", "--json", "echo here; sleep 4413"]).start();
        wait_until("it runs", || living_with("sleep 4413").iter().any(|pid| is_sleep(*pid)));
        for keeper in keepers(&place) {
            kill(Pid::from_raw(keeper), Signal::SIGKILL).unwrap();
        }
        let output = child.wait_with_output().unwrap();
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&json["status"], &json["signal"]), (&"signaled".into(), &"SIGKILL".into()), "{json}");
        assert!(json["notes"][0].as_str().unwrap().contains("room of this command has ended"), "{json}");
        assert_eq!(json["stdout"], "here\n");
        assert_eq!(place.end_of(&task)["signal"], "SIGKILL");
        assert_eq!(place.prints("echo next"), "next\n");
    }
}

#[test]
fn a_workspace_that_was_replaced_has_another_room() {
    for place in Place::both() {
        place.prints("touch old");
        let (work, moved) = (place.work(), place.work().parent().unwrap().join("moved"));
        fs::rename(&work, &moved).unwrap();
        fs::create_dir(&work).unwrap();
        std::os::unix::fs::chown(&work, Some(65534), Some(65534)).unwrap();
        assert_eq!(place.prints("touch new; ls"), "new\n");
        assert!(!moved.join("new").exists());
        fs::remove_dir_all(&work).unwrap();
        symlink(&moved, &work).unwrap();
        assert_eq!(place.prints("ls"), "old\n");
    }
}

#[test]
fn those_that_serve_the_room_cannot_be_touched() {
    let script = "
import os, signal, resource
def refused(name, deed):
    try:
        deed()
    except PermissionError:
        return
    print(name)
for pid in (1, 2):
    refused(f'limit {pid}', lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, (5, 5)))
    refused(f'affinity {pid}', lambda: os.sched_setaffinity(pid, {0}))
    refused(f'priority {pid}', lambda: os.setpriority(os.PRIO_PROCESS, pid, 19))
    refused(f'descriptor {pid}', lambda: os.pidfd_open(pid))
for number in (signal.SIGSTOP, signal.SIGKILL):
    refused(f'signal {number}', lambda: os.kill(2, number))
    refused(f'all {number}', lambda: os.kill(-1, number))
    try:
        signal.pidfd_send_signal(os.open('/proc/2', os.O_RDONLY | os.O_DIRECTORY), number)
        print(f'directory {number}')
    except OSError:
        pass
import fcntl
refused('owner', lambda: fcntl.fcntl(0, fcntl.F_SETOWN, 2))
print('done')
";
    for place in Place::both() {
        place.write("script.py", script);
        assert_eq!(place.prints("python3 script.py"), "done\n");
        assert_eq!(place.prints_with(&["--network", "on"], "echo still"), "still\n");
    }
}

/// A socket of the host's network, handed over by a command that has it, connects to nothing of the host.
#[test]
fn a_socket_of_another_network_is_not_connected() {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixListener};
    let give = "
import array, os, socket
server = socket.socket(socket.AF_UNIX); server.bind('/tmp/pass'); server.listen()
mine = socket.socket(socket.AF_UNIX)
connection, _ = server.accept()
connection.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [mine.fileno()]))])
";
    let take = "
import array, socket, sys
connection = socket.socket(socket.AF_UNIX); connection.connect('/tmp/pass')
_, sent, _, _ = connection.recvmsg(1, socket.CMSG_SPACE(4))
given = socket.socket(fileno=array.array('i', sent[0][2])[0])
try:
    given.connect('\\0' + sys.argv[1])
except OSError as error:
    print(error.errno)
else:
    print('connected')
";
    for place in Place::both() {
        let name = format!("bashtion-test-{}", place.work().parent().unwrap().display());
        let _host = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        place.write("give.py", give);
        place.write("take.py", take);
        let started = place.run_with(&["--network", "on", "--background", "--json"], "python3 give.py");
        assert_eq!(started.code(), Some(0), "{}", started.stderr());
        wait_until("it listens", || place.run("test -S /tmp/pass").code() == Some(0));
        assert_eq!(place.prints(&format!("python3 take.py {name}")), "13\n");
    }
}
