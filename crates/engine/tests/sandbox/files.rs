//! Nothing outside the workspace changes.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use bashtion::Outcome;

use crate::scene::accepted;
use crate::{Hold, Scene};

fn changed(scene: &mut Scene, _: &Outcome) -> bool {
    !scene.outside_is_untouched()
}

fn mode_changed(scene: &mut Scene, _: &Outcome) -> bool {
    fs::metadata(scene.path("outside/file")).unwrap().permissions().mode() & 0o777 == 0o777
}

fn owner_changed(scene: &mut Scene, _: &Outcome) -> bool {
    fs::metadata(scene.path("outside/file")).unwrap().uid() == 65534
}

fn time_changed(scene: &mut Scene, _: &Outcome) -> bool {
    fs::metadata(scene.path("outside/file")).unwrap().mtime() == 1
}

fn attribute_changed(scene: &mut Scene, _: &Outcome) -> bool {
    let mut value = [0_u8; 8];
    rustix::fs::getxattr(scene.path("outside/file"), "user.probe", &mut value).is_ok()
}

escapes! {
    t01_creating_a_file: "{probe} creat {outside}/new", changed, [Workspace, Plain, ReadOnly];
    t01_creating_a_file_by_openat2: "{probe} openat2 {outside}/new", changed, [Workspace, Plain, ReadOnly];
    t01_writing_a_file: "echo changed > {outside}/file", changed, [Workspace, Plain, ReadOnly];
    t01_appending_to_a_file: "echo more >> {outside}/file", changed, [Workspace, Plain, ReadOnly];
    t01_truncating_by_path: "{probe} truncate {outside}/file", changed, [Workspace, Plain, ReadOnly];
    t01_truncating_by_opening: "{probe} open_trunc {outside}/file", changed, [Workspace, Plain, ReadOnly];
    t01_deleting_a_file: "rm -f {outside}/file", changed, [Workspace, Plain, ReadOnly];
    t01_renaming_within: "mv {outside}/file {outside}/other", changed, [Workspace, Plain, ReadOnly];
    t01_moving_a_file_in: "mv {outside}/file {work}/stolen", changed, [Workspace, Plain, ReadOnly];
    t01_moving_a_file_out: "echo x > $TMPDIR/x; echo x > {work}/x; mv $TMPDIR/x {work}/x {outside}/", changed, [Workspace, Plain, ReadOnly];
    t01_exchanging_directories: "mkdir -p {work}/d; mv -T {work}/d {outside}/d", changed, [Workspace, Plain, ReadOnly];
    t01_making_a_directory: "mkdir {outside}/new", changed, [Workspace, Plain, ReadOnly];
    t01_making_a_link: "ln -s x {outside}/new", changed, [Workspace, Plain, ReadOnly];
    t01_making_a_pipe: "{probe} mknod {outside}/new", changed, [Workspace, Plain, ReadOnly];
    t01_through_a_link: "ln -s {outside}/file link; echo changed > link", changed, [Workspace, Plain, ReadOnly];
    t01_through_a_hard_link: "ln {outside}/file hard && echo changed > hard", changed, [Workspace, Plain, ReadOnly];
    t01_through_the_root_of_another_process: "echo changed > /proc/{victim}/root/{outside}/file", changed, [Workspace, Plain, ReadOnly];
    t01_through_the_directory_of_another_process: "echo changed > /proc/{victim}/cwd/file", changed, [Workspace, Plain, ReadOnly];
    t01_through_our_own_root: "echo changed > /proc/self/root/{outside}/file", changed, [Workspace, Plain, ReadOnly];
    t01_through_the_parent_directory: "cd ..; echo changed > outside/file", changed, [Workspace, Plain, ReadOnly];
    t01_by_handle: "{probe} by_handle {outside}/file", accepted, [Workspace, Plain, ReadOnly];
    t01_the_home_directory: "echo changed > ~/.bashrc", |scene, _| fs::read_to_string(scene.path("home/.bashrc")).unwrap() != "untouched", [Workspace, Plain, ReadOnly];
    t02_mode: "{probe} chmod {outside}/file", mode_changed, [Workspace, ReadOnly];
    t02_mode_by_descriptor: "{probe} fchmod {outside}/file", mode_changed, [Workspace, ReadOnly];
    t02_mode_by_descriptor_path: "{probe} fchmod_path {outside}/file", mode_changed, [Workspace, ReadOnly];
    t02_mode_by_the_newest_call: "{probe} fchmodat2 {outside}/file", mode_changed, [Workspace, ReadOnly];
    t02_owner: "{probe} chown {outside}/file", owner_changed, [Workspace, Plain, ReadOnly];
    t02_owner_by_descriptor: "{probe} fchown {outside}/file", owner_changed, [Workspace, Plain, ReadOnly];
    t02_owner_at: "{probe} fchownat {outside}/file", owner_changed, [Workspace, Plain, ReadOnly];
    t02_times: "{probe} utimensat {outside}/file", time_changed, [Workspace, ReadOnly];
    t02_times_by_descriptor: "{probe} futimens {outside}/file", time_changed, [Workspace, ReadOnly];
    t02_times_by_older_calls: "{probe} utimes {outside}/file", time_changed, [Workspace, ReadOnly];
    t02_attributes: "{probe} setxattr {outside}/file", attribute_changed, [Workspace, ReadOnly];
    t02_attributes_of_links: "{probe} lsetxattr {outside}/file", attribute_changed, [Workspace, ReadOnly];
    t02_attributes_by_descriptor: "{probe} fsetxattr {outside}/file", attribute_changed, [Workspace, ReadOnly];
    t02_attributes_by_the_newest_call: "{probe} setxattrat {outside}/file", attribute_changed, [Workspace, ReadOnly];
    t02_inode_flags: "{probe} chattr {outside}/file", accepted, [Workspace, ReadOnly];
    t02_inode_flags_by_the_newest_call: "{probe} file_setattr {outside}/file", accepted, [Workspace, ReadOnly];
    t02_version: "{probe} setversion {outside}/file", accepted, [Workspace, ReadOnly];
    t02_a_lease: "{probe} lease {outside}/file", accepted, [Workspace, Plain, ReadOnly];
    t02_mode_of_a_device: "{probe} futimens /dev/full", accepted, [Workspace, ReadOnly];
    t03_a_device_in_the_workspace: "{probe} mkzero {work}/zero; {probe} open_device {work}/zero", |_, outcome| outcome.success(), [Workspace, Plain, ReadOnly];
    t03_a_device: "{probe} open_device /dev/loop0 || {probe} open_device /dev/kmsg", accepted, [Workspace, Plain, ReadOnly];
    t03_kernel_settings: "{probe} write_same /proc/sys/kernel/core_pattern", accepted, [Workspace, Plain, ReadOnly];
    t03_control_groups: "for g in /sys/fs/cgroup/unified /sys/fs/cgroup; do [ -e $g/cgroup.procs ] && echo $$ > $g/cgroup.procs && echo ok; done", accepted, [Workspace, Plain, ReadOnly];
    t04_shared_memory_files: "echo x > /dev/shm/scene-{victim}", |scene, _| fs::remove_file(format!("/dev/shm/scene-{}", scene.victim())).is_ok(), [Workspace, ReadOnly];
}

