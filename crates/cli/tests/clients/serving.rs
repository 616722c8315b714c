//! The server as clients meet it, and what they say of it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use bashtion_testkit::wait_until;

use crate::desk::Desk;

/// How a client reaches the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// It starts one for itself.
    Stdio,
    /// There is one, and it brings the token.
    Http,
}

/// `bashtion serve --http`, until it is dropped.
#[derive(Debug)]
pub(crate) struct Serving {
    child: Child,
    said: Arc<Mutex<String>>,
}

impl Serving {
    /// On a port that is free, in the workspace of the desk.
    pub(crate) fn start(desk: &Desk, options: &[&str]) -> Self {
        let mut command = desk.command(desk.bashtion());
        command.args(["serve", "--http", "127.0.0.1:0"]).args(options).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let said = Arc::new(Mutex::new(String::new()));
        let serving = Self { child, said: Arc::clone(&said) };
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                *said.lock().unwrap() += &format!("{line}\n");
            }
        });
        wait_until("the server listens", || serving.after("listening on ").is_some());
        serving
    }

    pub(crate) fn url(&self) -> String {
        self.after("listening on ").unwrap()
    }

    /// As it is shown at the first start.
    pub(crate) fn token(&self) -> String {
        self.after("Authorization: Bearer ").unwrap()
    }

    /// The rest of the line that it said.
    fn after(&self, words: &str) -> Option<String> {
        let said = self.said.lock().unwrap();
        said.lines().find_map(|line| Some(line.split_once(words)?.1.to_owned()))
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a client that checks for itself; what it said about a failure is shown.
pub(crate) fn succeeds(mut client: Command, serving: Option<&Serving>) -> (String, String) {
    let output = client.output().unwrap();
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    let said = serving.map(|serving| serving.said.lock().unwrap().clone()).unwrap_or_default();
    assert!(
        output.status.success(),
        "{client:?} ended with {}\n== its stdout\n{stdout}\n== its stderr\n{stderr}\n== the server said\n{said}",
        output.status,
    );
    (stdout, stderr)
}

/// A script that finds its server in its environment, in a world of its own.
pub(crate) fn check(script: impl FnOnce(&Desk) -> Command, variables: &[(&str, &str)], way: Way) {
    let Some(desk) = Desk::new() else { return };
    let mut client = script(&desk);
    client.env("BASHTION", desk.bashtion()).envs(variables.iter().copied());
    let serving = (way == Way::Http).then(|| Serving::start(&desk, &[]));
    if let Some(serving) = &serving {
        client.env("URL", serving.url()).env("TOKEN", serving.token());
    }
    succeeds(client, serving.as_ref());
}

/// `python SCRIPT`, with the packages that are installed.
pub(crate) fn python(desk: &Desk, script: &Path) -> Command {
    let mut command = desk.patiently(desk.clients.join("python/bin/python"));
    command.arg(script).env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// `node SCRIPT`. It looks for packages beside the script, so all that is there is copied to where they are.
pub(crate) fn node(desk: &Desk, script: &Path) -> Command {
    let copies = desk.work().join("../scripts");
    fs::create_dir(&copies).unwrap();
    for entry in fs::read_dir(script.parent().unwrap()).unwrap().flatten() {
        fs::copy(entry.path(), copies.join(entry.file_name())).unwrap();
    }
    symlink(desk.clients.join("node_modules"), copies.join("node_modules")).unwrap();
    let mut command = desk.client(".bin/node");
    command.arg(copies.join(script.file_name().unwrap()));
    command
}

/// A file of the tests, or beside them.
pub(crate) fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(path)
}
