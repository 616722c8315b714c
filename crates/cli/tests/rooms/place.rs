//! The place of a test: a workspace with its room, of root or of an ordinary user.

use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bashtion_testkit::{Finished, Run, World, wait_until};

const NOBODY: u32 = 65534;

/// A workspace, a home and a state directory. Its rooms end with it.
pub(crate) struct Place {
    world: World,
    /// The binary where an ordinary user finds it.
    ordinary: Option<PathBuf>,
    /// The configuration file, if it has one.
    configuration: Option<PathBuf>,
}

impl Place {
    /// Of the user that runs the tests.
    pub(crate) fn new() -> Self {
        Self { world: World::new(env!("CARGO_BIN_EXE_bashtion")), ordinary: None, configuration: None }
    }

    /// Of a user without privileges.
    pub(crate) fn ordinary() -> Self {
        let world = World::new(env!("CARGO_BIN_EXE_bashtion"));
        let work = world.work();
        let root = work.parent().unwrap();
        let binary = link_program(root);
        fs::set_permissions(root, fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(world.state()).unwrap();
        for path in [&work, &root.join("home"), &world.state()] {
            chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        Self { world, ordinary: Some(binary), configuration: None }
    }

    /// Of the user that runs the tests, with the program in a directory of the test.
    pub(crate) fn with_own_program() -> Self {
        let world = World::new(env!("CARGO_BIN_EXE_bashtion"));
        let program = link_program(world.work().parent().unwrap());
        Self { world: world.with_program(program), ordinary: None, configuration: None }
    }

    /// One of each.
    pub(crate) fn both() -> [Self; 2] {
        [Self::new(), Self::ordinary()]
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.world.work()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.work().parent().unwrap().join("home")
    }

    /// Gives everything in the home to its user.
    pub(crate) fn give_home(&self) {
        let owner = self.ordinary.as_ref().map(|_| NOBODY);
        for path in self.found_in_home() {
            chown(path, owner, owner).unwrap();
        }
    }

    /// The directory of its rooms.
    pub(crate) fn rooms_folder(&self) -> PathBuf {
        self.work().parent().unwrap().join("state/private/rooms")
    }

    /// The one file of its room or its `/tmp` whose path ends so.
    pub(crate) fn room_file(&self, ending: &str) -> PathBuf {
        let folders = fs::read_dir(self.rooms_folder()).unwrap().flatten().map(|entry| entry.path());
        let folders = folders.flat_map(|folder| [folder.join("tmp"), folder]);
        let files = folders.filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
        let found: Vec<_> =
            files.map(|file| file.path()).filter(|path| path.to_string_lossy().ends_with(ending)).collect();
        assert_eq!(found.len(), 1, "{ending}: {found:?}");
        found[0].clone()
    }

    /// `bashtion` by way of a program that changes something first.
    pub(crate) fn through(&self, program: &str, args: &[&str]) -> Run {
        let binary = self.ordinary.clone().unwrap_or_else(|| env!("CARGO_BIN_EXE_bashtion").into());
        let run = self.world.program(program).args(args).env("BASHTION", binary.to_str().unwrap());
        self.with_configuration(run)
    }

    /// A file in the workspace.
    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.work().join(name), text).unwrap();
    }

    /// A directory beside the workspace.
    pub(crate) fn another_directory(&self, name: &str) -> String {
        let path = self.work().parent().unwrap().join(name);
        fs::create_dir(&path).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// The same with a configuration of its own.
    pub(crate) fn configured(mut self, text: &str) -> Self {
        let path = self.work().parent().unwrap().join("config.toml");
        fs::write(&path, text).unwrap();
        self.configuration = Some(path);
        self
    }

    /// `bashtion`
    pub(crate) fn bashtion(&self) -> Run {
        let run = match &self.ordinary {
            None => self.world.bashtion(),
            Some(binary) => {
                let user = [format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")];
                self.world.program("setpriv").args(&[&user[0], &user[1], "--clear-groups"]).arg(binary)
            }
        };
        self.with_configuration(run)
    }

    fn with_configuration(&self, run: Run) -> Run {
        match &self.configuration {
            None => run,
            Some(path) => run.env("BASHTION_CONFIG", path.to_str().unwrap()),
        }
    }

    /// `bashtion run OPTIONS COMMAND`
    pub(crate) fn run_with(&self, options: &[&str], command: &str) -> Finished {
        self.bashtion().arg("run").args(options).arg("--").arg(command).finish()
    }

    /// `bashtion run COMMAND`
    pub(crate) fn run(&self, command: &str) -> Finished {
        self.run_with(&[], command)
    }

    /// Runs a command that must succeed, and returns its output.
    pub(crate) fn prints(&self, command: &str) -> String {
        self.prints_with(&[], command)
    }

    pub(crate) fn prints_with(&self, options: &[&str], command: &str) -> String {
        let finished = self.run_with(options, command);
        assert_eq!(finished.code(), Some(0), "{command}\n{}{}", finished.stdout(), finished.stderr());
        finished.stdout()
    }

    /// Repeats a command until it succeeds, because something else has to be ready first, and returns its output.
    pub(crate) fn prints_soon(&self, command: &str) -> String {
        let last = RefCell::new(None);
        wait_until(command, || {
            let finished = self.run(command);
            let succeeded = finished.code() == Some(0);
            last.replace(Some(finished));
            if !succeeded {
                std::thread::sleep(Duration::from_millis(50));
            }
            succeeded
        });
        last.into_inner().unwrap().stdout()
    }

    /// Starts a task, and returns its name.
    pub(crate) fn start(&self, command: &str) -> String {
        let started = self.run_with(&["--background", "--json"], command);
        assert_eq!(started.code(), Some(0), "{command}: {}", started.stderr());
        started.json()["task_id"].as_str().unwrap().to_owned()
    }

    /// Starts a web server for the workspace, on this port of the room.
    pub(crate) fn serve(&self, port: u16) -> String {
        let task = self.start(&format!("python3 -m http.server {port}"));
        self.prints_soon(&format!("curl -sS 127.0.0.1:{port}"));
        task
    }

    /// Waits for a task, and returns its result.
    pub(crate) fn end_of(&self, task: &str) -> serde_json::Value {
        self.bashtion().args(&["wait", task, "--timeout", "10s", "--json"]).finish().json()
    }

    /// Lists the home directory at any depth.
    pub(crate) fn found_in_home(&self) -> Vec<PathBuf> {
        let mut found = vec![];
        let mut open = vec![self.home()];
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(&directory).unwrap().flatten() {
                if entry.file_type().unwrap().is_dir() {
                    open.push(entry.path());
                }
                found.push(entry.path());
            }
        }
        found
    }
}

/// Puts the program into a directory of the test, so that its processes can be told by their command lines.
pub(crate) fn link_program(directory: &Path) -> PathBuf {
    let (program, path) = (env!("CARGO_BIN_EXE_bashtion"), directory.join("bashtion"));
    fs::hard_link(program, &path).or_else(|_| fs::copy(program, &path).map(drop)).unwrap();
    path
}

impl Drop for Place {
    fn drop(&mut self) {
        drop(self.bashtion().args(&["rooms", "end", "--all"]).finish());
    }
}

/// A program that `scripts/test-clients` has fetched.
pub(crate) fn fetched(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/clients").join(path);
    path.canonicalize()
        .unwrap_or_else(|e| panic!("{}: {e}; run scripts/test-clients", path.display()))
        .display()
        .to_string()
}
