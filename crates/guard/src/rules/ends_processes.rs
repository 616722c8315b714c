use super::{Problem, Rule, about, rule};
use crate::analysis::Found;
use crate::text::{Text, Why};
use crate::world::World;

rule! {
    /// Ending of processes by name.
    ///
    /// ## Why
    /// A name fits processes of other tasks too, and sometimes the agent's own. In a room there are no others, so nobody is asked.
    ///
    /// ## Example
    /// `killall node`, `pkill -9 -f python`, `fuser -k 8080/tcp`
    ///
    /// ## Instead
    /// End what you started, by its number: keep `$!` and use `kill "$pid"`.
    EndsProcesses, "ends-processes", Ask
}

impl Rule for EndsProcesses {
    about!(Help, Container);

    fn check(&self, found: &Found, world: &World) -> Option<Problem> {
        if world.is_in_room() && found.is_here() {
            return None;
        }
        let lists = ["-l", "--list", "-V", "--version", "--help", "-0"].iter().any(|flag| found.has(flag));
        let by_name = match found.program.as_str() {
            "killall" | "pkill" | "xkill" | "skill" => !lists,
            "fuser" => {
                found.arguments.iter().any(|flag| flag.rough().starts_with('-') && flag.rough().contains('k'))
            }
            // The shell's parent is the agent, or what runs commands for it.
            "kill" => {
                let parent = |word: &Text| matches!(word.why(), Some(Why::Variable(name)) if name == "PPID");
                !lists && found.arguments.iter().any(parent)
            }
            _ => false,
        };
        by_name.then(|| {
            Problem::ask(
                format!("`{}` ends every process that fits", found.program),
                "end what you started, by its number: `kill \"$pid\"`",
            )
        })
    }
}
