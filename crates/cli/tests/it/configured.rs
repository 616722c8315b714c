//! The user's configuration and the project's.

use std::fs;

use bashtion_testkit::{Finished, World};

use crate::world;

fn configured(user: &str, project: &str, command: &str) -> (World, Finished) {
    let world = world();
    let file = world.work().join("user.toml");
    fs::write(&file, user).unwrap();
    if !project.is_empty() {
        fs::write(world.work().join(".bashtion.toml"), project).unwrap();
    }
    let finished =
        world.bashtion().args(&["check", command]).env("BASHTION_CONFIG", file.to_str().unwrap()).finish();
    (world, finished)
}

#[test]
fn the_user_can_do_everything() {
    let user =
        "[guard]\nallow = ['npm publish']\nblock = ['DROP']\n[guard.severity]\ngit-history = 'allow'\n";
    for (command, code) in [("npm publish", 0), ("git reset --hard", 0), ("echo DROP", 4), ("rm -rf /", 4)] {
        let (_world, finished) = configured(user, "", command);
        assert_eq!(finished.code(), Some(code), "{command}: {finished:?}");
    }
}

#[test]
fn own_rules_are_checked_by_their_examples() {
    let rule = "[[guard.rules]]\nname = 'no-prod'\nseverity = 'deny'\nprogram = 'deploy'\nflags = ['--prod']\nmessage = 'not to production'\nmatch = ['./deploy --prod']\nnot-match = ['deploy --dev']\n";
    let (_world, finished) = configured(rule, "", "timeout 9 ./deploy --prod");
    assert_eq!(finished.code(), Some(4));
    assert!(finished.stdout().contains("refused: not to production"), "{}", finished.stdout());
    let (_world, finished) = configured(&rule.replace("deploy --dev", "deploy --prod"), "", "ls");
    assert_eq!(finished.code(), Some(1));
    assert!(
        finished.stderr().contains("the rule \"no-prod\" finds its example \"deploy --prod\""),
        "{}",
        finished.stderr()
    );
}

#[test]
fn the_documented_example_is_valid() {
    let page = include_str!("../../../../docs/configuration.md");
    let examples = page.split("```toml\n").skip(1).map(|part| part.split("```").next().unwrap());
    let example = examples.collect::<String>();
    let (_world, finished) = configured(&example, "", "cd k8s && kubectl apply -f . --context=prod");
    assert_eq!(finished.code(), Some(4), "{finished:?}");
    assert!(finished.stdout().contains("help: open a pull request"), "{}", finished.stdout());
}

#[test]
fn a_project_narrows_and_cannot_widen() {
    let (_world, finished) = configured("", "[guard.severity]\ngit-history = 'deny'\n", "git reset --hard");
    assert_eq!(finished.code(), Some(4));
    for widening in ["[guard]\nallow = ['npm publish']\n", "[guard.severity]\nremoves-root = 'allow'\n"] {
        let (_world, finished) = configured("", widening, "make");
        assert_eq!(finished.code(), Some(1));
        assert!(
            finished.stderr().contains("a project may only make things stricter"),
            "{}",
            finished.stderr()
        );
    }
}

#[test]
fn a_wrong_file_is_an_error_and_nothing_is_allowed() {
    for (text, said) in [
        ("[guard]\nblok = []\n", "unknown field `blok`"),
        ("[guard.severity]\nremoves-rot = 'ask'\n", "did you mean \"removes-root\"?"),
        ("[guard", "TOML parse error"),
        ("[other]\n", "unknown field `other`"),
    ] {
        let (world, finished) = configured(text, "", "ls");
        assert_eq!(finished.code(), Some(1));
        assert!(finished.stderr().contains(said), "{}", finished.stderr());
        let file = world.work().join("user.toml");
        let run = world.run("echo ran").env("BASHTION_CONFIG", file.to_str().unwrap()).finish();
        assert_eq!((run.code(), run.stdout().as_str()), (Some(125), ""));
    }
    let missing =
        world().bashtion().args(&["check", "ls"]).env("BASHTION_CONFIG", "/nowhere/x.toml").finish();
    assert_eq!(missing.code(), Some(1));
}