#[cfg(target_arch = "x86_64")]
escapes! {
    t02_mode_by_the_oldest_call: "{probe} chmod_old {outside}/file", mode_changed, [Workspace, ReadOnly];
    t02_times_by_the_oldest_call: "{probe} utime {outside}/file", time_changed, [Workspace, ReadOnly];
    t02_times_at: "{probe} futimesat {outside}/file", time_changed, [Workspace, ReadOnly];
    t05_calls_of_another_architecture: "{probe} int80_chmod {outside}/file", mode_changed, [Workspace, Plain, ReadOnly];
}

/// Most kernels don't know these calls. In the sandbox they are deadly, so that a kernel that does is safe too.
#[cfg(target_arch = "x86_64")]
#[test]
fn t05_calls_of_the_x32_kind() {
    for hold in [Hold::Workspace, Hold::Plain, Hold::ReadOnly] {
        let outcome = Scene::new().run(hold, "exec {probe} x32_getpid");
        assert_eq!(outcome.status.to_string(), "ended by SIGSYS", "{hold:?}");
    }
}

#[test]
fn read_only_changes_nothing_in_the_workspace_either() {
    for command in ["echo x > file", "mkdir directory", "ln -s x link", "mkfifo pipe"] {
        let scene = Scene::new();
        let outcome = scene.run(Hold::ReadOnly, command);
        assert!(!outcome.success(), "{command}");
        assert_eq!(fs::read_dir(scene.path("work")).unwrap().count(), 0, "{command}");
    }
}

