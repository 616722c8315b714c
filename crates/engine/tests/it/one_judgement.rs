//! Whoever judges a request and whoever runs it come to the same verdict.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

use bashtion::{
    AdmitError, Decision, Engine, EnvSettings, Error, Home, Policy, Request, SandboxMode, SandboxSettings,
    Status, ToolContext,
};

use crate::World;

/// All that can make a difference beside the text. What could be deleted is in a temporary directory, or does not exist.
fn engines(world: &World) -> Vec<Engine> {
    let builder = || Engine::builder().state_dir(world.path().join("state"));
    let home = EnvSettings { home: Home::Workspace, ..EnvSettings::default() };
    let mut set = EnvSettings::default();
    set.set.insert("TARGET".into(), "/no-such-directory-of-a-test".into());
    let off = SandboxSettings { mode: SandboxMode::Off, ..SandboxSettings::default() };
    let read_only = SandboxSettings { mode: SandboxMode::ReadOnly, ..SandboxSettings::default() };
    vec![
        builder().build(),
        builder().env(home).build(),
        builder().env(set).build(),
        builder().sandbox(off).build(),
        builder().sandbox(read_only).build(),
        builder().policy(Policy::off()).build(),
    ]
}

fn requests() -> Vec<Request> {
    let commands = [
        "true", "rm -rf ./no-such-directory-of-a-test", "rm -rf ~/no-such-directory-of-a-test",
        "rm -rf \"$TARGET\"", "rm -rf ..", "touch /no-such-directory-of-a-test/x",
        "pkill no-such-program-of-a-test", "$UNKNOWN", "git reset --hard", "echo \"unclosed", "sudo -n true",
    ];
    let mut requests: Vec<Request> = commands.into_iter().map(Request::new).collect();
    for command in ["rm -rf \"$TARGET\"", "true"] {
        requests.push(Request::new(command).env("TARGET", "./no-such-directory-of-a-test"));
        requests.push(Request::new(command).env("TARGET", "/no-such-directory-of-a-test").clear_env());
        requests.push(Request::new(command).env("LD_PRELOAD", "/no-such-directory-of-a-test/x.so"));
        requests.push(Request::new(command).env("HOME", "/no-such-directory-of-a-test"));
    }
    requests
}

#[tokio::test]
async fn judging_and_running_come_to_the_same_verdict() {
    let world = World::new();
    let (plain, deep) = (world.path().join("work"), world.path().join("work/a/b"));
    std::fs::create_dir_all(&deep).unwrap();
    symlink("/", world.path().join("to-root")).unwrap();
    symlink("/etc", world.path().join("to-etc")).unwrap();
    symlink(&deep, world.path().join("to-deep")).unwrap();
    let directories = ["work", "to-root", "to-etc", "to-deep"];
    for (index, engine) in engines(&world).iter().enumerate() {
        for directory in directories {
            let context = ToolContext::from_host(world.path().join(directory)).any_root().workspace(&plain);
            for request in requests() {
                let judgement = engine.judge(request.clone(), &context).unwrap();
                let outcome = engine.run(request, &context.again()).await.unwrap();
                let told = format!("{} in {directory}, engine {index}", judgement.command);
                assert_eq!(judgement.verdict, outcome.verdict, "{told}");
                assert_eq!(judgement.cwd, outcome.cwd, "{told}");
                assert_eq!(judgement.syntax_error.is_some(), outcome.status == Status::Invalid, "{told}");
            }
        }
    }
}

#[tokio::test]
async fn a_link_in_the_path_is_where_it_leads() {
    let world = World::new();
    symlink("/", world.path().join("root")).unwrap();
    let context = ToolContext::from_host(world.path().join("root")).any_root();
    let judgement = Engine::new().judge(Request::new("rm -rf ./bin"), &context).unwrap();
    assert_eq!((judgement.decision(), judgement.cwd.as_path()), (Some(Decision::Deny), Path::new("/")));
}

#[tokio::test]
async fn a_session_is_judged_where_it_has_gone_and_stays_as_it_is() {
    let world = World::new();
    std::fs::create_dir(world.path().join("sub")).unwrap();
    let request = |command: &str| Request::new(command).session("s");
    world.run(request("cd sub; export TARGET=/no-such-directory-of-a-test")).await;
    let judge = |request: Request| world.engine.judge(request, &world.context()).unwrap();
    let judgement = judge(request("rm -rf \"$TARGET\""));
    assert_ne!(judgement.decision(), Some(Decision::Allow));
    assert_eq!(judgement.verdict, world.run(request("rm -rf \"$TARGET\"")).await.verdict);
    assert!(judgement.cwd.ends_with("sub"));
    // Asking what would be, from the beginning, begins nothing.
    assert!(!judge(request("true").reset_session()).cwd.ends_with("sub"));
    assert!(judge(request("true")).cwd.ends_with("sub"));
    let unknown = Request::new("true").session("never-begun");
    judge(unknown);
    assert!(!world.path().join("state/private/sessions/never-begun.json").exists());
}

