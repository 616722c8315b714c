use super::{Problem, Rule, about, rule};
use crate::analysis::{Analysis, Shape};
use crate::syntax::ast::Span;

rule! {
    /// A function or program that starts itself more than once.
    ///
    /// ## Why
    /// The processes double until the machine can start no more, and nothing can be done but to restart it.
    ///
    /// ## Example
    /// `:(){ :|:& };:`, also under any other name, and `perl -e 'fork while fork'`
    ///
    /// ## Instead
    /// Use a loop with an end, or `xargs -P 4` for work in parallel.
    ForkBomb, "fork-bomb", Deny
}

impl Rule for ForkBomb {
    about!();

    fn check_whole(&self, analysis: &Analysis) -> Vec<(Span, Problem)> {
        let problem = || {
            Problem::deny(
                "this starts itself again and again until no process can start",
                "use a loop with an end",
            )
        };
        analysis.shapes.iter().map(|Shape::ForkBomb(span)| (*span, problem())).collect()
    }
}
