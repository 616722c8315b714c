//! Writes down what Bashtion was asked, decided and did: SQLite, one row for each event, each bound to the one before.
//!
//! Responsible for the rows, for masking secrets in them, for finding them again and for noticing that one was changed,
//! removed or put elsewhere. Not responsible for what happens: it is a [`bashtion::Ledger`], told of it by the engine.
//!
//! ```
//! use bashtion::{Engine, Request, ToolContext};
//! use bashtion_audit::{Audit, Filter, Settings};
//! use std::sync::Arc;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let dir = tempfile::tempdir()?;
//! let audit = Arc::new(Audit::open(&Settings::in_directory(dir.path()))?);
//! let engine = Engine::builder().ledger(audit.clone()).build();
//! engine.run(Request::new("echo hello"), &ToolContext::from_host("/tmp")).await?;
//! let rows = audit.list(&Filter::default())?;
//! assert_eq!(rows.iter().map(|row| row.kind.as_str()).collect::<Vec<_>>(), ["ended", "started", "judged"]);
//! assert_eq!(audit.verify()?.rows, 3);
//! # Ok(()) }
//! ```

mod chain;
mod files;
mod mask;
mod query;
mod record;
mod retention;
mod store;
mod trouble;
mod verify;

pub use mask::{Masker, is_secret_name};
pub use query::{Filter, Row};
pub use store::{Audit, AuditError, Mode, Settings};
pub use trouble::Trouble;
pub use verify::{Broken, Verified};
