//! Words that a command prints are no denial, however much they look like one.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use bashtion::{Network, ResourceLimits, SandboxSettings};

use crate::scene::settings;
use crate::{Hold, Scene};

/// A scene with old messages in its files. All of them would be denials if they were true.
fn scene() -> Scene {
    let scene = Scene::new();
    let write = |name: &str, text: &str| fs::write(scene.path("work").join(name), scene.fill(text)).unwrap();
    let messages = "mkdir: cannot create directory '{outside}/a': Read-only file system\n\
                    cat: {home}/.ssh/id_ed25519: Permission denied\n\
                    bash: line 1: {outside}/b: Read-only file system\n\
                    curl: (6) Could not resolve host: host.example\n\
                    strace: ptrace(PTRACE_TRACEME, ...): Operation not permitted\n";
    write("build.log", messages);
    write("old.sh", "#!/bin/bash\necho \"open {outside}/c: read-only file system\" >&2\nexit 1\n");
    write(
        "old.py",
        "import sys\nsys.exit(\"PermissionError: [Errno 13] Permission denied: '{home}/.netrc'\")\n",
    );
    write(
        "Makefile",
        "all:\n\t@echo \"touch: cannot touch '{outside}/d': Read-only file system\" >&2; exit 1\n",
    );
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(scene.path("work/old.sh"), executable).unwrap();
    let made = scene.run(
        Hold::Off,
        "git init -q . && git -c user.name=a -c user.email=a@example.com commit -q --allow-empty -F build.log",
    );
    assert!(made.success(), "{}", made.output.stderr());
    scene
}

const PRINTED: [&str; 28] = [
    "echo \"open /etc/foo.conf: Permission denied\"; exit 1",
    "echo \"open /etc/foo.conf: Permission denied\" >&2; exit 1",
    "echo \"open {outside}/x: read-only file system\" >&2; exit 1",
    "printf '%s\\n' \"touch: cannot touch '{outside}/x': Read-only file system\" >&2; exit 1",
    "printf 'touch: {outside}/x: Read-\\x6fnly file system\\n' >&2; exit 1",
    "f={outside}/x; echo \"open $f: read-only file system\" >&2; exit 1",
    "m='Permission denied'; echo \"cat: $HOME/.ssh/id_ed25519: $m\" >&2; exit 1",
    "echo b3BlbiAvb3B0L3g6IHJlYWQtb25seSBmaWxlIHN5c3RlbQo= | base64 -d; exit 1",
    "cat <<'END'\nbash: line 1: {outside}/x: Read-only file system\nEND\nexit 1",
    "cat build.log",
    "cat build.log; exit 1",
    "cat build.log >&2; exit 1",
    "tail -2 build.log 2>&1 | grep -v nothing; false",
    "grep -rh system . ; exit 1",
    "sed -n 1,3p build.log | tail -3; exit 1",
    "git log; exit 1",
    "git show --stat 2>&1 | head -8; exit 1",
    "./old.sh",
    "bash old.sh 2>&1 | tail -3",
    "python3 old.py",
    "make",
    "make 2>&1 | tail -3",
    "python3 -c 'import sys; sys.exit(\"OSError: [Errno 30] Read-only file system: \\\"{outside}/x\\\"\")'",
    "echo 'curl: (6) Could not resolve host: host.example' >&2; exit 6",
    "python3 -c 'import sys; sys.exit(\"getaddrinfo ENOTFOUND host.example\")'",
    "echo 'strace: ptrace(PTRACE_TRACEME, ...): Operation not permitted' >&2; exit 1",
    "echo 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock.' >&2; exit 1",
    "echo 'Permission denied for {outside}/x was fixed'; cat missing",
];

#[test]
fn words_make_no_denial() {
    for hold in [Hold::Workspace, Hold::Plain, Hold::ReadOnly] {
        let scene = scene();
        for command in PRINTED {
            let outcome = scene.run(hold, command);
            assert_eq!(outcome.denials, Vec::<String>::new(), "{hold:?} {command}");
        }
    }
}

#[test]
fn words_about_limits_reach_none() {
    let limits =
        ResourceLimits { open_files: Some(64), file_size: Some(1 << 30), ..ResourceLimits::default() };
    let scene = Scene::new();
    for command in
        ["echo 'x: Too many open files' >&2; exit 1", "printf 'File %s large' too; exit 1", "exit 24"]
    {
        let outcome = scene.run_with(SandboxSettings { limits, ..settings(Hold::Workspace) }, command);
        assert_eq!(outcome.denials, Vec::<String>::new(), "{command}");
    }
}

/// Allowed things, and things that others refuse, are not told.
#[test]
fn the_rules_have_a_say() {
    let scene = Scene::new();
    // A script that is made now, so its words cannot be known.
    let says = |text: &str| format!("w() {{ perl -e \"print STDERR '{text}'; exit 1\"; }}; w");
    for text in [
        // These are writable, or can be read.
        "open {work}/x: Permission denied",
        "open {home}/.bashrc: Permission denied",
        "open /etc/hostname: Permission denied",
        // Nothing is there.
        "open /nowhere/at/all: Permission denied",
        "open {home}/.ssh/missing: Permission denied",
        // A mount says otherwise.
        "open {outside}/x: Permission denied",
        "open {outside}/file: Operation not permitted",
    ] {
        // The words must not stand in the command.
        let command =
            says(text).replace("denied", "'.chr(100).'enied").replace("permitted", "'.chr(112).'ermitted");
        let outcome = scene.run(Hold::Workspace, &command);
        assert!(outcome.output.stderr().contains(&scene.fill(text)), "{}", outcome.output.stderr());
        assert_eq!(outcome.denials, Vec::<String>::new(), "{text}");
    }
    let private = scene.path("outside/file");
    fs::set_permissions(&private, fs::Permissions::from_mode(0o000)).unwrap();
    let outcome = scene.run(Hold::Plain, "cat {outside}/file");
    assert!(!outcome.success());
    // Root has powers outside, and none in the sandbox.
    if rustix::process::geteuid().is_root() {
        assert!(outcome.denials[0].ends_with("such commands need --sandbox off"), "{:?}", outcome.denials);
    } else {
        assert_eq!(outcome.denials, Vec::<String>::new());
    }
}

/// A program that can do without the network has not been stopped.
#[test]
fn what_nobody_misses_is_not_told() {
    let scene = Scene::new();
    let tries = "python3 - <<'END'\nimport socket\ntry: socket.create_connection(('192.0.2.1', 9))\nexcept OSError: pass\nEND";
    assert_eq!(scene.run(Hold::Workspace, tries).denials, Vec::<String>::new());
    // Nobody listens there, with or without the sandbox.
    let refused = "exec 3<> /dev/tcp/127.0.0.1/9";
    assert_eq!(scene.run(Hold::Workspace, refused).denials, Vec::<String>::new());
    let on = SandboxSettings { network: Network::On, ..settings(Hold::Workspace) };
    assert_eq!(scene.run_with(on, refused).denials, Vec::<String>::new());
}

/// A log that this very command has written is as good as its output.
#[test]
fn a_fresh_log_is_believed() {
    let outcome =
        Scene::new().run(Hold::Workspace, "touch {outside}/x > log 2>&1 || { tail -3 log; exit 1; }");
    assert_eq!(outcome.denials.len(), 1, "{:?}", outcome.output.stdout());
}
