//! When a rule has nothing to say: attributes of the rule, never of how it is called. What a program only shows or would do
//! is a matter of its page.

use super::{Problem, Rule};
use crate::analysis::{Found, Machine};
use crate::paths::{Place, locate};
use crate::text::Text;
use crate::verdict::Decision;
use crate::world::World;

/// Circumstances under which a rule has nothing to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exemption {
    /// The repository was made to be thrown away.
    Throwaway,
    /// It happens in a container that is made for it.
    Container,
    /// Nobody has asked for the rule in a configuration.
    Unasked,
}

/// What is left of a problem under the circumstances of the command.
pub(super) fn left(problem: Problem, rule: &dyn Rule, found: &Found, world: &World) -> Option<Problem> {
    let exempt = |exemption: Exemption| rule.exemptions().contains(&exemption);
    if exempt(Exemption::Throwaway) && is_throwaway(found, world)
        || exempt(Exemption::Container) && found.setting.machine == Machine::Container
    {
        return None;
    }
    let in_running = found.setting.machine == Machine::RunningContainer;
    let severity = if in_running { problem.severity.min(Decision::Ask) } else { problem.severity };
    Some(Problem { severity, ..problem })
}

/// In the directory for temporary files, as far as every possible working directory is known.
fn is_throwaway(found: &Found, world: &World) -> bool {
    let temporary = |cwd: &Text| locate(cwd, &[], world).iter().all(|path| path.place == Place::Temporary);
    found.cwds.iter().all(temporary) && !found.has("-C")
}
