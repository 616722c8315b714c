//! The conformance suite of the protocol. What is expected to fail, and why, is in `conformance/`; what should and does not is an
//! error, too. Every message on the way is compared with the schema of the protocol.

use crate::desk::Desk;
use crate::serving::{Serving, here, succeeds};

fn conforms(version: &str, passed: &str) {
    let Some(desk) = Desk::new() else { return };
    let serving = Serving::start(&desk, &["--no-auth"]);
    let mut suite = desk.client(".bin/conformance");
    suite
        .args(["server", "--url", &serving.url(), "--suite", "all", "--spec-version", version])
        .arg("--expected-failures")
        .arg(here("conformance").join(format!("{version}.yaml")));
    let (stdout, _) = succeeds(suite, Some(&serving));
    assert!(stdout.contains(passed), "fewer were tried than before: {stdout}");
}

#[test]
fn to_the_older_protocol() {
    conforms("2025-11-25", "43 passed, 26 failed");
}

#[test]
fn to_the_newer_protocol() {
    conforms("2026-07-28", "85 passed, 40 failed");
}
