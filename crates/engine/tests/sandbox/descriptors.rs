//! Where descriptors run out in the middle of confining, a command is refused; it is not run with less, and nothing is lost.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bashtion::{Error, LaunchError, PlanError, Request};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::scene::settings;
use crate::{Hold, Scene};

const REPOSITORIES: [&str; 3] = ["one", "two", "three"];

/// More than these repositories take.
const ENOUGH: usize = 100;

fn scene() -> Scene {
    let scene = Scene::new();
    for repository in REPOSITORIES {
        let git = scene.path("work").join(repository).join(".git");
        for directory in ["hooks", "info", "objects", "refs"] {
            fs::create_dir_all(git.join(directory)).unwrap();
        }
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(git.join("config"), "[core]\n\tbare = false\n").unwrap();
        fs::write(git.join("info/attributes"), "* text\n").unwrap();
        fs::write(git.join("hooks/pre-push"), "exit 1\n").unwrap();
        fs::set_permissions(git.join("hooks/pre-push"), PermissionsExt::from_mode(0o755)).unwrap();
    }
    scene
}

/// What git follows or runs.
fn followed(scene: &Scene) -> BTreeMap<PathBuf, String> {
    let git = REPOSITORIES.map(|repository| scene.path("work").join(repository).join(".git"));
    let files = git.iter().flat_map(|git| {
        let hooks = fs::read_dir(git.join("hooks")).unwrap().map(|entry| entry.unwrap().path());
        hooks.chain(["HEAD", "config", "commondir", "info/attributes"].map(|name| git.join(name)))
    });
    files.map(|path| (path.clone(), fs::read_to_string(path).unwrap_or_default())).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Rules {
    /// Made by the first command that gets so far.
    New,
    /// From a command before.
    Known,
}

fn nothing_is_lost(hold: Hold, rules: Rules) {
    let script = "for git in */.git; do
            for file in config commondir info/attributes hooks/pre-commit; do echo evil >> $git/$file; done
        done 2> /dev/null; echo ran; cat {home}/.bashrc";
    let free = scene();
    let before = followed(&free);
    free.run(Hold::Off, script);
    assert_ne!(followed(&free), before, "it must succeed without the sandbox");

    let usual = free.run(hold, "true");
    let held = (usual.sandbox.limits, usual.tracking);
    let scene = scene();
    let before = followed(&scene);
    let engine = scene.engine(settings(hold));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (context, command) = (scene.context(), scene.fill(script));
    let run = || runtime.block_on(engine.run(Request::new(&command), &context));
    if rules == Rules::Known {
        run().unwrap();
    }
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(256), maximum: limit.maximum }).unwrap();
    let (mut refused, mut ran) = (0, 0);
    for spare in 0..ENOUGH {
        let mut hoard: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
        hoard.truncate(hoard.len() - spare);
        let result = run();
        drop(hoard);
        match result {
            Ok(outcome) => {
                // Also what it may read is all there, now and after a time when there was less.
                assert_eq!(outcome.output.stdout(), "ran\nuntouched", "{spare}: {}", outcome.output.stderr());
                // And nothing is remembered of a time when it could not be found out.
                assert_eq!(
                    (outcome.sandbox.limits, outcome.tracking),
                    held,
                    "{spare}: {:?}",
                    outcome.sandbox
                );
                ran += 1;
            }
            Err(Error::Launch(LaunchError::Descriptors { .. }) | Error::Plan(PlanError::Secrets { .. })) => {
                refused += 1;
            }
            Err(Error::Admit(error)) => {
                assert!(format!("{error:?}").contains("Too many open files"), "{spare}: {error:?}");
            }
            Err(error) => panic!("{spare}: {error:?}"),
        }
        assert_eq!(followed(&scene), before, "{spare}");
    }
    setrlimit(Resource::Nofile, limit).unwrap();
    assert!(refused > 5 && ran > 5, "{refused} {ran}");
}

#[test]
fn in_namespaces_nothing_is_lost() {
    nothing_is_lost(Hold::Workspace, Rules::New);
    nothing_is_lost(Hold::Workspace, Rules::Known);
}

#[test]
fn without_namespaces_nothing_is_lost() {
    nothing_is_lost(Hold::Plain, Rules::New);
    nothing_is_lost(Hold::Plain, Rules::Known);
}

/// Somebody else in this process takes every descriptor that comes free.
#[test]
fn what_a_command_changed_is_put_back_without_any() {
    for hold in [Hold::Workspace, Hold::Plain] {
        let scene = scene();
        let before = followed(&scene);
        let engine = scene.engine(settings(hold));
        let command = "for git in */.git; do
                for file in config commondir info/attributes hooks/pre-commit; do echo evil >> $git/$file; done
            done 2> /dev/null; touch changed; until [ -e taken ]; do sleep 0.01; done";
        let limit = getrlimit(Resource::Nofile);
        let (changed, taken) = (scene.path("work/changed"), scene.path("work/taken"));
        let over = AtomicBool::new(false);
        let outcome = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !changed.exists() {
                    std::thread::sleep(Duration::from_millis(5));
                }
                File::create(&taken).unwrap();
                setrlimit(Resource::Nofile, Rlimit { current: Some(128), maximum: limit.maximum }).unwrap();
                let mut hoard = vec![];
                while !over.load(Ordering::Acquire) {
                    hoard.extend(File::open("/dev/null"));
                    std::thread::yield_now();
                }
            });
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let outcome = runtime.block_on(engine.run(Request::new(command), &scene.context()));
            over.store(true, Ordering::Release);
            outcome
        });
        setrlimit(Resource::Nofile, limit).unwrap();
        assert_eq!(followed(&scene), before, "{hold:?} {:?}", outcome.unwrap().denials);
    }
}
