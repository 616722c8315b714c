use super::{Problem, Rule, about, rule};
use crate::analysis::{Effect, Found};
use crate::paths::Place;
use crate::text::Text;
use crate::world::World;

rule! {
    /// Permissions or owners changed for whole system or home directories, or opened to everybody.
    ///
    /// ## Why
    /// Programs refuse to start, keys stop working, and who owned what before is nowhere written down.
    ///
    /// ## Example
    /// `chmod -R 777 /var`, `chown -R nobody /`, `chmod 777 deploy.sh`
    ///
    /// ## Instead
    /// Change what needs it and no more: `chmod +x deploy.sh`, `chmod -R u+rwX ./build`.
    ChangesPermissions, "changes-permissions", Deny
}

impl Rule for ChangesPermissions {
    about!(Container);

    fn check(&self, found: &Found, _: &World) -> Option<Problem> {
        let help = "change what needs it and no more, for example `chmod +x script.sh`";
        let open = found.arguments.iter().filter_map(Text::value).any(opens);
        let problems = found.effects.iter().filter_map(|effect| {
            let Effect::Permissions { target, recursive } = effect else { return None };
            let broad = matches!(
                target.place,
                Place::Root | Place::System | Place::Home | Place::OtherHome | Place::TemporaryRoot
            );
            if broad && (*recursive || target.place == Place::Root) {
                let message =
                    format!("permissions of a whole system or home directory would change: {}", target.path);
                return Some(Problem::deny(message, help));
            }
            let etc = target.path.starts_with("/etc/") || open && target.place == Place::System;
            if etc && found.program != "chattr" {
                return Some(Problem::deny(
                    format!("permissions of a system file would change: {}", target.path),
                    help,
                ));
            }
            let ours = matches!(
                target.place,
                Place::Workspace | Place::Temporary | Place::Harmless | Place::Unknown
            );
            if broad || !ours && *recursive && target.place != Place::WorkspaceRoot {
                return Some(Problem::ask(
                    format!("permissions outside of the workspace would change: {}", target.path),
                    help,
                ));
            }
            open.then(|| Problem::ask(format!("everybody could change this: {}", target.path), help))
        });
        problems.max_by_key(|problem| problem.severity)
    }
}

/// Modes that let everybody write.
fn opens(mode: &str) -> bool {
    let octal = mode.len() >= 3 && mode.len() <= 4 && mode.bytes().all(|byte| (b'0'..=b'7').contains(&byte));
    if octal {
        let special = mode.len() == 4 && mode.starts_with(['2', '4', '6']);
        return mode.ends_with(['2', '3', '6', '7']) || special;
    }
    if mode.contains("+s") {
        return true;
    }
    mode.split(',').any(|clause| {
        let Some((who, what)) = clause.split_once(['+', '=']) else { return false };
        what.contains('w')
            && (who.contains('a') || who.contains('o'))
            && who.bytes().all(|byte| b"ugoa".contains(&byte))
    })
}
