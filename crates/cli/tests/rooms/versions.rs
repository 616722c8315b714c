//! Rooms of other versions of this program, and files that are none.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use bashtion_testkit::{living_with, wait_until};

use crate::ending::keepers;
use crate::place::Place;
use crate::rooms::rooms;

/// Makes the room of a place one that another version keeps: its key and the version in its facts are others.
fn make_older(place: &Place) {
    let facts = place.room_file(".facts");
    let mut bytes = fs::read(&facts).unwrap();
    bytes[..8].copy_from_slice(&0_u64.to_le_bytes());
    fs::write(&facts, bytes).unwrap();
    for ending in ["facts", "room", "host", "door"] {
        let path = place.room_file(&format!(".{ending}"));
        fs::rename(&path, path.with_file_name(format!("older.{ending}"))).unwrap();
    }
}

#[test]
fn a_room_of_another_version_is_another_room_beside_it() {
    for (number, place) in Place::both().into_iter().enumerate() {
        let sleep = format!("sleep 4441.{number}");
        place.prints("echo older > /tmp/file");
        let ends = place.start("until test -e go; do sleep 0.01; done; cat /tmp/file");
        let stays = place.start(&sleep);
        wait_until("it runs", || !living_with(&sleep).is_empty());
        make_older(&place);

        assert_eq!(
            place.prints("pgrep -x sleep; cat /tmp/file"),
            "older\n",
            "other processes, the same /tmp"
        );
        assert_eq!(keepers(&place).len(), 2);
        assert_eq!(rooms(&place).len(), 1, "one that can be asked");

        place.prints("echo newer > /tmp/file; touch go");
        let ended = place.end_of(&ends);
        assert_eq!((&ended["exit_code"], &ended["stdout"]), (&0.into(), &"newer\n".into()), "{ended}");

        let listed = rooms(&place);
        let name = listed[0]["room"].as_str().unwrap();
        assert_eq!(place.bashtion().args(&["rooms", "end", name]).finish().code(), Some(0));
        wait_until("both have ended", || keepers(&place).is_empty());
        assert_eq!(place.end_of(&stays)["signal"], "SIGKILL");
        wait_until("nothing is left", || living_with(&sleep).is_empty());
    }
}

#[test]
fn files_that_are_no_facts_are_passed_over() {
    let place = Place::new();
    place.prints("true");
    let facts = place.room_file(".facts");
    let folder = facts.parent().unwrap();
    let good = fs::read(&facts).unwrap();
    for length in (0..good.len()).step_by(7) {
        fs::write(folder.join(format!("cut-{length}.facts")), &good[..length]).unwrap();
    }
    fs::write(folder.join("long.facts"), [&good[..8], &[0xff; 4096]].concat()).unwrap();
    fs::write(folder.join("text.facts"), "no facts\n").unwrap();
    fs::create_dir(folder.join("folder.facts")).unwrap();
    fs::write(folder.join("dead.facts"), &good).unwrap();
    fs::write(folder.parent().unwrap().join("file"), "").unwrap();
    assert_eq!(rooms(&place).len(), 1);
    assert_eq!(place.prints_with(&["--limit", "open-files=100"], "echo x"), "x\n");

    // A new room removes what nobody keeps.
    kill_keeper_of(&place);
    assert_eq!(place.prints("echo x"), "x\n");
    let left: Vec<_> = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.file_name()).collect();
    let left = left.iter().filter(|name| name.to_string_lossy().ends_with(".facts"));
    assert_eq!(left.count(), 2, "its own, and the folder");
    assert_eq!(place.bashtion().args(&["rooms", "end", "--all"]).finish().code(), Some(0));
}

#[test]
fn whoever_speaks_nonsense_is_no_keeper() {
    let place = Place::new();
    place.prints("true");
    let facts = place.room_file(".facts");
    let folder = facts.parent().unwrap();
    fs::copy(&facts, folder.join("liar.facts")).unwrap();
    let mut liar = speak_nonsense(folder);
    assert_eq!(rooms(&place).len(), 1);
    kill_keeper_of(&place);
    assert_eq!(place.prints("echo x"), "x\n");
    let ended = place.bashtion().args(&["rooms", "end"]).finish();
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    liar.kill().unwrap();
    liar.wait().unwrap();
}

fn kill_keeper_of(place: &Place) {
    use nix::sys::signal::{Signal, kill};
    for keeper in keepers(place) {
        kill(nix::unistd::Pid::from_raw(keeper), Signal::SIGKILL).unwrap();
    }
    wait_until("it has gone", || keepers(place).is_empty());
}

fn speak_nonsense(folder: &Path) -> Child {
    let script = "
import os, socket, sys
os.chdir(sys.argv[1])
servers = [socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(3)]
for server, kind in zip(servers, ('host', 'door', 'room')):
    server.bind('liar.' + kind); server.listen()
while True:
    connection, _ = servers[2].accept()
    connection.recv(65536)
    connection.send(b'S' + b'\\xff' * 40)
    connection.close()
";
    let liar = Command::new("python3").args(["-c", script]).arg(folder).stdin(Stdio::null()).spawn().unwrap();
    wait_until("it listens", || folder.join("liar.room").exists());
    liar
}
