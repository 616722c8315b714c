//! A small world to escape into, and the ways to be confined.

use std::fs;
use std::io::{ErrorKind, Read};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use bashtion::{
    Enforced, Engine, Leftovers, Namespaces, Network, Outcome, Policy, Reader, Request, SandboxMode,
    SandboxSettings, ToolContext,
};
use tempfile::TempDir;

/// How a command is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    Off,
    /// Workspace, with namespaces.
    Workspace,
    /// Workspace, with Landlock and seccomp alone.
    Plain,
    /// The same where nobody answers for a command, because its processes may outlive whoever started it.
    Unattended,
    ReadOnly,
}

/// Everything there is to escape into. The command runs in `work`.
pub(crate) struct Scene {
    root: TempDir,
    victim: Child,
    tcp: TcpListener,
    udp: UdpSocket,
    listener: UnixListener,
    abstract_listener: UnixListener,
    datagrams: UnixDatagram,
    abstract_name: String,
}

pub(crate) const SECRET: &str = "the-key-of-the-kingdom";
pub(crate) const VICTIM_SECRET: &str = "the-token-of-another-process";

impl Scene {
    pub(crate) fn new() -> Self {
        let root = tempfile::Builder::new().prefix("scene-").tempdir_in("/tmp").unwrap();
        let at = |name: &str| root.path().join(name);
        for directory in ["outside", "work", "home/.ssh", "home/.config/gh", "home/.aws"] {
            fs::create_dir_all(at(directory)).unwrap();
        }
        for file in
            ["home/.ssh/id_ed25519", "home/.netrc", "home/.config/gh/hosts.yml", "home/.aws/credentials"]
        {
            fs::write(at(file), SECRET).unwrap();
        }
        fs::write(at("outside/file"), "untouched").unwrap();
        fs::write(at("home/.bashrc"), "untouched").unwrap();
        let victim = Command::new("sleep")
            .arg("600")
            .env("VICTIM_TOKEN", VICTIM_SECRET)
            .current_dir(at("outside"))
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let abstract_name = format!("bashtion-scene-{}-{}", std::process::id(), victim.id());
        let address = SocketAddr::from_abstract_name(&abstract_name).unwrap();
        let scene = Self {
            victim,
            tcp: TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap(),
            udp: UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap(),
            listener: UnixListener::bind(at("outside/socket")).unwrap(),
            abstract_listener: UnixListener::bind_addr(&address).unwrap(),
            datagrams: UnixDatagram::bind(at("outside/datagrams")).unwrap(),
            abstract_name,
            root,
        };
        scene.tcp.set_nonblocking(true).unwrap();
        scene.udp.set_nonblocking(true).unwrap();
        scene.listener.set_nonblocking(true).unwrap();
        scene.abstract_listener.set_nonblocking(true).unwrap();
        scene.datagrams.set_nonblocking(true).unwrap();
        scene
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) fn victim(&self) -> u32 {
        self.victim.id()
    }

    /// Runs a command with the names of the scene filled in. Its report must say what the tests then see: all is held, or which
    /// part of the threat model is open.
    pub(crate) fn run(&self, hold: Hold, command: &str) -> Outcome {
        let outcome = self.run_held(hold, command);
        let report = &outcome.sandbox;
        let (filesystem, rest) = match hold {
            Hold::Off => (Enforced::None, Enforced::None),
            Hold::Workspace | Hold::ReadOnly => (Enforced::Full, Enforced::Full),
            Hold::Plain | Hold::Unattended => (Enforced::Partial, Enforced::Full),
        };
        let told = (report.filesystem, report.network, report.signals);
        assert_eq!(told, (filesystem, rest, rest), "{hold:?} {report:?}");
        let reason = report.reason.as_deref().unwrap_or_default();
        let is_open = matches!(hold, Hold::Plain | Hold::Unattended);
        assert_eq!(reason.contains("modes, owners and times"), is_open, "{hold:?} {reason}");
        assert_eq!(reason.contains("are put back"), hold == Hold::Unattended, "{hold:?} {reason}");
        outcome
    }

    fn run_held(&self, hold: Hold, command: &str) -> Outcome {
        match hold {
            Hold::Unattended => {
                let request = Request::new(self.fill(command)).leftovers(Leftovers::Keep);
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(self.engine(settings(hold)).run(request, &self.context())).unwrap()
            }
            Hold::Off | Hold::Workspace | Hold::Plain | Hold::ReadOnly => {
                self.run_with(settings(hold), command)
            }
        }
    }

    pub(crate) fn run_with(&self, settings: SandboxSettings, command: &str) -> Outcome {
        self.run_as(&self.context(), settings, command)
    }

    pub(crate) fn run_as(&self, context: &ToolContext, settings: SandboxSettings, command: &str) -> Outcome {
        self.run_for(Reader::CommandLine, context, settings, command)
    }

    /// Runs a command whose result that reader gets.
    pub(crate) fn run_for(
        &self,
        reader: Reader,
        context: &ToolContext,
        settings: SandboxSettings,
        command: &str,
    ) -> Outcome {
        let engine = self.engine_for(reader, settings);
        let request = Request::new(self.fill(command)).timeout(Duration::from_secs(120));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(engine.run(request, context)).unwrap()
    }

