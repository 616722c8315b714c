//! Real agents, with a scripted model: our server gives them a shell, our hook guards their own.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod codex;
mod desk;
mod gemini;
mod model;
mod opencode;
mod scenarios;
