//! Git runs what hooks and configuration name, so a command may not change those of a repository that was there.

use std::fs;
use std::process::Command;

use bashtion::Outcome;

use crate::{Hold, Scene};

const IDENTITY: &str =
    "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b";

/// A scene with a repository in `work`, one nested in it, a submodule and a linked worktree.
fn scene() -> Scene {
    let scene = Scene::new();
    let script = format!(
        "{IDENTITY}; set -e
        git init -q -b main . && git commit -q --allow-empty -m one
        git init -q nested && git -C nested commit -q --allow-empty -m one
        git init -q ../module && git -C ../module commit -q --allow-empty -m one
        git -c protocol.file.allow=always submodule --quiet add ../module module
        git commit -qm module
        git worktree add -q tree
        rm -rf nested/.git/hooks nested/.git/info"
    );
    let home = scene.path("home");
    let status =
        Command::new("bash").args(["-c", &script]).current_dir(scene.path("work")).env("HOME", home).status();
    assert!(status.unwrap().success());
    scene
}

/// Whether anything that git would run or follow is not as it was.
fn planted(scene: &Scene) -> Option<String> {
    let hooks = ["", "nested/", "module/"].map(|repository| {
        let git = Command::new("git")
            .args(["rev-parse", "--git-path", "hooks"])
            .current_dir(scene.path(&format!("work/{repository}")))
            .output()
            .unwrap();
        let path = String::from_utf8(git.stdout).unwrap();
        scene.path(&format!("work/{repository}")).join(path.trim())
    });
    let hook = hooks.iter().map(|hooks| hooks.join("pre-commit")).find(|hook| hook.exists());
    let config = ["", "nested/", "module/", "tree/"].iter().find_map(|repository| {
        let git = Command::new("git")
            .args(["config", "--get-all", "core.fsmonitor"])
            .current_dir(scene.path(&format!("work/{repository}")))
            .output()
            .unwrap();
        git.status.success().then(|| format!("{repository}config"))
    });
    let attributes = ["", "nested/"].iter().map(|r| scene.path(&format!("work/{r}.git/info/attributes")));
    let attribute =
        attributes.into_iter().find(|path| fs::read_to_string(path).is_ok_and(|text| text.contains("evil")));
    hook.map(|path| path.display().to_string())
        .or(config)
        .or(attribute.map(|path| path.display().to_string()))
}

/// Fails unless the command plants something without the sandbox, and nothing inside.
fn cannot(command: &str) {
    let free = scene();
    let outcome = free.run(Hold::Off, command);
    assert!(planted(&free).is_some(), "it must succeed without the sandbox: {}", outcome.output.stderr());
    for hold in [Hold::Workspace, Hold::Plain, Hold::Unattended] {
        let scene = scene();
        let outcome = scene.run(hold, command);
        assert_eq!(planted(&scene), None, "{hold:?} {}", outcome.output.stderr());
    }
}

#[test]
fn t18_a_hook() {
    cannot("mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit");
}

#[test]
fn t18_a_hook_of_a_nested_repository_that_had_none() {
    cannot("mkdir -p nested/.git/hooks; echo evil > nested/.git/hooks/pre-commit");
}

#[test]
fn t18_a_hook_of_a_submodule() {
    cannot("mkdir -p .git/modules/module/hooks; echo evil > .git/modules/module/hooks/pre-commit");
}

#[test]
fn t18_another_directory_of_hooks() {
    cannot("mv .git/hooks .git/old; mkdir .git/hooks; echo evil > .git/hooks/pre-commit");
}

#[test]
fn t18_configuration() {
    cannot("git config core.fsmonitor evil");
}

#[test]
fn t18_configuration_written_directly() {
    cannot("printf '[core]\\nfsmonitor = evil\\n' >> .git/config");
}

#[test]
fn t18_configuration_of_nested_repositories_and_submodules() {
    cannot("git -C nested config core.fsmonitor evil; git -C module config core.fsmonitor evil");
}

#[test]
fn t18_attributes() {
    cannot(
        "mkdir -p .git/info nested/.git/info; echo '* filter=evil' > .git/info/attributes; echo '* filter=evil' > nested/.git/info/attributes",
    );
}

