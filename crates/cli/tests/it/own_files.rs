//! Something else in the place of a lock or a state file.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::stat::Mode;

use crate::world;

/// In the state directory, and what uses it.
const FILES: [(&str, &[&str]); 8] = [
    ("private/sessions/s.json", &["run", "--session", "s", "true"]),
    ("private/sessions/s.lock", &["run", "--session", "s", "true"]),
    ("private/sessions/s.new", &["run", "--session", "s", "true"]),
    ("private/tasks/lock", &["run", "--background", "true"]),
    ("private/tasks/index.json.new", &["run", "--background", "true"]),
    ("private/approvals/lock", &["run", "git reset --hard"]),
    ("private/audit/audit.lock", &["audit", "verify"]),
    ("private/audit/audit.db-wal", &["audit", "verify"]),
];

fn make(kind: &str, path: &Path) {
    match kind {
        "a named pipe" => nix::unistd::mkfifo(path, Mode::S_IRWXU).unwrap(),
        "a link" => symlink("/nowhere/else", path).unwrap(),
        "a directory" => fs::create_dir(path).unwrap(),
        kind => panic!("{kind}"),
    }
}

#[test]
fn it_is_named_and_nobody_waits_for_it() {
    for (file, command) in FILES {
        for kind in ["a named pipe", "a link", "a directory"] {
            let world = world();
            for warm in [["run", "--session", "s", "true"].as_slice(), &["run", "--background", "true"]] {
                let _ = world.bashtion().args(warm).finish();
            }
            let _ = world.bashtion().args(&["run", "git reset --hard"]).finish();
            let path = world.state().join(file);
            let _ = fs::remove_file(&path);
            make(kind, &path);
            let began = Instant::now();
            let done = world.bashtion().args(command).finish();
            assert!(began.elapsed() < Duration::from_secs(10), "{file} {kind}");
            let told = done.stderr();
            assert!(told.contains(&format!("there is {kind} in the place")), "{file} {kind}: {told}");
            assert!(path.symlink_metadata().is_ok_and(|found| !found.is_file()), "{file} {kind} stays");
        }
    }
}
