//! The command line in a world of its own.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

/// A workspace, a home and a state directory that only this test knows.
#[derive(Debug)]
pub struct World {
    root: TempDir,
    program: PathBuf,
}

impl World {
    /// A new one for this binary.
    #[must_use]
    pub fn new(program: &str) -> Self {
        let root = TempDir::new().expect("a temporary directory");
        let root_path = root.path().canonicalize().expect("it exists");
        for dir in ["work", "home"] {
            fs::create_dir(root_path.join(dir)).expect("an empty directory");
        }
        Self { root, program: program.into() }
    }

    /// The same world with another binary.
    #[must_use]
    pub fn with_program(self, program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), ..self }
    }

    /// Where commands run.
    #[must_use]
    pub fn work(&self) -> PathBuf {
        self.root.path().canonicalize().expect("it exists").join("work")
    }

    /// Where output is kept.
    #[must_use]
    pub fn state(&self) -> PathBuf {
        self.root.path().join("state")
    }

    /// `bashtion run COMMAND`
    #[must_use]
    pub fn run(&self, command: impl AsRef<OsStr>) -> Run {
        let mut run = self.bashtion();
        run.command.arg("run").arg("--").arg(command);
        run
    }

    /// `bashtion run OPTIONS COMMAND`
    #[must_use]
    pub fn run_with(&self, options: &[&str], command: impl AsRef<OsStr>) -> Run {
        let mut run = self.bashtion();
        run.command.arg("run").args(options).arg("--").arg(command);
        run
    }

    /// `bashtion`
    #[must_use]
    pub fn bashtion(&self) -> Run {
        self.program(&self.program)
    }

    /// Another program in the same world, to which the binary is `$BASHTION`.
    #[must_use]
    pub fn program(&self, program: impl AsRef<Path>) -> Run {
        let mut command = Command::new(program.as_ref());
        command
            .current_dir(self.work())
            .env_clear()
            .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
            .env("HOME", self.root.path().join("home"))
            .env("BASHTION_STATE_DIR", self.state())
            .env("BASHTION", &self.program)
            .stdin(Stdio::null());
        Run { command }
    }
}

/// A call that has not been made yet.
#[derive(Debug)]
pub struct Run {
    command: Command,
}

impl Run {
    /// One more argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    /// More arguments.
    #[must_use]
    pub fn args(mut self, args: &[&str]) -> Self {
        self.command.args(args);
        self
    }

    /// One more variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Waits for its end.
    #[must_use]
    pub fn finish(mut self) -> Finished {
        Finished { output: self.command.output().expect("the program starts") }
    }

    /// The same with something on standard input.
    #[must_use]
    pub fn finish_with_input(mut self, input: &[u8]) -> Finished {
        use std::io::Write;
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().expect("the program starts");
        child.stdin.take().expect("it is piped").write_all(input).expect("it reads");
        Finished { output: child.wait_with_output().expect("it ends") }
    }

    /// Does not wait; prints there.
    #[must_use]
    pub fn start_with_stdout(mut self, stdout: impl Into<Stdio>) -> Child {
        self.command.stdout(stdout).spawn().expect("the program starts")
    }

    /// Does not wait; all three streams are piped.
    #[must_use]
    pub fn start_with_input(mut self) -> Child {
        self.command.stdin(Stdio::piped());
        self.start()
    }

    /// Does not wait; standard output and standard error are piped.
    #[must_use]
    pub fn start(mut self) -> Child {
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
    }
}

/// A call that was made.
#[derive(Debug)]
pub struct Finished {
    output: Output,
}

impl Finished {
    /// Its exit code; none if a signal ended it.
    #[must_use]
    pub fn code(&self) -> Option<i32> {
        self.output.status.code()
    }

    /// What it printed, as it is.
    #[must_use]
    pub fn stdout_bytes(&self) -> &[u8] {
        &self.output.stdout
    }

    /// What it printed.
    #[must_use]
    pub fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.output.stdout).into_owned()
    }

    /// What it printed on standard error.
    #[must_use]
    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    /// The object it printed.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.output.stdout).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// The objects it printed, one a line.
    #[must_use]
    pub fn json_lines(&self) -> Vec<serde_json::Value> {
        self.stdout()
            .lines()
            .map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{e}: {l}")))
            .collect()
    }
}
