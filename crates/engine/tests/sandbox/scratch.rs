//! Private temporary directories: each command reaches its own, and what Bashtion does with them stays in them.

use std::fs;
use std::time::Duration;

use bashtion::{Engine, Outcome, Request, ToolContext};

use crate::scene::{Hold, Scene, settings};

const HOLDS: [Hold; 3] = [Hold::Workspace, Hold::Plain, Hold::ReadOnly];

/// Runs commands at once, in one engine.
fn run_together(engine: &Engine, context: &ToolContext, commands: &[&str]) -> Vec<Outcome> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let requests = commands
            .iter()
            .map(|command| engine.run(Request::new(*command).timeout(Duration::from_secs(60)), context));
        let mut running: Vec<_> = requests.map(Box::pin).collect();
        let mut outcomes: Vec<Option<Outcome>> = running.iter().map(|_| None).collect();
        std::future::poll_fn(|task| {
            for (outcome, command) in outcomes.iter_mut().zip(&mut running) {
                if outcome.is_none()
                    && let std::task::Poll::Ready(ended) = command.as_mut().poll(task)
                {
                    *outcome = Some(ended.unwrap());
                }
            }
            if outcomes.iter().all(Option::is_some) {
                std::task::Poll::Ready(())
            } else {
                std::task::Poll::Pending
            }
        })
        .await;
        outcomes.into_iter().flatten().collect()
    })
}

#[test]
fn t20_a_command_cannot_write_beside_its_temporary_directory() {
    for hold in HOLDS {
        let scene = Scene::new();
        let engine = scene.engine(settings(hold));
        let context = scene.context();
        let attack = "mkdir $TMPDIR/../{1..399} 2>/dev/null; ls -A $TMPDIR/.. | grep -c '^[0-9]'; \
                      touch $TMPDIR/../x 2>/dev/null; mv $TMPDIR $TMPDIR.away 2>/dev/null || echo held";
        let outcome = &run_together(&engine, &context, &[attack])[0];
        assert_eq!(outcome.output.stdout(), "0\nheld\n", "{hold:?} {}", outcome.output.stderr());
        let later = &run_together(&engine, &context, &["echo x > $TMPDIR/x && ls $TMPDIR | cat"])[0];
        assert_eq!(later.output.stdout(), "x\n", "{hold:?} {}", later.output.stderr());
    }
}

#[test]
fn t20_a_command_cannot_write_into_another_s_temporary_directory() {
    for hold in HOLDS {
        let scene = Scene::new();
        let engine = scene.engine(settings(hold));
        // Each waits until it sees the other's directory, and tries to write there.
        let attack = "for i in {1..200}; do others=$(ls -d $TMPDIR/../tmp-* | wc -l); \
                      [ $others -gt 1 ] && break; sleep 0.05; done; echo $others; \
                      for other in $TMPDIR/../tmp-*; do \
                        [ $other -ef $TMPDIR ] || { echo x > $other/planted && echo reached; } 2>/dev/null; \
                      done; sleep 0.5; ls -A $TMPDIR | grep planted; echo done | cat";
        for outcome in run_together(&engine, &scene.context(), &[attack, attack]) {
            assert_eq!(outcome.output.stdout(), "2\ndone\n", "{hold:?} {}", outcome.output.stderr());
        }
    }
}

/// The directory for temporary files lies in the workspace: a command could move away what is made there.
#[test]
fn t20_scratch_is_not_made_in_the_workspace() {
    for hold in [Hold::Workspace, Hold::Plain] {
        let scene = Scene::new();
        fs::create_dir_all(scene.path("work/tmp")).unwrap();
        fs::create_dir_all(scene.path("outside/tmp/1")).unwrap();
        let context = scene.context().env("TMPDIR", scene.path("work/tmp"));
        let outcome = scene.run_as(
            &context,
            settings(hold),
            "for made in tmp/bashtion*; do [ -e $made ] || continue; mv $made away; ln -s {outside} $made; done 2>/dev/null; \
             echo x > $TMPDIR/x && echo ${TMPDIR#{root}/} | cat; ls tmp",
        );
        assert!(outcome.output.stdout().starts_with("state/scratch/"), "{hold:?} {outcome:?}");
        assert_eq!(outcome.output.stdout().lines().count(), 1, "nothing was made in the workspace");
        assert!(scene.path("outside/tmp/1").is_dir() && scene.path("outside/file").exists());
        assert_eq!(fs::read_dir(scene.path("state/scratch")).unwrap().count(), 0, "{hold:?}");
    }
}

/// Also the state directory does.
#[test]
fn t20_scratch_finds_another_place() {
    for hold in [Hold::Workspace, Hold::Plain] {
        let scene = Scene::new();
        let root = scene.path("work");
        fs::create_dir_all(root.join("tmp")).unwrap();
        let context = scene.context().env("TMPDIR", root.join("tmp"));
        let engine = Engine::builder().policy(bashtion::Policy::off()).state_dir(root.join("state"));
        let engine = engine.sandbox(settings(hold)).build();
        let mut outcomes = run_together(&engine, &context, &["echo $TMPDIR | cat"]);
        let told = outcomes.remove(0).output.stdout().to_owned();
        assert!(told.starts_with("/var/tmp/"), "{told}");
    }
}

/// Another program's command has the usual temporary directory for its workspace.
#[test]
fn t20_a_scratch_that_somebody_else_moves_away_leads_nowhere() {
    let scene = Scene::new();
    fs::create_dir_all(scene.path("temporary")).unwrap();
    fs::create_dir_all(scene.path("outside/kept")).unwrap();
    let context = scene.context().env("TMPDIR", scene.path("temporary"));
    let engine = scene.engine(settings(Hold::Plain));
    let mut outcomes = run_together(&engine, &context, &["echo $TMPDIR | cat"]);
    let used = outcomes.remove(0).output.stdout().trim().to_owned();
    let root = std::path::Path::new(&used).parent().unwrap();
    fs::rename(root, scene.path("temporary/away")).unwrap();
    std::os::unix::fs::symlink(scene.path("outside"), root).unwrap();
    // Its own directory is out of reach, but what it leads to is not written.
    run_together(&engine, &context, &["echo x > $TMPDIR/x; true | true"]);
    drop(engine);
    assert!(scene.path("outside/kept").is_dir(), "nothing was removed there");
    assert_eq!(fs::read_dir(scene.path("outside")).unwrap().count(), 4, "and nothing made");
    assert_eq!(fs::read_dir(scene.path("temporary/away")).unwrap().count(), 0);
}
