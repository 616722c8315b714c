//! The TypeScript SDKs: `@modelcontextprotocol/sdk`, which most clients are made of, and `@modelcontextprotocol/client` after it.

use crate::serving::{Way, check, here, node};

fn checks(sdk: &str, mode: &str, way: Way) {
    check(|desk| node(desk, &here("node/checks.mjs")), &[("SDK", sdk), ("MODE", mode)], way);
}

#[test]
fn first_sdk_over_stdio() {
    checks("1", "legacy", Way::Stdio);
}

#[test]
fn first_sdk_over_http() {
    checks("1", "legacy", Way::Http);
}

#[test]
fn second_sdk_older_protocol_over_stdio() {
    checks("2", "legacy", Way::Stdio);
}

#[test]
fn second_sdk_older_protocol_over_http() {
    checks("2", "legacy", Way::Http);
}

#[test]
fn second_sdk_newer_protocol_over_stdio() {
    checks("2", "auto", Way::Stdio);
}

#[test]
fn second_sdk_newer_protocol_over_http() {
    checks("2", "auto", Way::Http);
}
