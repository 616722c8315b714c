//! Making git, an agent or an editor of the user run something later: by names that appear, and while a command still runs.

use std::fs;
use std::process::Command;

use crate::{Hold, Scene};

const EVIL: &str = "[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = .\\n\\tfsmonitor = touch {outside}/ran\\n";

/// With mounts, and with Landlock alone.
const HELD: [Hold; 2] = [Hold::Workspace, Hold::Plain];

/// A repository in `work`, with one commit and a folder.
fn scene() -> Scene {
    let scene = Scene::new();
    let made = "git init -q -b main . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one && mkdir sub";
    assert!(scene.run(Hold::Off, made).success());
    scene
}

/// The user looks around, as a prompt or an editor does. Returns true if that ran something.
fn look_around(scene: &Scene) -> bool {
    for folder in ["work", "work/sub", "work/new"] {
        let _ = Command::new("git")
            .arg("status")
            .current_dir(scene.path(folder))
            .env("HOME", scene.path("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output();
    }
    scene.path("outside/ran").exists()
}

/// Fails unless the user's git runs something after the command without the sandbox, and nothing inside.
fn cannot(command: &str) {
    let command = command.replace("EVIL", EVIL);
    let free = scene();
    let outcome = free.run(Hold::Off, &command);
    assert!(look_around(&free), "it must succeed without the sandbox: {}", outcome.output.stderr());
    for hold in HELD {
        let held = scene();
        let outcome = held.run(hold, &command);
        assert!(!look_around(&held), "{hold:?} {:?}", outcome.denials);
    }
}

#[test]
fn t21_the_root_as_a_repository_in_the_place_of_another() {
    cannot("cp -r .git/objects .git/refs .git/HEAD .; printf 'EVIL' > config; mv .git/refs .git/r");
}

#[test]
fn t21_a_repository_hidden_by_the_content_of_its_head() {
    cannot("cp -r .git/objects .git/refs .git/HEAD .; printf 'EVIL' > config; echo nonsense > .git/HEAD");
}

#[test]
fn t21_a_repository_hidden_by_its_permissions() {
    cannot(
        "cp -r .git/objects .git/refs .git/HEAD .; printf 'EVIL' > config; chmod 000 .git; chmod 000 .git/refs .git/objects; mv .git/objects .git/o",
    );
}

#[test]
fn t21_a_bare_layout_in_a_folder() {
    cannot("cp -r .git/objects .git/refs .git/HEAD sub; printf 'EVIL' > sub/config");
}

#[test]
fn t21_a_bare_layout_by_links_and_other_names() {
    cannot(
        "cd sub; cp -r ../.git/objects ../.git/refs .; cp ../.git/HEAD h; printf 'EVIL' > config; ln h HEAD || ln -s h HEAD || mv h HEAD",
    );
}

#[test]
fn t21_a_repository_in_a_folder() {
    cannot("git init -q sub; printf 'EVIL' > sub/.git/config");
}

#[test]
fn t21_a_repository_that_is_moved_to_its_place() {
    cannot("mkdir sub/x; cp -r .git/. sub/x; printf 'EVIL' > sub/x/config; mv sub/x sub/.git");
}

#[test]
fn t21_a_repository_exchanged_for_an_empty_one() {
    let exchange = "import ctypes, os; ctypes.CDLL(None).renameat2(-100, b\"sub/x\", -100, b\"sub/.git\", 2)";
    cannot(&format!(
        "mkdir -p sub/x sub/.git; cp -r .git/. sub/x; printf 'EVIL' > sub/x/config; python3 -c '{exchange}'"
    ));
}

#[test]
fn t21_a_link_to_a_repository() {
    cannot(
        "mkdir elsewhere; cp -r .git/objects .git/refs elsewhere; cp .git/HEAD elsewhere/HEAD; printf 'EVIL' > elsewhere/config; echo 'gitdir: ../elsewhere' > sub/.git",
    );
}

#[test]
fn t21_a_symbolic_link_to_a_repository() {
    cannot(
        "mkdir elsewhere; cp -r .git/objects .git/refs elsewhere; cp .git/HEAD elsewhere/HEAD; printf 'EVIL' > elsewhere/config; ln -s ../elsewhere sub/.git",
    );
}

/// Such a one is bare: `git status` refuses, other commands follow its configuration.
#[test]
fn t21_a_head_that_leads_to_a_common_directory() {
    let plant = "mkdir -p elsewhere; cp -r .git/objects .git/refs elsewhere; printf 'EVIL' > elsewhere/config; cp .git/HEAD sub/; echo ../elsewhere > sub/commondir".replace("EVIL", EVIL);
    for hold in [Hold::Off, Hold::Workspace, Hold::Plain] {
        let scene = scene();
        scene.run(hold, &plant);
        let asked = Command::new("git")
            .args(["config", "core.fsmonitor"])
            .current_dir(scene.path("work/sub"))
            .output();
        assert_eq!(asked.unwrap().status.success(), hold == Hold::Off);
    }
}

#[test]
fn t21_a_repository_where_there_was_none() {
    for hold in [Hold::Off, Hold::Workspace, Hold::Plain] {
        let scene = Scene::new();
        scene.run(hold, &"git init -q .; printf 'EVIL' > .git/config".replace("EVIL", EVIL));
        assert_eq!(look_around(&scene), hold == Hold::Off);
    }
}

#[test]
fn t21_hooks_of_a_new_repository() {
    let plant = "git init -q new; echo '#!/bin/sh' > new/.git/hooks/post-checkout; mv new/.git/hooks/update.sample new/.git/hooks/update; cp /bin/true new/.git/hooks/pre-commit";
    for hold in [Hold::Off, Hold::Workspace, Hold::Plain] {
        let scene = scene();
        scene.run(hold, plant);
        let hooks = fs::read_dir(scene.path("work/new/.git/hooks")).unwrap();
        let live = hooks.flatten().any(|hook| !hook.file_name().to_string_lossy().ends_with(".sample"));
        assert_eq!(live, hold == Hold::Off);
    }
}

/// Not only afterwards: the user's git may run at any moment.
#[test]
fn t21_nothing_is_there_while_the_command_runs() {
    let plant = "echo ../elsewhere > .git/commondir; echo x > .git/config.worktree; mkdir -p .git/info; echo x > .git/info/attributes; mkdir -p .git/remotes; echo x > .git/remotes/y; mkdir -p .git/rebase-merge; echo 'exec x' > .git/rebase-merge/git-rebase-todo; rm -f .git/HEAD";
    let look = "for name in commondir config.worktree info/attributes remotes/y rebase-merge/git-rebase-todo; do test -e .git/$name && echo $name; done; test -e .git/HEAD || echo no HEAD";
    let free = scene().run(Hold::Off, &format!("{plant}; {look}"));
    assert_eq!(free.output.stdout().lines().count(), 6, "{}", free.output.stdout());
    for hold in HELD {
        let held = scene().run(hold, &format!("{plant}; {look}; true"));
        assert_eq!(held.output.stdout(), "", "{hold:?}");
    }
}

/// A mount on a file goes when the host replaces the file; one on a directory stays.
#[test]
fn t21_the_user_changes_the_configuration_meanwhile() {
    let scene = scene();
    let attack = "for i in $(seq 300); do printf '[core]\\nfsmonitor = touch {outside}/ran\\n' >> .git/config; printf 'EVIL' > c; mv -f c .git/config; sleep 0.01; done 2> /dev/null; true"
        .replace("EVIL", EVIL);
    std::thread::scope(|scope| {
        let command = scope.spawn(|| scene.run(Hold::Workspace, &attack));
        for turn in 0..10 {
            std::thread::sleep(std::time::Duration::from_millis(200));
            let set = Command::new("git")
                .args(["config", "user.name", &format!("turn {turn}")])
                .current_dir(scene.path("work"))
                .status();
            assert!(set.unwrap().success());
        }
        command.join().unwrap();
    });
    let config = fs::read_to_string(scene.path("work/.git/config")).unwrap();
    assert!(config.contains("turn 9") && !config.contains("fsmonitor"), "{config}");
    assert!(!look_around(&scene));
}

#[test]
fn t22_settings_of_agents_and_editors() {
    let names = [
        ".claude/settings.json", ".codex/config.toml", ".mcp.json", ".vscode/tasks.json", ".envrc",
        ".idea/x", ".devcontainer/devcontainer.json", ".hg/hgrc",
    ];
    let plant = format!(
        "for name in {}; do mkdir -p $(dirname $name) sub/$(dirname $name); echo evil > $name; echo evil > sub/$name; done; mkdir staged; echo evil > staged/tasks.json; mv staged sub/.vscode; true",
        names.join(" ")
    );
    for hold in [Hold::Off, Hold::Workspace, Hold::Plain] {
        let scene = scene();
        fs::create_dir(scene.path("work/.claude")).unwrap();
        fs::write(scene.path("work/.claude/settings.json"), "mine").unwrap();
        scene.run(hold, &plant);
        for name in names {
            for folder in ["work", "work/sub"] {
                let text = fs::read_to_string(scene.path(folder).join(name)).unwrap_or_default();
                assert_eq!(text.contains("evil"), hold == Hold::Off, "{folder}/{name}");
            }
        }
        assert_eq!(scene.path("work/sub/.vscode/staged/tasks.json").exists(), hold == Hold::Off);
    }
}

/// The data of a repository can be written as a command likes, so nothing that is followed may lead there.
#[test]
fn t21_a_repository_among_the_data_of_another() {
    let plants = [
        ("git init -q --bare .git/objects/ev", "work/.git/objects/ev/objects"),
        (
            "mkdir -p .git/refs/x; cp -r .git/objects .git/refs/x/; echo ../../../elsewhere > .git/refs/x/commondir",
            "work/.git/refs/x/commondir",
        ),
        ("mkdir -p sub/objects/ev; echo x > sub/objects/ev/.git", "work/sub/objects/ev/.git"),
        ("ln -s .git/objects link", "work/link"),
    ];
    for (plant, made) in plants {
        for hold in [Hold::Off, Hold::Workspace, Hold::Plain] {
            let scene = scene();
            scene.run(hold, plant);
            assert_eq!(scene.path(made).symlink_metadata().is_ok(), hold == Hold::Off, "{plant}");
        }
    }
    let scene = scene();
    let outcome = scene.run(Hold::Workspace, "git remote add x $PWD/.git/objects/ev");
    assert!(!outcome.success());
    assert!(outcome.denials[0].starts_with("setting remote.x.url"), "{:?}", outcome.denials);
}

/// Git goes by the name of its lock alone.
#[test]
fn t21_the_lock_of_the_user_s_own_git() {
    let take = "echo evil > .git/config.lock; echo evil >> .git/config.lock; rm -f .git/config.lock; echo evil > .git/index.x; mv .git/index.x .git/config.lock; mv .git/config.lock .git/index.y; true";
    for hold in [Hold::Off, Hold::Workspace, Hold::Plain] {
        let scene = scene();
        fs::write(scene.path("work/.git/config.lock"), "the user's").unwrap();
        scene.run(hold, take);
        let text = fs::read_to_string(scene.path("work/.git/config.lock")).unwrap_or_default();
        assert_eq!(text == "the user's", hold != Hold::Off);
    }
}

/// Terminals, editors and databases of the user make sockets there too.
#[test]
fn t16_a_socket_that_the_host_has_made_in_the_workspace() {
    let connect = "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"host.sock\")'";
    for hold in [Hold::Off, Hold::Workspace, Hold::Plain] {
        let scene = Scene::new();
        let _listener = std::os::unix::net::UnixListener::bind(scene.path("work/host.sock")).unwrap();
        assert_eq!(scene.run(hold, connect).success(), hold == Hold::Off);
    }
}

/// Lets the user do something, then a command, then the user again. Returns true if the user's git ran something.
fn runs_later(hold: Hold, before: &str, command: &str, after: &str) -> bool {
    let scene = scene();
    assert!(scene.run(Hold::Off, before).success());
    scene.run(hold, command);
    scene.run(Hold::Off, after);
    scene.path("outside/ran").exists()
}

fn cannot_later(before: &str, command: &str, after: &str) {
    assert!(runs_later(Hold::Off, before, command, after), "it must succeed without the sandbox");
    for hold in HELD {
        assert!(!runs_later(hold, before, command, after), "{hold:?} {command}");
    }
}

const COMMIT: &str = "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m two";

#[test]
fn t18_hooks_that_lie_in_the_workspace() {
    let plant = "printf '#!/bin/sh\ntouch {outside}/ran\n' > tools/hooks/post-commit; chmod +x tools/hooks/post-commit";
    let before = "git config core.hooksPath tools/hooks; mkdir -p tools/hooks";
    cannot_later(before, plant, COMMIT);
    let elsewhere = plant.replace("tools/hooks", "staged/hooks");
    cannot_later(
        before,
        &format!("mkdir -p staged/hooks; {elsewhere}; mv tools old; mv staged tools"),
        COMMIT,
    );
}

#[test]
fn t18_a_hook_that_is_a_link_into_the_workspace() {
    let before = "mkdir -p scripts .git/hooks; printf '#!/bin/sh\n' > scripts/check; chmod +x scripts/check; ln -s ../../scripts/check .git/hooks/pre-commit";
    cannot_later(before, "echo 'touch {outside}/ran' >> scripts/check", COMMIT);
}

#[test]
fn t18_configuration_that_lies_in_the_workspace() {
    let before = "git config include.path ../.gitconfig; touch .gitconfig";
    cannot_later(before, "printf '[core]\n\tfsmonitor = touch {outside}/ran\n' > .gitconfig", "git status");
}

#[test]
fn t21_a_folder_in_which_somebody_has_put_a_head() {
    let plant = "mkdir sub/objects sub/refs; printf '[alias]\n\tst = !touch {outside}/ran\n' > sub/config";
    cannot_later("echo 'ref: refs/heads/main' > sub/HEAD", plant, "cd sub; git st");
}

#[test]
fn t21_an_address_through_the_process_table() {
    let plant =
        "git remote add evil /proc/self/root$PWD/.git/objects/ev; git remote add other up/.git/objects/ev";
    for hold in HELD {
        let scene = scene();
        assert!(scene.run(Hold::Off, "ln -s . up").success());
        scene.run(hold, plant);
        let config = fs::read_to_string(scene.path("work/.git/config")).unwrap();
        assert!(!config.contains("objects"), "{hold:?} {config}");
    }
}

#[test]
fn t21_links_in_two_steps() {
    for hold in HELD {
        let scene = scene();
        scene.run(hold, "ln -s .git two; ln -s two/objects/ev vendor; ln -s two three; mv three vendor");
        assert!(scene.path("work/two").symlink_metadata().is_err(), "{hold:?}");
    }
}
