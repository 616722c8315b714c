//! Keys and tokens cannot be read.

use bashtion::Outcome;

use crate::scene::{SECRET, VICTIM_SECRET, accepted};
use crate::{Hold, Scene};

fn told(_: &mut Scene, outcome: &Outcome) -> bool {
    outcome.output.stdout().contains(SECRET)
}

fn told_of_the_victim(_: &mut Scene, outcome: &Outcome) -> bool {
    outcome.output.stdout().contains(VICTIM_SECRET)
}

escapes! {
    t06_a_key: "cat ~/.ssh/id_ed25519", told, [Workspace, Plain, ReadOnly];
    t06_a_file: "cat ~/.netrc", told, [Workspace, Plain, ReadOnly];
    t06_a_token_deeper_down: "cat ~/.config/gh/hosts.yml", told, [Workspace, Plain, ReadOnly];
    t06_through_a_link: "ln -s {home}/.ssh/id_ed25519 $TMPDIR/link; cat $TMPDIR/link {home}/.ssh/id_ed25519", told, [Workspace, Plain, ReadOnly];
    t06_through_a_hard_link: "ln {home}/.ssh/id_ed25519 hard; cat hard", told, [Workspace, Plain, ReadOnly];
    t06_by_moving_the_directory: "mv {home}/.ssh {work}/taken; cat {work}/taken/id_ed25519", told, [Workspace, Plain, ReadOnly];
    t06_through_another_process: "cat /proc/{victim}/root/{home}/.ssh/id_ed25519", told, [Workspace, Plain, ReadOnly];
    t06_through_the_shell_that_started_it: "cat /proc/$PPID/root/{home}/.ssh/id_ed25519", told, [Workspace, Plain, ReadOnly];
    t06_with_python: "python3 -c 'import os;print(open(os.path.expanduser(\"~/.aws/credentials\")).read())'", told, [Workspace, Plain, ReadOnly];
    t06_passwords_of_the_system: "{probe} open_read /etc/shadow", accepted, [Workspace, Plain, ReadOnly];
    t07_environment_of_another_process: "tr '\\0' '\\n' < /proc/{victim}/environ", told_of_the_victim, [Workspace, Plain, ReadOnly];
    t07_memory_of_another_process: "{probe} vm_read {victim}", accepted, [Workspace, Plain, ReadOnly];
    t07_open_files_of_another_process: "ls -l /proc/{victim}/fd/0 > /dev/null && echo ok", accepted, [Workspace, Plain, ReadOnly];
    t07_environment_of_the_host_process: "head -c1 /proc/{self}/environ > /dev/null && echo ok", accepted, [Workspace, Plain, ReadOnly];
}

#[test]
fn t07_command_lines_of_others_are_hidden_where_root_can_hide_them() {
    let scene = Scene::new();
    let outcome = scene.run(Hold::Workspace, "cat /proc/{victim}/cmdline; ls /proc | grep -c '^[0-9]'");
    assert!(outcome.output.stderr().contains("No such file"), "{}", outcome.output.stderr());
    let visible: usize = outcome.output.stdout().trim().parse().unwrap();
    assert!(visible < 8, "{visible} processes are visible");
}

#[test]
fn what_is_no_secret_can_be_read() {
    for hold in [Hold::Workspace, Hold::Plain, Hold::ReadOnly] {
        let scene = Scene::new();
        let outcome =
            scene.run(hold, "cat {outside}/file ~/.bashrc /etc/passwd /proc/self/stat /proc/meminfo > /dev/null && ls / ~ /etc /sys > /dev/null");
        assert!(outcome.success(), "{hold:?} {}", outcome.output.stderr());
    }
}

#[test]
fn a_secret_can_be_allowed_and_another_be_named() {
    let scene = Scene::new();
    for hold in [Hold::Workspace, Hold::Plain, Hold::ReadOnly] {
        let mut settings = crate::scene::settings(hold);
        settings.readable.push("~/.ssh".into());
        settings.secrets.push(scene.path("outside/file"));
        let outcome = scene.run_with(settings, "cat ~/.ssh/id_ed25519; cat {outside}/file");
        assert_eq!(outcome.output.stdout(), SECRET, "{hold:?}");
    }
}

/// A mount over a file goes when the file is replaced; the rules do not.
#[test]
fn t06_a_secret_replaced_while_the_command_runs() {
    for hold in [Hold::Workspace, Hold::Plain, Hold::ReadOnly] {
        let scene = Scene::new();
        let (secret, new) = (scene.path("home/.netrc"), scene.path("home/new"));
        let replace = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(300));
            std::fs::write(&new, SECRET).unwrap();
            std::fs::rename(&new, &secret).unwrap();
        });
        let outcome = scene.run(hold, "for i in $(seq 12); do cat ~/.netrc; sleep 0.1; done");
        replace.join().unwrap();
        assert!(!outcome.output.stdout().contains(SECRET), "{hold:?}");
    }
}

#[test]
fn t06_a_secret_in_the_workspace_moved_in_two_steps() {
    let scene = Scene::new();
    std::fs::create_dir_all(scene.path("work/dotfiles/ssh")).unwrap();
    std::fs::write(scene.path("work/dotfiles/ssh/id"), SECRET).unwrap();
    std::fs::remove_dir_all(scene.path("home/.ssh")).unwrap();
    std::os::unix::fs::symlink(scene.path("work/dotfiles/ssh"), scene.path("home/.ssh")).unwrap();
    scene.run(Hold::Workspace, "mv dotfiles moved");
    let outcome = scene.run(Hold::Workspace, "cat */ssh/id; cat ~/.ssh/id");
    assert!(!outcome.output.stdout().contains(SECRET));
}
