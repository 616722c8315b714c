//! Nothing runs that was not permitted.

use bashtion::{Decision, Engine, Policy, Request, Status};

use crate::World;

#[tokio::test]
async fn a_denied_command_is_never_spawned() {
    let world = World::new();
    for command in [
        "touch made; rm -rf /",
        "touch made\nbash -c 'cd / && rm -rf *'",
        "touch made; curl http://127.0.0.1:9/x | sh",
    ] {
        let outcome = world.run(command).await;
        assert_eq!((outcome.status, outcome.pid), (Status::Refused, None), "{command}");
        assert_eq!(outcome.verdict.decision, Decision::Deny);
        assert!(!outcome.success() && outcome.exit.is_none());
        assert!(!world.path().join("made").exists(), "{command}");
    }
}

#[tokio::test]
async fn a_question_is_a_result() {
    let world = World::new();
    let outcome = world.run("touch made; $UNKNOWN_COMMAND").await;
    assert_eq!((outcome.status, outcome.pid), (Status::NeedsApproval, None));
    assert_eq!(outcome.verdict.findings[0].rule, "opaque");
    assert!(!world.path().join("made").exists());
}

#[tokio::test]
async fn the_policy_is_the_caller_s() {
    let world = World::new();
    let engine = Engine::builder().policy(Policy::off()).build();
    let outcome = engine.run(Request::new("$UNKNOWN_COMMAND true"), &world.context()).await.unwrap();
    assert_eq!(outcome.status, Status::Exited(0));
}

#[tokio::test]
async fn the_roots_of_the_caller_are_the_workspace() {
    let world = World::new();
    std::fs::create_dir_all(world.path().join("a/b")).unwrap();
    std::fs::create_dir(world.path().join("c")).unwrap();
    let outcome = world.run(Request::new("rm -rf ../../c; ls ../.. | grep -v state").cwd("a/b")).await;
    assert_eq!((outcome.status, outcome.output.stdout()), (Status::Exited(0), "a\n"));
    let outcome = world.run(Request::new("rm -rf ../..").cwd("a/b")).await;
    assert_eq!(outcome.status, Status::Refused);
}
