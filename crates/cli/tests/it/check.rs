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
    assert_eq!(json["permission"], serde_json::json!(["sudo rm -r build"]));
}

#[test]
fn the_explanation_names_everything() {
    let finished = check(&["--explain", "cd src && timeout 60 npm publish | tee log"]);
    assert_eq!(finished.code(), Some(3));
    insta::assert_snapshot!(finished.stdout(), @r#"
    ask

    how it would run
      confined to its project, without the network
      if somebody agrees, it runs outside of the sandbox, this once

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
fn lines_can_be_json_strings() {
    let world = world();
    let run = || world.bashtion().args(&["check", "--json-lines"]).env("HOME", "/home/dev");
    let input = br#""echo a\nrm -rf ~"
"echo \"unclosed"

"ls"
""
"a\u0000b"
"#;
    let finished = run().finish_with_input(input);
    assert_eq!(finished.code(), Some(4));
    let lines = finished.json_lines();
    let decisions: Vec<_> = lines.iter().map(|line| line["decision"].clone()).collect();
    assert_eq!(decisions, ["deny", "invalid", "allow", "allow", "ask"]);
    assert_eq!(lines[0]["command"], "echo a\nrm -rf ~");
    assert_eq!(run().finish_with_input(b"\"echo )\"\n\"ls\"\n").code(), Some(2));
    let wrong = run().finish_with_input(b"\"ls\"\nls\n");
    assert_eq!(wrong.code(), Some(1));
    assert!(wrong.stderr().starts_with("error: line 2 is not a JSON string"), "{wrong:?}");
}

#[test]
fn what_bash_cannot_read_is_told_in_its_own_words() {
    let finished = check(&["ls\necho \"a && ls"]);
    assert_eq!(finished.code(), Some(2));
    insta::assert_snapshot!(finished.stdout(), @r#"
    invalid: line 2: unexpected EOF while looking for matching `"'
      echo "a && ls
      ^^^^^^^^^^^^^ syntax
    help: bash cannot read this: mend it, and try again
    "#);
    let json = check(&["--json", "echo )"]).json();
    assert_eq!(json["decision"], "invalid");
    assert_eq!(json["syntax_error"]["message"], "line 1: syntax error near unexpected token `)'");
    assert_eq!((&json["syntax_error"]["line"], &json["permission"]), (&1.into(), &serde_json::Value::Null));
    let explained = check(&["--explain", "echo )"]);
    assert_eq!(explained.code(), Some(2));
    assert!(explained.stdout().starts_with("invalid\n"), "{explained:?}");
    assert!(explained.stdout().ends_with("to allow it\n  nothing does: bash itself cannot read it\n"));
}

#[test]
fn how_it_would_be_confined_is_part_of_the_verdict() {
    let world = world();
    let check = |options: &[&str]| {
        world.bashtion().args(&["check", "--explain"]).args(options).args(&["pkill node"]).finish()
    };
    for (options, code, confined) in [
        (&[][..], 0, "  confined to its project, without the network\n"),
        (&["--network", "on"], 0, "  confined to its project, with the network\n"),
        (&["--sandbox", "read-only"], 0, "  confined: it can change nothing, and has no network\n"),
        (&["--sandbox", "off"], 3, "  not confined: it can do whatever you can\n"),
    ] {
        let finished = check(options);
        assert_eq!(finished.code(), Some(code), "{options:?} {finished:?}");
        assert!(finished.stdout().contains(&format!("how it would run\n{confined}")), "{finished:?}");
    }
    assert_eq!(check(&["--sandbox", "off", "--network", "off"]).code(), Some(2));
}

#[test]
fn check_and_run_see_the_same_world() {
    let world = world();
    let link = world.work().join("link");
    std::os::unix::fs::symlink("/", &link).unwrap();
    let link = link.to_str().unwrap();
    // Nothing of this exists, whatever would be decided about it.
    let gone = "no-such-directory-of-a-test";
    let relative = format!("rm -rf ./{gone}");
    for (options, command) in [
        (&["--cwd", link][..], relative.as_str()),
        (&[], "rm -rf \"$TARGET\""),
        (&["--env", "TARGET=/no-such-directory-of-a-test"], "rm -rf \"$TARGET\""),
        (&["--env", "TARGET=./no-such-directory-of-a-test"], "rm -rf \"$TARGET\""),
        (&["--env", "HOME=/no-such-directory-of-a-test"], "rm -rf ~"),
        (&["--profile", "chorus"], "rm -rf ~/no-such-directory-of-a-test"),
        (&["--profile", "phoenix"], "git add -A"),
        (&["--clear-env"], "rm -rf \"$HOME/no-such-directory-of-a-test\""),
        (&["--sandbox", "off"], "pkill no-such-program-of-a-test"),
        (&["--sandbox", "read-only"], "touch /no-such-directory-of-a-test"),
    ] {
        let judged =
            world.bashtion().args(&["check", "--json"]).args(options).args(&[command]).finish().json();
        let ran = world.bashtion().args(&["run", "--json", "--approve", "never"]).args(options);
        let ran = ran.args(&[command]).finish().json();
        assert_eq!(judged["verdict"], ran["verdict"], "{options:?} {command}");
        assert_eq!(judged["cwd"], ran["cwd"], "{options:?} {command}");
    }
    let root = world.bashtion().args(&["check", "--cwd", link, "rm -rf ./bin"]).finish();
    assert_eq!(root.code(), Some(4), "{root:?}");
}

#[test]
fn a_link_does_not_lead_past_a_project_s_file() {
    let world = world();
    let project = world.work().join("project");
    fs::create_dir(&project).unwrap();
    fs::write(project.join(".bashtion.toml"), "[guard]\nblock = ['frobnicate']\n").unwrap();
    let link = world.work().join("link");
    std::os::unix::fs::symlink(&project, &link).unwrap();
    for verb in ["check", "run"] {
        let done = world.bashtion().args(&[verb, "--cwd", link.to_str().unwrap(), "frobnicate"]).finish();
        assert!(matches!(done.code(), Some(4 | 126)), "{verb} {done:?}");
    }
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
