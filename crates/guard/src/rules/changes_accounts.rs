use super::{Problem, Rule, about, rule};
use crate::analysis::Found;
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
    about!(Help, Container);

    fn check(&self, found: &Found, world: &World) -> Option<Problem> {
        let arguments: Vec<&str> = found.arguments.iter().filter_map(Text::value).collect();
        let has = |flags: &[&str]| arguments.iter().any(|argument| flags.contains(argument));
        let changes = match found.program.as_str() {
            "userdel" | "deluser" | "groupdel" | "delgroup" | "useradd" | "adduser" | "groupadd"
            | "chpasswd" | "vipw" | "visudo" | "newusers" | "gpasswd" | "dscl" => true,
            "usermod" | "groupmod" | "chage" | "chsh" => {
                !arguments.is_empty() && !has(&["-l", "--list"]) || found.program == "usermod"
            }
            "passwd" => !has(&["-S", "--status"]),
            _ => false,
        };
        if !changes {
            return None;
        }
        let removes = matches!(found.program.as_str(), "userdel" | "deluser")
            || has(&["-l", "--lock", "-L", "-d", "--delete", "-e", "--expire", "-E", "-s", "--shell"]);
        let vital = arguments.iter().any(|argument| *argument == "root" || *argument == world.user())
            || found.program == "passwd" && !arguments.iter().any(|argument| !argument.starts_with('-'));
        let help = "leave accounts to an administrator";
        let message = format!("`{}` changes accounts of the machine", found.program);
        Some(if removes && vital { Problem::deny(message, help) } else { Problem::ask(message, help) })
    }
}
