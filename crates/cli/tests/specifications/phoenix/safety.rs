//! REQ-BASH-007: command safety checks.

use super::*;

// REQ-BASH-007: Command safety checks

#[test]
fn req_bash_007_the_syntax_is_parsed() {
    allows("echo 'git add .' # rm -rf /");
    allows("git commit -m 'no more git push --force'");
    rejects("git 'add' \".\"", "git-add-everything");
}

#[test]
fn req_bash_007_a_rejected_command_is_not_executed() {
    let world = world();
    let finished = run_with(&world, &[], "touch made; git add .");
    assert_eq!((finished.code(), &finished.json()["status"]), (Some(126), &"refused".into()));
    assert!(!world.work().join("made").exists());
}

#[test]
fn req_bash_007_the_message_is_descriptive() {
    assert_eq!(
        run(&world(), "git push -f")["text"],
        "Command rejected by safety check: a forced push overwrites what others have pushed\n\
         use `git push --force-with-lease`"
    );
}

#[test]
fn req_bash_007_blind_git_add() {
    for command in ["git add -A", "git add .", "git add --all", "git add *"] {
        rejects(command, "git-add-everything");
    }
    allows("git add src/main.rs");
}

#[test]
fn req_bash_007_force_push() {
    for command in ["git push --force", "git push -f", "git push origin main --force"] {
        rejects(command, "git-force-push");
    }
    allows("git push origin main");
}

#[test]
fn req_bash_007_force_with_lease_is_allowed() {
    allows("git push --force-with-lease");
    allows("git push --force-with-lease=main origin main");
}

#[test]
fn req_bash_007_dangerous_rm() {
    for target in ["/", "~", "$HOME"] {
        rejects(&format!("rm -rf {target}"), "removes-root");
    }
    rejects("rm -rf .git", "removes-repository");
    for target in ["*", ".*"] {
        rejects(&format!("rm -rf {target}"), "removes-workspace");
    }
    allows("rm -rf ./build");
}

#[test]
fn req_bash_007_behind_sudo() {
    rejects("sudo git add .", "git-add-everything");
    rejects("sudo -u root rm -rf /", "removes-root");
    rejects("sudo git push -f", "git-force-push");
}

#[test]
fn req_bash_007_in_pipelines() {
    rejects("yes | rm -rf ~", "removes-root");
    rejects("git add . | tee log", "git-add-everything");
}

#[test]
fn req_bash_007_in_compound_commands() {
    for command in [
        "make && git add .", "make || git add .", "make; git add .", "(git add .)",
        "if make; then git add .; fi", "for x in 1 2; do git add .; done", "echo $(git add .)",
    ] {
        rejects(command, "git-add-everything");
    }
}
