//! How much a command may use, all its processes together.

use std::time::Duration;

use bashtion::{Enforced, Outcome, ResourceLimits, SandboxMode, SandboxSettings};

use crate::scene::settings;
use crate::{Hold, Scene};

const ALL: [Hold; 4] = [Hold::Off, Hold::Workspace, Hold::Plain, Hold::ReadOnly];

fn limited(hold: Hold, limits: ResourceLimits, command: &str) -> Outcome {
    Scene::new().run_with(SandboxSettings { limits, ..settings(hold) }, command)
}

fn says(outcome: &Outcome, text: &str) -> bool {
    outcome.denials.iter().any(|denial| denial.contains(text))
}

#[test]
fn t19_memory_of_all_processes_together() {
    let limits = ResourceLimits { memory: Some(128 << 20), ..ResourceLimits::default() };
    // None of them alone is too large.
    let eaters = "for i in 1 2 3 4; do python3 -c 'import time; x = bytearray(60 << 20); time.sleep(1); print(\"alive\")' & done; wait";
    let free = Scene::new().run(Hold::Off, eaters);
    assert_eq!(free.output.stdout().lines().count(), 4);
    for hold in ALL {
        let outcome = limited(hold, limits, eaters);
        assert!(outcome.output.stdout().lines().count() < 4, "{hold:?}");
        assert!(says(&outcome, "the memory limit of 128 MiB was reached"), "{hold:?} {:?}", outcome.denials);
        assert_eq!(outcome.sandbox.limits, Enforced::Full, "{hold:?} {:?}", outcome.sandbox);
    }
}

#[test]
fn t19_processes_of_all_together() {
    let limits = ResourceLimits { processes: Some(20), ..ResourceLimits::default() };
    let many =
        "for i in $(seq 60); do sleep 2 & done 2> /dev/null; jobs -r | wc -l; kill $(jobs -p) 2> /dev/null";
    let free = Scene::new().run(Hold::Off, many);
    assert_eq!(free.output.stdout(), "60\n");
    for hold in ALL {
        let outcome = limited(hold, limits, many);
        let running = outcome.output.stdout().trim().parse::<usize>().unwrap_or(0);
        assert!(running < 20, "{hold:?} {running}");
        assert!(says(&outcome, "the processes limit of 20 was reached"), "{hold:?} {:?}", outcome.denials);
    }
}

/// It ends by itself at about a thousand, so that a limit that does not hold does not end the machine.
#[test]
fn t19_a_tree_that_doubles_is_stopped_and_swept_up() {
    let limits = ResourceLimits { processes: Some(60), ..ResourceLimits::default() };
    for hold in [Hold::Workspace, Hold::ReadOnly] {
        let double =
            "double() { [ $1 = 0 ] && return; double $(($1 - 1)) & double $(($1 - 1)) & wait; }; double 9";
        let doubling = format!("timeout -s KILL 2 bash -c '{double}' 2> /dev/null; true");
        let outcome = limited(hold, limits, &doubling);
        assert!(says(&outcome, "processes limit"), "{hold:?} {:?}", outcome.denials);
    }
}

#[test]
fn t19_processor_time() {
    let limits = ResourceLimits { cpu: Some(Duration::from_secs(1)), ..ResourceLimits::default() };
    for hold in ALL {
        let outcome = limited(hold, limits, "while :; do :; done");
        assert_eq!(outcome.status.to_string(), "ended by SIGXCPU", "{hold:?}");
        assert!(says(&outcome, "the cpu limit of 1 s was reached"), "{hold:?} {:?}", outcome.denials);
    }
}

#[test]
fn t19_open_files_and_file_size() {
    let limits =
        ResourceLimits { open_files: Some(30), file_size: Some(1 << 20), ..ResourceLimits::default() };
    for hold in ALL {
        let opener = "python3 -c 'f = [open(\"/dev/null\") for _ in range(100)]'";
        let outcome = limited(hold, limits, opener);
        assert!(says(&outcome, "the open-files limit of 30"), "{hold:?} {:?}", outcome.denials);
        let outcome = limited(
            hold,
            limits,
            "head -c 3M /dev/zero > ${TMPDIR:-/tmp/.}/limit-$$; s=$?; wc -c < ${TMPDIR:-/tmp/.}/limit-$$; rm ${TMPDIR:-/tmp/.}/limit-$$; exit $s",
        );
        assert_eq!(outcome.output.stdout(), "1048576\n", "{hold:?} {}", outcome.output.stderr());
        assert!(says(&outcome, "the file-size limit of 1 MiB"), "{hold:?} {:?}", outcome.denials);
    }
}

#[test]
fn there_are_limits_in_confined_modes_that_nobody_asked_for() {
    for hold in [Hold::Workspace, Hold::Plain, Hold::ReadOnly] {
        let outcome = Scene::new().run(hold, "ulimit -c");
        assert_eq!((outcome.output.stdout(), outcome.sandbox.limits), ("0\n", Enforced::Full), "{hold:?}");
    }
}

#[test]
fn without_a_sandbox_and_without_limits_nothing_is_limited() {
    let outcome = Scene::new().run(Hold::Off, "true");
    assert_eq!(outcome.sandbox.mode, SandboxMode::Off);
    assert_eq!(outcome.sandbox.limits, Enforced::None);
}
