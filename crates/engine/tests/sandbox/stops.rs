//! Every kind of stop is told, also through a pipe, and the advice works: a test follows it.

use bashtion::{Network, Outcome, Reader, ResourceLimits, SandboxMode, SandboxSettings};

use crate::scene::settings;
use crate::{Hold, Scene};

/// A command that is stopped.
struct Stop {
    command: String,
    hold: Hold,
    limits: ResourceLimits,
    /// The text of the denial.
    told: String,
    /// The text of the same denial for a model.
    asks: &'static str,
}

fn stop(command: &str, told: &str, asks: &'static str) -> Stop {
    let (command, told) = (command.to_owned(), told.to_owned());
    Stop { command, hold: Hold::Workspace, limits: ResourceLimits::default(), told, asks }
}

impl Stop {
    fn held(self, hold: Hold) -> Self {
        Self { hold, ..self }
    }

    fn limited(self, limits: ResourceLimits) -> Self {
        Self { limits, ..self }
    }

    fn settings(&self) -> SandboxSettings {
        SandboxSettings { limits: self.limits, ..settings(self.hold) }
    }
}

/// A scene with a repository in it.
fn scene() -> Scene {
    let scene = Scene::new();
    let made = scene.run(
        Hold::Off,
        "git init -q . && git -c user.name=a -c user.email=a@example.com commit -q --allow-empty -m first",
    );
    assert!(made.success(), "{}", made.output.stderr());
    scene
}

/// Runs it plainly and through a pipe: the denial is the same. Then does what it says, and it works.
fn is_told_and_advice_works(stop: &Stop) {
    let scene = scene();
    let run = |reader, settings, command: &str| scene.run_for(reader, &scene.context(), settings, command);
    let expected = scene.fill(&stop.told);
    let told = |outcome: &Outcome| {
        let found = outcome.denials.iter().find(|denial| denial.contains(&expected)).cloned();
        found.unwrap_or_else(|| {
            let output = (outcome.output.stdout(), outcome.output.stderr());
            panic!("{} is not told: {:?} {:?} {output:?}", stop.command, outcome.denials, outcome.pipe_status)
        })
    };
    let plain = run(Reader::CommandLine, stop.settings(), &stop.command);
    assert!(!plain.success(), "{}", stop.command);
    let denial = told(&plain);
    let piped = format!("{{ {}; }} 2>&1 | tail -3", stop.command);
    assert_eq!(told(&run(Reader::CommandLine, stop.settings(), &piped)), denial);

    let for_model = run(Reader::Model, stop.settings(), &stop.command);
    let asks = scene.fill(stop.asks);
    assert!(for_model.denials.iter().any(|denial| denial.contains(&asks)), "{asks}: {:?}", for_model.denials);
    assert!(for_model.denials.iter().all(|denial| !denial.contains("--")), "{:?}", for_model.denials);

    for advice in [denial, told(&for_model)] {
        let scene = self::scene();
        // The same advice for a world of its own.
        let fresh = told_in(&scene, stop, &advice);
        let allowed = followed(&fresh, stop.settings());
        let outcome = scene.run_with(allowed, &stop.command);
        let output = (outcome.output.stdout(), outcome.output.stderr());
        assert!(
            outcome.success(),
            "{fresh} does not help {}: {output:?} {:?}",
            stop.command,
            outcome.denials
        );
    }
}

/// The denial of another scene, for the same reader.
fn told_in(scene: &Scene, stop: &Stop, like: &str) -> String {
    let reader = if like.contains("ask your user") { Reader::Model } else { Reader::CommandLine };
    let outcome = scene.run_for(reader, &scene.context(), stop.settings(), &stop.command);
    let expected = scene.fill(&stop.told);
    outcome.denials.into_iter().find(|denial| denial.contains(&expected)).unwrap()
}

