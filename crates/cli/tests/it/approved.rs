//! What somebody has approved is possible, once, and nothing beside it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use bashtion_testkit::{Finished, World};
use serde_json::Value;
use tempfile::TempDir;

use crate::world;

/// A folder that is neither in the workspace nor a temporary one to the guard.
fn elsewhere() -> TempDir {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    tempfile::tempdir_in("/srv").or_else(|_| tempfile::tempdir_in(home)).unwrap()
}

fn run(world: &World, options: &[&str], command: &str, path: &Path) -> Finished {
    let search = format!("{}:/usr/local/bin:/usr/bin:/bin", path.display());
    world.run_with(&[&["--json"], options].concat(), command).env("PATH", &search).finish()
}

/// Asks, agrees to the question, and returns it.
fn approve(world: &World, options: &[&str], command: &str, path: &Path) -> Value {
    let asked = run(world, options, command, path);
    assert_eq!(asked.json()["status"], "needs_approval", "{asked:?}");
    let id = asked.json()["approval_id"].as_str().unwrap().to_owned();
    let shown = world.bashtion().args(&["approve", "--show", &id, "--json"]).finish().json();
    assert_eq!(world.bashtion().args(&["approve", &id]).finish().code(), Some(0));
    shown
}

#[test]
fn a_file_elsewhere_is_removed_and_another_asked_about() {
    let (world, other) = (world(), elsewhere());
    let folder = other.path().canonicalize().unwrap();
    fs::write(folder.join("old"), "").unwrap();
    let command = format!("rm {}; touch {}", folder.join("old").display(), "/srv/beside /opt/beside");
    let question = approve(&world, &[], &command, &folder);
    assert!(question["grant"]["outside"] == false, "{question}");
    let plain = format!("rm {}", folder.join("old").display());
    let question = approve(&world, &[], &plain, &folder);
    assert_eq!(question["grant"]["writable"], serde_json::json!([folder.to_str().unwrap()]), "{question}");
    let ran = run(&world, &[], &plain, &folder);
    assert_eq!((ran.code(), folder.join("old").exists()), (Some(0), false), "{ran:?}");
    let note = ran.json()["notes"][0].as_str().unwrap().to_owned();
    assert!(note.contains("it can change everything in"), "{note}");
    assert_eq!(ran.json()["sandbox"]["mode"], "workspace");
    fs::write(folder.join("old"), "").unwrap();
    assert_eq!(run(&world, &[], &plain, &folder).json()["status"], "needs_approval");
    assert!(folder.join("old").exists());
}

/// Stand-ins that leave a trace where the sandbox lets nothing through.
fn stand_in(folder: &Path, program: &str) -> PathBuf {
    let trace = folder.join(format!("{program}.trace"));
    fs::write(folder.join(program), format!("#!/bin/sh\necho ran >> {}\n", trace.display())).unwrap();
    fs::set_permissions(folder.join(program), fs::Permissions::from_mode(0o755)).unwrap();
    trace
}

#[test]
fn what_changes_the_machine_runs_outside_of_the_sandbox_once() {
    let (world, other) = (world(), elsewhere());
    let folder = other.path().canonicalize().unwrap();
    for (program, command) in
        [("apt-get", "apt-get install jq"), ("sudo", "sudo make"), ("npm", "npm install -g x")]
    {
        let trace = stand_in(&folder, program);
        let always = run(&world, &["--approve", "always"], command, &folder);
        assert!(!trace.exists(), "nobody has looked at it: {always:?}");
        let question = approve(&world, &[], command, &folder);
        assert_eq!(question["grant"]["outside"], true, "{question}");
        assert_eq!(
            question["circumstances"][0],
            "not confined, for this run only: it can do whatever you can"
        );
        let ran = run(&world, &[], command, &folder);
        assert_eq!((ran.code(), trace.exists()), (Some(0), true), "{ran:?}");
        assert_eq!(ran.json()["sandbox"]["mode"], "off", "{ran:?}");
        let again = run(&world, &[], command, &folder);
        assert_eq!(again.json()["status"], "needs_approval", "{again:?}");
        assert_eq!(fs::read_to_string(&trace).unwrap(), "ran\n");
    }
}

#[test]
fn what_no_approval_opens_is_refused() {
    let (world, other) = (world(), elsewhere());
    for (text, command) in [("mode = \"read-only\"", "sudo make"), ("required = true", "apt-get install jq")]
    {
        fs::write(world.work().join(".bashtion.toml"), format!("[sandbox]\n{text}\n")).unwrap();
        let refused = run(&world, &[], command, other.path()).json();
        assert_eq!(refused["status"], "refused", "{refused}");
        assert_eq!(refused["verdict"]["findings"][0]["rule"], "sandbox", "{refused}");
    }
}