#[test]
fn t18_the_whole_git_directory_exchanged() {
    cannot(
        "cp -r .git other; mv .git old; printf '[core]\\nfsmonitor = evil\\n' >> other/config; mv other .git",
    );
}

#[test]
fn t18_a_common_directory_elsewhere() {
    cannot(
        "cp -r .git evil; printf '[core]\\nfsmonitor = evil\\n' >> evil/config; echo ../evil > .git/commondir",
    );
}

#[test]
fn t18_the_link_of_a_worktree() {
    cannot(
        "cp -r .git evil; printf '[core]\\nfsmonitor = evil\\n' >> evil/config; rm -f tree/.git; echo 'gitdir: {work}/evil' > tree/.git",
    );
}

/// Each line is one command; only together do they plant something.
fn cannot_in_steps(commands: &[&str], holds: &[Hold]) {
    let free = scene();
    commands.iter().for_each(|command| drop(free.run(Hold::Off, command)));
    assert!(planted(&free).is_some(), "it must succeed without the sandbox");
    for hold in holds {
        let scene = scene();
        commands.iter().for_each(|command| drop(scene.run(*hold, command)));
        assert_eq!(planted(&scene), None, "{hold:?}");
    }
}

#[test]
fn t18_a_repository_that_looks_like_none_for_a_while() {
    let steps = ["mv .git/HEAD .git/H", "echo evil > .git/hooks/pre-commit; mv .git/H .git/HEAD"];
    cannot_in_steps(&steps, &[Hold::Workspace, Hold::Plain, Hold::Unattended]);
}

#[test]
fn t18_a_repository_around_one_that_lost_its_head() {
    cannot(
        "git clone -q --bare . b; mv .git/HEAD .git/H; mv b/* .; printf '[core]\\nfsmonitor = evil\\n' >> config",
    );
}

#[test]
fn t18_a_directory_above_moved_away() {
    let exchange = "cp -r nested copied; mkdir -p copied/.git/hooks; echo evil > copied/.git/hooks/pre-commit; mv nested old; mv copied nested";
    let free = scene();
    free.run(Hold::Off, exchange);
    assert!(planted(&free).is_some(), "it must succeed without the sandbox");
    let modules =
        "mv .git/modules .git/old; cp -r .git/old .git/modules; git -C module config core.fsmonitor evil";
    for command in [exchange, modules] {
        for hold in [Hold::Workspace, Hold::Plain] {
            let scene = scene();
            scene.run(hold, command);
            assert_eq!(planted(&scene), None, "{hold:?} {command}");
        }
    }
    // Where nobody answers it cannot be kept from happening, but it is told.
    let scene = scene();
    let outcome = scene.run(Hold::Unattended, exchange);
    assert!(outcome.denials.iter().any(|denial| denial.contains("nested/.git")), "{:?}", outcome.denials);
}

#[test]
fn t18_attributes_by_another_directory() {
    cannot("mv .git/info .git/old; mkdir .git/info; echo '* filter=evil' > .git/info/attributes");
}

#[test]
fn t18_configuration_of_a_worktree() {
    let with = "git config extensions.worktreeConfig true";
    for hold in [Hold::Off, Hold::Workspace, Hold::Plain, Hold::Unattended] {
        let scene = scene();
        scene.run(Hold::Off, with);
        scene.run(hold, "printf '[core]\nfsmonitor = evil\n' > .git/config.worktree");
        assert_eq!(planted(&scene).is_some(), hold == Hold::Off, "{hold:?}");
    }
}

