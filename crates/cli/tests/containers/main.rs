//! In real containers, which give some rights and not others: a command can work, and the report says what is held.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod podman;

use std::fs;
use std::os::unix::fs::chown;
use std::path::Path;
use std::process::Command;

use podman::Podman;
use serde_json::Value;

/// The owner of the project, who is not the one who runs commands.
const OWNER: u32 = 1000;

/// What anybody does in a project.
const WORK: &str = "set -e
echo text > made; mv made moved; cat moved
mkdir -p folder/inner; touch folder/inner/file; chmod 600 folder/inner/file
rm -r folder moved
git status --short";

/// What others would run or follow later, and what lies outside.
const PLANTING: &str = "mkdir -p .git/hooks .claude folder/objects folder/refs
printf '#!/bin/sh\\n' > .git/hooks/post-checkout; chmod 755 .git/hooks/post-checkout
git config core.fsmonitor planted
echo '{}' > .claude/settings.json
echo 'ref: refs/heads/main' > folder/HEAD
touch /etc/planted
chmod 777 /etc/hostname
true";

/// A container, and the `filesystem` that a result has in it.
const CONTAINERS: [(&str, &[&str], &str); 5] = [
    ("as podman makes it", &[], "full"),
    ("of the project's owner", &["--user", "1000"], "full"),
    ("with one more right", &["--security-opt", "seccomp=unconfined", "--cap-add", "SYS_ADMIN"], "full"),
    ("with every right", &["--privileged"], "full"),
    ("without namespaces", &["--security-opt", "seccomp=PROFILE"], "partial"),
];

#[test]
fn commands_work_in_a_project_of_somebody_else_and_the_report_is_true() {
    let podman = Podman::new();
    for (name, options, filesystem) in CONTAINERS {
        let project = podman.folder("project");
        git_init(&project);
        let worked = run(&podman, options, &project, WORK);
        assert_eq!(worked["exit_code"], 0, "{name}: {worked}");
        assert_eq!(worked["stdout"], "text\n?? script.sh\n", "{name}: {worked}");
        assert_eq!(worked["sandbox"]["filesystem"], filesystem, "{name}: {worked}");
        let tried = run(&podman, options, &project, PLANTING);
        assert_eq!(tried["sandbox"]["filesystem"], filesystem, "{name}: {tried}");
        assert!(!project.join(".git/hooks/post-checkout").exists(), "{name}: a hook stays");
        let config = fs::read_to_string(project.join(".git/config")).unwrap();
        assert!(!config.contains("planted"), "{name}: {config}");
        let printed = tried["stderr"].as_str().unwrap();
        assert!(printed.contains("/etc/planted"), "{name}: {printed}");
        for planted in [".claude/settings.json", "folder/HEAD"] {
            assert!(!project.join(planted).exists(), "{name}: {planted}: {tried}");
        }
    }
}

/// One more right never means less: with it there are namespaces wherever there are some without.
#[test]
fn doctor_finds_namespaces_with_one_more_right() {
    let podman = Podman::new();
    for (name, options, filesystem) in CONTAINERS {
        let project = podman.folder("project");
        let told = podman.run(options, &project, "bashtion doctor --json");
        let report: Value = serde_json::from_str(&told).unwrap_or_else(|_| panic!("{name}: {told}"));
        assert_eq!(report["namespaces"], filesystem == "full", "{name}: {report}");
    }
}

fn run(podman: &Podman, options: &[&str], project: &Path, script: &str) -> Value {
    fs::write(project.join("script.sh"), script).unwrap();
    let told = podman.run(options, project, "bashtion run --json 'bash script.sh'");
    serde_json::from_str(&told).unwrap_or_else(|_| panic!("{told}"))
}

fn git_init(project: &Path) {
    let done = Command::new("git").args(["init", "--quiet"]).current_dir(project).status();
    assert!(done.unwrap().success());
    let owned = Command::new("chown").args(["-R", "1000:1000"]).arg(project).status();
    assert!(owned.unwrap().success());
    chown(project, Some(OWNER), Some(OWNER)).unwrap();
}
