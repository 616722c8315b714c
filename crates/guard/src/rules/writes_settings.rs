use super::settings::{Whose, changes};
use super::{Problem, Rule, about, rule};
use crate::analysis::Found;
use crate::world::World;

rule! {
    /// Changes to settings that agents, editors and Bashtion follow: hooks, tools, tasks and commands among them.
    ///
    /// ## Why
    /// They are run or followed later, outside of the sandbox and without a question. One line there takes an agent's
    /// own guard away.
    ///
    /// ## Example
    /// `echo '{"disableAllHooks":true}' > .claude/settings.local.json`, `rm -rf .cursor`, `cp tasks.json .vscode/`, `sed -i … .mcp.json`
    ///
    /// ## Instead
    /// Say what should stand there and why, and let the user write it or agree. Reading them is allowed.
    WritesSettings, "writes-settings", Ask
}

impl Rule for WritesSettings {
    about!();

    fn check(&self, found: &Found, world: &World) -> Option<Problem> {
        changes(found, world).into_iter().find_map(|change| match change.whose {
            Whose::Guard => None,
            Whose::Program(owner) => Some(Problem::ask(
                format!(
                    "this would {} {}: {owner} will run or follow what stands there, outside of the sandbox",
                    change.verb, change.path
                ),
                "tell the user what should change there and why; it runs if they agree, or they change it themselves",
            )),
        })
    }
}
