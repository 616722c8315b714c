//! The truth about what is enforced, and about what was stopped.

use bashtion::{
    Enforced, Error, LaunchError, Namespaces, Request, Requirement, SandboxMode, SandboxSettings,
};

use crate::scene::settings;
use crate::{Hold, Scene};

fn denials(hold: Hold, command: &str) -> Vec<String> {
    let scene = Scene::new();
    let outside = scene.path("outside").display().to_string();
    let (work, root) = (scene.path("work").display().to_string(), scene.path("").display().to_string());
    let shorten =
        |text: &String| text.replace(&outside, "OUT").replace(&work, "HERE").replace(&root, "ROOT/");
    scene.run(hold, command).denials.iter().map(shorten).collect()
}

#[test]
fn a_report_in_every_result() {
    for (hold, mode) in [(Hold::Workspace, SandboxMode::Workspace), (Hold::ReadOnly, SandboxMode::ReadOnly)] {
        let report = Scene::new().run(hold, "true").sandbox;
        assert!(report.is_full(), "{report:?}");
        assert_eq!((report.mode, report.reason), (mode, None));
    }
    let off = Scene::new().run(Hold::Off, "true").sandbox;
    assert_eq!((off.mode, off.filesystem, off.network), (SandboxMode::Off, Enforced::None, Enforced::None));
}

#[test]
fn without_namespaces_it_says_what_is_open() {
    let report = Scene::new().run(Hold::Plain, "true").sandbox;
    let areas = (report.filesystem, report.network, report.signals);
    assert_eq!(areas, (Enforced::Partial, Enforced::Full, Enforced::Full));
    let reason = report.reason.unwrap();
    assert!(reason.contains("modes, owners and times of files outside the workspace"), "{reason}");
}

#[test]
fn a_denied_write_names_the_flag() {
    let expected = "changing OUT/new: only the workspace, $TMPDIR and package caches can be changed; for temporary files use $TMPDIR, or allow it with --writable OUT";
    assert_eq!(denials(Hold::Workspace, "echo x > {outside}/new"), [expected]);
    assert_eq!(denials(Hold::Plain, "python3 -c 'open(\"{outside}/new\", \"w\")'"), [expected]);
    let expected =
        "changing HERE/here: in read-only mode nothing can be changed; allow it with --sandbox workspace";
    assert_eq!(denials(Hold::ReadOnly, "touch here"), [expected]);
}

#[test]
fn a_denied_read_names_the_setting() {
    let expected = "using ROOT/home/.ssh/id_ed25519: it is on the list of secrets; allow it with \
                    readable = [\"ROOT/home/.ssh\"] under [sandbox] in the user's configuration";
    for hold in [Hold::Workspace, Hold::Plain, Hold::ReadOnly] {
        assert_eq!(denials(hold, "cat ~/.ssh/id_ed25519"), [expected], "{hold:?}");
    }
}

#[test]
fn a_denied_connection_names_the_host() {
    let told = denials(Hold::Workspace, "curl -s http://example.com");
    assert_eq!(told, ["connecting to example.com: the network is off; allow it with --network on"]);
    let told = denials(Hold::ReadOnly, "python3 -c 'import socket; socket.socket()'");
    let expected = "opening a socket: this mode has none on this machine while the network is off; \
                    allow it with --sandbox workspace --network on";
    assert_eq!(told, [expected]);
}

#[test]
fn nothing_is_blamed_on_the_sandbox_that_it_did_not_do() {
    for command in [
        "false", "cat missing", "ls /nowhere", "exit 3", "echo 'Permission denied' ; exit 1",
        "grep x /etc/hostname; false", "echo 'Cannot allocate memory'; exit 1", "git push nowhere",
        "curl --nosuch http://example.com", "cat /etc/hostname/x; false", "chroot / true",
        "cat /proc/kmsg > /dev/null",
    ] {
        assert_eq!(denials(Hold::Workspace, command), Vec::<String>::new(), "{command}");
    }
}

#[test]
fn it_is_told_also_when_the_command_goes_on() {
    for (command, word) in [
        ("cat ~/.ssh/id_ed25519; true", "secrets"),
        ("curl -sS http://example.com | head -1", "network"),
        ("mkdir {outside}/new; true", "--writable OUT"),
        ("git init -q r && cd r && true", ""),
    ] {
        let told = denials(Hold::Workspace, command);
        assert_eq!(told.len(), usize::from(!word.is_empty()), "{command} {told:?}");
        assert!(told.iter().all(|denial| denial.contains(word)), "{command} {told:?}");
    }
    let scene = Scene::new();
    assert!(scene.run(Hold::Off, "git init -q .").success());
    let outcome = scene.run(Hold::Workspace, "git config core.pager me");
    assert!(outcome.denials[0].starts_with("setting core.pager in"), "{:?}", outcome.denials);
}

#[test]
fn a_home_directory_is_no_workspace() {
    let scene = Scene::new();
    let context = bashtion::ToolContext::from_host(scene.path("home")).env("HOME", scene.path("home"));
    let outcome = scene.run_as(&context, settings(Hold::Workspace), "echo x > file");
    assert!(!outcome.success());
    let reason = outcome.sandbox.reason.unwrap();
    assert!(reason.contains("is not writable because it is the home directory"), "{reason}");
    let denial = &outcome.denials[0];
    assert!(
        denial.contains("the working directory is the home directory, which is no workspace"),
        "{denial}"
    );
    assert!(denial.contains("run it in a project directory"), "{denial}");
    let around = bashtion::ToolContext::from_host(scene.path("")).env("HOME", scene.path("home"));
    let outcome = scene.run_as(&around, settings(Hold::Workspace), "echo x > file");
    assert!(outcome.denials[0].contains("contains the home directory"), "{:?}", outcome.denials);
}

#[test]
fn what_is_required_and_missing_is_an_error_before_anything_runs() {
    let scene = Scene::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let run = |settings, temporary: &str, command: &str| {
        let engine = bashtion::Engine::builder().sandbox(settings).build();
        let context = scene.context().env("TMPDIR", temporary);
        runtime.block_on(engine.run(Request::new(command), &context))
    };
    // A private temporary directory is part of the promise; a place that does not exist is passed over for /tmp.
    let required = SandboxSettings {
        requirement: Requirement::Required,
        namespaces: Namespaces::Never,
        ..settings(Hold::Workspace)
    };
    let outcome = run(required, "/nowhere", "echo $TMPDIR").unwrap();
    assert!(outcome.output.stdout().starts_with("/tmp/"));
    let error = run(settings(Hold::ReadOnly), "/proc", "true").unwrap_err();
    assert!(matches!(error, Error::Launch(LaunchError::Sandbox { .. })), "{error}");
    assert_eq!(error.to_string(), "cannot make a private temporary directory in /proc");
}

/// Programs are told what would only make them wait or fail.
#[test]
fn variables_that_make_programs_behave() {
    let environment = |hold| Scene::new().run(hold, "env").output.stdout().to_owned();
    for hold in [Hold::Workspace, Hold::ReadOnly] {
        let text = environment(hold);
        for line in [
            "TMPDIR=/tmp/bashtion-", "PIP_RETRIES=1\n", "npm_config_fetch_retries=0\n",
            "TAR_OPTIONS=--no-same-owner\n",
        ] {
            assert!(text.contains(line), "{hold:?} {line}");
        }
    }
    assert!(!environment(Hold::Off).contains("TAR_OPTIONS"));
}
