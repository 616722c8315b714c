//! Settings files of package managers are seen without their secrets, or the result says that they are hidden.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;

use crate::place::Place;

const NPMRC: &str = "registry=https://me:hunter2hunter@npm.example/\n@mine:registry=https://mine.example/\n//npm.example/:_authToken=hunter2hunter\n";

/// Writes a file of the place's user.
fn write(place: &Place, name: &str, text: &str) -> std::path::PathBuf {
    let path = place.home().join(name);
    let owner = place.home().metadata().unwrap().uid();
    let folders: Vec<&Path> = path.ancestors().skip(1).take_while(|folder| *folder != place.home()).collect();
    for folder in folders.into_iter().rev() {
        let _ = fs::create_dir(folder);
        chown(folder, Some(owner), Some(owner)).unwrap();
    }
    fs::write(&path, text).unwrap();
    chown(&path, Some(owner), Some(owner)).unwrap();
    path
}

fn reason(place: &Place, command: &str) -> String {
    let result = place.run_with(&["--json"], command).json();
    result["sandbox"]["reason"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn npm_asks_the_registry_of_its_user() {
    for place in Place::both() {
        write(&place, ".npmrc", NPMRC);
        assert_eq!(place.prints("npm config get registry"), "https://npm.example/\n");
        assert_eq!(place.prints("npm config get @mine:registry"), "https://mine.example/\n");
        assert!(!reason(&place, "npm config get registry").contains(".npmrc"), "nothing to tell");
        let seen =
            place.prints("python3 -c 'import os; print(open(os.path.expanduser(\"~/.npmrc\")).read())'");
        assert!(seen.contains("registry=https://npm.example/") && !seen.contains("hunter2"), "{seen}");
        let refused = place.run("cd ~ && for f in .npm*; do echo x >> $f || exit 3; done");
        assert_eq!(refused.code(), Some(3), "{refused:?}");
    }
}

#[test]
fn pip_and_maven_have_their_settings() {
    for place in Place::both() {
        write(
            &place,
            ".config/pip/pip.conf",
            "[global]\nindex-url = https://me:hunter2hunter@pypi.example/simple\n",
        );
        let listed = place.prints("python3 -m pip config list --user; python3 -c 'import os; print(open(os.path.expanduser(\"~/.config/pip/pip.conf\")).read())'");
        assert!(listed.contains("https://pypi.example/simple") && !listed.contains("hunter2"), "{listed}");
        let maven = "<settings><servers><server><id>a</id><password>hunter2hunter</password></server></servers><mirrors><mirror><id>a</id><url>https://maven.example/</url></mirror></mirrors></settings>";
        write(&place, ".m2/settings.xml", maven);
        let seen = place.prints("cd ~/.m2 && cat *.xml");
        assert!(seen.contains("https://maven.example/") && !seen.contains("hunter2"), "{seen}");
    }
}

#[test]
fn a_file_without_secrets_keeps_its_settings() {
    for place in Place::both() {
        let text = "[global]\nindex-url = https://pypi.example/simple\n";
        // Nobody knows what is in a comment.
        write(&place, ".config/pip/pip.conf", &format!("# why\n{text}"));
        assert_eq!(place.prints("cat ~/.config/pip/pip.conf"), text);
    }
}

#[test]
fn a_change_is_seen_by_the_next_command() {
    for place in Place::both() {
        let path = write(&place, ".npmrc", NPMRC);
        assert_eq!(place.prints("npm config get registry"), "https://npm.example/\n");
        fs::write(&path, NPMRC.replace("npm.example", "other.example")).unwrap();
        assert_eq!(place.prints("npm config get registry"), "https://other.example/\n");
        fs::remove_file(&path).unwrap();
        write(&place, ".npmrc", &NPMRC.replace("npm.example", "third.example"));
        assert_eq!(place.prints("npm config get registry"), "https://third.example/\n");
    }
}

/// The mount over a file goes with the file. What is then in its place stays closed.
#[test]
fn a_file_that_is_replaced_under_a_running_command_is_not_seen() {
    let place = Place::new();
    // Not in /tmp, where everything belongs to the room.
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let run = |options: &[&str], command: &str| {
        place
            .bashtion()
            .env("HOME", home.path().to_str().unwrap())
            .arg("run")
            .args(options)
            .arg("--")
            .arg(command)
            .finish()
    };
    fs::write(home.path().join(".npmrc"), NPMRC).unwrap();
    let task = run(&["--background", "--json"], "sleep 600").json()["task_id"].as_str().unwrap().to_owned();
    let look = "cd ~ && grep -h . .npm*";
    assert!(run(&[], look).stdout().contains("https://npm.example/"));
    fs::write(home.path().join("draft"), NPMRC.replace("npm.example", "new.example")).unwrap();
    fs::rename(home.path().join("draft"), home.path().join(".npmrc")).unwrap();
    let looked = run(&[], look);
    assert!(looked.stdout().is_empty() && looked.stderr().contains("Permission denied"), "{looked:?}");
    let told = run(&["--json"], "npm config get registry").json();
    let told = told["sandbox"]["reason"].as_str().unwrap_or_default();
    assert!(told.contains(".npmrc as it is now: it has changed since the room was made"), "{told}");
    assert_eq!(place.bashtion().args(&["kill", &task]).finish().code(), Some(0));
}

/// A file that holds no secret yet, and one that is not there.
#[test]
fn a_secret_that_is_written_while_a_command_runs_is_not_seen() {
    let place = Place::new();
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let run = |options: &[&str], command: &str| {
        let run = place.bashtion().env("HOME", home.path().to_str().unwrap()).arg("run").args(options);
        run.arg("--").arg(command).finish()
    };
    let (pip, uv) = (home.path().join(".config/pip/pip.conf"), home.path().join(".config/uv/uv.toml"));
    [&pip, &uv].into_iter().for_each(|path| fs::create_dir_all(path.parent().unwrap()).unwrap());
    fs::write(&pip, "[global]\nindex-url = https://pypi.example/simple\n").unwrap();
    let task = run(&["--background", "--json"], "sleep 600").json()["task_id"].as_str().unwrap().to_owned();
    assert!(run(&[], "cat ~/.config/pip/pip.conf").stdout().contains("https://pypi.example/simple"));
    fs::write(&pip, "[global]\nindex-url = https://u:hidden1@pypi.example/simple\n").unwrap();
    fs::write(&uv, "index-url = \"https://u:hidden1@pypi.example/simple\"\n").unwrap();
    let looked = run(&[], "cat ~/.config/pip/pip.conf ~/.config/uv/uv.toml");
    assert!(!looked.stdout().contains("hidden1"), "{looked:?}");
    assert_eq!(place.bashtion().args(&["kill", &task]).finish().code(), Some(0));
}

#[test]
fn what_cannot_be_told_apart_is_hidden_and_told() {
    for place in Place::both() {
        write(&place, ".npmrc", "registry=https://npm.example/a1b2c3d4e5f6g7h8i9/\n");
        assert_eq!(place.prints("npm config get registry"), "https://registry.npmjs.org/\n");
        let told = reason(&place, "npm config get registry");
        assert!(told.contains(".npmrc is hidden, so npm uses its own defaults"), "{told}");
        assert!(!reason(&place, "true").contains(".npmrc"), "only where it matters");
    }
}

#[test]
fn a_command_in_read_only_mode_is_told() {
    let place = Place::new();
    write(&place, ".npmrc", NPMRC);
    let result = place.run_with(&["--json", "--sandbox", "read-only"], "npm config get registry").json();
    let told = result["sandbox"]["reason"].as_str().unwrap_or_default();
    assert!(told.contains(".npmrc is hidden, so npm uses its own defaults"), "{told}");
}