/// Does what the advice says.
fn followed(advice: &str, mut settings: SandboxSettings) -> SandboxSettings {
    let after = |before: &str| {
        let rest = advice.split_once(before).map(|(_, rest)| rest)?;
        rest.split([' ', '"', ']']).next().map(str::to_owned)
    };
    if let Some(directory) = after("make ") {
        std::fs::create_dir(directory).unwrap();
    }
    settings.writable.extend(after("--writable ").or(after("writable = [\"")).map(Into::into));
    settings.readable.extend(after("readable = [\"").map(Into::into));
    settings.sockets.extend(after("sockets = [\"").map(Into::into));
    if advice.contains("--network on") || advice.contains("network = \"on\"") {
        settings.network = Network::On;
    }
    if advice.contains("--sandbox workspace") || advice.contains("mode = \"workspace\"") {
        settings.mode = SandboxMode::Workspace;
    }
    if advice.contains("--sandbox off")
        || advice.contains("outside of the sandbox") && !advice.contains("make ")
    {
        settings.mode = SandboxMode::Off;
    }
    for name in ["memory", "processes", "file-size", "cpu", "open-files"] {
        if advice.contains(&format!("--limit {name}=")) || advice.contains(&format!("raise {name} under")) {
            settings.limits = ResourceLimits::default();
        }
    }
    settings
}

macro_rules! stops {
    ($($name:ident: $stop:expr;)*) => {
        $(
            #[test]
            fn $name() {
                is_told_and_advice_works(&$stop);
            }
        )*
    };
}

fn limits() -> ResourceLimits {
    ResourceLimits::default()
}

stops! {
    writing_outside: stop(
        "echo x > {outside}/new", "changing {outside}/new: only the workspace", "writable = [\"{outside}\"]",
    );
    writing_outside_without_mounts: stop(
        "python3 -c 'open(\"{outside}/new\", \"w\")'", "changing {outside}/new", "writable = [\"{outside}\"]",
    ).held(Hold::Plain);
    writing_in_read_only_mode: stop(
        "touch here", "changing {work}/here: in read-only mode", "mode = \"workspace\"",
    ).held(Hold::ReadOnly);
    writing_outside_in_read_only_mode: stop(
        "touch {outside}/new", "changing {outside}/new: in read-only mode", "and writable = [\"{outside}\"]",
    ).held(Hold::ReadOnly);
    a_directory_that_does_not_exist: stop(
        "git clone -q . ../wt", "changing {root}/wt", "ask your user to make {root}/wt",
    );
    reading_a_secret: stop(
        "cat ~/.ssh/id_ed25519", "using {home}/.ssh/id_ed25519: it is on the list of secrets", "readable = [\"{home}/.ssh\"]",
    );
    reading_a_secret_without_mounts: stop(
        "cat ~/.aws/credentials", "using {home}/.aws/credentials", "readable = [\"{home}/.aws\"]",
    ).held(Hold::Plain);
    a_server_of_this_machine: stop(
        "exec 3<> /dev/tcp/127.0.0.1/{tcp}", "connecting to 127.0.0.1:{tcp}: the network is off", "network = \"on\"",
    );
    a_socket_of_this_machine: stop(
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"{outside}/socket\")'",
        "connecting to the socket {outside}/socket", "sockets = [\"{outside}/socket\"]",
    );
    configuration_of_a_repository: stop(
        "git config core.pager me", "setting core.pager in {work}/.git/config", "ask your user to do that",
    );
    hooks_of_a_repository: stop(
        "echo true > .git/hooks/pre-commit", "changing {work}/.git/hooks/pre-commit", "ask your user to do that",
    );
    memory: stop(
        "python3 -c 'x = bytearray(300 << 20)'", "the memory limit of 100 MiB was reached", "raise memory under",
    ).limited(ResourceLimits { memory: Some(100 << 20), ..limits() });
    processes: stop(
        "python3 -c 'import subprocess as s; [p.wait() for p in [s.Popen([\"sleep\", \"0.2\"]) for _ in range(40)]]'",
        "the processes limit of 20 was reached", "raise processes under",
    ).limited(ResourceLimits { processes: Some(20), ..limits() });
    size_of_a_file: stop(
        "head -c 3M /dev/zero > large", "the file-size limit of 1 MiB was reached", "raise file-size under",
    ).limited(ResourceLimits { file_size: Some(1 << 20), ..limits() });
    open_files: stop(
        "python3 -c 'f = [open(\"/dev/null\") for _ in range(100)]'", "the open-files limit of 30 was reached", "raise open-files",
    ).limited(ResourceLimits { open_files: Some(30), ..limits() });
    tracing_a_process: stop("strace -o /dev/null true", "tracing a process", "ask your user to run this command");
    a_terminal: stop("head -c 0 /dev/ptmx", "opening a terminal", "ask your user to run this command");
}

