//! Why a child could not be started, exactly.

use std::io::ErrorKind;
use std::os::unix::ffi::OsStringExt;

use bashtion_sandbox::{SpawnError, Step};

use crate::{launch_error, spec};

fn refused(error: SpawnError) -> (Step, ErrorKind) {
    match error {
        SpawnError::Refused { step, source } => (step, source.kind()),
        SpawnError::Nul { .. }
        | SpawnError::Confine(_)
        | SpawnError::NoRoom { .. }
        | SpawnError::RoomLost { .. }
        | SpawnError::RoomSilent { .. } => panic!("{error}"),
    }
}

#[test]
fn a_missing_program() {
    let (_read, output, mut spec) = spec("true");
    spec.program = "/nowhere/bash".into();
    assert_eq!(refused(launch_error(spec, &output)), (Step::Exec, ErrorKind::NotFound));
}

#[test]
fn a_program_that_may_not_be_executed() {
    let (_read, output, mut spec) = spec("true");
    spec.program = "/etc/passwd".into();
    assert_eq!(refused(launch_error(spec, &output)), (Step::Exec, ErrorKind::PermissionDenied));
}

#[test]
fn a_working_directory_that_is_none() {
    let (_read, output, mut spec) = spec("true");
    spec.cwd = std::fs::File::open("/etc/passwd").unwrap().into();
    assert_eq!(refused(launch_error(spec, &output)), (Step::Cwd, ErrorKind::NotADirectory));
}

#[test]
fn an_argument_that_is_too_long() {
    let (_read, output, spec) = spec(&"#".repeat(200_000));
    assert_eq!(refused(launch_error(spec, &output)), (Step::Exec, ErrorKind::ArgumentListTooLong));
}

#[test]
fn a_nul_byte() {
    let (_read, output, mut spec) = spec("true");
    spec.env = vec![("A".into(), std::ffi::OsString::from_vec(b"x\0y".to_vec()))];
    assert_eq!(launch_error(spec, &output).to_string(), "an environment variable contains a NUL byte");
}

#[test]
fn a_failure_leaves_neither_a_zombie_nor_a_descriptor() {
    let before = bashtion_testkit::descriptors();
    for _ in 0..20 {
        let (_read, output, mut spec) = spec("true");
        spec.program = "/nowhere/bash".into();
        launch_error(spec, &output);
    }
    assert_eq!(bashtion_testkit::zombie_children(), Vec::<i32>::new());
    assert_eq!(bashtion_testkit::descriptors(), before);
}
