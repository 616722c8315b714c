//! Where a command runs, and where it may not.

use std::fs;
use std::os::unix::fs::symlink;

use bashtion::{AdmitError, Error, Request, ToolContext};

use crate::World;

async fn cwd_error(context: &ToolContext, request: Request) -> AdmitError {
    match World::new().engine.run(request.env("NEVER", "run"), context).await {
        Err(Error::Admit(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn relative_to_the_context_and_canonical_in_the_result() {
    let world = World::new();
    fs::create_dir_all(world.path().join("a/b")).unwrap();
    symlink("a", world.path().join("link")).unwrap();
    let outcome = world.run(Request::new("pwd").cwd("link/b")).await;
    let real = world.path().canonicalize().unwrap().join("a/b");
    assert_eq!(outcome.cwd, real);
    assert_eq!(outcome.output.stdout(), format!("{}\n", real.display()));
}

#[tokio::test]
async fn it_must_exist_and_be_a_directory() {
    let world = World::new();
    fs::write(world.path().join("file"), "").unwrap();
    let missing = cwd_error(&world.context(), Request::new("touch ran").cwd("missing")).await;
    assert!(missing.to_string().contains("/missing"), "{missing}");
    let AdmitError::Cwd { source, .. } = missing else { panic!("{missing:?}") };
    assert_eq!(source.kind(), std::io::ErrorKind::NotFound);
    let AdmitError::Cwd { source, .. } =
        cwd_error(&world.context(), Request::new("touch ran").cwd("file")).await
    else {
        panic!()
    };
    assert_eq!(source.kind(), std::io::ErrorKind::NotADirectory);
    assert!(!world.path().join("ran").exists());
}

#[tokio::test]
async fn it_must_lie_in_a_root_after_symbolic_links() {
    let world = World::new();
    let (inside, outside) = (world.path().join("inside"), world.path().join("inside-not"));
    fs::create_dir(&inside).unwrap();
    fs::create_dir(&outside).unwrap();
    symlink(&outside, inside.join("escape")).unwrap();
    let context = ToolContext::from_host(&inside);
    for way_out in ["escape", "..", "../inside-not", "/", "/tmp", "escape/.."] {
        let error = cwd_error(&context, Request::new("true").cwd(way_out)).await;
        assert!(matches!(error, AdmitError::OutsideRoots { .. }), "{way_out}: {error:?}");
    }
    let both = ToolContext::from_host(&inside).roots([&inside, &outside]);
    assert!(world.engine.run(Request::new("true").cwd("escape"), &both).await.unwrap().success());
    let any = ToolContext::from_host(&inside).any_root();
    assert!(world.engine.run(Request::new("true").cwd("/"), &any).await.unwrap().success());
}

#[tokio::test]
async fn a_root_may_be_a_link_itself() {
    let world = World::new();
    fs::create_dir(world.path().join("real")).unwrap();
    symlink("real", world.path().join("root")).unwrap();
    let context = ToolContext::from_host(world.path().join("root"));
    assert!(world.engine.run(Request::new("true"), &context).await.unwrap().success());
}

#[tokio::test]
async fn a_redundant_cd_is_not_displayed() {
    let world = World::new();
    let here = world.path().display();
    let outcome = world.run(format!("cd {here} && echo shown").as_str()).await;
    assert_eq!(outcome.display, "echo shown");
    assert_eq!(outcome.command, format!("cd {here} && echo shown"));
    assert_eq!(world.run("cd / && echo shown").await.display, "cd / && echo shown");
}
