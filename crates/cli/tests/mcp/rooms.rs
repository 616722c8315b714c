//! Calls of one server share a room, with each other and with the command line.

use bashtion_testkit::{wait_until, waiting_shell};
use serde_json::json;

use crate::stdio::{Client, text};
use crate::world;

#[test]
fn a_call_finds_what_another_made() {
    let world = world();
    let mut client = Client::new(&world);
    client.bash("echo made > /tmp/file; echo made > /dev/shm/file");
    assert_eq!(client.bash("cat $TMPDIR/file /dev/shm/file")["structuredContent"]["stdout"], "made\nmade\n");
    assert_eq!(world.run("cat /tmp/file").finish().stdout(), "made\n");
    assert_eq!(Client::new(&world).bash("cat /tmp/file")["structuredContent"]["stdout"], "made\n");
}

#[test]
fn a_call_asks_the_server_that_another_started() {
    let world = world();
    let mut client = Client::new(&world);
    let serve = json!({"command": "python3 -m http.server 8000", "mode": "background"});
    let started = client.result("bash", &serve);
    assert_eq!(started["structuredContent"]["status"], "running", "{started}");
    let asked = client.bash("curl -sS --retry 20 --retry-connrefused --retry-delay 1 127.0.0.1:8000");
    assert!(text(&asked).contains("Directory listing"), "{asked}");
    let ended = client.bash("kill $(lsof -ti:8000 -sTCP:LISTEN)");
    assert_eq!(ended["structuredContent"]["exit_code"], 0, "{ended}");
    let waited = client.result("task_wait", &json!({"task_id": started["structuredContent"]["task_id"]}));
    assert_eq!(waited["structuredContent"]["signal"], "SIGTERM", "{waited}");
}

#[test]
fn the_next_call_has_a_shell_that_has_waited() {
    let world = world();
    let mut client = Client::new(&world);
    let work = world.work().canonicalize().unwrap();
    wait_until("a shell has waited", || {
        client.bash("true");
        wait_until("one waits", || waiting_shell(&work).is_some());
        let status =
            waiting_shell(&work).map(|shell| std::fs::read_to_string(format!("/proc/{shell}/status")));
        let Some(Ok(status)) = status else { return false };
        // As the room numbers it.
        let number =
            status.lines().find(|line| line.starts_with("NSpid:")).unwrap().rsplit('\t').next().unwrap();
        client.bash("echo $$")["structuredContent"]["stdout"] == format!("{number}\n")
    });
}
