//! Real MCP clients and the real server, over standard input and output and over HTTP; and the examples, with a scripted model.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod conformance;
mod examples;
mod inspector;
mod node;
mod python;
mod registry;
mod serving;

#[path = "../../../engine/examples/agent.rs"]
#[expect(dead_code, reason = "the test has no use for its main function")]
mod agent;
#[path = "../agents/desk.rs"]
#[expect(dead_code, reason = "the tests of agents use all of it")]
mod desk;
#[path = "../agents/model/mod.rs"]
mod model;