#[test]
fn the_temporary_directory_is_private_writable_and_gone_afterwards() {
    for hold in [Hold::Workspace, Hold::Plain, Hold::ReadOnly] {
        let scene = Scene::new();
        let outcome = scene.run(hold, "echo x > $TMPDIR/x && stat -c %a $TMPDIR && mktemp && echo $TMPDIR");
        let lines: Vec<&str> = outcome.output.stdout().lines().collect();
        assert_eq!(lines[0], "700", "{hold:?} {}", outcome.output.stderr());
        assert!(lines[1].starts_with(lines[2]), "{hold:?}");
        assert!(!std::path::Path::new(lines[2]).exists(), "{hold:?}");
    }
}

#[test]
fn a_directory_can_be_made_writable() {
    let scene = Scene::new();
    let mut settings = crate::scene::settings(Hold::Workspace);
    settings.writable.push(scene.path("outside"));
    assert!(scene.run_with(settings, "echo changed > {outside}/file && chmod 600 {outside}/file").success());
    assert!(!scene.outside_is_untouched());
}

/// What a command leaves where the next one's rights come from.
#[test]
fn t20_links_do_not_widen_what_the_next_command_may_write() {
    for hold in [Hold::Workspace, Hold::Plain] {
        let scene = Scene::new();
        fs::create_dir_all(scene.path("home/go/pkg/mod")).unwrap();
        let go = bashtion::ToolContext::from_host(scene.path("home/go")).env("HOME", scene.path("home"));
        scene.run_as(&go, crate::scene::settings(hold), "mv pkg old; mkdir pkg; ln -s {outside} pkg/mod");
        scene.run(hold, "mkdir out; rmdir out; ln -s {outside} out");
        let mut settings = crate::scene::settings(hold);
        settings.writable.push(scene.path("work/out"));
        let outcome = scene.run_with(settings, "echo changed > {outside}/file");
        assert!(scene.outside_is_untouched(), "{hold:?}");
        assert!(outcome.sandbox.reason.unwrap().contains("a link in the workspace leads there"));
    }
}

#[test]
fn t20_our_own_configuration_stays() {
    let scene = Scene::new();
    fs::write(scene.path("work/config.toml"), "ours").unwrap();
    let mut settings = crate::scene::settings(Hold::Workspace);
    settings.kept = vec![scene.path("work/config.toml"), scene.path("work/missing/state")];
    let outcome = scene.run_with(settings.clone(), "echo x > file");
    assert!(outcome.sandbox.reason.unwrap().contains("own configuration or state would be in it"));
    settings.kept.pop();
    scene.run_with(settings, "echo evil > config.toml; rm -f config.toml; mv config.toml x; echo x > file");
    assert_eq!(fs::read_to_string(scene.path("work/config.toml")).unwrap(), "ours");
    assert!(scene.path("work/file").exists());
}
