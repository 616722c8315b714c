//! A client on standard input and output that sends exactly what it is told.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use bashtion_testkit::World;
use serde_json::{Value, json};

/// The server, and everything it has said that nobody has asked for yet.
pub(crate) struct Client {
    pub(crate) child: Child,
    stdin: Option<ChildStdin>,
    said: Receiver<Value>,
    kept: Vec<Value>,
    next: u64,
}

/// What is in every request of protocol 2026-07-28.
pub(crate) fn modern(capabilities: &Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "io.modelcontextprotocol/clientInfo": {"name": "a test", "version": "1"},
    })
}

impl Client {
    /// Says nothing yet.
    pub(crate) fn silent(world: &World, options: &[&str]) -> Self {
        let mut child = world.bashtion().arg("serve").args(options).start_with_input();
        let (send, said) = channel();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let value = serde_json::from_str(&line).unwrap_or_else(|_| json!({"not JSON": line}));
                if send.send(value).is_err() {
                    break;
                }
            }
        });
        let stdin = child.stdin.take();
        Self { child, stdin, said, kept: vec![], next: 100 }
    }

    /// One that has shaken hands as before 2026-07-28.
    pub(crate) fn with_capabilities(world: &World, options: &[&str], capabilities: &Value) -> Self {
        let mut client = Self::silent(world, options);
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": {"name": "a test", "version": "1"},
        });
        let id = client.request("initialize", &hello);
        assert_eq!(client.answer(id)["result"]["protocolVersion"], "2025-11-25");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    pub(crate) fn new(world: &World) -> Self {
        Self::with_capabilities(world, &[], &json!({}))
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).unwrap();
        stdin.flush().unwrap();
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    pub(crate) fn request(&mut self, method: &str, params: &Value) -> u64 {
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}));
        self.next
    }

    /// Calls a tool, and does not wait.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> u64 {
        self.request("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// Calls it, and waits for the result.
    pub(crate) fn result(&mut self, tool: &str, arguments: &Value) -> Value {
        let id = self.call(tool, arguments);
        self.answer(id)["result"].clone()
    }

    /// Runs a command in the foreground.
    pub(crate) fn bash(&mut self, command: &str) -> Value {
        self.result("bash", &json!({"command": command}))
    }

    pub(crate) fn answer(&mut self, id: u64) -> Value {
        self.wait_for(&format!("the answer to {id}"), |message| {
            message["id"] == id && message.get("method").is_none()
        })
    }

    /// The first message that is like this, said already or within half a minute.
    pub(crate) fn wait_for(&mut self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        if let Some(index) = self.kept.iter().position(&is_it) {
            return self.kept.remove(index);
        }
        loop {
            match self.said.recv_timeout(Duration::from_secs(30)) {
                Ok(message) if is_it(&message) => return message,
                Ok(message) => self.kept.push(message),
                Err(error) => panic!("waited in vain for {what} ({error}); it said {:?}", self.kept),
            }
        }
    }

    /// Whether anything like this is said within a moment.
    pub(crate) fn hears(&mut self, is_it: impl Fn(&Value) -> bool, within: Duration) -> bool {
        let until = std::time::Instant::now() + within;
        while let Ok(message) =
            self.said.recv_timeout(until.saturating_duration_since(std::time::Instant::now()))
        {
            self.kept.push(message);
        }
        self.kept.iter().any(is_it)
    }

    pub(crate) fn cancel(&mut self, id: u64) {
        self.send(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}),
        );
    }

    /// Says no more, but still listens.
    pub(crate) fn hang_up(&mut self) {
        self.stdin = None;
    }

    /// Says no more and listens no more, and waits for the server's end.
    pub(crate) fn leave(mut self) -> Option<i32> {
        self.stdin = None;
        self.child.wait().unwrap().code()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.stdin = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The text of a result.
pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {result}"))
}
