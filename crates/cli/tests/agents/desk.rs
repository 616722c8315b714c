//! Where an agent works: a home and a workspace of its own, a time limit, and nothing left running afterwards.

use std::ffi::OsStr;
use std::fmt::{self, Display, Formatter};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::thread;

use bashtion_testkit::in_ci;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

use crate::model::Model;

/// An agent starts in a second or two; a machine that does much else may take its time.
const PATIENCE: &str = "170";

/// A home, a workspace, and the programs that `scripts/test-clients` has installed.
#[derive(Debug)]
pub(crate) struct Desk {
    root: TempDir,
    /// Where they are.
    pub(crate) clients: PathBuf,
}

impl Desk {
    /// None, with a word about it, where the agents are not installed and need not be.
    pub(crate) fn new() -> Option<Self> {
        let clients = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/clients");
        if !clients.join("installed").exists() {
            return not_installed();
        }
        let root = TempDir::new().unwrap();
        for dir in ["home", "home/bin", "work", "tmp"] {
            fs::create_dir(root.path().join(dir)).unwrap();
        }
        let desk = Self { root, clients: clients.canonicalize().unwrap() };
        let built = env!("CARGO_BIN_EXE_bashtion");
        // A copy is large, but a link to it cannot be made from everywhere.
        fs::hard_link(built, desk.bashtion())
            .or_else(|_| fs::copy(built, desk.bashtion()).map(drop))
            .unwrap();
        Some(desk)
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("work")
    }

    /// Writes to the end of a file of the home.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.home().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    /// Our program, as if it were installed in this home alone.
    pub(crate) fn bashtion(&self) -> PathBuf {
        self.home().join("bin/bashtion")
    }

    /// `bashtion ARGS`
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(self.bashtion()).args(args).output().unwrap()
    }

    /// One of the programs that npm has installed.
    pub(crate) fn client(&self, path: &str) -> Command {
        self.patiently(self.clients.join("node_modules").join(path))
    }

    /// A program that ends with 124 when time is up.
    pub(crate) fn patiently(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = self.command("timeout");
        command.args(["--kill-after=5", PATIENCE]).arg(program);
        command
    }

    /// Waits while an agent talks to `model`, until it has no more to say.
    pub(crate) fn talk(self, mut agent: Command, model: Model) -> Talk {
        let (out, err) = (self.root.path().join("stdout"), self.root.path().join("stderr"));
        agent.stdout(File::create(&out).unwrap()).stderr(File::create(&err).unwrap());
        let status = agent.status().unwrap();
        self.end_all();
        let read = |path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
        Talk { status, stdout: read(out), stderr: read(err), model, desk: self }
    }

    fn home(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("home")
    }

    /// With nothing of the environment of the tests, and no way out but loopback.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let installed = self.clients.join("node_modules/.bin");
        let mut command = Command::new(program);
        command
            .current_dir(self.work())
            .stdin(Stdio::null())
            .env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", installed.display()))
            .env("HOME", self.home())
            .env("TMPDIR", self.root.path().join("tmp"))
            .env("NO_PROXY", "127.0.0.1,localhost")
            .env("DO_NOT_TRACK", "1");
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
            command.env(name, "http://127.0.0.1:9");
        }
        command
    }

    /// Ends all that was started here, wherever it went: it is told by its home.
    fn end_all(&self) {
        let home = format!("HOME={}", self.home().display());
        let pids = fs::read_dir("/proc").unwrap().flatten();
        for pid in pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok()) {
            let env = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            if env.split(|byte| *byte == 0).any(|variable| variable == home.as_bytes()) {
                let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
            }
        }
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.end_all();
    }
}

/// What came of it. Displayed, it is all that there is to know about a failure.
#[derive(Debug)]
pub(crate) struct Talk {
    pub(crate) desk: Desk,
    pub(crate) model: Model,
    pub(crate) status: ExitStatus,
    stdout: String,
    stderr: String,
}

impl Talk {
    /// Whether a file is in the workspace.
    pub(crate) fn left(&self, file: &str) -> bool {
        self.desk.work().join(file).exists()
    }
}

impl Display for Talk {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { status, stdout, stderr, model, .. } = self;
        writeln!(f, "the agent ended with {status}\n== its stdout\n{stdout}\n== its stderr\n{stderr}")?;
        writeln!(f, "== the model was offered {:?}\n== it was asked\n{}", model.tools(), model.log())
    }
}

#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn not_installed() -> Option<Desk> {
    assert!(!in_ci(), "the agents are not installed: run scripts/test-clients");
    let test = thread::current();
    eprintln!("skipped: {}, which needs scripts/test-clients", test.name().unwrap_or("a test"));
    None
}
