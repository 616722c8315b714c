//! What a command costs over MCP, as a ratio to starting a shell, measured in the same run.
//!
//! Run it with `cargo bench --bench mcp`. One server and one client each, as an agent has them.
#![expect(clippy::print_stdout, reason = "printing is what a benchmark is for")]

use std::cell::RefCell;
use std::ffi::CString;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use bashtion_testkit::bench::{OverStdio, by_posix_spawn, medians, ratio};

const ROUNDS: usize = 300;

fn main() {
    let state = tempfile::tempdir().expect("a temporary directory");
    let off = ["--sandbox", "off"];
    let stdio = RefCell::new(OverStdio::new(serve(&state, &off)));
    let http = RefCell::new(OverHttp::new(&state, &off));
    let confined = RefCell::new(OverStdio::new(serve(&state, &[])));
    // What a command gets over MCP. Bash spends some of its time on it, so the baseline gets the same.
    let env = environment(&mut stdio.borrow_mut());
    let spawn: &dyn Fn() = &|| by_posix_spawn(c"/bin/bash", &[c"bash", c"-c", c"true"], &env);
    // Turn about with the baseline, and with nothing else: what runs in between is felt by what comes after.
    let against = |call: &dyn Fn()| {
        let [base, time] = medians([spawn, call], ROUNDS);
        (base, ratio(time, base))
    };
    let (base, over_stdio) = against(&|| drop(stdio.borrow_mut().bash("true")));
    let (_, over_http) = against(&|| http.borrow_mut().run());
    let (_, over_stdio_confined) = against(&|| drop(confined.borrow_mut().bash("true")));
    println!("a command over MCP, {ROUNDS} rounds, ratio to posix_spawn of `bash -c true`");
    println!("  posix_spawn                              1.00  ({:.2} ms)", base.as_secs_f64() * 1e3);
    println!("  stdio, bash `true`, no sandbox           {over_stdio:.2}  goal 1.30");
    println!("  HTTP, bash `true`, no sandbox            {over_http:.2}  goal 1.80");
    println!("  stdio, bash `true`, workspace sandbox    {over_stdio_confined:.2}");
}

fn serve(state: &tempfile::TempDir, options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bashtion"));
    command.arg("serve").args(options).current_dir(state.path());
    command.env("BASHTION_STATE_DIR", state.path().join("state")).env_remove("BASHTION_CONFIG");
    command
}

const CALL: &str = r#""method":"tools/call","params":{"name":"bash","arguments":{"command":"true"}"#;

/// The environment that commands get.
fn environment(server: &mut OverStdio) -> Vec<CString> {
    let answer: serde_json::Value = serde_json::from_str(&server.bash("env")).expect("JSON");
    let printed = answer["result"]["structuredContent"]["stdout"].as_str().expect("what it printed");
    printed.lines().map(|entry| CString::new(entry).expect("no NUL")).collect()
}

/// One connection that is kept, protocol 2026-07-28.
struct OverHttp {
    child: Child,
    stream: BufReader<TcpStream>,
    request: String,
}

impl OverHttp {
    fn new(state: &tempfile::TempDir, options: &[&str]) -> Self {
        let mut child = serve(state, options)
            .args(["--http", "127.0.0.1:0", "--no-auth"])
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let lines = BufReader::new(child.stderr.take().expect("it is piped")).lines();
        let mut said = lines.map_while(Result::ok);
        let address = said.find_map(|line| Some(line.split_once("http://")?.1.replace("/mcp", "")));
        let address = address.expect("it says where it listens");
        let stream = TcpStream::connect(&address).expect("it listens");
        stream.set_nodelay(true).expect("it is a connection");
        let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"}}"#;
        let body = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,{CALL},{meta}}}}}");
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: bash\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        Self { child, stream: BufReader::new(stream), request }
    }

    fn run(&mut self) {
        self.stream.get_mut().write_all(self.request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        // Head, then chunks until the empty one.
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).expect("it answers");
            if line == "\r\n" {
                break;
            }
        }
        loop {
            let mut size = String::new();
            self.stream.read_line(&mut size).expect("it answers");
            let size = usize::from_str_radix(size.trim(), 16).expect("a size");
            let mut chunk = vec![0; size + 2];
            self.stream.read_exact(&mut chunk).expect("it answers");
            if size == 0 {
                break;
            }
            answer += &String::from_utf8_lossy(&chunk);
        }
        assert!(answer.contains("\"exit_code\":0"), "{answer}");
    }
}

impl Drop for OverHttp {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
