//! May it run? The only place that can say yes.

use bashtion_guard::{Decision, Verdict};

/// Leave to run one command. Nothing is launched without one, and only [`settle`] makes them.
#[derive(Debug)]
pub(crate) struct Permit {
    verdict: Verdict,
}

impl Permit {
    pub(crate) fn into_verdict(self) -> Verdict {
        self.verdict
    }
}

/// What came of a verdict.
#[derive(Debug)]
pub(crate) enum Settled {
    Permitted(Permit),
    /// It may not run.
    Refused(Verdict),
    /// Somebody would have to agree, and there is nobody to ask.
    Undecided(Verdict),
}

pub(crate) fn settle(verdict: Verdict) -> Settled {
    match verdict.decision {
        Decision::Allow => Settled::Permitted(Permit { verdict }),
        Decision::Ask => Settled::Undecided(verdict),
        Decision::Deny => Settled::Refused(verdict),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_allowed_gets_a_permit() {
        let world = bashtion_guard::World::new("/w", "/home/dev");
        let judge = |command| {
            bashtion_guard::Policy::default().judge(&bashtion_guard::analyze(command, &world), &world)
        };
        assert!(matches!(settle(judge("ls")), Settled::Permitted(_)));
        assert!(matches!(settle(judge("git reset --hard")), Settled::Undecided(_)));
        assert!(matches!(settle(judge("rm -rf /")), Settled::Refused(_)));
    }
}
