//! The sandbox from the command line.

use std::fs;

use crate::world;

#[test]
fn the_default_is_the_workspace() {
    let world = world();
    let json = world.bashtion().args(&["run", "--json", "touch inside; touch ../outside"]).finish().json();
    assert_eq!(json["sandbox"]["mode"], "workspace");
    for area in ["filesystem", "network", "signals", "limits"] {
        assert_eq!(json["sandbox"][area], "full", "{area} {}", json["sandbox"]);
    }
    assert!(world.work().join("inside").exists() && !world.work().join("../outside").exists());
    let denial = json["denials"][0].as_str().unwrap();
    assert!(denial.contains("/outside: only the workspace") && denial.contains("--writable"), "{denial}");
}

#[test]
fn modes_can_be_named() {
    let world = world();
    for (mode, works) in [("off", true), ("workspace", true), ("read-only", false)] {
        let finished = world.bashtion().args(&["run", "--sandbox", mode, "echo x > file"]).finish();
        assert_eq!(finished.code() == Some(0), works, "{mode} {finished:?}");
        assert_eq!(fs::remove_file(world.work().join("file")).is_ok(), works, "{mode}");
    }
}

#[test]
fn people_are_told_what_was_stopped() {
    let world = world();
    let finished = world.bashtion().args(&["run", "--sandbox", "read-only", "echo x > file"]).finish();
    let told = finished.stderr();
    assert!(
        told.ends_with("in read-only mode nothing can be changed; allow it with --sandbox workspace\n"),
        "{told}"
    );
    assert!(told.contains("\nsandbox: changing "), "{told}");
}

#[test]
fn another_directory_can_be_writable() {
    let world = world();
    let other = world.work().join("../other");
    fs::create_dir(&other).unwrap();
    let finished =
        world.bashtion().args(&["run", "--writable", "../other", "echo x > ../other/file"]).finish();
    assert_eq!(finished.code(), Some(0), "{finished:?}");
    let missing = world.bashtion().args(&["run", "--writable", "../missing", "true"]).finish();
    assert_eq!(missing.code(), Some(2));
    assert!(
        missing.stderr().contains("--writable ../missing: there is no such file or directory"),
        "{missing:?}"
    );
}

/// Types the advice of each denial, and expects the command to work then.
#[test]
fn advice_can_be_followed() {
    let world = world();
    let prepare =
        "git init -q . && git -c user.name=a -c user.email=a@example.com commit -q --allow-empty -m first";
    assert_eq!(world.bashtion().args(&["run", "--sandbox", "off", prepare]).finish().code(), Some(0));
    fs::create_dir(world.work().join("../other")).unwrap();
    for command in [
        "touch ../other/file", "mkdir -p ../new/inner", "git worktree add -q ../tree",
        "cd ../other && touch x",
    ] {
        let json = world
            .bashtion()
            .args(&["run", "--json", &format!("{{ {command}; }} 2>&1 | tail -3")])
            .finish()
            .json();
        let denial = json["denials"][0].as_str().unwrap_or_else(|| panic!("{command} {json}"));
        let directory = denial.split("--writable ").nth(1).unwrap();
        if denial.contains("; make ") || denial.contains("or make ") {
            fs::create_dir(directory).unwrap();
        }
        let finished = world.bashtion().args(&["run", "--writable", directory, command]).finish();
        assert_eq!(finished.code(), Some(0), "{denial}: {finished:?}");
    }
}

/// A hook puts a model's command into this form, and the model has no options.
#[test]
fn advice_beside_raw_output_is_for_a_model() {
    let world = world();
    let finished = world.bashtion().args(&["run", "--raw", "touch ../outside"]).finish();
    let told = finished.stderr();
    assert!(told.contains("ask your user to make") && !told.contains("--"), "{told}");
}

#[test]
fn limits_are_applied_and_named() {
    let world = world();
    let json = world
        .bashtion()
        .args(&[
            "run",
            "--json",
            "--limit",
            "memory=64M",
            "x=$(head -c 200M /dev/zero | tr '\\0' x); echo ${#x}",
        ])
        .finish()
        .json();
    assert!(
        json["denials"][0].as_str().unwrap().starts_with("the memory limit of 64 MiB was reached"),
        "{json}"
    );
    for wrong in ["memory", "memory=0", "memory=1K", "disk=1G", "cpu=soon"] {
        assert_eq!(
            world.bashtion().args(&["run", "--limit", wrong, "true"]).finish().code(),
            Some(2),
            "{wrong}"
        );
    }
}

#[test]
fn contradictions_are_refused() {
    let world = world();
    for (flags, text) in [
        (["--sandbox", "read-only", "--network", "on"], "there is no network in read-only mode"),
        (
            ["--sandbox", "off", "--network", "off"],
            "without a sandbox the network cannot be kept from a command",
        ),
        (["--sandbox", "read-only", "--writable", "."], "nothing can be writable in read-only mode"),
    ] {
        let finished = world.bashtion().arg("run").args(&flags).arg("true").finish();
        assert_eq!(finished.code(), Some(2), "{finished:?}");
        assert!(finished.stderr().contains(text), "{finished:?}");
    }
}