    /// One that judges nothing.
    pub(crate) fn engine(&self, settings: SandboxSettings) -> Engine {
        self.engine_for(Reader::CommandLine, settings)
    }

    pub(crate) fn engine_for(&self, reader: Reader, settings: SandboxSettings) -> Engine {
        let engine = Engine::builder().policy(Policy::off()).state_dir(self.path("state")).reader(reader);
        engine.sandbox(settings).build()
    }

    pub(crate) fn context(&self) -> ToolContext {
        ToolContext::from_host(self.path("work")).env("HOME", self.path("home"))
    }

    pub(crate) fn fill(&self, command: &str) -> String {
        let shown = |name: &str| self.path(name).display().to_string();
        command
            .replace("{outside}", &shown("outside"))
            .replace("{home}", &shown("home"))
            .replace("{work}", &shown("work"))
            .replace("{root}", &self.root.path().display().to_string())
            .replace("{probe}", probe().to_str().unwrap())
            .replace("{victim}", &self.victim.id().to_string())
            .replace("{self}", &std::process::id().to_string())
            .replace("{tcp}", &self.tcp.local_addr().unwrap().port().to_string())
            .replace("{udp}", &self.udp.local_addr().unwrap().port().to_string())
            .replace("{abstract}", &self.abstract_name)
    }

    pub(crate) fn outside_is_untouched(&self) -> bool {
        let names: Vec<_> =
            fs::read_dir(self.path("outside")).unwrap().flatten().map(|e| e.file_name()).collect();
        names.len() == 3
            && fs::read_to_string(self.path("outside/file")).is_ok_and(|text| text == "untouched")
    }

    pub(crate) fn victim_is_alive(&mut self) -> bool {
        // The signal may be on its way.
        std::thread::sleep(Duration::from_millis(50));
        self.victim.try_wait().unwrap().is_none()
    }

    pub(crate) fn was_connected(&self) -> bool {
        let mut byte = [0; 8];
        let waits = |kind: ErrorKind| kind != ErrorKind::WouldBlock;
        let accepted =
            |result: std::io::Result<()>| result.map_or_else(|error| waits(error.kind()), |()| true);
        accepted(self.tcp.accept().map(drop))
            || accepted(self.udp.recv(&mut byte).map(drop))
            || accepted(self.listener.accept().map(drop))
            || accepted(self.abstract_listener.accept().map(drop))
            || accepted(self.datagrams.recv(&mut byte).map(drop))
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
    }
}

pub(crate) fn settings(hold: Hold) -> SandboxSettings {
    let (mode, namespaces) = match hold {
        Hold::Off => (SandboxMode::Off, Namespaces::Never),
        Hold::Workspace => (SandboxMode::Workspace, Namespaces::WherePossible),
        Hold::Plain | Hold::Unattended => (SandboxMode::Workspace, Namespaces::Never),
        Hold::ReadOnly => (SandboxMode::ReadOnly, Namespaces::Never),
    };
    SandboxSettings { mode, namespaces, network: Network::Off, ..SandboxSettings::default() }
}

/// The program that makes raw system calls, compiled once.
pub(crate) fn probe() -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sandbox/probe.c");
    compiled(&source, &["-static", "-O1"])
}

/// A C program, compiled if there is no current one.
pub(crate) fn compiled(source: &Path, flags: &[&str]) -> PathBuf {
    let mut text = String::new();
    fs::File::open(source).unwrap().read_to_string(&mut text).unwrap();
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let name = source.file_stem().unwrap().to_str().unwrap();
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{hash:016x}"));
    if !program.exists() {
        let partial = program.with_extension(std::process::id().to_string());
        let status = Command::new("cc").args(flags).arg("-o").arg(&partial).arg(source).status().unwrap();
        assert!(status.success(), "cc compiles {}", source.display());
        fs::rename(&partial, &program).unwrap();
    }
    program
}

/// Tests that a command does something without the sandbox, and does not do it in the modes named.
macro_rules! escapes {
    ($($(#[$doc:meta])* $name:ident: $command:expr, $happened:expr, [$($hold:ident),*];)*) => {
        $(
            $(#[$doc])*
            #[test]
            fn $name() {
                $crate::scene::is_held($command, $happened, &[$($crate::Hold::$hold),*]);
            }
        )*
    };
}

/// Whether something happened, by the scene and by what was printed.
pub(crate) type Happened = fn(&mut Scene, &Outcome) -> bool;

pub(crate) fn is_held(command: &str, happened: Happened, holds: &[Hold]) {
    let mut scene = Scene::new();
    let outcome = scene.run(Hold::Off, command);
    assert!(
        happened(&mut scene, &outcome),
        "it must succeed without the sandbox: {} {}",
        outcome.output.stdout(),
        outcome.output.stderr()
    );
    for hold in holds {
        let mut scene = Scene::new();
        let outcome = scene.run(*hold, command);
        assert!(
            !happened(&mut scene, &outcome),
            "it got out of {hold:?}: {} {}",
            outcome.output.stdout(),
            outcome.output.stderr()
        );
    }
}

/// The call was accepted, whatever it changed.
pub(crate) fn accepted(_: &mut Scene, outcome: &Outcome) -> bool {
    outcome.output.stdout().lines().any(|line| line == "ok")
}
