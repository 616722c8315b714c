//! Tool calls as models and their vendors send them: read into [`Request`](crate::Request)s, and answered in the shape that was
//! expected.
//!
//! ```
//! use bashtion::calls::{self, Vendor};
//! use bashtion::{Engine, ToolContext};
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), calls::CallError> {
//! let (engine, context) = (Engine::new(), ToolContext::from_host("/tmp"));
//! let sent = json!({
//!     "type": "shell_call",
//!     "call_id": "call_1",
//!     "action": {"commands": ["echo one", "echo two >&2; exit 3"], "timeout_ms": 5000}
//! });
//! let parsed = calls::parse(Vendor::OpenAiShell, sent)?;
//! let results = parsed.call().run(&engine, &context).await;
//! let reply = parsed.reply(&results);
//! assert_eq!(reply["call_id"], "call_1");
//! assert_eq!(reply["output"][0]["stdout"], "one\n");
//! assert_eq!(reply["output"][1]["outcome"], json!({"type": "exit", "exit_code": 3}));
//! # Ok(()) }
//! ```
//!
//! A call is checked against the schema that its model is shown, so that the two cannot drift apart. What is wrong is said in words
//! that a model can act on, and [`reject`] puts them into the vendor's shape.
//!
//! What no vendor has a field for is said the same way everywhere: words of ours are lines after the command's own standard
//! error, and an exit code that has to be made up is that of the command line (124 out of time, 125 Bashtion failed, 126 not allowed,
//! 128 + n signal n, 130 cancelled), unless the vendor's document has one of its own.
//!
//! Variables that a call sets are the model's, so those that would have to be asked about in a command are not accepted beside it.
//!
//! How long a command may take and how much of its output is kept when a call does not say is the engine's to decide, also where the
//! vendor's document names a default: that belongs into the engine's [`Limits`](crate::Limits).

mod answer;
mod call;
mod check;
mod definition;
mod env;
mod in_words;
mod vendor;

mod anthropic;
mod bashtion;
mod chorus;
mod claude_code;
mod codex;
mod gemini;
mod mycode;
mod openai_local_shell;
mod openai_shell;
mod phoenix;
mod tachikoma;
mod tool_use;
mod tunacode;

pub use answer::Answer;
pub use call::{Call, ParsedCall, Placement, ToolCall, parse, reject};
pub use check::{CallError, read};
pub use definition::schema;
pub use vendor::{UnknownVendor, Vendor};

pub use anthropic::AnthropicBash;
pub use bashtion::{BashtionBash, BashtionMode};
pub use chorus::ChorusBash;
pub use claude_code::ClaudeCodeBash;
pub use codex::{CodexExecCommand, SandboxPermissions};
pub use gemini::GeminiRunShellCommand;
pub use mycode::MyCodeBash;
pub use openai_local_shell::{LocalShellAction, LocalShellActionType, LocalShellCall, LocalShellCallType};
pub use openai_shell::{CallStatus, Environment, EnvironmentType, ShellAction, ShellCall, ShellCallType};
pub use phoenix::{PhoenixBash, PhoenixMode};
pub use tachikoma::TachikomaBash;
pub use tool_use::{ToolUse, ToolUseType};
pub use tunacode::TunaCodeBash;
