//! Bashtion for other programs: protocol in, engine call, protocol out. Prints nothing.

mod error;
pub mod hooks;
mod http;
mod mcp;
mod stdio;

pub use error::ServeError;
pub use http::{Http, HttpSettings, Provenance, Token};
pub use mcp::{Questions, Server, Setup};
pub use stdio::serve_stdio;