/// What we put back, we put back where it was, and not where a path leads by then.
#[test]
fn t20_putting_back_writes_nothing_elsewhere() {
    for hold in [Hold::Workspace, Hold::Plain, Hold::Unattended] {
        let scene = scene();
        let victim = scene.path("outside/victim");
        let made = Command::new("git").args(["init", "-q"]).arg(&victim).status().unwrap();
        assert!(made.success());
        let config = fs::read_to_string(victim.join(".git/config")).unwrap();
        scene.run(hold, "git init -q x; echo {work}/evil > x/.git/commondir; printf evil > x/.git/config; echo evil > x/.git/hooks/pre-commit");
        scene.run(hold, "mv x y; ln -s {outside}/victim x");
        scene.run(hold, "rm -rf y/.git/info; ln -s {outside}/victim y/.git/info; mkdir z; ln -s {outside}/victim/.git z/.git");
        scene.run(hold, "true");
        assert!(!victim.join(".git/commondir").exists() && !victim.join("attributes").exists(), "{hold:?}");
        assert!(!victim.join(".git/hooks/pre-commit").exists(), "{hold:?}");
        assert_eq!(fs::read_to_string(victim.join(".git/config")).unwrap(), config, "{hold:?}");
    }
}

#[test]
fn t20_a_project_s_own_rules_stay() {
    let scene = scene();
    fs::write(scene.path("work/.bashtion.toml"), "[sandbox]\nmode = \"read-only\"\n").unwrap();
    scene.run(Hold::Workspace, "rm -f .bashtion.toml; echo > .bashtion.toml; mv .bashtion.toml x");
    assert!(fs::read_to_string(scene.path("work/.bashtion.toml")).unwrap().contains("read-only"));
}

#[test]
fn links_that_cannot_be_kept_are_told() {
    let scene = scene();
    scene.run(Hold::Off, "rm -rf .git/hooks; mkdir hooks; ln -s ../hooks .git/hooks");
    let report = scene.run_with(crate::scene::settings(Hold::Workspace), "true").sandbox;
    assert_eq!(report.filesystem, bashtion::Enforced::Partial);
    assert!(report.reason.unwrap().contains("is a link, which cannot be kept"));
}

/// Nothing appears in a repository that nobody asked for.
#[test]
fn a_repository_stays_as_it_is() {
    let scene = scene();
    let list = || {
        let found = Command::new("find").arg(scene.path("work/.git")).output().unwrap().stdout;
        let mut found: Vec<String> = String::from_utf8(found).unwrap().lines().map(str::to_owned).collect();
        found.sort();
        found
    };
    let before = list();
    scene.run(Hold::Workspace, "true");
    scene.run(Hold::Plain, "true");
    assert_eq!(list(), before);
}

#[test]
fn a_submodule_as_the_workspace() {
    let scene = scene();
    let context = bashtion::ToolContext::from_host(scene.path("work/module")).env("HOME", scene.path("home"));
    for hold in [Hold::Workspace, Hold::Plain] {
        let commit = format!("{IDENTITY}; echo x >> x && git add x && git commit -qm x");
        let outcome = scene.run_as(&context, crate::scene::settings(hold), &commit);
        assert!(outcome.success(), "{hold:?} {}", outcome.output.stderr());
        scene.run_as(
            &context,
            crate::scene::settings(hold),
            "git config core.fsmonitor evil; echo x > ../.git/x",
        );
        assert_eq!(planted(&scene), None, "{hold:?}");
        assert!(!scene.path("work/.git/x").exists(), "{hold:?}");
    }
}

/// A file in the workspace that names a git directory elsewhere does not open it.
#[test]
fn t18_a_link_to_a_repository_elsewhere_opens_nothing() {
    let scene = scene();
    let other = scene.path("outside/repository");
    let made = Command::new("git").args(["init", "-q"]).arg(&other).status().unwrap();
    assert!(made.success());
    scene.run(Hold::Workspace, "mkdir trap; echo 'gitdir: {outside}/repository/.git' > trap/.git; mkdir trap2; echo 'gitdir: {outside}' > trap2/.git");
    for hold in [Hold::Workspace, Hold::Plain] {
        let outcome = scene.run(hold, "echo x > {outside}/repository/.git/new; echo x > {outside}/new2");
        assert!(!outcome.success());
        assert!(!other.join(".git/new").exists() && !scene.path("outside/new2").exists(), "{hold:?}");
    }
}

#[test]
fn what_was_put_back_is_told() {
    let scene = scene();
    let outcome: Outcome = scene.run(Hold::Unattended, "echo evil > .git/hooks/pre-commit");
    assert!(outcome.success());
    assert!(
        outcome.denials.iter().any(|denial| denial.contains("hooks was changed and has been put back")),
        "{:?}",
        outcome.denials
    );
}

