//! State goes from command to command, and no command notices.

use bashtion::{Engine, Outcome, Policy, Request, Status};

use crate::World;

/// In which nothing is refused: what would be is no test.
fn world() -> World {
    let mut world = World::new();
    world.engine = Engine::builder().policy(Policy::off()).state_dir(world.path().join("state")).build();
    world
}

async fn run(world: &World, name: &str, command: &str) -> Outcome {
    world.engine.run(Request::new(command).session(name), &world.context()).await.unwrap()
}

async fn says(world: &World, name: &str, command: &str) -> String {
    let outcome = run(world, name, command).await;
    format!("{}{}", outcome.output.stdout(), outcome.output.stderr())
}

#[tokio::test]
async fn directory_and_variables_carry_over() {
    let world = world();
    let first =
        run(&world, "a", "mkdir -p x/y; cd x/y; export NAME='a  b' NEW=$'l1\nl2'; unset LANG; local_only=1")
            .await;
    assert_eq!((first.session.as_deref(), first.cwd.as_path()), (Some("a"), world.path()));
    assert_eq!(first.cwd_after, Some(world.path().join("x/y")));
    let second = run(&world, "a", "pwd; echo \"$NAME|$NEW|${local_only-none}\"; cd ..").await;
    let expected = format!("{}\na  b|l1\nl2|none\n", world.path().join("x/y").display());
    assert_eq!(second.output.stdout(), expected);
    assert_eq!(second.cwd_after, Some(world.path().join("x")));
    assert_eq!(says(&world, "a", "echo ${LANG-gone}; cd - > /dev/null; basename $PWD").await, "gone\ny\n");
    assert_eq!(
        says(&world, "b", "echo ${NAME-none}; pwd").await,
        format!("none\n{}\n", world.path().display())
    );
    let stateless = world.run("echo ${NAME-none}").await;
    assert_eq!((stateless.output.stdout(), stateless.cwd_after), ("none\n", None));
    let reset = Request::new("echo ${NAME-none}; pwd").session("a").reset_session();
    let reset = world.engine.run(reset, &world.context()).await.unwrap();
    assert_eq!(reset.output.stdout(), format!("none\n{}\n", world.path().display()));
}

/// Each of these must print and end exactly as it does without a session.
#[tokio::test]
async fn nothing_about_the_command_changes() {
    let commands = [
        "exit 7",
        "false",
        "set -e; false; echo not reached",
        "set -eu; echo $unset_variable",
        "echo $0 $# $LINENO $-; echo \"$BASH_EXECUTION_STRING\"",
        "echo line 1\necho $LINENO; nonsense_command",
        "if then",
        "echo 'unclosed",
        "trap 'echo bye $?' EXIT; exit 3",
        "trap 'echo bye $?; exit 9' EXIT; (exit 4)",
        "set -e; trap 'echo bye $?' EXIT; false",
        "trap 'echo one' EXIT; trap - EXIT; trap; echo two",
        "trap 'echo it' INT EXIT; trap -p; kill -INT $$; trap -p EXIT; trap - INT EXIT",
        "trap '' EXIT; trap -p EXIT",
        "trap 'echo sub' EXIT; (trap 'echo inner' EXIT); $(trap 'exit 3' EXIT)",
        "trap 'echo $BASH_COMMAND' DEBUG; true",
        "trap 'echo failed $?' ERR; false; true",
        "set -e; trap 'echo err $?' ERR; (false)",
        "set -eE; trap 'echo err $?' ERR; trap 'echo end $?' EXIT; false",
        "trap 'echo err' ERR; exit 3",
        "set -x; true; (exit 5)",
        "set -x; trap 'echo traced' EXIT",
        "set -C; echo a > noclobber; echo b > noclobber; echo $?",
        "false | true | false; echo ${PIPESTATUS[@]}",
        "set -o pipefail; false | true",
        "f() { return 4; }; f",
        "env() { echo mine; }; printf() { echo no; }; pwd() { echo no; }; builtin() { echo no; }; env",
        "PATH=/nowhere; echo still",
        "IFS=/; set -f; echo \"$HOME\" | grep -c .",
        "echo ${BASH_ENV-unset}; compgen -e | grep -c BASH_ENV",
        "shopt -s extdebug; true",
        "exec echo replaced",
        "exec 1>&- 2>&-; cd /; exit 2",
        "ulimit -u 1; exit 6",
    ];
    let world = world();
    for (index, command) in commands.into_iter().enumerate() {
        let _ = std::fs::remove_file(world.path().join("noclobber"));
        let plain = world.run(command).await;
        let _ = std::fs::remove_file(world.path().join("noclobber"));
        let within = run(&world, &format!("s{index}"), command).await;
        let facts = |outcome: &Outcome| {
            (outcome.status, outcome.output.stdout().to_owned(), outcome.output.stderr().to_owned())
        };
        assert_eq!(facts(&within), facts(&plain), "{command}");
    }
}

