//! Rooms that do not answer, and clients that do not ask.

use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};

use bashtion_testkit::{living_with, wait_until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::ending::keepers;
use crate::place::Place;
use crate::rooms::rooms;

/// Stops the first process of the room, as a debugger would.
fn stop_first(place: &Place) {
    let keeper = keepers(place)[0];
    let children = fs::read_to_string(format!("/proc/{keeper}/task/{keeper}/children")).unwrap();
    let first = children.split_whitespace().next().unwrap().parse().unwrap();
    kill(Pid::from_raw(first), Signal::SIGSTOP).unwrap();
}

#[test]
fn a_room_that_does_not_answer_is_told_and_can_be_ended() {
    std::thread::scope(|scope| {
        scope.spawn(|| stop_and_end(&Place::new(), "sleep 4442.1"));
        scope.spawn(|| stop_and_end(&Place::ordinary(), "sleep 4442.2"));
    });
}

fn stop_and_end(place: &Place, sleep: &str) {
    let command = format!("echo x; {sleep}");
    let limited = place.bashtion().args(&["run", "--json", "--timeout", "2s", "--", &command]).start();
    wait_until("it runs", || !keepers(place).is_empty() && living_with(sleep).len() >= 2);
    stop_first(place);
    let unanswered = place.run("echo x");
    assert_eq!(unanswered.code(), Some(125), "{unanswered:?}");
    assert!(unanswered.stderr().contains("the room has not answered for 20 seconds"), "{unanswered:?}");
    let output = limited.wait_with_output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json["status"], &json["stdout"]), (&"timed_out".into(), &"x\n".into()), "{json}");

    let ended = place.bashtion().args(&["rooms", "end"]).finish();
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    wait_until("it has ended", || keepers(place).is_empty());
    assert_eq!(place.prints("echo next"), "next\n");
}

#[test]
fn silent_clients_hold_up_nobody() {
    let script = "
import os, resource, socket, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
os.chdir(sys.argv[1])
silent = []
for name in sys.argv[2:]:
    for _ in range(500):
        client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        client.connect(name)
        silent.append(client)
print('.', flush=True)
sys.stdin.read()
";
    let place = Place::new();
    place.serve(8000);
    let (door, room) = (place.room_file(".door"), place.room_file(".room"));
    let mut silent = Command::new("python3")
        .args(["-c", script])
        .arg(door.parent().unwrap())
        .args([door.file_name().unwrap(), room.file_name().unwrap()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    silent.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    for _ in 0..3 {
        assert_eq!(rooms(&place).len(), 1);
        assert_eq!(place.prints("echo x"), "x\n");
    }
    let exposed = place.bashtion().args(&["rooms", "expose", "8000", "--as", "0"]).finish();
    assert_eq!(exposed.code(), Some(0), "{exposed:?}");
    drop(silent.stdin.take());
    silent.wait().unwrap();
}

/// Stops every process that is about to be born, some before they have become their programs.
const STOPPING: &str = "import os, signal, time
end = time.time() + 3
while time.time() < end:
    last = int(open('/proc/loadavg').read().split()[-1])
    for pid in range(last + 1, last + 4):
        try: os.kill(pid, signal.SIGSTOP)
        except OSError: pass
";

/// Whoever starts a process waits until it has become its program.
#[test]
fn processes_that_are_stopped_before_they_begin_hold_up_a_room_for_a_moment_only() {
    std::thread::scope(|scope| {
        for place in Place::both() {
            scope.spawn(move || {
                fs::write(place.work().join("stop.py"), STOPPING).unwrap();
                let task = ["run", "--background", "--", "python3 stop.py"];
                assert_eq!(place.bashtion().args(&task).finish().code(), Some(0));
                for _ in 0..4 {
                    let command = ["run", "--timeout", "2s", "--", "echo here; ps > list"];
                    let run = place.bashtion().args(&command).finish();
                    // One that is stopped as a program runs out of time.
                    assert!([Some(0), Some(124)].contains(&run.code()), "{run:?}");
                }
                // The task may have begun late, and stop this one, too.
                let again = ["run", "--timeout", "2s", "--", "echo again"];
                wait_until("commands run again", || place.bashtion().args(&again).finish().code() == Some(0));
            });
        }
    });
}
