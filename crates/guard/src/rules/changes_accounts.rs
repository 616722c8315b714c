use super::{Problem, Rule, about, rule};
use crate::analysis::Found;
use crate::programs::Concern;
use crate::text::Text;
use crate::world::World;

rule! {
    /// Accounts that are deleted, locked or given another password.
    ///
    /// ## Why
    /// Whoever is locked out cannot undo it. For root and for the user who runs the command it is refused.
    ///
    /// ## Example
    /// `userdel -r bob`, `passwd -l root`, `usermod -L dev`
    ///
    /// ## Instead
    /// Leave accounts to an administrator.
    ChangesAccounts, "changes-accounts", Deny
}

impl Rule for ChangesAccounts {
    about!(Container);

    fn check(&self, found: &Found, world: &World) -> Option<Problem> {
        let removes = found.is_about(Concern::RemovesAccount);
        if !removes && !found.is_about(Concern::Accounts) {
            return None;
        }
        let mut names = found.arguments.iter().filter_map(Text::value).filter(|word| !word.starts_with('-'));
        let own = found.program == "passwd" && names.clone().next().is_none();
        let vital = own || names.any(|name| name == "root" || name == world.user());
        let help = "leave accounts to an administrator";
        let message = format!("`{}` changes accounts of the machine", found.program);
        Some(if removes && vital { Problem::deny(message, help) } else { Problem::ask(message, help) })
    }
}
