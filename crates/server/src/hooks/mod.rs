//! The guard for the shells of other agents: an agent's hook asks, and gets its answer in its own words.
//!
//! Responsible for what each agent sends and expects ([`answer`]), for running a command through Bashtion instead
//! ([`Confine`]), and for the entries in the agents' settings ([`install`]). Not responsible for the verdict, which comes
//! from whoever calls, nor for standard input and output.
//!
//! ```
//! use bashtion::{Limits, Verdict};
//! use bashtion_server::hooks::{Agent, Judged, Options, answer};
//!
//! let input = br#"{"tool_name": "Bash", "tool_input": {"command": "ls"}, "cwd": "/w"}"#;
//! let reply = answer(Agent::ClaudeCode, input, &Options::default(), |call| {
//!     assert_eq!(call.command, "ls");
//!     Ok(Judged { verdict: Verdict::new(vec![]), limits: Limits::default() })
//! });
//! // No opinion: what the guard allows, the agent may still ask its user about.
//! assert_eq!((reply.stdout.as_str(), reply.exit), ("{}\n", 0));
//! ```

mod agent;
mod answer;
mod call;
mod claude_code;
mod codex;
mod confine;
mod copilot;
mod cursor;
mod gemini;
pub mod install;
mod opencode;
mod probe;
mod reason;

pub use agent::{Agent, UnknownAgent};
pub use answer::{Judged, Options, Reply, answer, refusal};
pub use call::Call;
pub use confine::Confine;
pub use probe::{is_refusal, probe};

/// More than any agent sends; what is longer is refused.
pub const LONGEST_INPUT: usize = 8 << 20;
