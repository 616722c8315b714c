//! x
use crate::{Analysis, Verdict, World, rules};
/// x
#[derive(Debug, Clone, Default)]
pub struct Policy {}
impl Policy {
    /// x
    pub fn judge(&self, analysis: &Analysis, world: &World) -> Verdict {
        Verdict::new(rules::findings(analysis, world))
    }
}