#[tokio::test]
async fn a_directory_need_not_exist_to_be_judged_in() {
    let world = World::new();
    symlink("/", world.path().join("root")).unwrap();
    let context = world.context().any_root();
    let judge = |command: &str, cwd: &str| {
        Engine::new().judge(Request::new(command).cwd(world.path().join(cwd)), &context).unwrap()
    };
    let judgement = judge("rm -rf build", "nowhere/at/all");
    assert_eq!(judgement.decision(), Some(Decision::Allow), "{judgement:?}");
    assert!(judgement.cwd.ends_with("nowhere/at/all"));
    assert_eq!(judge("ls", "root/nowhere").cwd, Path::new("/nowhere"));
    let run = Engine::new().run(Request::new("true").cwd("nowhere"), &context).await;
    assert!(matches!(run, Err(Error::Admit(AdmitError::Cwd { .. }))));
}

#[tokio::test]
async fn what_bash_cannot_read_is_not_run_and_nobody_is_asked() {
    let world = World::new();
    let asked = bashtion::approve_with(|question| async move { panic!("asked about {}", question.command) });
    let engine = world.engine.with_approver(asked);
    for command in ["touch made; echo \"a", "touch made\necho )", "touch made; if true; then"] {
        let outcome = engine.run(Request::new(command), &world.context()).await.unwrap();
        assert_eq!((outcome.status, outcome.pid, outcome.exit), (Status::Invalid, None, None), "{command}");
        let finding = &outcome.verdict.findings[0];
        assert_eq!(finding.rule, "syntax");
        assert!(finding.message.starts_with("line "), "{finding:?}");
        assert_eq!(serde_json::to_value(&outcome).unwrap()["status"], "invalid");
        let back: bashtion::Outcome =
            serde_json::from_value(serde_json::to_value(&outcome).unwrap()).unwrap();
        assert_eq!(back.status, Status::Invalid);
    }
    assert!(!world.path().join("made").exists());
}

#[tokio::test]
async fn only_in_a_room_processes_are_ended_by_name_without_a_question() {
    let world = World::new();
    let judged = |mode| {
        let settings = SandboxSettings { mode, ..SandboxSettings::default() };
        let engine = Engine::builder().sandbox(settings).build();
        engine.judge(Request::new("pkill -f 'node server.js'"), &world.context()).unwrap()
    };
    assert_eq!(judged(SandboxMode::Workspace).decision(), Some(Decision::Allow));
    let off = judged(SandboxMode::Off);
    assert_eq!(off.decision(), Some(Decision::Ask));
    assert_eq!(off.circumstances[0], "not confined: it can do whatever you can");
    // What an approval lets out of the room is asked about as outside.
    let both = world.engine.judge(Request::new("sudo make install; pkill node"), &world.context()).unwrap();
    assert!(both.grant.outside, "{both:?}");
    let rules: Vec<_> = both.verdict.findings.iter().map(|finding| finding.rule.as_str()).collect();
    assert!(rules.contains(&"uses-root") && rules.contains(&"ends-processes"), "{rules:?}");
}

#[tokio::test]
async fn judging_ends_at_its_deadline_with_a_question() {
    let world = World::new();
    let engine = Engine::builder().judge_within(Duration::from_millis(1)).build();
    let long: String = (0..500).map(|number| format!("cd d{number} && ls $x{number}\n")).collect();
    let started = Instant::now();
    let judgement = engine.judge(Request::new(&long), &world.context()).unwrap();
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert_eq!(judgement.decision(), Some(Decision::Ask));
    let finding = &judgement.verdict.findings[0];
    assert_eq!(finding.message, "this cannot be judged: judging it takes longer than 1ms (guard.deadline)");
    assert_eq!((finding.span.start, finding.span.end), (0, long.len()));
    // A short one is judged as ever.
    let judgement = engine.judge(Request::new("ls"), &world.context()).unwrap();
    assert_eq!(judgement.decision(), Some(Decision::Allow));
    // As strictly as the policy wants it.
    let engine = Engine::builder().policy(Policy::off()).judge_within(Duration::from_millis(1)).build();
    let judgement = engine.judge(Request::new(&long), &world.context()).unwrap();
    assert_eq!(judgement.decision(), Some(Decision::Allow));
}