#[tokio::test]
async fn what_ends_otherwise_leaves_the_session_as_it_was() {
    let world = world();
    run(&world, "a", "export KEPT=1").await;
    for (command, status) in [
        ("export LOST=1; exec true", "exit 0"),
        ("export LOST=1; kill -9 $$", "ended by SIGKILL"),
        ("export LOST=1; trap : DEBUG", "exit 0"),
    ] {
        let outcome = run(&world, "a", command).await;
        assert_eq!(outcome.status.to_string(), status, "{command}");
        assert!(outcome.notes[0].starts_with("the session a stays as it was"), "{:?}", outcome.notes);
        assert_eq!(outcome.cwd_after, None);
    }
    assert_eq!(says(&world, "a", "echo $KEPT ${LOST-none}").await, "1 none\n");
    let slow = Request::new("export LATE=1; cd /; sleep 60")
        .session("a")
        .timeout(std::time::Duration::from_millis(300));
    let outcome = world.engine.run(slow, &world.context()).await.unwrap();
    assert!(matches!(outcome.status, Status::TimedOut { .. }));
    assert_eq!(
        says(&world, "a", "echo ${LATE-none}; pwd").await,
        format!("none\n{}\n", world.path().display())
    );
}

#[tokio::test]
async fn two_at_once_keep_each_others_changes() {
    let world = world();
    run(&world, "a", "export X=0; mkdir d").await;
    let one = run(&world, "a", "sleep 0.2; export ONE=1");
    let other = run(&world, "a", "cd d; export OTHER=2; unset X");
    let _ = tokio::join!(one, other);
    assert_eq!(
        says(&world, "a", "echo $ONE $OTHER ${X-gone}; basename $PWD").await,
        "1 2 gone\nd\n".replace("d\n", &basename(&world))
    );
}

/// The one that ended last was where the session began.
fn basename(world: &World) -> String {
    format!("{}\n", world.path().file_name().unwrap().to_str().unwrap())
}

#[tokio::test]
async fn a_directory_that_is_gone_is_an_error_that_says_so() {
    let world = world();
    run(&world, "a", "mkdir gone; cd gone; export A=1").await;
    std::fs::remove_dir(world.path().join("gone")).unwrap();
    let request = Request::new("true").session("a");
    let error = world.engine.run(request, &world.context()).await.unwrap_err().to_string();
    assert!(
        error.contains("a directory of the session a") && error.ends_with("gone, is gone or was replaced"),
        "{error}"
    );
    let request = Request::new("echo $A").session("a").cwd(world.path());
    assert_eq!(world.engine.run(request, &world.context()).await.unwrap().output.stdout(), "1\n");
    let request = Request::new("true").session("../a");
    let error = world.engine.run(request, &world.context()).await.unwrap_err().to_string();
    assert!(error.contains("cannot be a session"), "{error}");
}

/// Otherwise a command could have the next one be allowed to change whatever it likes.
#[tokio::test]
#[cfg(all(target_os = "linux", not(feature = "portable")))]
async fn what_may_be_changed_does_not_move_with_the_session() {
    let (world, elsewhere) = (world(), tempfile::tempdir().unwrap());
    let context = world.context().any_root();
    let run = |command: String| world.engine.run(Request::new(command).session("a"), &context);
    let there = elsewhere.path().canonicalize().unwrap();
    let moved = run(format!("cd {}", there.display())).await.unwrap();
    assert_eq!(moved.cwd_after, Some(there.clone()));
    let outcome = run("pwd; echo x > file; echo y > $OLDPWD/own".to_owned()).await.unwrap();
    assert_eq!(outcome.output.stdout(), format!("{}\n", there.display()));
    assert!(!there.join("file").exists() && world.path().join("own").exists(), "{:?}", outcome.denials);
}

#[tokio::test]
async fn a_hidden_failure_in_a_pipeline_is_told() {
    let world = world();
    let outcome = world.run("cat missing 2> /dev/null | tee copy").await;
    assert_eq!((outcome.status, outcome.pipe_status.as_deref()), (Status::Exited(0), Some(&[1, 0][..])));
    assert_eq!(
        outcome.notes,
        [
            "stage 1 of 2 of the last pipeline, `cat missing 2> /dev/null`, failed with exit code 1; the whole says 0, \
          because a pipeline has the exit code of its last stage"
        ]
    );
    for (command, codes) in [
        ("true | true", Some(vec![0, 0])),
        ("yes | head -1", Some(vec![141, 0])),
        ("true | (exit 3)", Some(vec![0, 3])),
        ("cd . && false | true", Some(vec![1, 0])),
        ("false | true; true", None),
        ("! false | true", None),
        ("echo 'a | b'", None),
        ("trap 'echo x' EXIT; false | true", None),
        ("false | true &", None),
    ] {
        let outcome = world.run(command).await;
        assert_eq!(outcome.pipe_status, codes, "{command}");
        assert_eq!(
            outcome.notes.len(),
            usize::from(command.contains("&& false")),
            "{command} {:?}",
            outcome.notes
        );
    }
}