#[test]
fn a_project_file_that_is_a_link_or_a_pipe_is_not_read() {
    let world = world();
    let project = world.work().join(".bashtion.toml");
    let secret = world.work().join("secret");
    fs::write(&secret, "password = 12345\n").unwrap();
    std::os::unix::fs::symlink(&secret, &project).unwrap();
    let finished = world.bashtion().args(&["check", "make"]).finish();
    assert_eq!(finished.code(), Some(1));
    assert!(!finished.stderr().contains("12345"), "{}", finished.stderr());
    fs::remove_file(&project).unwrap();
    let made = world.program("mkfifo").arg(&project).finish();
    assert_eq!(made.code(), Some(0));
    assert_eq!(world.bashtion().args(&["check", "make"]).finish().code(), Some(1));
}

#[test]
fn a_configuration_that_is_a_link_is_kept_where_it_leads() {
    let world = world();
    let (link, file) = (world.work().join("../config.toml"), world.work().join("dotfiles.toml"));
    fs::write(&file, "[limits]\ntimeout = '1m'\n").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    for command in ["echo > dotfiles.toml", "rm dotfiles.toml", "mv dotfiles.toml x"] {
        let run = world.run_with(&["--approve", "always"], command);
        let finished = run.env("BASHTION_CONFIG", link.to_str().unwrap()).finish();
        assert_ne!(finished.code(), Some(0), "{command}: {finished:?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "[limits]\ntimeout = '1m'\n", "{command}");
    }
}

#[test]
fn a_broken_project_file_does_not_lock_its_repair_out() {
    let world = world();
    let project = world.work().join(".bashtion.toml");
    fs::write(&project, "[sandbox]\nmode = off\n").unwrap();
    let check = |command: &str| world.bashtion().args(&["check", command]).finish();
    let refused = check("make");
    assert_eq!(refused.code(), Some(1));
    let told = refused.stderr();
    assert!(told.contains("line 2") && told.contains("help: repair ") && told.contains("`rm`"), "{told}");
    let run = world.run("echo ran > made").finish();
    assert_eq!((run.code(), world.work().join("made").exists()), (Some(125), false));
    assert!(run.stderr().contains("help: repair "), "{}", run.stderr());

    for (command, code) in
        [("cat .bashtion.toml", 0), ("rm .bashtion.toml", 3), ("git checkout .bashtion.toml", 3)]
    {
        let judged = check(command);
        assert_eq!(judged.code(), Some(code), "{command}: {judged:?}");
        assert!(judged.stderr().contains("it is passed over for this command"), "{judged:?}");
    }
    let shown = world.run("cat .bashtion.toml").finish();
    assert_eq!((shown.code(), shown.stdout().as_str()), (Some(0), "[sandbox]\nmode = off\n"), "{shown:?}");

    let repair = || world.run_with(&["--sandbox", "off", "--json"], "rm .bashtion.toml").finish();
    let id = repair().json()["approval_id"].as_str().unwrap().to_owned();
    assert_eq!(world.bashtion().args(&["approve", &id]).finish().code(), Some(0));
    assert_eq!((repair().code(), project.exists()), (Some(0), false));
    assert_eq!(check("make").code(), Some(0));
}

#[test]
fn the_guard_keeps_its_own_files_wherever_they_are() {
    let world = world();
    let state = world.state().display().to_string();
    let config = world.work().join("user.toml");
    fs::write(&config, "").unwrap();
    let config = config.display().to_string();
    for command in
        [format!("rm -rf {state}"), format!("rm {state}/private/seal.key"), format!("echo > {config}")]
    {
        let check = world.bashtion().args(&["check", &command]).env("BASHTION_CONFIG", &config).finish();
        assert_eq!(check.code(), Some(4), "{command}: {check:?}");
        let run = world.run_with(&["--sandbox", "off"], &command).env("BASHTION_CONFIG", &config).finish();
        assert_eq!(run.code(), Some(126), "{command}: {run:?}");
    }
}
