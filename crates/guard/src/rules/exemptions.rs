//! When a rule has nothing to say: attributes of the rule and of programs, never of how something is called.

use super::{Problem, Rule};
use crate::analysis::{Found, Machine};
use crate::paths::{Place, locate};
use crate::text::Text;
use crate::verdict::Decision;
use crate::world::World;

/// Circumstances under which a rule has nothing to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exemption {
    /// The program only shows how it is used.
    Help,
    /// The repository was made to be thrown away.
    Throwaway,
    /// It happens in a container that is made for it.
    Container,
    /// Nobody has asked for the rule in a configuration.
    Unasked,
}

/// Programs whose last word may be `help`: `aws ec2 terminate-instances help`.
const HELP_LAST: [&str; 1] = ["aws"];

/// Programs that know `-help`.
const HELP_WITH_ONE_DASH: [&str; 7] = ["terraform", "tofu", "packer", "vault", "consul", "nomad", "openssl"];

/// What is left of a problem under the circumstances of the command.
pub(super) fn left(problem: Problem, rule: &dyn Rule, found: &Found, world: &World) -> Option<Problem> {
    let exempt = |exemption: Exemption| rule.exemptions().contains(&exemption);
    if exempt(Exemption::Help) && shows_help(found)
        || exempt(Exemption::Throwaway) && is_throwaway(found, world)
        || exempt(Exemption::Container) && found.setting.machine == Machine::Container
    {
        return None;
    }
    let in_running = found.setting.machine == Machine::RunningContainer;
    let severity = if in_running { problem.severity.min(Decision::Ask) } else { problem.severity };
    Some(Problem { severity, ..problem })
}

/// Whether a program only shows how it is used, by a word in the place where it takes such a word.
fn shows_help(found: &Found) -> bool {
    let program = found.program.as_str();
    let options = || found.arguments.iter().take_while(|word| word.value() != Some("--"));
    let has = |flag: &str| options().any(|word| word.value() == Some(flag));
    let last = found.arguments.last().and_then(Text::value);
    has("--help")
        || found.argument(0) == Some("help")
        || HELP_WITH_ONE_DASH.contains(&program) && has("-help")
        || HELP_LAST.contains(&program) && last == Some("help")
}

/// In the directory for temporary files, as far as every possible working directory is known.
fn is_throwaway(found: &Found, world: &World) -> bool {
    let temporary = |cwd: &Text| locate(cwd, &[], world).iter().all(|path| path.place == Place::Temporary);
    found.cwds.iter().all(temporary) && !found.has("-C")
}
