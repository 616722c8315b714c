//! Many calls and clients at once, and one that is slow.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use bashtion_testkit::living_with;
use serde_json::json;

use crate::http::{Served, read, send};
use crate::stdio::{Client, text};
use crate::world;

#[test]
fn a_hundred_calls_at_once_many_at_once() {
    let world = world();
    let mut client = Client::new(&world);
    let ids: Vec<(u64, usize)> = (0..100)
        .map(|n| (client.call("bash", &json!({"command": format!("sleep 0.2; echo n{n}")})), n))
        .collect();
    for (id, n) in ids {
        assert_eq!(client.answer(id)["result"]["structuredContent"]["stdout"], format!("n{n}\n"));
    }
    assert_eq!(client.leave(), Some(0));
}

#[test]
fn many_clients_over_one_server_many_at_once() {
    let world = world();
    let served = Served::new(&world, &[]);
    std::thread::scope(|scope| {
        for n in 0..40 {
            let served = &served;
            scope.spawn(move || {
                assert!(text(&served.bash(&format!("echo n{n}"))).contains(&format!("\nn{n}")));
            });
        }
    });
}

#[test]
fn a_client_that_reads_nothing_harms_nobody() {
    let world = world();
    let served = Served::new(&world, &[]);
    let (headers, body) =
        served.call_parts(&json!({"command": "head -c 20000 /dev/zero | tr '\\0' x; sleep 1"}));
    let stalled: Vec<_> = (0..20)
        .map(|_| {
            let mut stream = served.connect();
            send(&mut stream, "POST /mcp", &headers, &body);
            stream
        })
        .collect();
    let began = Instant::now();
    assert!(text(&served.bash("echo on")).contains("\non"));
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    for stream in stalled {
        assert_eq!(read(stream).status, 200);
    }
}

#[test]
fn a_reader_that_stalls_does_not_stall_the_command() {
    let world = world();
    let mut child = world.bashtion().arg("serve").start_with_input();
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "bash", "arguments": {"command": "for i in $(seq 40); do seq 2000; sleep 0.02; done; touch done"},
        "_meta": {"progressToken": 1}}});
    child.stdin.as_mut().unwrap().write_all(format!("{hello}\n{call}\n").as_bytes()).unwrap();
    // Nothing is read, and yet it gets to its end.
    bashtion_testkit::wait_until("it is done", || world.work().join("done").exists());
    drop(child.stdin.take());
    let mut rest = String::new();
    child.stdout.take().unwrap().read_to_string(&mut rest).unwrap();
    assert!(rest.contains("\"id\":2,\"result\""), "{} bytes", rest.len());
    child.wait().unwrap();
}

#[test]
fn more_than_there_is_room_for_wait_their_turn_and_can_be_cancelled() {
    let world = world();
    let mut client = Client::new(&world);
    let ids: Vec<u64> =
        (0..150).map(|_| client.call("bash", &json!({"command": "exec sleep 661827"}))).collect();
    bashtion_testkit::wait_until("many run", || living_with("sleep 661827").len() >= 20);
    ids.iter().for_each(|id| client.cancel(*id));
    bashtion_testkit::wait_until("none does", || living_with("sleep 661827").is_empty());
    assert_eq!(client.bash("echo on")["structuredContent"]["stdout"], "on\n");
}

#[test]
fn a_client_that_is_there_and_reads_nothing_does_not_keep_the_server() {
    let world = world();
    let mut child = world.bashtion().arg("serve").start_with_input();
    let mut stdin = child.stdin.take().unwrap();
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    stdin.write_all(format!("{hello}\n").as_bytes()).unwrap();
    for id in 2..60 {
        stdin
            .write_all(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/list\"}}\n").as_bytes())
            .unwrap();
    }
    std::thread::sleep(Duration::from_millis(300));
    nix::sys::signal::kill(
        nix::unistd::Pid::from_raw(child.id().cast_signed()),
        nix::sys::signal::Signal::SIGTERM,
    )
    .unwrap();
    let began = Instant::now();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
}