#[test]
fn everyday_git_works() {
    let lines = "echo a > a; git add a; git commit -qm two
        git branch other; git switch -q other; echo b > b; git add b; git commit -qm three
        git switch -q main; git merge -q other -m merged
        echo c >> a; git stash -q; git stash pop -q; git commit -qam four
        git worktree add -q second; cd second; echo d > d; git add d; git commit -qm five; cd ..
        git worktree list | grep -q second; git worktree remove second; git worktree prune
        cd tree; echo e > e; git add e; git commit -qm six; cd ..
        cd nested; echo f > f; git add f; git commit -qm seven; cd ..
        git tag v1; git rebase -q main; git log --oneline | wc -l; git gc -q; git status --short
        git init -q fresh; cd fresh; git config user.name me; git commit -q --allow-empty -m x; cd ..
        git clone -q nested copy; git -C copy log --oneline; git -C copy checkout -q -b topic
        git -C copy branch -m renamed; git -C copy tag -d v1 || true; git -C copy fsck";
    let script = format!("{IDENTITY}; set -e\n{lines}");
    for hold in [Hold::Workspace, Hold::Plain] {
        let outcome = scene().run(hold, &script);
        assert!(outcome.success(), "{hold:?} {} {}", outcome.output.stdout(), outcome.output.stderr());
    }
}

/// A linked worktree is of use only if the repository that it belongs to can be written.
#[test]
fn a_worktree_whose_repository_lies_elsewhere() {
    let scene = Scene::new();
    let script = format!(
        "{IDENTITY}; set -e; rmdir work; git init -q -b main main && cd main && git commit -q --allow-empty -m one && git worktree add -q ../work"
    );
    let ready = Command::new("bash").args(["-c", &script]).current_dir(scene.path("")).status().unwrap();
    assert!(ready.success());
    for hold in [Hold::Workspace, Hold::Plain] {
        let commit =
            format!("{IDENTITY}; echo x >> x && git add x && git commit -qm x && git log --oneline | wc -l");
        let outcome = scene.run(hold, &commit);
        assert!(outcome.success(), "{hold:?} {}", outcome.output.stderr());
        scene.run(hold, "echo evil > ../main/.git/hooks/pre-commit; git config core.fsmonitor evil; echo evil > ../main/file");
        assert!(!scene.path("main/.git/hooks/pre-commit").exists(), "{hold:?}");
        assert!(!fs::read_to_string(scene.path("main/.git/config")).unwrap().contains("evil"), "{hold:?}");
        assert!(!scene.path("main/file").exists(), "{hold:?}");
    }
}

/// A worktree's files can be forged in a workspace that lies where they would be.
#[test]
fn t20_a_forged_worktree_opens_nothing_above_it() {
    for hold in [Hold::Workspace, Hold::Plain] {
        let scene = Scene::new();
        fs::create_dir_all(scene.path("outside/worktrees/a")).unwrap();
        let context = bashtion::ToolContext::from_host(scene.path("outside/worktrees/a"))
            .env("HOME", scene.path("home"));
        let forge = "echo gitdir: $PWD > .git; echo $PWD/.git > gitdir; echo ../.. > commondir; echo ref: refs/heads/x > HEAD; mkdir objects refs; touch config";
        scene.run_as(&context, crate::scene::settings(hold), forge);
        scene.run_as(&context, crate::scene::settings(hold), "echo x > ../../stolen");
        assert!(!scene.path("outside/stolen").exists(), "{hold:?}");
    }
}

