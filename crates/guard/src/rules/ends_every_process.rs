use super::{Problem, Rule, about, rule};
use crate::analysis::Found;
use crate::text::{Text, Why};
use crate::world::World;

rule! {
    /// Ending of every process of the user or of the machine.
    ///
    /// ## Why
    /// It ends the session, the editor, the agent itself, and everything unsaved.
    ///
    /// ## Example
    /// `kill -9 -1`, `pkill -u dev`, `killall5`, `kill -9 1`
    ///
    /// ## Instead
    /// End what you started, by its number: `kill 4242`, or its group: `kill -- -4242`.
    EndsEveryProcess, "ends-every-process", Deny
}

impl Rule for EndsEveryProcess {
    about!(Container);

    fn check(&self, found: &Found, _: &World) -> Option<Problem> {
        let arguments: Vec<&str> = found.arguments.iter().filter_map(Text::value).collect();
        let every = match found.program.as_str() {
            "kill" => {
                let listed = found.arguments.iter().any(|argument| {
                    argument.has_pattern()
                        || matches!(argument.why(), Some(Why::Output(source)) if source == "ps")
                });
                listed || targets(&arguments).iter().any(|target| matches!(*target, "-1" | "1" | "-0"))
            }
            "fuser" => {
                arguments.iter().any(|flag| flag.starts_with('-') && flag.contains('k') && flag.contains('m'))
            }
            "killall5" => true,
            "pkill" | "skill" | "slay" => {
                let user =
                    arguments.iter().any(|argument| matches!(*argument, "-u" | "-U" | "--euid" | "--uid"));
                let patterns: Vec<_> =
                    arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
                let any = patterns
                    .iter()
                    .any(|pattern| matches!(**pattern, "." | ".*" | "" | "^" | "$" | ".+" | "[a-z]"));
                any || user && patterns.len() <= 1
            }
            "killall" => {
                let user = arguments.iter().any(|argument| matches!(*argument, "-u" | "--user"));
                user && arguments.iter().filter(|argument| !argument.starts_with('-')).count() <= 1
                    || arguments.iter().any(|argument| matches!(*argument, "-1" | ".*"))
                        && arguments.contains(&"-r")
            }
            "loginctl" => arguments
                .first()
                .is_some_and(|verb| matches!(*verb, "terminate-user" | "kill-user" | "terminate-seat")),
            _ => false,
        };
        every.then(|| {
            Problem::deny(
                "this ends every process, or the first one of the machine",
                "end what you started, by its number: `kill 4242`",
            )
        })
    }
}

/// What a `kill` is aimed at, without the signal.
fn targets<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    let mut rest = arguments;
    match rest.first() {
        // Signal 0 only looks whether a process is there.
        Some(&"-0") if rest.len() > 1 => return vec![],
        Some(&("-s" | "-n" | "--signal")) if matches!(rest.get(1), Some(&("0" | "EXIT"))) => return vec![],
        Some(&("-s" | "-n" | "--signal")) => rest = rest.get(2..).unwrap_or_default(),
        Some(&("-l" | "-L" | "--list")) => return vec![],
        Some(first) if first.starts_with('-') && *first != "--" => rest = &rest[1..],
        _ => {}
    }
    rest.iter().filter(|target| **target != "--").copied().collect()
}
