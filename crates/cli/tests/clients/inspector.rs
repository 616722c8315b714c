//! The MCP inspector: whether what it lists would do for other clients, and what a call prints.

use serde_json::Value;

use crate::desk::Desk;
use crate::serving::{Serving, Way, succeeds};

fn looks(era: &str, way: Way) {
    let Some(desk) = Desk::new() else { return };
    let serving = (way == Way::Http).then(|| Serving::start(&desk, &[]));
    let inspect = |method: &[&str]| {
        let mut inspector = desk.client(".bin/mcp-inspector");
        inspector.arg("--cli");
        match &serving {
            None => inspector.arg(desk.bashtion()).arg("serve"),
            Some(serving) => inspector
                .args([&serving.url(), "--transport", "http", "--header"])
                .arg(format!("Authorization: Bearer {}", serving.token())),
        };
        inspector.args(["--protocol-era", era, "--method"]).args(method);
        let (stdout, stderr) = succeeds(inspector, serving.as_ref());
        // Warnings would be here.
        assert_eq!(stderr, "");
        serde_json::from_str::<Value>(&stdout).unwrap()
    };
    let listed = inspect(&["tools/list", "--strict"]);
    assert_eq!(listed["tools"].as_array().unwrap().len(), 6, "{listed}");
    let called = inspect(&["tools/call", "--tool-name", "bash", "--tool-arg", "command=echo hi; exit 3"]);
    assert_eq!(called["isError"], false, "{called}");
    assert_eq!(called["structuredContent"]["exit_code"], 3, "{called}");
    assert_eq!(called["structuredContent"]["stdout"], "hi\n", "{called}");
}

#[test]
fn older_protocol_over_stdio() {
    looks("legacy", Way::Stdio);
}

#[test]
fn older_protocol_over_http() {
    looks("legacy", Way::Http);
}

#[test]
fn newer_protocol_over_stdio() {
    looks("modern", Way::Stdio);
}

#[test]
fn newer_protocol_over_http() {
    looks("modern", Way::Http);
}
