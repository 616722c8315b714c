//! From what a hook was told to what it answers.

use bashtion::{Decision, Limits, Verdict};
use serde_json::{Map, Value};

use super::call::{Call, Heard, Misheard, object};
use super::confine::{Approval, Confine};
use super::{Agent, claude_code, codex, copilot, cursor, gemini, opencode, reason};

/// What a hook prints, and its exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reply {
    /// For the agent.
    pub stdout: String,
    /// For the agent if the exit code is 2, else for whoever debugs it.
    pub stderr: String,
    /// 0, or 2 if the agent takes that for a refusal.
    pub exit: u8,
}

/// How a hook was installed.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Run commands through Bashtion.
    pub confine: Option<Confine>,
    /// Spare the user the agent's own question about what the guard allows.
    pub allow: bool,
}

/// What was decided about a call, and what holds where it would run.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The verdict.
    pub verdict: Verdict,
    /// How long commands may take.
    pub limits: Limits,
}

/// What is said to the agent, before it is put in its words.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answer {
    pub(super) decision: Said,
    /// Empty if there is nothing to say.
    pub(super) reason: String,
    /// All arguments of the tool, if they are to be others.
    pub(super) arguments: Option<Map<String, Value>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    /// As if there were no hook.
    Nothing,
    Allow,
    Ask,
    Deny,
}

impl Answer {
    pub(super) fn nothing() -> Self {
        Self { decision: Said::Nothing, reason: String::new(), arguments: None }
    }

    pub(super) fn deny(reason: impl Into<String>) -> Self {
        Self { decision: Said::Deny, reason: reason.into(), arguments: None }
    }
}

/// The answer to an agent's hook. `judge` is asked about a command of its shell, and about nothing else; if it cannot tell,
/// the answer is no.
pub fn answer(
    agent: Agent,
    input: &[u8],
    options: &Options,
    judge: impl FnOnce(&Call) -> Result<Judged, String>,
) -> Reply {
    let call = match hear(agent, input) {
        Ok(Heard::Shell(call)) => call,
        Ok(Heard::Other) => return say(agent, Answer::nothing()),
        Err(misheard) => return refusal(agent, &format!("Bashtion cannot judge this: {misheard}")),
    };
    match judge(&call) {
        Ok(judged) => say(agent, decide(agent, *call, &judged, options)),
        Err(problem) => refusal(agent, &format!("Bashtion cannot judge this: {problem}")),
    }
}

/// No, because of us and not because of the command. An agent that takes an exit code for it gets that: it holds even if
/// nobody reads what was printed.
#[must_use]
pub fn refusal(agent: Agent, why: &str) -> Reply {
    match agent {
        Agent::ClaudeCode | Agent::Codex => {
            Reply { stdout: String::new(), stderr: format!("{why}\n"), exit: 2 }
        }
        Agent::Gemini | Agent::Copilot | Agent::Cursor | Agent::Opencode => say(agent, Answer::deny(why)),
    }
}

fn hear(agent: Agent, input: &[u8]) -> Result<Heard, Misheard> {
    let fields = object(input)?;
    match agent {
        Agent::ClaudeCode => claude_code::hear(&fields),
        Agent::Codex => codex::hear(&fields),
        Agent::Gemini => gemini::hear(&fields),
        Agent::Copilot => copilot::hear(&fields),
        Agent::Cursor => cursor::hear(&fields),
        Agent::Opencode => opencode::hear(&fields),
    }
}

fn say(agent: Agent, answer: Answer) -> Reply {
    let words = match agent {
        Agent::ClaudeCode => claude_code::say(answer),
        Agent::Codex => codex::say(answer),
        Agent::Gemini => gemini::say(answer),
        Agent::Copilot => copilot::say(answer),
        Agent::Cursor => cursor::say(answer),
        Agent::Opencode => opencode::say(answer),
    };
    Reply { stdout: format!("{words}\n"), stderr: String::new(), exit: 0 }
}

fn decide(agent: Agent, call: Call, judged: &Judged, options: &Options) -> Answer {
    let verdict = &judged.verdict;
    let confine = options.confine.as_ref().filter(|_| agent.can_rewrite());
    let rewritten = |approval| Some(confine?.arguments(call, &judged.limits, approval));
    match verdict.decision {
        Decision::Deny => Answer::deny(reason::refused(verdict)),
        // The agent asks, so whoever runs it need not. It is asked about what would really run.
        Decision::Ask if agent.can_ask() => Answer {
            decision: Said::Ask,
            reason: reason::asked(verdict),
            arguments: rewritten(Approval::Given),
        },
        // Nobody is asked by the agent, so the question goes to the queue.
        Decision::Ask if confine.is_some() => {
            Answer { decision: Said::Nothing, reason: String::new(), arguments: rewritten(Approval::Needed) }
        }
        Decision::Ask => Answer::deny(reason::cannot_ask(verdict, agent)),
        Decision::Allow => Answer {
            decision: if options.allow && agent.can_allow() { Said::Allow } else { Said::Nothing },
            reason: String::new(),
            arguments: rewritten(Approval::Needed),
        },
    }
}

#[cfg(test)]
mod tests;
