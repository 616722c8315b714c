//! Several users of one machine in one workspace: each has rooms of their own.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use bashtion_testkit::{Finished, Run, World, living_with, wait_until};

use crate::place::{Place, link_program};

/// A user with a home and a state directory, in a workspace of all.
struct Person<'a> {
    id: u32,
    world: &'a World,
}

/// Not `nobody`, by whose number a user namespace shows everybody else.
const PEOPLE: [u32; 3] = [0, 61_001, 61_002];

fn open(path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
}

/// The world of all, and its people.
fn settle(world: &World) -> [Person<'_>; 3] {
    let root = root(world);
    open(&root);
    open(&world.work());
    PEOPLE.map(|id| {
        for folder in ["home", "state"] {
            let path = root.join(format!("{folder}-{id}"));
            fs::create_dir(&path).unwrap();
            chown(&path, Some(id), Some(id)).unwrap();
        }
        Person { id, world }
    })
}

fn root(world: &World) -> PathBuf {
    world.work().parent().unwrap().to_owned()
}

impl Person<'_> {
    fn folder(&self, name: &str) -> PathBuf {
        root(self.world).join(format!("{name}-{}", self.id))
    }

    fn program(&self, program: &str) -> Run {
        let user = [format!("--reuid={}", self.id), format!("--regid={}", self.id)];
        self.world
            .program("setpriv")
            .args(&[&user[0], &user[1], "--clear-groups", program])
            .env("HOME", self.folder("home").to_str().unwrap())
            .env("BASHTION_STATE_DIR", self.folder("state").to_str().unwrap())
    }

    fn bashtion(&self) -> Run {
        self.program(root(self.world).join("bashtion").to_str().unwrap())
    }

    fn run(&self, command: &str) -> Finished {
        self.bashtion().args(&["run", "--", command]).finish()
    }

    fn prints(&self, command: &str) -> String {
        let finished = self.run(command);
        assert_eq!(finished.code(), Some(0), "{}: {command}: {finished:?}", self.id);
        finished.stdout()
    }

    /// The socket on which the spawner of their room takes orders.
    fn socket(&self) -> PathBuf {
        let rooms = fs::read_dir(self.folder("state").join("private/rooms")).unwrap().flatten();
        let files = rooms.flat_map(|room| fs::read_dir(room.path()).unwrap().flatten());
        let is_socket = |path: &PathBuf| path.extension().is_some_and(|kind| kind == "room");
        files.map(|file| file.path()).find(is_socket).unwrap()
    }

    /// Asks a room for its status, as this user, and says how long the answer is or what hinders.
    fn ask(&self, socket: &Path) -> String {
        let script = "
import socket, sys
client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
try:
    client.connect(sys.argv[1])
    client.send((1).to_bytes(8, 'little') + b'S')
    print('answered' if client.recv(65536) else 'closed')
except OSError as error:
    print(error.strerror)
";
        self.program("python3").args(&["-c", script]).arg(socket).finish().stdout().trim().to_owned()
    }
}

impl Drop for Person<'_> {
    fn drop(&mut self) {
        drop(self.bashtion().args(&["rooms", "end", "--all"]).finish());
    }
}

#[test]
fn each_user_has_a_room_of_their_own() {
    let world = World::new(env!("CARGO_BIN_EXE_bashtion"));
    link_program(&root(&world));
    let people = settle(&world);
    for person in &people {
        let sleep = format!("sleep 4471.{}", person.id);
        person.prints(&format!("echo {} > /tmp/file; echo x > /dev/shm/of-{}", person.id, person.id));
        let started = person.bashtion().args(&["run", "--background", "--", &sleep]).finish();
        assert_eq!(started.code(), Some(0), "{started:?}");
        wait_until("it runs", || !living_with(&sleep).is_empty());
    }
    for person in &people {
        assert_eq!(person.prints("cat /tmp/file; ls /dev/shm"), format!("{0}\nof-{0}\n", person.id));
        let seen = person.prints("pgrep -ax sleep");
        assert!(
            seen.ends_with(&format!(" sleep 4471.{}\n", person.id)) && seen.lines().count() == 1,
            "{seen}"
        );
        for path in ["state", "home"].map(|name| person.folder(name)) {
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o002, 0);
        }
    }
}

#[test]
fn nobody_is_let_into_anothers_room() {
    let world = World::new(env!("CARGO_BIN_EXE_bashtion"));
    link_program(&root(&world));
    let people = settle(&world);
    people.iter().for_each(|person| drop(person.prints("true")));
    let asked = |whose: &Person<'_>, by: &Person<'_>| by.ask(&whose.socket());
    let is_let_in = |by_modes: bool| {
        for whose in &people {
            for by in &people {
                let answer = asked(whose, by);
                let expected: &[&str] = match () {
                    () if whose.id == by.id => &["answered"],
                    () if by_modes && by.id != 0 => &["Permission denied"],
                    () => &["closed", "Connection reset by peer", "Broken pipe"],
                };
                assert!(expected.contains(&answer.as_str()), "{} by {}: {answer}", whose.id, by.id);
            }
        }
    };
    is_let_in(true);
    // Even if somebody has opened all that is on the way.
    for person in &people {
        for path in person.socket().ancestors().take(5) {
            open(path);
        }
    }
    is_let_in(false);
    for person in &people {
        // As it was, so that the room can be ended.
        let state = person.folder("state");
        Command::new("chmod").arg("-R").arg("go-w").arg(&state).status().unwrap();
    }
}

/// Command lines hold passwords.
#[test]
fn nobody_sees_command_lines_of_the_host() {
    for place in Place::both() {
        let out = place.prints("cat /proc/[0-9]*/cmdline | tr '\\0' '\\n'");
        let own = std::env::args().next().unwrap();
        assert!(out.contains("/proc/[0-9]*") && !out.contains(&own), "{out}");
        let seen: usize = place.prints("ls -d /proc/[0-9]* | wc -l").trim().parse().unwrap();
        assert!(seen < 8, "{seen} processes are seen");
    }
}
