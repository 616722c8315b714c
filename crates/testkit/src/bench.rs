//! What benchmarks share: ratios to a baseline of the same run.

use std::ffi::{CStr, CString};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, posix_spawn};
use nix::sys::stat::Mode;
use nix::sys::wait::{WaitStatus, waitpid};

/// The cheapest way to start a program and wait for it.
pub fn by_posix_spawn(program: &CStr, args: &[&CStr], env: &[CString]) {
    let mut actions = PosixSpawnFileActions::init().expect("no actions");
    actions.add_open(1, c"/dev/null", OFlag::O_WRONLY, Mode::empty()).expect("it can be opened");
    let attributes = PosixSpawnAttr::init().expect("no attributes");
    let pid = posix_spawn(program, &actions, &attributes, args, env).expect("it runs");
    assert!(matches!(waitpid(pid, None), Ok(WaitStatus::Exited(_, 0))));
}

/// The median time of each. Every round does each once, in an order that changes, so that the machine's mood falls on all
/// alike.
#[must_use]
pub fn medians<const N: usize>(variants: [&dyn Fn(); N], rounds: usize) -> [Duration; N] {
    let mut times = [(); N].map(|()| Vec::with_capacity(rounds));
    for round in 0..rounds + 3 {
        for turn in 0..N {
            // Forwards and backwards, beginning with each in turn.
            let index = if round % 2 == 0 { (turn + round) % N } else { (2 * N - turn + round) % N };
            let started = Instant::now();
            variants[index]();
            // The first rounds warm up.
            if round >= 3 {
                times[index].push(started.elapsed());
            }
        }
    }
    times.map(|mut times| {
        times.sort();
        times[times.len() / 2]
    })
}

/// How much longer.
#[must_use]
pub fn ratio(time: Duration, base: Duration) -> f64 {
    time.as_secs_f64() / base.as_secs_f64()
}

/// Two GiB that are really there.
#[must_use]
pub fn ballast() -> Vec<u8> {
    let mut ballast = vec![0_u8; 2 << 30];
    for page in ballast.chunks_mut(4096) {
        page[0] = 1;
    }
    ballast
}

/// A server over stdio, as an agent has one. It ends with this.
#[derive(Debug)]
pub struct OverStdio {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl OverStdio {
    /// Starts it by this command, and says hello.
    #[must_use]
    pub fn new(mut serve: Command) -> Self {
        const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
        let serve = serve.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = serve.spawn().expect("the server starts");
        let stdin = child.stdin.take().expect("it is piped");
        let stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut client = Self { child, stdin, stdout };
        client.exchange(HELLO);
        client
    }

    /// Has it run a command, and returns its answer.
    pub fn bash(&mut self, command: &str) -> String {
        let call = format!(
            r#""method":"tools/call","params":{{"name":"bash","arguments":{{"command":"{command}"}}}}"#
        );
        let answer = self.exchange(&format!(r#"{{"jsonrpc":"2.0","id":1,{call}}}"#));
        assert!(answer.contains("\"exit_code\":0"), "{answer}");
        answer
    }

    fn exchange(&mut self, line: &str) -> String {
        self.stdin.write_all(format!("{line}\n").as_bytes()).expect("it reads");
        let mut answer = String::new();
        self.stdout.read_line(&mut answer).expect("it answers");
        answer
    }
}

impl Drop for OverStdio {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
