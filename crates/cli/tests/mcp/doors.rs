//! Who gets in over HTTP, and who does not.

use std::os::unix::fs::PermissionsExt;

use bashtion_testkit::{living_with, wait_until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use crate::http::{Served, send};
use crate::stdio::text;
use crate::world;

fn with(mut headers: Vec<(String, String)>, name: &str, value: &str) -> Vec<(String, String)> {
    headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
    headers.push((name.to_owned(), value.to_owned()));
    headers
}

#[test]
fn the_token_is_made_once_shown_once_and_private() {
    let world = world();
    let first = Served::new(&world, &[]);
    let token = first.token.clone().unwrap();
    let file = world.state().join("private/server-token");
    assert_eq!(std::fs::read_to_string(&file).unwrap().trim(), token);
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(text(&first.bash("echo in")).contains("\nin"));
    let mut second = Served::new(&world, &[]);
    assert!(second.token.is_none() && second.said.contains("server-token"), "{}", second.said);
    second.token = Some(token.clone());
    assert!(text(&second.bash("echo in")).contains("\nin"));
    // A command cannot read it.
    let result = first.bash(&format!("cat {}", file.display()));
    assert!(!result.to_string().contains(&token), "{result}");
}

#[test]
fn nobody_gets_in_without_the_right_token() {
    let world = world();
    let served = Served::new(&world, &[]);
    let (headers, body) = served.call_parts(&json!({"command": "touch in"}));
    let token = served.token.clone().unwrap();
    let wrong = [
        String::new(),
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        "Bearer wrong".to_owned(),
        token.clone(),
        format!("Basic {token}"),
        format!("Bearer {}", &token[1..]),
        format!("Bearer {token}0"),
    ];
    for value in wrong {
        let response = served.exchange("POST /mcp", &with(headers.clone(), "Authorization", &value), &body);
        assert_eq!(response.status, 401, "{value:?}: {}", response.body);
        assert!(response.head.contains("www-authenticate: bearer") && response.body.contains("Bearer TOKEN"));
        assert!(!response.body.contains(&token));
    }
    let mut without = headers.clone();
    without.retain(|(name, _)| name != "Authorization");
    for first in ["POST /mcp", "GET /mcp", "DELETE /mcp", "GET /", "POST /mcp/", "OPTIONS /mcp"] {
        assert_eq!(served.exchange(first, &without, &body).status, 401, "{first}");
    }
    assert!(!world.work().join("in").exists());
    assert_eq!(served.exchange("GET /health", &without[..1], b"").status, 200);
    assert_eq!(served.exchange("GET /elsewhere", &headers, b"").status, 404);
    let lower = with(headers, "Authorization", &format!("bearer {token}"));
    assert_eq!(served.exchange("POST /mcp", &lower, &body).status, 200);
}

#[test]
fn pages_of_other_sites_and_other_names_do_not_get_in() {
    let world = world();
    let served = Served::new(&world, &["--host", "shell.example"]);
    let (headers, body) = served.call_parts(&json!({"command": "touch in"}));
    for origin in ["http://evil.example", "null", "https://127.0.0.1.evil.example", "file://"] {
        let response = served.exchange("POST /mcp", &with(headers.clone(), "Origin", origin), &body);
        assert_eq!(response.status, 403, "{origin}: {}", response.body);
    }
    for host in ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80"] {
        let response = served.exchange("POST /mcp", &with(headers.clone(), "Host", host), &body);
        assert!((400..404).contains(&response.status), "{host}: {} {}", response.status, response.body);
    }
    assert!(!world.work().join("in").exists());
    for (name, value) in
        [("Origin", "http://localhost:5173"), ("Host", "localhost"), ("Host", "shell.example")]
    {
        let response = served.exchange("POST /mcp", &with(headers.clone(), name, value), &body);
        assert_eq!(response.status, 200, "{name}: {value}: {}", response.body);
    }
}

#[test]
fn without_a_token_only_on_loopback_and_said_loudly() {
    let world = world();
    let served = Served::new(&world, &["--no-auth"]);
    assert!(served.said.contains("WITHOUT A TOKEN"), "{}", served.said);
    assert!(text(&served.bash("echo in")).contains("\nin"));
    let refused = world.bashtion().args(&["serve", "--http", "0.0.0.0:0", "--no-auth"]).finish();
    assert_eq!(refused.code(), Some(125));
    assert!(refused.stderr().contains("can be reached from other machines"), "{}", refused.stderr());
    let taken = world.bashtion().args(&["serve", "--http", &served.address]).finish();
    assert!(taken.code() == Some(125) && taken.stderr().contains("cannot listen on"), "{}", taken.stderr());
}

#[test]
fn a_client_that_is_gone_takes_its_command_with_it() {
    let world = world();
    let served = Served::new(&world, &[]);
    let (headers, body) = served.call_parts(&json!({"command": "sleep 447182 & sleep 447182"}));
    let mut stream = served.connect();
    send(&mut stream, "POST /mcp", &headers, &body);
    wait_until("it runs", || living_with("447182").len() >= 3);
    drop(stream);
    wait_until("it is gone", || living_with("447182").is_empty());
}

#[test]
fn the_same_for_a_client_of_an_older_protocol_with_a_session() {
    let world = world();
    let served = Served::new(&world, &[]);
    let headers = with(served.usual_headers(), "MCP-Protocol-Version", "2025-11-25");
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let response = served.exchange("POST /mcp", &headers, hello.to_string().as_bytes());
    let session =
        response.head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap().to_owned();
    let headers = with(headers, "Mcp-Session-Id", &session);
    let call = |command: &str| {
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": {"name": "bash", "arguments": {"command": command}}})
        .to_string()
    };
    let response = served.exchange("POST /mcp", &headers, call("echo in").as_bytes());
    assert_eq!(response.message()["result"]["structuredContent"]["stdout"], "in\n", "{}", response.body);
    let mut stream = served.connect();
    send(&mut stream, "POST /mcp", &headers, call("sleep 558291 & sleep 558291").as_bytes());
    wait_until("it runs", || living_with("558291").len() >= 3);
    drop(stream);
    wait_until("it is gone", || living_with("558291").is_empty());
}

#[test]
fn sigterm_answers_what_runs_and_ends() {
    let world = world();
    let mut served = Served::new(&world, &[]);
    let (headers, body) = served.call_parts(&json!({"command": "echo before; sleep 336271"}));
    let mut stream = served.connect();
    send(&mut stream, "POST /mcp", &headers, &body);
    wait_until("it runs", || !living_with("336271").is_empty());
    kill(Pid::from_raw(served.child.id().cast_signed()), Signal::SIGTERM).unwrap();
    let answer = crate::http::read(stream);
    assert_eq!(answer.message()["result"]["structuredContent"]["status"], "cancelled", "{}", answer.body);
    assert_eq!(served.child.wait().unwrap().code(), Some(0));
    assert_eq!(living_with("336271"), Vec::<i32>::new());
}
