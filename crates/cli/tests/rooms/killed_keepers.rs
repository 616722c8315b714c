//! SIGKILL of the keeper at any point: every command is accounted for, and the next one runs.

use std::fs;
use std::process::Child;
use std::thread::sleep;
use std::time::Duration;

use bashtion_testkit::{living_with, wait_until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::place::Place;

const ROUNDS: u32 = 100;

/// The point at which the keeper is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Point {
    /// While the room is being made.
    Making,
    /// While orders arrive.
    Ordering,
    /// While commands run.
    Running,
    /// While commands end and are reaped.
    Ending,
}

/// The fate of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Finished,
    /// The command ended with its room.
    Lost,
    /// Nobody can tell if it had begun.
    Uncertain,
}

#[test]
fn killed_at_any_moment() {
    let places = [Place::with_own_program(), Place::ordinary()];
    let mut fates = vec![];
    for round in 0..ROUNDS {
        let place = &places[(round % 2) as usize];
        let point = [Point::Making, Point::Ordering, Point::Running, Point::Ending][(round / 2 % 4) as usize];
        // Spread evenly over the time that each takes, never twice the same.
        let after = Duration::from_micros(u64::from(round * 377 % 1000) * 80);
        fates.extend(play(place, round, point, after));
    }
    for fate in [Fate::Finished, Fate::Lost] {
        assert!(fates.iter().any(|(_, known)| *known == fate), "{fates:?}");
    }
    assert!(fates.contains(&(Point::Making, Fate::Finished)), "a room that was not ready is made again");
}

fn play(place: &Place, round: u32, point: Point, after: Duration) -> Vec<(Point, Fate)> {
    let marker = format!("round-{}-{round}", std::process::id());
    let case = format!("{point:?}, killed after {after:?}, round {round}");
    if point == Point::Making {
        kill_keepers(place);
    }
    let wait = format!("until test -e {marker}; do sleep 0.01; done");
    let command = match point {
        Point::Making | Point::Ordering | Point::Running => {
            format!("echo begun; setsid bash -c '{wait}' & {wait}; wait; echo done")
        }
        Point::Ending => format!(": {marker}; echo begun; (setsid sleep 0.01 &); echo done"),
    };
    let run = |options: &[&str]| place.bashtion().arg("run").args(options).args(&["--", &command]).start();
    let task = run(&["--background", "--json"]);
    let commands = [run(&["--json"]), run(&["--json"]), run(&["--json", "--network", "on"])];
    match point {
        Point::Making => {
            wait_until("a keeper begins", || !keepers(place).is_empty());
            sleep(after / 4);
        }
        // Each has two shells of its own.
        Point::Running => wait_until("all run", || shells(&marker).len() >= 8),
        Point::Ordering | Point::Ending => sleep(after),
    }
    kill_keepers(place);
    // Those that are in a new room go on.
    place.write(&marker, "");
    let mut fates: Vec<_> = commands.into_iter().map(|child| fate(&answer(child), &case)).collect();
    let started = answer(task);
    fates.push(match started["task_id"].as_str() {
        Some(task) => fate(&place.end_of(task), &case),
        None => fate(&started, &case),
    });
    if point == Point::Running {
        assert_eq!(fates, [Fate::Lost; 4], "{case}");
    }
    wait_until("nothing is left", || living_with(&marker).is_empty());
    assert_eq!(place.prints("echo next"), "next\n", "{case}");
    assert_eq!(keepers(place).len(), 1, "{case}");
    fates.into_iter().map(|fate| (point, fate)).collect()
}

/// The shells of the commands that lead a session: neither copies that become another program, nor those that run them.
fn shells(marker: &str) -> Vec<i32> {
    let is_shell = |pid: &i32| {
        let name = fs::read_to_string(format!("/proc/{pid}/comm"));
        name.is_ok_and(|name| name.trim() == "bash") && stat_field(*pid, 3) == Some(*pid)
    };
    living_with(marker).into_iter().filter(is_shell).collect()
}

/// A number that the kernel tells after the name of a process: its parent is the first, its session the third.
fn stat_field(pid: i32, index: usize) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(") ").next()?.split(' ').nth(index)?.parse().ok()
}

fn answer(child: Child) -> Value {
    let output = child.wait_with_output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// Checks that a result says clearly what happened.
fn fate(result: &Value, case: &str) -> Fate {
    let text = result.to_string();
    assert!(!text.contains("alone"), "{case}: {result}");
    if result["error"].is_object() {
        assert!(text.contains("the room ended while the command was being started"), "{case}: {result}");
        return Fate::Uncertain;
    }
    let output = result["stdout"].as_str().unwrap();
    assert!(result["sandbox"]["room"].is_string(), "{case}: {result}");
    if result["status"] == "exited" {
        assert_eq!((output, &result["exit_code"]), ("begun\ndone\n", &0.into()), "{case}: {result}");
        return Fate::Finished;
    }
    assert_eq!(
        (&result["status"], &result["signal"]),
        (&"signaled".into(), &"SIGKILL".into()),
        "{case}: {result}"
    );
    assert!(text.contains("the room of this command has ended"), "{case}: {result}");
    assert!("begun\ndone\n".starts_with(output), "{case}: {result}");
    Fate::Lost
}

/// The keepers of a place, also those that have not made a room yet; not the processes of the rooms.
fn keepers(place: &Place) -> Vec<i32> {
    let program = place.work().parent().unwrap().join("bashtion");
    let is_of_place = |pid: &i32| fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == program);
    let all: Vec<i32> = living_with("__keep").into_iter().filter(is_of_place).collect();
    all.iter()
        .copied()
        .filter(|pid| stat_field(*pid, 1).is_some_and(|parent| !all.contains(&parent)))
        .collect()
}

fn kill_keepers(place: &Place) {
    for keeper in keepers(place) {
        // It may have ended by itself.
        let _ = kill(Pid::from_raw(keeper), Signal::SIGKILL);
    }
}
