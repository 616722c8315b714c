//! Choosing a room, seeing which there are, ending them.

use std::io::{Read, Write};
use std::net::TcpStream;

use bashtion_testkit::wait_until;
use serde_json::Value;

use crate::place::Place;

pub(crate) fn rooms(place: &Place) -> Vec<Value> {
    place.bashtion().args(&["rooms", "--json"]).finish().json().as_array().unwrap().clone()
}

#[test]
fn another_room_of_the_workspace() {
    for place in Place::both() {
        place.prints("echo first > /tmp/file");
        place.serve(8000);
        let other = ["--room", "other"];
        assert_eq!(place.run_with(&other, "ls /tmp/file").code(), Some(2));
        assert_eq!(place.run_with(&other, "curl -sS 127.0.0.1:8000").code(), Some(7));
        place.prints_with(&other, "echo second > /tmp/file");
        assert_eq!(place.prints_with(&other, "cat /tmp/file"), "second\n");
        assert_eq!(place.prints("cat /tmp/file"), "first\n");
    }
}

#[test]
fn a_room_that_ends_with_its_command() {
    for place in Place::both() {
        let alone = ["--room", "none"];
        assert_eq!(place.prints_with(&alone, "echo x > /tmp/file; cat /tmp/file"), "x\n");
        assert_eq!(place.run_with(&alone, "ls /tmp/file").code(), Some(2));
        assert_eq!(place.run("ls /tmp/file").code(), Some(2));
        wait_until("only the other one is kept", || rooms(&place).len() == 1);
    }
}

/// Leftovers that were kept on purpose are not ended.
#[test]
fn a_room_for_one_command_stays_for_what_it_has_kept() {
    for place in Place::both() {
        let options = ["--room", "none", "--leftovers", "keep"];
        place.prints_with(&options, "sleep 1.4331 > /dev/null 2>&1 &");
        assert_eq!(rooms(&place).len(), 1);
        wait_until("it ends with the last of them", || rooms(&place).is_empty());
    }
}

#[test]
fn a_result_names_its_room() {
    let place = Place::new();
    let named = |options: &[&str]| -> String {
        let json = place.run_with(&[&["--json"], options].concat(), "true").json();
        json["sandbox"]["room"].as_str().unwrap().to_owned()
    };
    assert!(named(&[]).starts_with("work-"));
    assert_eq!(named(&[]), named(&[]));
    assert!(named(&["--room", "other"]).starts_with("other-"));
}

#[test]
fn rooms_says_what_is_in_them() {
    for place in Place::both() {
        assert_eq!(rooms(&place), Vec::<Value>::new());
        place.serve(8000);
        let listed = &rooms(&place)[0];
        assert!(listed["room"].as_str().unwrap().starts_with("work-"), "{listed}");
        assert_eq!(listed["workspace"], place.work().to_str().unwrap());
        assert_eq!((&listed["tasks"], &listed["ports"]), (&1.into(), &[8000].as_slice().into()), "{listed}");
        assert!(listed["commands"].as_u64() >= Some(1) && listed["idle_ms"] == 0, "{listed}");
        assert!(listed["started"].as_str().unwrap().ends_with('Z'), "{listed}");
        let text = place.bashtion().arg("rooms").finish().stdout();
        assert!(text.starts_with("ROOM ") && text.contains(" 8000 "), "{text}");
    }
}

#[test]
fn a_room_where_nothing_runs_is_idle() {
    let place = Place::new();
    place.prints("true");
    wait_until("it is idle", || rooms(&place)[0]["idle_ms"].as_u64() > Some(0));
    let listed = &rooms(&place)[0];
    assert_eq!((&listed["commands"], &listed["tasks"]), (&0.into(), &0.into()), "{listed}");
}

/// Something runs, though no command does.
#[test]
fn a_room_with_kept_leftovers_is_not_idle() {
    for place in Place::both() {
        place.prints_with(&["--leftovers", "keep"], "sleep 4332 > /dev/null 2>&1 &");
        for _ in 0..3 {
            let listed = &rooms(&place)[0];
            assert_eq!((&listed["commands"], &listed["idle_ms"]), (&0.into(), &0.into()), "{listed}");
        }
        place.prints("kill $(pgrep -x sleep)");
        wait_until("it is idle", || rooms(&place)[0]["idle_ms"].as_u64() > Some(0));
    }
}

#[test]
fn a_port_is_shown_to_the_host() {
    for place in Place::both() {
        place.write("page.html", "served");
        place.serve(8000);
        let shown =
            place.bashtion().args(&["rooms", "expose", "8000", "--as", "0", "--json"]).finish().json();
        assert_eq!(shown["port"], 8000, "{shown}");
        let port = u16::try_from(shown["as"].as_u64().unwrap()).unwrap();
        let mut host = TcpStream::connect(("127.0.0.1", port)).unwrap();
        host.write_all(b"GET /page.html HTTP/1.0\r\n\r\n").unwrap();
        let mut answer = String::new();
        host.read_to_string(&mut answer).unwrap();
        assert!(answer.ends_with("served"), "{answer}");
        place.bashtion().args(&["rooms", "end"]).finish().code().unwrap();
        wait_until("it is shown no longer", || TcpStream::connect(("127.0.0.1", port)).is_err());
    }
}

#[test]
fn ending_a_room_ends_what_runs_in_it_and_removes_its_files() {
    for place in Place::both() {
        place.prints("echo x > /tmp/file; echo x > /var/tmp/file; echo x > /dev/shm/file");
        let task = place.serve(8000);
        let ended = place.bashtion().args(&["rooms", "end"]).finish();
        assert_eq!(ended.code(), Some(0), "{ended:?}");
        assert!(ended.stdout().starts_with("ended work-"), "{ended:?}");
        assert_ne!(place.end_of(&task)["status"], "running");
        assert_eq!(rooms(&place), Vec::<Value>::new());
        for path in ["/tmp/file", "/var/tmp/file", "/dev/shm/file"] {
            place.prints(&format!("test ! -e {path}"));
        }
        assert_eq!(place.run("curl -sS 127.0.0.1:8000").code(), Some(7));
    }
}

#[test]
fn one_of_two_rooms_is_ended_by_its_name() {
    let place = Place::new();
    place.prints("echo x > /tmp/file");
    place.prints_with(&["--room", "other"], "echo x > /tmp/file");
    let listed = rooms(&place);
    let names = listed.iter().map(|room| room["room"].as_str().unwrap());
    let other = names.into_iter().find(|name| name.starts_with("other-")).unwrap();
    assert_eq!(place.bashtion().args(&["rooms", "end", other]).finish().code(), Some(0));
    assert_eq!(rooms(&place).len(), 1);
    assert_eq!(place.prints("cat /tmp/file"), "x\n");
    assert_eq!(place.run_with(&["--room", "other"], "ls /tmp/file").code(), Some(2));
}
