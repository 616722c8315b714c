//! Control groups of rooms: few descriptors, killed keepers.

use std::fs;
use std::path::PathBuf;

use bashtion_testkit::wait_until;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::ending::keepers;
use crate::place::Place;

/// Groups that nobody uses are given up for those that are needed.
#[test]
fn many_limits_with_few_descriptors() {
    let place = Place::new();
    let script = "ulimit -n 64
for number in {1..60}; do
    \"$BASHTION\" run --limit memory=$((100 + number))M --limit processes=$((500 + number)) \"echo $number\" || exit
done";
    let finished = place.through("bash", &["-c", script]).finish();
    let expected: String = (1..=60).map(|number| format!("{number}\n")).collect();
    assert_eq!(finished.stdout(), expected, "{finished:?}");
}

/// The control groups that a process has made.
fn groups_of(pid: i32) -> Vec<PathBuf> {
    let prefix = format!("bashtion-{pid}-");
    let (mut found, mut open) = (vec![], vec![PathBuf::from("/sys/fs/cgroup")]);
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            if entry.file_name().to_string_lossy().starts_with(&prefix) {
                found.push(entry.path());
            }
            open.push(entry.path());
        }
    }
    found
}

#[test]
fn groups_of_a_room_that_was_ended_are_removed() {
    let place = Place::new();
    place.start("sleep 4443.1");
    place.prints("true");
    let keeper = keepers(&place)[0];
    assert_ne!(groups_of(keeper), Vec::<PathBuf>::new());
    assert_eq!(place.bashtion().args(&["rooms", "end"]).finish().code(), Some(0));
    wait_until("they are gone", || groups_of(keeper).is_empty());
}

#[test]
fn groups_of_a_killed_keeper_are_removed_by_the_next_room() {
    let place = Place::new();
    place.start("sleep 4443.2");
    place.prints("true");
    let keeper = keepers(&place)[0];
    kill(Pid::from_raw(keeper), Signal::SIGKILL).unwrap();
    wait_until("it has gone", || keepers(&place).is_empty());
    assert_ne!(groups_of(keeper), Vec::<PathBuf>::new());
    place.prints("true");
    wait_until("they are gone", || groups_of(keeper).is_empty());
}
