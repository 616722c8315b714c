//! The Python SDK: what it calls legacy is 2025-11-25, and auto ends up with 2026-07-28.

use crate::serving::{Way, check, here, python};

fn checks(mode: &str, way: Way) {
    for script in ["commands.py", "tasks.py", "approval.py"] {
        run(script, mode, way);
    }
}

fn run(script: &str, mode: &str, way: Way) {
    check(|desk| python(desk, &here("python").join(script)), &[("MODE", mode)], way);
}

#[test]
fn older_protocol_over_stdio() {
    checks("legacy", Way::Stdio);
}

#[test]
fn older_protocol_over_http() {
    checks("legacy", Way::Http);
}

#[test]
fn newer_protocol_over_stdio() {
    checks("auto", Way::Stdio);
}

#[test]
fn newer_protocol_over_http() {
    checks("auto", Way::Http);
}

#[test]
fn nobody_gets_in_without_the_token() {
    run("stranger.py", "legacy", Way::Http);
    run("stranger.py", "auto", Way::Http);
}
