use super::{Problem, Rule, about, rule};
use crate::analysis::Analysis;
use crate::syntax::ast::Span;

rule! {
    /// A part that cannot be understood before it runs.
    ///
    /// ## Why
    /// What cannot be read cannot be judged, so it is never allowed silently.
    ///
    /// ## Example
    /// `$CMD` where the command does not set `CMD`; `eval "$x"`; text that bash could not parse
    ///
    /// ## Instead
    /// Write the command itself, with constants, in valid bash.
    Opaque, "opaque", Ask
}

impl Rule for Opaque {
    about!();

    fn check_whole(&self, analysis: &Analysis) -> Vec<(Span, Problem)> {
        let problem = |reason: &str| {
            Problem::ask(
                format!("this cannot be judged: {reason}"),
                "write the command itself, with constants, in valid bash",
            )
        };
        analysis.opaque.iter().map(|opaque| (opaque.span, problem(&opaque.reason))).collect()
    }
}
