//! `completions` and `man`

use crate::world;

#[test]
fn completions_are_accepted_by_their_shell() {
    let world = world();
    let check = "source <(\"$BASHTION\" completions bash) && complete -p bashtion";
    let finished = world.program("/bin/bash").args(&["-c", check]).finish();
    assert!(finished.stdout().contains("bashtion"), "{finished:?}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let finished = world.bashtion().args(&["completions", shell]).finish();
        assert_eq!(finished.code(), Some(0));
        assert!(finished.stdout().contains("max-output"), "{shell}");
    }
    let json = world.bashtion().args(&["completions", "fish", "--json"]).finish().json();
    assert_eq!(json["shell"], "fish");
    assert_eq!(world.bashtion().args(&["completions", "tcsh"]).finish().code(), Some(2));
}

#[test]
fn the_manual_has_a_page_for_each_verb() {
    let world = world();
    for (args, title) in [(vec!["man"], ".TH bashtion 1"), (vec!["man", "run"], ".TH bashtion-run 1")] {
        let finished = world.bashtion().args(&args).finish();
        assert_eq!(finished.code(), Some(0));
        assert!(finished.stdout().contains(title), "{}", finished.stdout());
    }
    assert!(world.bashtion().args(&["man", "run", "--json"]).finish().json()["page"].is_string());
    let finished = world.bashtion().args(&["man", "walk"]).finish();
    assert_eq!(finished.code(), Some(1));
    assert_eq!(
        finished.stderr(),
        "error: there is no command `walk`\nhelp: the commands are run, check, approve, deny, tasks, rooms, output, wait, kill, serve, hook, audit, config, schema, doctor, completions, man\n"
    );
}

#[test]
fn version() {
    let expected = format!("bashtion {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(world().bashtion().args(&["--version"]).finish().stdout(), expected);
}
