//! The three calls that most callers need.

use crate::{Engine, Error, Outcome, Request, Status, ToolContext};

/// Runs one command.
///
/// ```
/// use bashtion::{Engine, ToolContext, bash};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), bashtion::Error> {
/// let outcome = bash(&Engine::new(), &ToolContext::from_host("/tmp"), "echo hi").await?;
/// assert_eq!(outcome.output.stdout(), "hi\n");
/// # Ok(()) }
/// ```
pub async fn bash(
    engine: &Engine,
    context: &ToolContext,
    request: impl Into<Request>,
) -> Result<Outcome, Error> {
    engine.run(request.into(), context).await
}

/// Runs one command that must exit with 0.
///
/// ```
/// use bashtion::{Engine, ShellError, ToolContext, bash_success};
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let (engine, context) = (Engine::new(), ToolContext::from_host("/tmp"));
/// let error = bash_success(&engine, &context, "echo partial; exit 3").await.unwrap_err();
/// assert_eq!(error.to_string(), "the command failed: exit 3");
/// let ShellError::Failed { outcome } = error else { panic!() };
/// assert_eq!(outcome.output.stdout(), "partial\n");
/// # }
/// ```
pub async fn bash_success(
    engine: &Engine,
    context: &ToolContext,
    request: impl Into<Request>,
) -> Result<Outcome, ShellError> {
    let outcome = bash(engine, context, request).await?;
    if outcome.success() {
        return Ok(outcome);
    }
    Err(ShellError::Failed { outcome: Box::new(outcome) })
}

/// Runs commands one after the other and stops after the first that does not exit with 0.
///
/// ```
/// use bashtion::{Engine, ToolContext, bash_sequence};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), bashtion::Error> {
/// let (engine, context) = (Engine::new(), ToolContext::from_host("/tmp"));
/// let outcomes = bash_sequence(&engine, &context, ["true", "exit 7", "echo never"]).await?;
/// assert_eq!(outcomes.len(), 2);
/// assert!(!outcomes[1].success());
/// # Ok(()) }
/// ```
pub async fn bash_sequence<R: Into<Request>>(
    engine: &Engine,
    context: &ToolContext,
    requests: impl IntoIterator<Item = R>,
) -> Result<Vec<Outcome>, Error> {
    let mut outcomes = vec![];
    for request in requests {
        let outcome = bash(engine, context, request).await?;
        let success = outcome.success();
        outcomes.push(outcome);
        if !success {
            break;
        }
    }
    Ok(outcomes)
}

/// Why a command that must succeed did not.
#[derive(Debug, thiserror::Error)]
pub enum ShellError {
    /// It ran, and ended otherwise than with 0.
    #[error("the command failed: {}", outcome.status)]
    Failed {
        /// All that happened, with the output.
        outcome: Box<Outcome>,
    },
    /// Bashtion failed.
    #[error(transparent)]
    Engine(#[from] Error),
}

impl From<&str> for Request {
    fn from(command: &str) -> Self {
        Self::new(command)
    }
}

impl From<String> for Request {
    fn from(command: String) -> Self {
        Self::new(command)
    }
}

impl Outcome {
    /// Whether it exited with 0.
    #[must_use]
    pub fn success(&self) -> bool {
        self.status == Status::Exited(0)
    }
}
