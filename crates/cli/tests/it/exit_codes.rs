//! The exit code of `run` is the command's own, or one of five.

use crate::world;

#[test]
fn the_commands_own() {
    for code in [0, 1, 2, 3, 42, 124, 125, 126, 127, 255] {
        assert_eq!(world().run(format!("exit {code}")).finish().code(), Some(code));
    }
    assert_eq!(world().run("no-such-command-at-all").finish().code(), Some(127));
}

#[test]
fn out_of_time() {
    let finished = world().run_with(&["--timeout", "300ms"], "echo so far; sleep 1000").finish();
    assert_eq!((finished.code(), finished.stdout().as_str()), (Some(124), "so far\n"));
}

#[test]
fn ended_by_a_signal() {
    assert_eq!(world().run("kill -KILL $$").finish().code(), Some(137));
    assert_eq!(world().run("kill -TERM $$").finish().code(), Some(143));
}

#[test]
fn bashtion_itself_failed() {
    let cases: [(&[&str], &str); 4] = [
        (&["--cwd", "/no/such/directory"], "true"),
        (&["--cwd", "/etc/passwd"], "true"),
        (&[], ""),
        (&[], "  \n "),
    ];
    for (options, command) in cases {
        let finished = world().run_with(options, command).finish();
        assert_eq!(finished.code(), Some(125), "{options:?} {command:?}");
        assert_eq!(finished.stdout(), "");
        assert!(finished.stderr().starts_with("error: "), "{}", finished.stderr());
    }
}
