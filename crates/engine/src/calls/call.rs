//! From a value to requests, and from results to a value.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use super::check::{CallError, read};
use super::tool_use::{self, rejected_tool_use};
use super::{
    Answer, BashtionBash, ChorusBash, CodexExecCommand, GeminiRunShellCommand, LocalShellCall, MyCodeBash,
    PhoenixBash, ShellCall, TachikomaBash, TunaCodeBash, Vendor, bashtion, chorus, mycode,
    openai_local_shell, openai_shell, phoenix, tachikoma,
};
use crate::{Engine, Error, Outcome, Request, Status, ToolContext, causes};

/// Reads a call. What is wrong with it is an error whose text is for the model; [`reject`] sends it.
///
/// For most vendors the value is the tool's arguments. For `openai-shell` and `openai-local-shell` it is the item of the response,
/// and for `anthropic-bash` and `claude-code` the `tool_use` block or only its `input`.
///
/// ```
/// use bashtion::calls::{self, Placement, Vendor};
/// use serde_json::json;
/// let parsed = calls::parse(Vendor::Phoenix, json!({"command": "python -m http.server", "mode": "background"}))?;
/// assert_eq!(parsed.call().placement, Placement::Background);
/// # Ok::<(), calls::CallError>(())
/// ```
pub fn parse(vendor: Vendor, value: Value) -> Result<ParsedCall, CallError> {
    let input: Box<dyn ToolCall> = match vendor {
        Vendor::Bashtion => Box::new(read::<BashtionBash>(value)?),
        Vendor::OpenAiShell => Box::new(read::<ShellCall>(value)?),
        Vendor::OpenAiLocalShell => Box::new(read::<LocalShellCall>(value)?),
        Vendor::AnthropicBash => tool_use::read_bash(value)?,
        Vendor::ClaudeCode => tool_use::read_claude_code(value)?,
        Vendor::MyCode => Box::new(read::<MyCodeBash>(value)?),
        Vendor::Phoenix => Box::new(read::<PhoenixBash>(value)?),
        Vendor::TunaCode => Box::new(read::<TunaCodeBash>(value)?),
        Vendor::Chorus => Box::new(read::<ChorusBash>(value)?),
        Vendor::Tachikoma => Box::new(read::<TachikomaBash>(value)?),
        Vendor::Codex => Box::new(read::<CodexExecCommand>(value)?),
        Vendor::Gemini => Box::new(read::<GeminiRunShellCommand>(value)?),
    };
    let call = input.to_call()?;
    Ok(ParsedCall { call, input })
}

/// The reply to a call that could not be read, in the vendor's shape as far as its identifiers can be found.
///
/// ```
/// use bashtion::calls::{self, Vendor};
/// use serde_json::json;
/// let sent = json!({"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {"cmd": "ls"}});
/// let error = calls::parse(Vendor::AnthropicBash, sent.clone()).unwrap_err();
/// let reply = calls::reject(Vendor::AnthropicBash, &sent, &error);
/// assert_eq!((&reply["tool_use_id"], &reply["is_error"]), (&json!("toolu_1"), &json!(true)));
/// ```
#[must_use]
pub fn reject(vendor: Vendor, value: &Value, error: &CallError) -> Value {
    let text = format!("the call was not understood: {error}");
    match vendor {
        Vendor::Bashtion => bashtion::rejected(&text),
        Vendor::OpenAiShell => openai_shell::rejected(value, &text),
        Vendor::OpenAiLocalShell => openai_local_shell::rejected(value, &text),
        Vendor::AnthropicBash | Vendor::ClaudeCode => rejected_tool_use(value, &text),
        Vendor::MyCode => mycode::rejected(&text),
        Vendor::Phoenix => phoenix::rejected(value, &text),
        Vendor::Chorus => chorus::rejected(value, &text),
        Vendor::Tachikoma => tachikoma::rejected(&text),
        Vendor::TunaCode | Vendor::Codex | Vendor::Gemini => json!(text),
    }
}

/// A call as one vendor sends it.
pub trait ToolCall: fmt::Debug + Send + Sync {
    /// What is to be run.
    fn to_call(&self) -> Result<Call, CallError>;

    /// What came of it, in the vendor's shape; one answer per request.
    fn reply(&self, answers: &[Answer<'_>]) -> Value;
}

/// What a call asks for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Call {
    /// To be run one after the other. A later one is run whatever became of an earlier one.
    pub requests: Vec<Request>,
    /// Where.
    pub placement: Placement,
    /// How long the model wants to wait, if it said so. A foreground command that takes longer may go on in the background
    /// (Codex), and a background task may be given this long before the reply (Gemini).
    pub wait: Option<Duration>,
}

/// Where a call wants its commands to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// To their end: [`Engine::run`].
    Foreground,
    /// As background tasks: [`Engine::start`].
    Background,
    /// Nothing is to be run but `:`, in a session that begins anew.
    RestartSession,
}

impl Call {
    pub(super) fn in_order(requests: Vec<Request>) -> Self {
        Self { requests, placement: Placement::Foreground, wait: None }
    }

    pub(super) fn foreground(request: Request) -> Self {
        Self::in_order(vec![request])
    }

    pub(super) fn background(request: Request) -> Self {
        Self { placement: Placement::Background, ..Self::foreground(request) }
    }

    pub(super) fn restart(request: Request) -> Self {
        Self { placement: Placement::RestartSession, ..Self::foreground(request) }
    }

    /// Runs or starts all of it, up to one that is cancelled. How long the model wants to wait is not looked at.
    pub async fn run(&self, engine: &Engine, context: &ToolContext) -> Vec<Result<Outcome, Error>> {
        let mut results = Vec::with_capacity(self.requests.len());
        for request in self.requests.iter().cloned() {
            let result = match self.placement {
                Placement::Foreground | Placement::RestartSession => engine.run(request, context).await,
                Placement::Background => engine.start(request, context).await,
            };
            let cancelled = result.as_ref().is_ok_and(|outcome| outcome.status == Status::Cancelled);
            results.push(result);
            if cancelled {
                break;
            }
        }
        results
    }
}

/// A call that was read, and knows how it has to be answered.
#[derive(Debug)]
pub struct ParsedCall {
    call: Call,
    input: Box<dyn ToolCall>,
}

impl ParsedCall {
    /// What it asks for.
    #[must_use]
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// Names the session of a tool that has one, which is `bash` otherwise: one for each conversation.
    ///
    /// ```
    /// use bashtion::calls::{self, Vendor};
    /// use serde_json::json;
    /// let parsed = calls::parse(Vendor::AnthropicBash, json!({"command": "cd src"}))?.session("conversation-7");
    /// # Ok::<(), calls::CallError>(())
    /// ```
    #[must_use]
    pub fn session(mut self, name: &str) -> Self {
        for request in &mut self.call.requests {
            if let Some(session) = &mut request.session {
                name.clone_into(session);
            }
        }
        self
    }

    /// The reply, from the results of the requests in their order. A request without a result was not run, and is said not to be.
    #[must_use]
    pub fn reply<E: StdError>(&self, results: &[Result<Outcome, E>]) -> Value {
        let causes: Vec<String> = results
            .iter()
            .map(|result| result.as_ref().err().map(|error| causes(error)).unwrap_or_default())
            .collect();
        let answers: Vec<Answer<'_>> = (0..self.call.requests.len())
            .map(|index| match results.get(index) {
                Some(Ok(outcome)) => Answer::Outcome(outcome),
                Some(Err(_)) => Answer::Failed(&causes[index]),
                None => Answer::Missing,
            })
            .collect();
        self.input.reply(&answers)
    }
}