#[test]
fn the_user_configures_and_a_project_only_narrows() {
    let world = world();
    let config = world.work().join("../config.toml");
    let run = |args: &[&str]| {
        world.bashtion().env("BASHTION_CONFIG", config.to_str().unwrap()).arg("run").args(args).finish()
    };
    fs::write(
        &config,
        "[sandbox]\nmode = \"read-only\"\n[sandbox.limits]\nprocesses = 50\nmemory = \"1G\"\n",
    )
    .unwrap();
    assert_eq!(run(&["--json", "true"]).json()["sandbox"]["mode"], "read-only");
    fs::write(&config, "[sandbox]\nsecrets = [\"/etc/hostname\"]\n").unwrap();
    assert_ne!(run(&["cat /etc/hostname"]).code(), Some(0));

    let project = world.work().join(".bashtion.toml");
    for (text, problem) in [
        ("mode = \"off\"", "it sets sandbox.mode to off"),
        ("network = \"on\"", "it sets sandbox.network to on"),
        ("writable = [\"/\"]", "it names sandbox.writable"),
        ("readable = [\"~/.ssh\"]", "it names sandbox.readable"),
        ("namespaces = false", "it sets sandbox.namespaces to false"),
    ] {
        fs::write(&project, format!("[sandbox]\n{text}\n")).unwrap();
        let finished = run(&["id"]);
        assert_eq!(finished.code(), Some(125), "{text}");
        assert!(finished.stderr().contains(problem), "{finished:?}");
    }
    fs::write(&project, "[sandbox]\nmode = \"read-only\"\n").unwrap();
    assert_eq!(run(&["--json", "true"]).json()["sandbox"]["mode"], "read-only");
}

#[test]
fn the_doctor_says_what_is_enforced() {
    let world = world();
    let json = world.bashtion().args(&["doctor", "--json"]).finish().json();
    assert_eq!((&json["ok"], &json["seccomp"], &json["root"]), (&true.into(), &true.into(), &true.into()));
    assert!(json["landlock"]["abi"].as_u64().unwrap() > 0);
    assert_eq!(json["modes"][0]["mode"], "workspace");
    assert_eq!(json["modes"][1]["filesystem"], "full");
    let text = world.bashtion().arg("doctor").finish();
    assert_eq!(text.code(), Some(0));
    assert!(
        text.stdout()
            .contains("workspace (default)\n  files full, network full, signals full, limits full\n")
    );
    let user = world
        .program("setpriv")
        .args(&["--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all"])
        .arg(env!("CARGO_BIN_EXE_bashtion"))
        .args(&["doctor", "--json"])
        .finish();
    assert_eq!(user.code(), Some(1), "limits need a control group: {user:?}");
    assert_eq!(user.json()["modes"][0]["limits"], "partial");
    assert!(user.json()["advice"][0].as_str().unwrap().contains("control group"));
}

#[test]
fn nothing_is_left_behind() {
    let world = world();
    let count = || {
        let entries = fs::read_dir(world.work().parent().unwrap()).unwrap().flatten();
        entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("bashtion-")).count()
    };
    for mode in ["workspace", "read-only"] {
        let run = world.bashtion().env("TMPDIR", world.work().parent().unwrap().to_str().unwrap());
        let command = "echo $TMPDIR; mkdir -p $TMPDIR/a/b; chmod 000 $TMPDIR/a";
        let finished = run.args(&["run", "--sandbox", mode, command]).finish();
        let expected = if mode == "workspace" { "/tmp\n" } else { "/bashtion-" };
        assert!(finished.stdout().contains(expected), "{finished:?}");
        assert_eq!(count(), 0, "{mode}");
    }
}

/// What others are told, what sessions hold and what was written down is nobody's business; what a task printed may be read.
#[test]
fn a_command_sees_nothing_of_our_own_state_but_output() {
    for home in ["/root", ""] {
        let world = world();
        world.run_with(&["--session", "s"], "export KEPT=value").finish().code().unwrap();
        let id = crate::tasks::start(&world, &[], "echo printed");
        let file = crate::tasks::waited(&world, &id)["output_file"].as_str().unwrap().to_owned();
        let state = world.state().display().to_string();
        let command = format!(
            "cat {file}; cat {state}/private/*/* {state}/private/sessions/s.json {state}/private/audit/audit.key; \
             ls {state}/private/*; exec 9< {state}/private/tasks/lock; echo x > {state}/new; echo x >> {file}"
        );
        // The guard would refuse to write there; this is about the sandbox.
        let config = world.work().join("../config.toml");
        fs::write(&config, "[guard.severity]\nchanges-guard = 'allow'\n").unwrap();
        let run = world.run_with(&["--json"], command).env("BASHTION_CONFIG", config.to_str().unwrap());
        let looked = run.env("HOME", home).finish();
        let json = looked.json();
        let out = json["stdout"].as_str().unwrap();
        assert!(
            out.starts_with("printed\n") && !out.contains("KEPT") && !out.contains("audit.key"),
            "{json}"
        );
        assert!(!world.state().join("new").exists());
        assert!(!fs::read_to_string(&file).unwrap().ends_with("x\n"), "{json}");
    }
}
