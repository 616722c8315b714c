//! Hosts that refuse the best way.

use std::io::Read;

use bashtion_sandbox::{Exit, Step};
use bashtion_testkit::in_a_thread_without_clone3;

use crate::{launch_error, spec, start};

const ENOSYS: i32 = 38;
const EPERM: i32 = 1;

#[test]
fn without_clone3_the_older_call_serves() {
    for errno in [ENOSYS, EPERM] {
        in_a_thread_without_clone3(errno, || {
            let (mut child, mut read) = start("echo still works; exit 5");
            let mut text = String::new();
            read.read_to_string(&mut text).unwrap();
            assert_eq!(text, "still works\n");
            assert_eq!(child.tree().method(), "limit tag");
            assert_eq!(child.wait().unwrap().0, Exit::Code(5));
        });
    }
}

#[test]
fn without_clone3_errors_are_as_exact() {
    in_a_thread_without_clone3(ENOSYS, || {
        let (_read, output, mut spec) = spec("true");
        spec.program = "/nowhere/bash".into();
        let error = launch_error(spec, &output);
        assert_eq!(error.to_string(), format!("cannot {}", Step::Exec));
        assert_eq!(bashtion_testkit::zombie_children(), Vec::<i32>::new());
    });
}