/// The command runs as a user here, who can close directories to themself; root cannot be kept out of any.
#[test]
fn t18_a_repository_that_cannot_be_read_is_kept_as_it_is() {
    let root = tempfile::Builder::new().prefix("scene-").tempdir_in("/tmp").unwrap();
    let script = format!(
        "set -e; cd {0}; mkdir home work; cp {1} probe; chmod 755 . probe; chown -R 65534:65534 home work; \
         cd work; as() {{ setpriv --reuid=65534 --regid=65534 --clear-groups env HOME={0}/home \"$@\"; }}; \
         as git init -q .; as git init -q sub; as mkdir deep; as git init -q deep/er",
        root.path().display(),
        crate::scene::probe().display()
    );
    assert!(Command::new("bash").args(["-c", &script]).status().unwrap().success());
    let test = std::env::current_exe().unwrap();
    let copy = root.path().join("test");
    fs::copy(test, &copy).unwrap();
    let status = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&copy)
        .args(["--exact", "git::as_a_user", "--nocapture"])
        .env("SCENE_OF_A_USER", root.path())
        .status()
        .unwrap();
    assert!(status.success());
    for hook in ["work/.git/hooks/evil", "work/sub/.git/hooks/evil", "work/deep/er/.git/hooks/evil"] {
        assert!(!root.path().join(hook).exists(), "{hook}");
    }
}

/// What the test above does as another user. By itself it does nothing.
#[test]
fn as_a_user() {
    let Some(root) = std::env::var_os("SCENE_OF_A_USER").map(std::path::PathBuf::from) else { return };
    let context = bashtion::ToolContext::from_host(root.join("work")).env("HOME", root.join("home"));
    let engine = bashtion::Engine::builder()
        .policy(bashtion::Policy::off())
        .sandbox(crate::scene::settings(Hold::Workspace))
        .build();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let run = |command: &str| {
        let outcome = runtime.block_on(engine.run(bashtion::Request::new(command), &context)).unwrap();
        assert_eq!(outcome.sandbox.filesystem, bashtion::Enforced::Full, "{:?}", outcome.sandbox);
    };
    run("chmod 000 .git; chmod 311 sub/.git; chmod 000 deep");
    run(
        "chmod 755 .git sub/.git deep; for g in .git sub/.git deep/er/.git; do echo evil > $g/hooks/evil; done; true",
    );
    run("true");
}

/// Nobody waits for it any more, and still it may not leave anything.
#[test]
fn a_dropped_command_s_changes_are_put_back() {
    for hold in [Hold::Workspace, Hold::Plain] {
        let scene = scene();
        let engine = scene.engine(crate::scene::settings(hold));
        let command = "for git in .git nested/.git; do
                for file in hooks/pre-commit config info/attributes commondir; do echo evil >> $git/$file; done
            done 2> /dev/null; touch done; sleep 60";
        let context = scene.context();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let run = engine.run(bashtion::Request::new(command), &context);
            let is_done = async {
                while !scene.path("work/done").exists() {
                    tokio::time::sleep(std::time::Duration::from_millis(10)).await;
                }
            };
            tokio::select! {
                _ = run => panic!("it sleeps"),
                () = is_done => {}
            }
        });
        bashtion::wait_for_stopping();
        assert_eq!(planted(&scene), None, "{hold:?}");
        assert!(!scene.path("work/.git/commondir").exists(), "{hold:?}");
    }
}

/// One of them has planted something when the other begins, and it is not what was there.
#[test]
fn commands_that_overlap_put_back_what_was_there_before_both() {
    let scene = scene();
    let engine = scene.engine(crate::scene::settings(Hold::Unattended));
    let unattended = |command| bashtion::Request::new(command).leftovers(bashtion::Leftovers::Keep);
    let context = scene.context();
    let plants = "echo evil > .git/hooks/pre-commit; git config core.fsmonitor evil; touch planted; \
                  until [ -e begun ]; do sleep 0.01; done";
    let waits = "touch begun; until [ -e ended ]; do sleep 0.01; done";
    let is_there = |name: &'static str| {
        let path = scene.path("work").join(name);
        async move {
            while !path.exists() {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (first, second) = runtime.block_on(async {
        let first = async {
            let outcome = engine.run(unattended(plants), &context).await.unwrap();
            fs::write(scene.path("work/ended"), "").unwrap();
            outcome
        };
        let second = async {
            is_there("planted").await;
            engine.run(unattended(waits), &context).await.unwrap()
        };
        tokio::join!(first, second)
    });
    assert_eq!(planted(&scene), None, "{:?} {:?}", first.denials, second.denials);
    assert!(!first.denials.is_empty() && second.denials.is_empty(), "{:?}", second.denials);
}
