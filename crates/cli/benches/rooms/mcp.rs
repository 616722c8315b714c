//! A server over stdio, as an agent has one.

use std::ffi::{CString, OsStr};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub(crate) struct OverStdio {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl OverStdio {
    pub(crate) fn new(program: &Path, workspace: &Path, env: &[CString], options: &[&OsStr]) -> Self {
        let env = env.iter().filter_map(|entry| {
            let (name, value) = entry.to_str().ok()?.split_once('=')?;
            Some((OsStr::from_bytes(name.as_bytes()), OsStr::from_bytes(value.as_bytes())))
        });
        let mut child = Command::new(program)
            .arg("serve")
            .args(options)
            .current_dir(workspace)
            .env_clear()
            .envs(env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let stdin = child.stdin.take().expect("it is piped");
        let stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut client = Self { child, stdin, stdout };
        client.exchange(HELLO);
        client
    }

    fn exchange(&mut self, line: &str) -> String {
        self.stdin.write_all(line.as_bytes()).expect("it reads");
        let mut answer = String::new();
        self.stdout.read_line(&mut answer).expect("it answers");
        answer
    }

    pub(crate) fn run(&mut self) {
        let answer = self.exchange(CALL);
        assert!(answer.contains("\"exit_code\":0"), "{answer}");
    }
}

const HELLO: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
    r#""capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#,
    "\n"
);
const CALL: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","#,
    r#""params":{"name":"bash","arguments":{"command":"true"}}}"#,
    "\n"
);

impl Drop for OverStdio {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
