//! A client over HTTP that sends exactly what it is told.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Child;
use std::time::Duration;

use bashtion_testkit::World;
use serde_json::{Value, json};

use crate::stdio::modern;

/// A server that listens.
pub(crate) struct Served {
    pub(crate) child: Child,
    pub(crate) address: String,
    pub(crate) token: Option<String>,
    /// What it said on standard error before it listened.
    pub(crate) said: String,
}

pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Served {
    pub(crate) fn new(world: &World, options: &[&str]) -> Self {
        let mut child = world.bashtion().args(&["serve", "--http", "127.0.0.1:0"]).args(options).start();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (mut said, mut address) = (String::new(), None);
        while address.is_none() {
            let line = lines.next().unwrap_or_else(|| panic!("it does not listen: {said}")).unwrap();
            address = line
                .split_once("listening on http://")
                .map(|(_, rest)| rest.trim_end_matches("/mcp").to_owned());
            said += &line;
            said.push('\n');
        }
        std::thread::spawn(move || lines.for_each(drop));
        let token = said.split_once("Bearer ").map(|(_, rest)| rest.lines().next().unwrap().to_owned());
        Self { child, address: address.unwrap(), token, said }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream
    }

    /// What every request of a client has.
    pub(crate) fn usual_headers(&self) -> Vec<(String, String)> {
        let mut headers = vec![
            ("Host", self.address.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", "2026-07-28"),
        ];
        let bearer = self.token.as_ref().map(|token| format!("Bearer {token}"));
        headers.extend(bearer.as_deref().map(|bearer| ("Authorization", bearer)));
        headers.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    pub(crate) fn exchange(&self, first: &str, headers: &[(String, String)], body: &[u8]) -> Response {
        let mut stream = self.connect();
        send(&mut stream, first, headers, body);
        read(stream)
    }

    /// A call of protocol 2026-07-28, with the headers it wants.
    pub(crate) fn call_parts(&self, arguments: &Value) -> (Vec<(String, String)>, Vec<u8>) {
        let mut headers = self.usual_headers();
        headers.push(("Mcp-Method".to_owned(), "tools/call".to_owned()));
        headers.push(("Mcp-Name".to_owned(), "bash".to_owned()));
        let params = json!({"name": "bash", "arguments": arguments, "_meta": modern(&json!({}))});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        (headers, body.to_string().into_bytes())
    }

    pub(crate) fn bash(&self, command: &str) -> Value {
        let (headers, body) = self.call_parts(&json!({"command": command}));
        let response = self.exchange("POST /mcp", &headers, &body);
        assert_eq!(response.status, 200, "{}", response.body);
        response.message()["result"].clone()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Without a body it does not say how long that is.
pub(crate) fn send(stream: &mut TcpStream, first: &str, headers: &[(String, String)], body: &[u8]) {
    let mut text = format!("{first} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    headers.iter().for_each(|(name, value)| text += &format!("{name}: {value}\r\n"));
    // It may have had enough before all is sent.
    let _ = stream.write_all(format!("{text}\r\n").as_bytes()).and_then(|()| stream.write_all(body));
}

pub(crate) fn read(stream: TcpStream) -> Response {
    let mut bytes = vec![];
    let _ = BufReader::new(stream).read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    Response { status, head: head.to_lowercase(), body: body.to_owned() }
}

impl Response {
    /// The last message, as JSON or as an event, whole or in chunks.
    pub(crate) fn message(&self) -> Value {
        let lines = self.body.lines().map(|line| line.strip_prefix("data: ").unwrap_or(line));
        let mut messages =
            lines.filter_map(|line| serde_json::from_str::<Value>(line).ok()).filter(Value::is_object);
        messages.next_back().unwrap_or_else(|| panic!("no message in {:?}", self.body))
    }
}