/// Tells of an error as programs in Rust do: the reason last, the path above it.
const LIKE_CARGO: &str = "import os, sys
try: os.mkdir(sys.argv[1])
except OSError as error:
    print(f'error: failed to create package\\n\\nCaused by:\\n  failed to create directory `{error.filename}`\\n', file=sys.stderr)
    print(f'Caused by:\\n  {error.strerror} (os error {error.errno})', file=sys.stderr)
    sys.exit(101)
";

#[test]
fn a_message_that_is_cut_is_told_without_its_path() {
    for (command, told) in [
        (
            "python3 like_cargo.py ../new 2>&1 | tail -2",
            "changing a file outside: only the workspace, $TMPDIR and package caches can be changed; \
             allow it with --writable and a directory of its own",
        ),
        ("python3 like_cargo.py ../new 2>&1 | tail -5", "changing {root}/new: only the workspace"),
        (
            "node -e 'require(\"fs\").mkdirSync(\"{outside}/new\")' 2>&1 | tail -7",
            "changing {outside}/new: only the workspace",
        ),
    ] {
        let scene = Scene::new();
        std::fs::write(scene.path("work/like_cargo.py"), LIKE_CARGO).unwrap();
        let outcome = scene.run(Hold::Workspace, command);
        let told = scene.fill(told);
        let output = outcome.output.stdout();
        assert!(
            outcome.denials.iter().any(|denial| denial.contains(&told)),
            "{output} {:?}",
            outcome.denials
        );
    }
}

/// Which devices there are, and who may open them, differs between machines.
#[test]
fn a_device() {
    let openable = |path: &&str| std::fs::File::open(path).is_ok();
    let known = ["/dev/kvm", "/dev/fuse", "/dev/loop-control", "/dev/hwrng"];
    let Some(device) = known.into_iter().find(openable) else { return };
    let command = format!("head -c 0 {device}");
    is_told_and_advice_works(&stop(
        &command,
        &format!("opening the device {device}"),
        "ask your user to run",
    ));
}

/// The network itself is not used here, so that the advice is seen to work is left to the servers of this machine.
#[test]
fn other_machines() {
    for (command, told) in [
        (
            "curl -sS http://host.example",
            "connecting to host.example: the network is off; allow it with --network on",
        ),
        ("curl -s http://host.example", "connecting to host.example"),
        (
            "python3 -c 'import socket; socket.create_connection((\"192.0.2.1\", 9))'",
            "connecting to 192.0.2.1:9: the",
        ),
        (
            "python3 -c 'import socket; socket.getaddrinfo(\"host.example\", 9)'",
            "connecting to other machines: the",
        ),
        ("node -e 'fetch(\"http://host.example\")'", "the network is off; allow it with --network on"),
        ("git ls-remote https://host.example/x.git", "connecting to host.example"),
        ("pip download nosuchpackage", "connecting to other machines: the"),
    ] {
        let scene = Scene::new();
        for command in
            [command.to_owned(), format!("{command} 2>&1 | tail -3"), format!("{command} > /dev/null 2>&1")]
        {
            let outcome = scene.run(Hold::Workspace, &command);
            assert!(
                outcome.denials.iter().any(|denial| denial.contains(told)),
                "{command} {:?}",
                outcome.denials
            );
            assert_eq!(outcome.denials.len(), 1, "{command} {:?}", outcome.denials);
        }
    }
}
