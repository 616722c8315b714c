//! Messages that are none, or too much.

use std::io::{Read, Write};
use std::time::Duration;

use serde_json::json;

use crate::http::Served;
use crate::stdio::{Client, text};
use crate::world;

/// Still there, and still right.
fn works(client: &mut Client) {
    assert_eq!(client.bash("echo on")["structuredContent"]["stdout"], "on\n");
}

#[test]
fn lines_that_are_no_messages_change_nothing() {
    let world = world();
    let mut client = Client::new(&world);
    let deep = format!("{}{}\n", "[".repeat(100_000), "]".repeat(100_000));
    let lines: Vec<Vec<u8>> = vec![
        b"\n\r\n   \n".to_vec(),
        b"hello\n".to_vec(),
        b"{\n".to_vec(),
        b"\xff\xfe\x00\n".to_vec(),
        b"[]\n[1,2]\n{}\nnull\n42\n\"text\"\n".to_vec(),
        b"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"tools/list\"}\n".to_vec(),
        b"{\"jsonrpc\":\"2.0\",\"method\":7}\n".to_vec(),
        b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"tools/list\"}\n".to_vec(),
        b"{\"jsonrpc\":\"2.0\",\"id\":999,\"result\":{}}\n".to_vec(),
        b"{\"jsonrpc\":\"2.0\",\"id\":998,\"error\":{\"code\":1,\"message\":\"x\"}}\n".to_vec(),
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unheard-of\",\"params\":[]}\n".to_vec(),
        deep.into_bytes(),
    ];
    for line in lines {
        client.write(&line);
        works(&mut client);
    }
}

#[test]
fn requests_that_are_wrong_get_an_error_that_says_so() {
    let world = world();
    let mut client = Client::new(&world);
    let wrong = [
        ("no/such/method", json!({}), -32601),
        ("prompts/list", json!({}), -32601),
        ("resources/list", json!({}), -32601),
        ("tools/call", json!({"name": "nope"}), -32602),
        ("tools/call", json!({"arguments": {}}), -32602),
        ("tools/call", json!({"name": 7}), -32602),
        ("tools/call", json!({"name": "bash", "arguments": "ls"}), -32602),
    ];
    for (method, params, code) in wrong {
        let id = client.request(method, &params);
        let answer = client.wait_for("an error", |message| {
            message.get("error").is_some() && (message["id"] == id || message["id"].is_null())
        });
        let got = answer["error"]["code"].as_i64().unwrap();
        assert!([code, -32600].contains(&got), "{method} {params}: {answer}");
    }
    for arguments in [
        json!({}),
        json!({"command": 7}),
        json!({"command": ""}),
        json!({"command": "ls", "timeout_ms": -1}),
        json!({"command": "ls", "timeout_ms": 1e300}),
        json!({"command": "a\u{0}b"}),
        json!({"command": "ls", "session": "../x"}),
        json!({"command": "ls", "env": {"A=B": "c"}}),
        json!({"command": "ls", "env": {"LD_PRELOAD": "x.so"}}),
        json!({"command": "ls", "cwd": "/no/such"}),
        json!({"command": "ls", "cwd": "x".repeat(100_000)}),
    ] {
        let result = client.result("bash", &arguments);
        assert_eq!(result["isError"], true, "{arguments} {result}");
        assert!(text(&result).len() < 1000 || arguments["cwd"].is_string(), "{result}");
    }
    works(&mut client);
}

#[test]
fn a_client_that_begins_in_the_wrong_way_is_told_and_can_begin_again() {
    let world = world();
    let mut client = Client::silent(&world, &[]);
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let id = client.request("tools/list", &json!({}));
    assert_eq!(client.answer(id)["error"]["code"], -32602);
    let hello = json!({"protocolVersion": "1999-01-01", "capabilities": {}, "clientInfo": {"name": "old", "version": "0"}});
    let id = client.request("initialize", &hello);
    assert_eq!(client.answer(id)["result"]["serverInfo"]["name"], "bashtion");
    works(&mut client);
}

#[test]
fn a_line_without_end_costs_no_memory() {
    let world = world();
    let mut client = Client::new(&world);
    let before = resident(client.child.id());
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..64 {
        client.write(&piece);
    }
    client.write(b"\n");
    works(&mut client);
    let after = resident(client.child.id());
    assert!(after < before + 48 * 1024, "{before} KiB before, {after} KiB after");
}

fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn http_requests_that_are_wrong_are_refused() {
    let world = world();
    let served = Served::new(&world, &[]);
    let headers = served.usual_headers();
    let large = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":{{\"a\":\"{}\"}}}}",
        "x".repeat(5 << 20)
    );
    for (body, status) in [
        (large.as_bytes(), 413),
        (b"not json".as_slice(), 400),
        (b"".as_slice(), 400),
        (b"[]".as_slice(), 400),
    ] {
        let response = served.exchange("POST /mcp", &headers, body);
        let fits = response.status == status || (status == 400 && (400..=422).contains(&response.status));
        assert!(fits, "{} for {} bytes: {}", response.status, body.len(), response.body);
    }
    let mut stream = served.connect();
    stream.write_all(b"NOT HTTP AT ALL\r\n\r\n").unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert!(text(&served.bash("echo on")).contains("\non"));
}

