use super::{Problem, Rule, about, rule};
use crate::analysis::Found;
use crate::programs::Concern;
use crate::world::World;

rule! {
    /// Changes to the running machine: power, services, packages, timers, the firewall, mounts.
    ///
    /// ## Why
    /// They touch everybody who uses the machine, and outlive the task. Packages without which it does not start may not
    /// be removed at all.
    ///
    /// ## Example
    /// `shutdown -h now`, `systemctl stop nginx`, `apt-get install jq`, `crontab -r`, `iptables -F`, `npm install -g typescript`,
    /// `apt-get remove --allow-remove-essential bash`
    ///
    /// ## Instead
    /// Install into the project or a virtual environment, and run services of your own on other ports.
    ChangesSystem, "changes-system", Deny
}

impl Rule for ChangesSystem {
    about!(Container);

    fn check(&self, found: &Found, _: &World) -> Option<Problem> {
        let essential = found.concerns.iter().find_map(|concern| match concern {
            Concern::Essential(what) => Some(*what),
            _ => None,
        });
        if let Some(what) = essential {
            let message = format!("`{}` takes away {what}", found.program);
            return Some(Problem::deny(
                message,
                "leave these packages alone, and say what stands in the way",
            ));
        }
        let what = found.concerns.iter().find_map(|concern| match concern {
            Concern::Machine(what) => Some(*what),
            _ => None,
        })?;
        let help =
            "do it inside the project (a virtual environment, a local install, another port), or ask for it";
        Some(Problem::ask(format!("`{}` changes {what}", found.program), help))
    }
}
