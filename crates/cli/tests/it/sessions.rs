//! Sessions from the command line.

use std::fs;

use crate::world;

#[test]
fn state_goes_from_call_to_call() {
    let world = world();
    fs::create_dir(world.work().join("sub")).unwrap();
    let first = world.run_with(&["--session", "s", "--json"], "cd sub; export A='x y'; exit 3").finish();
    let json = first.json();
    assert_eq!((first.code(), &json["session"]), (Some(3), &"s".into()));
    assert_eq!(json["cwd"], world.work().to_str().unwrap());
    assert_eq!(json["cwd_after"], world.work().join("sub").to_str().unwrap());
    let second = world.run_with(&["--session", "s"], "basename $PWD; echo \"$A\"").finish();
    assert_eq!(second.stdout(), "sub\nx y\n");
    let elsewhere = world.run_with(&["--session", "s", "--cwd", "/"], "pwd; echo \"$A\"").finish();
    assert_eq!(elsewhere.stdout(), "/\nx y\n");
    let background =
        world.run_with(&["--session", "s", "--background", "--json"], "echo \"$A\"; cd /tmp").finish();
    let id = background.json()["task_id"].as_str().unwrap().to_owned();
    assert_eq!(crate::tasks::waited(&world, &id)["stdout"], "x y\n");
    assert_eq!(world.run_with(&["--session", "s"], "pwd").finish().stdout(), "/\n");
    assert_eq!(world.bashtion().args(&["run", "--session", "s", "--reset"]).finish().code(), Some(0));
    let fresh = world.run_with(&["--session", "s"], "basename $PWD; echo ${A-none}").finish();
    assert_eq!(fresh.stdout(), "work\nnone\n");
}

#[test]
fn what_cannot_be_is_told() {
    let world = world();
    let wrong = world.run_with(&["--session", "../x"], "true").finish();
    assert_eq!(wrong.code(), Some(125));
    assert!(wrong.stderr().contains("cannot be a session"), "{}", wrong.stderr());
    world.run_with(&["--session", "s"], "mkdir gone; cd gone").finish().code().unwrap();
    fs::remove_dir(world.work().join("gone")).unwrap();
    let gone = world.run_with(&["--session", "s"], "true").finish();
    assert_eq!(gone.code(), Some(125));
    assert!(gone.stderr().contains("help: go elsewhere with --cwd DIR"), "{}", gone.stderr());
    let file = world.state().join("private/sessions/s.json");
    let text = fs::read_to_string(&file).unwrap();
    let unsealed = format!("{}}}", text.rsplit_once(",\"seal\"").unwrap().0);
    for (text, said) in [
        (text.replace("\"version\":1", "\"version\":0"), "its seal does not fit"),
        (unsealed, "it has no seal"),
    ] {
        fs::write(&file, text).unwrap();
        let forged = world.run_with(&["--session", "s"], "true").finish();
        assert_eq!(forged.code(), Some(125));
        assert!(forged.stderr().contains(said) && forged.stderr().contains("--reset"), "{}", forged.stderr());
    }
    fs::write(&file, "{").unwrap();
    let damaged = world.run_with(&["--session", "s"], "true").finish();
    assert_eq!(damaged.code(), Some(125));
    assert!(damaged.stderr().contains("begin the session anew with --reset"), "{}", damaged.stderr());
    assert_eq!(world.run_with(&["--session", "s", "--reset"], "true").finish().code(), Some(0));
    assert_eq!(world.bashtion().args(&["run", "--reset", "true"]).finish().code(), Some(2));
}
