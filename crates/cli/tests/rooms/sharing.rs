//! Everything that the commands of a workspace share, and with whom they do not.

use std::net::TcpListener;
use std::process::Command;

use crate::place::Place;

#[test]
fn temporary_files_are_there_for_the_next_command() {
    for place in Place::both() {
        for directory in ["/tmp", "/var/tmp", "/dev/shm", "$TMPDIR"] {
            place.prints(&format!("echo {directory} > {directory}/file"));
            assert_eq!(place.prints(&format!("cat {directory}/file")).lines().count(), 1, "{directory}");
        }
        assert_eq!(place.prints("cat /tmp/file"), "/tmp\n", "$TMPDIR is /tmp");
    }
}

#[test]
fn a_script_is_written_and_then_run() {
    for place in Place::both() {
        place.prints("printf '#!/bin/sh\\necho ran\\n' > $TMPDIR/script; chmod +x $TMPDIR/script");
        assert_eq!(place.prints("/tmp/script"), "ran\n");
    }
}

#[test]
fn sessions_share_it() {
    let place = Place::new();
    place.prints_with(&["--session", "one"], "echo one > /tmp/file");
    assert_eq!(place.prints_with(&["--session", "one"], "cat /tmp/file"), "one\n");
    assert_eq!(place.prints_with(&["--session", "two"], "cat /tmp/file"), "one\n");
    assert_eq!(place.prints("cat /tmp/file"), "one\n");
}

#[test]
fn a_session_stays_in_the_rooms_own_directories() {
    for place in Place::both() {
        for directory in ["/tmp", "/var/tmp", "/tmp/made/below"] {
            let session = ["--session", "s"];
            place.prints_with(
                &session,
                &format!("mkdir -p {directory}; cd {directory}; echo {directory} > here"),
            );
            assert_eq!(place.prints_with(&session, "pwd; cat here"), format!("{directory}\n{directory}\n"));
            let inside = place.run_with(&["--session", "s", "--background", "--json"], "pwd").json();
            let ended = place.end_of(inside["task_id"].as_str().unwrap());
            assert_eq!(ended["stdout"], format!("{directory}\n"), "{ended}");
        }
    }
}

/// A link that a command has made leads a session nowhere but where it leads the command.
#[test]
fn a_session_does_not_follow_a_link_out_of_the_room() {
    let place = Place::new();
    let session = ["--session", "s"];
    place.prints_with(&session, "mkdir /tmp/it; cd /tmp/it");
    place.prints("rmdir /tmp/it; ln -s /etc/ssl/private /tmp/it");
    let led = place.run_with(&session, "ls");
    assert_ne!(led.code(), Some(0), "{led:?}");
    assert_eq!(led.stdout(), "");
    place.prints("rm /tmp/it");
    let gone = place.run_with(&session, "true");
    assert_eq!(gone.code(), Some(125));
    assert!(gone.stderr().contains("help: name a directory that you may enter with --cwd"), "{gone:?}");
}

#[test]
fn shared_memory_of_a_program_is_found_by_the_next() {
    for place in Place::both() {
        let make = "from multiprocessing import resource_tracker, shared_memory
memory = shared_memory.SharedMemory(name='kept', create=True, size=8)
memory.buf[0] = 42
resource_tracker.unregister(memory._name, 'shared_memory')";
        place.prints(&format!("python3 -c \"{make}\""));
        let find = "from multiprocessing import shared_memory
memory = shared_memory.SharedMemory(name='kept')
print(memory.buf[0])
memory.unlink()";
        assert_eq!(place.prints(&format!("python3 -c \"{find}\"")), "42\n");
        assert_eq!(place.prints("ls /dev/shm"), "");
    }
}

#[test]
fn system_v_memory_is_found_by_the_next() {
    for place in Place::both() {
        place.prints("ipcmk --shmem 4096");
        assert!(place.prints("ipcs --shmems").contains(" 4096 "));
        assert!(!place.prints_with(&["--room", "other"], "ipcs --shmems").contains(" 4096 "));
    }
}

#[test]
fn a_directory_below_is_in_the_same_room() {
    let place = Place::new();
    place.prints("git init -q . && mkdir below && echo x > /tmp/file");
    assert_eq!(place.prints_with(&["--cwd", "below"], "cat /tmp/file"), "x\n");
}

#[test]
fn another_workspace_has_another_room() {
    for place in Place::both() {
        let other = place.another_directory("other");
        place.prints("echo x > /tmp/file; echo x > /var/tmp/file; echo x > /dev/shm/file");
        place.serve(8000);
        let elsewhere = |command: &str| place.run_with(&["--cwd", &other], command);
        for path in ["/tmp/file", "/var/tmp/file", "/dev/shm/file"] {
            assert_eq!(elsewhere(&format!("test ! -e {path}")).code(), Some(0), "{path}");
        }
        assert_eq!(elsewhere("curl -sS 127.0.0.1:8000").code(), Some(7), "no server is there");
        assert_eq!(elsewhere("pgrep -x python3").code(), Some(1), "nor its process");
    }
}

#[test]
fn temporary_files_of_the_host_are_not_there() {
    for place in Place::both() {
        for directory in ["/tmp", "/var/tmp", "/dev/shm"] {
            let theirs = tempfile::NamedTempFile::new_in(directory).unwrap();
            place.prints(&format!("test ! -e {}", theirs.path().display()));
            let name = format!("{directory}/of-the-room-{}", std::process::id());
            place.prints(&format!("echo x > {name}"));
            assert!(!std::path::Path::new(&name).exists(), "{name}");
        }
    }
}

#[test]
fn processes_of_the_host_are_neither_seen_nor_reached() {
    for place in Place::both() {
        let mut theirs = Command::new("sleep").arg("4331.1").spawn().unwrap();
        let id = theirs.id();
        let seen = place.run("pgrep -x sleep");
        assert_eq!((seen.code(), seen.stdout()), (Some(1), String::new()));
        let signalled = place.run(&format!("kill {id}"));
        assert!(signalled.stderr().contains("No such process"), "{signalled:?}");
        assert_eq!(theirs.try_wait().unwrap(), None, "it goes on");
        theirs.kill().unwrap();
        theirs.wait().unwrap();
    }
}

#[test]
fn servers_of_the_host_are_not_reached() {
    for place in Place::both() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert_eq!(place.run(&format!("curl -sS --max-time 5 127.0.0.1:{port}")).code(), Some(7));
        assert_eq!(place.prints("ss -Hltn"), "", "nor seen");
        place.serve(port);
    }
}