#[test]
fn a_client_that_never_finishes_asking_is_let_go() {
    let world = world();
    let served = Served::new(&world, &[]);
    let mut slow = served.connect();
    slow.write_all(b"POST /mcp HTTP/1.1\r\nHost: 127").unwrap();
    assert!(text(&served.bash("echo on")).contains("\non"), "others do not wait for it");
    slow.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut answer = vec![];
    slow.read_to_end(&mut answer).expect("the server closes it");
}

/// The first line of the answer to exactly these bytes.
fn answer_to(served: &Served, request: &str) -> String {
    let mut stream = served.connect();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn requests_that_name_the_server_twice_or_not_at_all_are_refused() {
    let world = world();
    let served = Served::new(&world, &[]);
    let (host, token) = (served.address.clone(), served.token.clone().unwrap());
    let rest = format!("Authorization: Bearer {token}\r\nConnection: close\r\n\r\n");
    let own = format!("Host: {host}\r\n");
    for path in ["/health", "/mcp", "/elsewhere"] {
        for doubtful in [
            format!("GET {path} HTTP/1.1\r\n{own}Host: evil.example\r\n{rest}"),
            format!("GET {path} HTTP/1.1\r\nHost: evil.example\r\n{own}{rest}"),
            format!("GET {path} HTTP/1.1\r\n{own}{own}{rest}"),
            format!("GET http://evil.example{path} HTTP/1.1\r\n{own}{rest}"),
            format!("GET http://{host}{path} HTTP/1.1\r\nHost: evil.example\r\n{rest}"),
            format!("GET http://{host}{path} HTTP/1.1\r\n{own}{rest}"),
            format!("CONNECT {host} HTTP/1.1\r\n{own}{rest}"),
            format!("GET {path} HTTP/1.1\r\n{rest}"),
        ] {
            assert_eq!(answer_to(&served, &doubtful), "HTTP/1.1 400 Bad Request", "{doubtful}");
        }
    }
    assert_eq!(answer_to(&served, &format!("GET /health HTTP/1.1\r\n{own}{rest}")), "HTTP/1.1 200 OK");
}

#[test]
fn bodies_that_never_end_do_not_keep_others_out() {
    const MORE_THAN_THERE_ARE_PLACES: usize = 300;
    let world = world();
    let served = Served::new(&world, &[]);
    let mut head = String::from("POST /mcp HTTP/1.1\r\n");
    served.usual_headers().iter().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
    let begin = |_| {
        let mut stream = served.connect();
        stream.write_all(format!("{head}Content-Length: 1000\r\n\r\n{{").as_bytes()).unwrap();
        stream
    };
    let mut slow: Vec<_> = (0..MORE_THAN_THERE_ARE_PLACES).map(begin).collect();
    assert!(text(&served.bash("echo on")).contains("\non"), "it waits for its place, not for ever");
    let mut answer = String::new();
    let _ = slow[0].read_to_string(&mut answer);
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert!(answer.contains("did not come within 15 seconds"), "{answer}");
}

#[test]
fn headers_that_come_one_by_one_do_not_go_on_for_ever() {
    let world = world();
    let served = Served::new(&world, &[]);
    let mut slow = served.connect();
    slow.write_all(b"GET /health HTTP/1.1\r\n").unwrap();
    let began = std::time::Instant::now();
    slow.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    let mut byte = [0];
    // Each is in time; all together are not.
    while slow.write_all(b"X-Slow: 1\r\n").is_ok() {
        assert!(began.elapsed() < Duration::from_secs(30), "it is still listened to");
        match slow.read(&mut byte) {
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Ok(_) | Err(_) => break,
        }
    }
}

/// Everything that a few thousand mutations of good messages make of them.
#[test]
fn mutations_of_good_messages_never_end_the_server() {
    let world = world();
    let mut client = Client::new(&world);
    let good = [
        json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "bash", "arguments": {"command": ":"}, "_meta": {"progressToken": 1}}}),
        json!({"jsonrpc": "2.0", "id": 8, "method": "tools/list", "params": {"cursor": "x"}}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7, "reason": "r"}}),
        json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "task_output", "arguments": {"task_id": "bash-aaaaaa", "since": 1}}}),
    ];
    let mut seed: u64 = 0x2545_f491_4f6c_dd1d;
    let mut random = move |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % below as u64).unwrap()
    };
    for round in 0..1500 {
        let mut bytes = good[round % good.len()].to_string().into_bytes();
        for _ in 0..=random(3) {
            let at = random(bytes.len().max(1));
            match random(4) {
                _ if bytes.len() < 2 => {}
                0 => bytes[at] = u8::try_from(random(256)).unwrap(),
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, b"{}[]\",:0n\\"[random(10)]),
                _ => bytes.truncate(at.max(1)),
            }
        }
        // What is still a message may only run what does nothing.
        bytes.retain(|byte| *byte != b'\n');
        if String::from_utf8_lossy(&bytes).contains("\"bash\"")
            && !String::from_utf8_lossy(&bytes).contains("\":\"")
        {
            continue;
        }
        bytes.push(b'\n');
        client.write(&bytes);
    }
    works(&mut client);
}
