//! `bashtion check`: judged, never run.

use std::fs;

use bashtion_testkit::Finished;

use crate::world;

fn check(args: &[&str]) -> Finished {
    world()
        .bashtion()
        .args(&["check", "--cwd", "/home/dev/project"])
        .args(args)
        .env("HOME", "/home/dev")
        .finish()
}

#[test]
fn a_refusal_says_what_where_and_what_instead() {
    let finished = check(&["cd / && rm -rf *"]);
    assert_eq!(finished.code(), Some(4));
    insta::assert_snapshot!(finished.stdout(), @"
    refused: recursive deletion of the root directory: /*
      cd / && rm -rf *
              ^^^^^^^^ removes-root
    help: name a directory inside the workspace, for example `rm -rf ./build`
    ");
}

#[test]
fn a_question_and_a_yes() {
    let finished = check(&["git reset --hard"]);
    assert_eq!(finished.code(), Some(3));
    insta::assert_snapshot!(finished.stdout(), @"
    needs approval: `git reset` throws away uncommitted changes
      git reset --hard
      ^^^^^^^^^^^^^^^^ git-history
    help: keep it first: `git stash`, a branch, or a dry run with `-n`
    ");
    let finished = check(&["git status && ls"]);
    assert_eq!((finished.code(), finished.stdout().as_str()), (Some(0), "allowed\n"));
}

#[test]
fn the_line_that_matters_is_shown() {
    let finished = check(&["echo start\necho 'é'; rm -rf ~ # really\necho done"]);
    insta::assert_snapshot!(finished.stdout(), @"
    refused: recursive deletion of the home directory: /home/dev
      echo 'é'; rm -rf ~ # really
                ^^^^^^^^ removes-root
    help: name a directory inside the workspace, for example `rm -rf ./build`
    ");
}

#[test]
fn what_would_drive_the_terminal_is_made_visible() {
    let finished = check(&["\u{1b}[2J\u{202e}x; rm -rf /"]);
    assert!(!finished.stdout().contains(['\u{1b}', '\u{202e}']), "{}", finished.stdout());
}

#[test]
fn json_has_the_verdict_and_every_command_with_its_effects() {
    let finished = check(&["--json", "sudo env X=1 rm -r build"]);
    assert_eq!(finished.code(), Some(3));
    let json = finished.json();
    assert_eq!(json["decision"], "ask");
    assert_eq!(json["verdict"]["decision"], "ask");
    let finding = &json["verdict"]["findings"][0];
    assert_eq!((&finding["rule"], &finding["severity"]), (&"uses-root".into(), &"ask".into()));
    assert_eq!(finding["span"], serde_json::json!([0, 24]));
    let command = &json["commands"][0];
    assert_eq!(command["program"], "rm");
    assert_eq!(command["via"], serde_json::json!(["sudo", "env"]));
    let effect = serde_json::json!({"action": "delete", "path": "/home/dev/project/build", "place": "workspace", "recursive": true});
    assert_eq!(command["effects"][0], effect);
    assert_eq!(json["permission"], serde_json::json!(["rm -r build"]));
}

#[test]
fn the_explanation_names_everything() {
    let finished = check(&["--explain", "cd src && timeout 60 npm publish | tee log"]);
    assert_eq!(finished.code(), Some(3));
    insta::assert_snapshot!(finished.stdout(), @r#"
    ask

    commands
      npm publish   (through timeout)
          ask by publishes: `npm publish` makes a release to the public
      tee log
          writes /home/dev/project/src/log (workspace)

    why
      needs approval: `npm publish` makes a release to the public
        cd src && timeout 60 npm publish | tee log
                  ^^^^^^^^^^^^^^^^^^^^^^ publishes
      help: make a dry run, and let a person release it

    to allow it
      in your configuration:  [guard] allow = ["npm publish"]
    "#);
}

#[test]
fn lines_are_judged_one_by_one() {
    let world = world();
    let run = world.bashtion().args(&["check", "--lines"]).env("HOME", "/home/dev");
    let finished = run.finish_with_input(b"ls\nrm -rf ~\n\ngit stash drop\n\xff\xfe\n");
    assert_eq!(finished.code(), Some(4));
    let decisions: Vec<_> = finished.json_lines().iter().map(|line| line["decision"].clone()).collect();
    assert_eq!(decisions, ["allow", "deny", "allow", "ask", "allow"]);
}

#[test]
fn a_whole_script_comes_by_standard_input() {
    let world = world();
    for args in [vec!["check", "--stdin"], vec!["check", "-"]] {
        let finished =
            world.bashtion().args(&args).finish_with_input(b"cat > x <<'EOF'\nrm -rf /\nEOF\nls\n");
        assert_eq!(finished.code(), Some(0), "{finished:?}");
    }
}

#[test]
fn rules_are_listed_and_have_pages() {
    let world = world();
    let listed = world.bashtion().args(&["check", "--list-rules"]).finish();
    assert!(
        listed.stdout().starts_with("removes-root            deny  Deletion of the root"),
        "{}",
        listed.stdout()
    );
    let rules = world.bashtion().args(&["check", "--list-rules", "--json"]).finish().json();
    assert_eq!(rules.as_array().unwrap().len(), listed.stdout().lines().count());
    let page = world.bashtion().args(&["check", "--rule", "fork-bomb"]).finish();
    insta::assert_snapshot!(page.stdout(), @"
    fork-bomb (deny)

    A function or program that starts itself more than once.

    ## Why
    The processes double until the machine can start no more, and nothing can be done but to restart it.

    ## Example
    `:(){ :|:& };:`, also under any other name, and `perl -e 'fork while fork'`

    ## Instead
    Use a loop with an end, or `xargs -P 4` for work in parallel.
    ");
    let unknown = world.bashtion().args(&["check", "--rule", "fork-bom"]).finish();
    assert_eq!(
        (unknown.code(), unknown.stderr().as_str()),
        (Some(1), "error: there is no rule \"fork-bom\"\nhelp: did you mean fork-bomb?\n")
    );
}

#[test]
fn a_repository_is_one_workspace() {
    let world = world();
    let inner = world.work().join("packages/api");
    fs::create_dir_all(&inner).unwrap();
    fs::create_dir(world.work().join(".git")).unwrap();
    fs::write(world.work().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let finished =
        world.bashtion().args(&["check", "--cwd", inner.to_str().unwrap(), "rm -rf ../web/dist"]).finish();
    assert_eq!(finished.code(), Some(0), "{finished:?}");
    let finished =
        world.bashtion().args(&["check", "--cwd", inner.to_str().unwrap(), "rm -rf ../.."]).finish();
    assert_eq!(finished.code(), Some(4), "{finished:?}");
}
