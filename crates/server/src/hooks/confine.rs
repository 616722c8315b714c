//! The command that runs a command through Bashtion.

use std::time::Duration;

use bashtion::{Limits, escape_arg};
use serde_json::{Map, Value};

use super::Call;

/// How commands are run through Bashtion.
///
/// The text is for a POSIX shell and holds for any command: newlines, quotes, leading dashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confine {
    /// The program `bashtion`.
    pub program: String,
    /// The profile to run them with, if one is named.
    pub profile: Option<String>,
}

/// Whether somebody has still to be asked when it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Approval {
    /// If the guard says so.
    Needed,
    /// The agent runs it only if its user agrees to this very text. A model that writes it is refused by the rule
    /// `changes-guard`.
    Given,
}

/// How much longer than the agent we wait: it shall be the one who says that it took too long.
const BEYOND: Duration = Duration::from_secs(10);
/// Where there is no limit of a profile's own.
const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

impl Confine {
    /// The arguments of the tool with another command. All others stay, because agents replace them all.
    pub(super) fn arguments(&self, call: Call, limits: &Limits, approval: Approval) -> Map<String, Value> {
        let command = self.command(&call, limits, approval);
        let mut arguments = call.arguments;
        arguments.insert("command".to_owned(), Value::String(command));
        arguments
    }

    fn command(&self, call: &Call, limits: &Limits, approval: Approval) -> String {
        if approval == Approval::Needed && self.is_ours(&call.command) {
            return call.command.clone();
        }
        let mut words = self.beginning();
        words += &format!(" --timeout {}", patience(call.timeout, limits));
        words += &self.with_profile();
        if approval == Approval::Given {
            words += " --approve always";
        }
        // A single dash would be standard input. That is empty, so that no question is answered there: an agent can type.
        let command = if call.command == "-" { " -" } else { &call.command };
        format!("{words} -- {}{END}", escape_arg(command))
    }

    fn beginning(&self) -> String {
        format!("{} run --raw", escape_arg(&self.program))
    }

    fn with_profile(&self) -> String {
        self.profile
            .as_ref()
            .map_or_else(String::new, |profile| format!(" --profile={}", escape_arg(profile)))
    }

    /// Whether it is one that we have written, and nothing but that: what follows the dashes is a single word.
    fn is_ours(&self, command: &str) -> bool {
        let word = || {
            let rest = command.strip_prefix(&self.beginning())?.strip_prefix(" --timeout ")?;
            let rest = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
            let word = rest.strip_prefix(&self.with_profile())?.strip_prefix(" -- '")?;
            word.strip_suffix(END)?.strip_suffix('\'')
        };
        word().is_some_and(|word| !word.replace(r"'\''", "").contains('\''))
    }
}

const END: &str = " </dev/null";

/// As an argument of `--timeout`.
fn patience(given: Option<Duration>, limits: &Limits) -> String {
    let wanted = given.map_or(Duration::MAX, |given| given.saturating_add(BEYOND));
    match wanted.clamp(limits.shortest_timeout, limits.longest_timeout.max(limits.shortest_timeout)) {
        none if none >= YEAR => "none".to_owned(),
        some => format!("{}ms", some.as_millis()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn confine() -> Confine {
        Confine { program: "/opt/it's/bashtion".to_owned(), profile: None }
    }

    fn call(command: &str, timeout: Option<u64>) -> Call {
        let arguments = Map::from_iter([("command".to_owned(), Value::from(command))]);
        let timeout = timeout.map(Duration::from_millis);
        Call { command: command.to_owned(), cwd: None, description: None, timeout, arguments }
    }

    fn written(command: &str, approval: Approval) -> String {
        confine().command(&call(command, None), &Limits::default(), approval)
    }

    #[test]
    fn a_hook_rewrites_once() {
        let once = written("echo 'a b'\necho -n", Approval::Needed);
        assert_eq!(
            once,
            r"'/opt/it'\''s/bashtion' run --raw --timeout none -- 'echo '\''a b'\''".to_owned()
                + "\necho -n' </dev/null"
        );
        assert_eq!(written(&once, Approval::Needed), once);
        let strict = Confine { profile: Some("it's.toml".to_owned()), ..confine() };
        let once = strict.command(&call("ls", None), &Limits::default(), Approval::Needed);
        assert_eq!(strict.command(&call(&once, None), &Limits::default(), Approval::Needed), once);
        assert_eq!(
            written("-", Approval::Needed),
            r"'/opt/it'\''s/bashtion' run --raw --timeout none -- ' -' </dev/null"
        );
    }

    #[test]
    fn a_hook_wraps_what_only_looks_rewritten() {
        let ours = written("ls", Approval::Needed);
        for tail in ["; reboot", " && ls </dev/null", " -- 'x'; ls '' </dev/null"] {
            let text = format!("{}{tail}", ours.strip_suffix(END).unwrap());
            assert_ne!(written(&text, Approval::Needed), text);
        }
        let hidden = ours.replace(" -- ", " --cwd $(reboot) -- ");
        assert_ne!(written(&hidden, Approval::Needed), hidden);
    }

    #[test]
    fn a_hook_waits_longer_than_the_agent_and_never_longer_than_the_profile_lets_it() {
        let limits = Limits { longest_timeout: Duration::from_secs(600), ..Limits::default() };
        assert_eq!(patience(Some(Duration::from_secs(120)), &Limits::default()), "130000ms");
        assert_eq!(patience(Some(Duration::MAX), &Limits::default()), "none");
        assert_eq!(patience(None, &limits), "600000ms");
        assert_eq!(patience(Some(Duration::from_secs(599)), &limits), "600000ms");
    }
}
