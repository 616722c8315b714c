//! All of the output, byte for byte, when the text is not.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

use bashtion::{KeepFile, Limits, Request};

use crate::World;

#[tokio::test]
async fn what_was_cut_is_whole_in_a_private_file() {
    let world = World::new();
    let outcome = world.run("seq 1 100000").await;
    let path = outcome.output_file.unwrap();
    assert_eq!(fs::read(&path).unwrap(), Command::new("seq").args(["1", "100000"]).output().unwrap().stdout);
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    assert!(outcome.output.stdout().contains(&format!("the whole output is in {}", path.display())));
}

#[tokio::test]
async fn what_was_made_readable_is_raw_in_a_file() {
    let world = World::new();
    let outcome = world.run("printf '10%%\\r100%%\\n\\xff\\e[31mred\\e[0m\\n'").await;
    assert_eq!(outcome.output.stdout(), "100%\n\u{fffd}red\n");
    assert!(!outcome.output.is_truncated());
    assert_eq!(fs::read(outcome.output_file.unwrap()).unwrap(), b"10%\r100%\n\xff\x1b[31mred\x1b[0m\n");
}

#[tokio::test]
async fn there_is_none_when_the_text_is_all() {
    let world = World::new();
    let outcome = world.run(Request::new("seq 1 20000").max_output(200_000)).await;
    assert_eq!(outcome.output.stdout().len(), 108_894, "too much for memory, so a file was begun");
    assert_eq!(outcome.output_file, None);
    assert_eq!(fs::read_dir(world.path().join("state/output")).unwrap().count(), 0);
    let outcome = world.run(Request::new("seq 1 100000").keep_file(KeepFile::Never)).await;
    assert_eq!(outcome.output_file, None);
    assert!(outcome.output.stdout().contains("characters cut; the rest was not kept ..."));
}

#[tokio::test]
async fn it_has_a_size_cap() {
    let world = World::with_limits(Limits { file_size: 100_000, ..Limits::default() });
    let outcome = world.run("seq 1 100000").await;
    let path = outcome.output_file.unwrap();
    assert_eq!(fs::metadata(&path).unwrap().len(), 100_000);
    assert!(outcome.output.stdout().contains("the first 100000 bytes are in "));
    assert!(outcome.output.stdout().ends_with("99999\n100000\n"));
}

#[tokio::test]
async fn old_ones_go() {
    let world = World::new();
    let old = world.run("seq 1 100000").await.output_file.unwrap();
    let week = std::time::Duration::from_secs(8 * 24 * 60 * 60);
    fs::File::options()
        .write(true)
        .open(&old)
        .unwrap()
        .set_modified(std::time::SystemTime::now() - week)
        .unwrap();
    let new = world.run("seq 1 100000").await.output_file.unwrap();
    assert!(!old.exists() && new.exists());
}

#[tokio::test]
async fn a_place_that_cannot_be_written_does_not_stop_the_command() {
    let world = World::new();
    fs::write(world.path().join("state"), "a file, not a directory").unwrap();
    let outcome = world.run("seq 1 100000").await;
    assert!(outcome.success());
    assert_eq!(outcome.output_file, None);
    let text = outcome.output.stdout();
    assert!(text.contains("the whole output could not be kept: "), "{text}");
    assert!(text.ends_with("99999\n100000\n"));
}
