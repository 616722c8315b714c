use super::settings::{Whose, changes};
use super::{Problem, Rule, about, agents, rule};
use crate::analysis::Found;
use crate::text::Text;
use crate::world::World;

rule! {
    /// Changes to what guards the agent: Bashtion's configuration, state, hooks and program, the settings of agents in the home directory, answers
    /// to questions, and agents that are started without their own questions.
    ///
    /// ## Why
    /// A question is put to a person. A command that answers it has not been agreed to by anybody. Nor has one that takes
    /// the guard away, or one that starts an agent which asks nobody. Rules of one's own choice are asked about.
    ///
    /// ## Example
    /// `bashtion approve ask-7k2m9q`, `bashtion run --approve always 'git reset --hard'`, `bashtion hook codex --uninstall`,
    /// `sed -i … ~/.config/bashtion/config.toml`, `rm ~/.local/bin/bashtion`, `echo '{}' > ~/.claude/settings.json`,
    /// `claude --dangerously-skip-permissions -p …`, `codex exec --yolo …`
    ///
    /// ## Instead
    /// Say which question waits, or what should change, and leave it to the user. Start agents without such options, or in a container that is
    /// made for them. Settings in the project are asked about, by `writes-settings`.
    ChangesGuard, "changes-guard", Deny
}

impl Rule for ChangesGuard {
    about!();

    fn check(&self, found: &Found, world: &World) -> Option<Problem> {
        let own = changes(found, world).into_iter().find(|change| matches!(change.whose, Whose::Guard));
        if let Some(change) = own {
            return Some(Problem::deny(
                format!("this would {} what guards the agent: {}", change.verb, change.path),
                "tell the user what you want changed, and leave it to them; reading the configuration is allowed",
            ));
        }
        let settings = changes(found, world).into_iter().find(|change| decides(&change.path, world));
        if let Some(change) = settings {
            return Some(Problem::deny(
                format!("this would {} settings that say what an agent may do: {}", change.verb, change.path),
                "tell the user what you want changed, and leave it to them; those of a project can be agreed to",
            ));
        }
        if let Some((program, how)) = agents::unguarded(found) {
            return Some(Problem::deny(
                format!("`{how}` lets {program} do everything without asking"),
                "leave it away, or run the agent in a container that is made for it",
            ));
        }
        if found.program == "bashtion" && changes_hooks(&found.arguments) {
            return Some(Problem::deny(
                "this changes what guards the agent",
                "tell the user what you want changed, and leave it to them",
            ));
        }
        if found.program != "bashtion" {
            return None;
        }
        if answers(&found.arguments) {
            return Some(Problem::deny(
                "this answers for the user",
                "tell the user which question waits, and leave the answer to them",
            ));
        }
        chooses_rules(found).then(|| {
            Problem::ask(
                "this chooses by which rules it is judged and confined",
                "leave out the option or variable, and run the command itself",
            )
        })
    }
}

/// Settings in the home directory with which agents are guarded in every project.
fn decides(path: &str, world: &World) -> bool {
    const DECIDING: [&str; 9] = [
        ".claude/settings.json", ".claude/settings.local.json", ".claude.json", ".codex/config.toml",
        ".codex/rules", ".gemini/settings.json", ".cursor/cli-config.json", ".cursor/hooks.json",
        ".copilot/config.json",
    ];
    let below = path.strip_prefix(world.home()).and_then(|rest| rest.strip_prefix('/'));
    below.is_some_and(|path| {
        let is = |known: &str| {
            path.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        DECIDING.iter().any(|known| is(known)) || path.starts_with(".claude/hooks")
    })
}

/// Whatever is not known may be a verb, or the value of `--approve`.
fn answers(arguments: &[Text]) -> bool {
    let verb = arguments.iter().find(|argument| argument.value().is_none_or(|text| !text.starts_with('-')));
    let is_verb = verb.is_some_and(|verb| verb.value().is_none_or(|text| matches!(text, "approve" | "deny")));
    let mut words = arguments.iter();
    let always = words.any(|word| match word.value() {
        Some("--approve") => true,
        Some(text) => text.starts_with("--approve=") && text != "--approve=ask" && text != "--approve=never",
        None => false,
    });
    // A single word follows, which `any` has stopped before.
    is_verb || always && !words.next().is_some_and(|word| matches!(word.value(), Some("ask" | "never")))
}

/// Showing what would be written changes nothing.
fn changes_hooks(arguments: &[Text]) -> bool {
    let verb = arguments.iter().find(|argument| argument.value().is_none_or(|text| !text.starts_with('-')));
    let is_change = |word: &Text| word.value().is_none_or(|text| matches!(text, "--install" | "--uninstall"));
    verb.and_then(Text::value) == Some("hook") && arguments.iter().any(is_change)
}

/// Options and variables that decide how Bashtion judges and confines what it runs.
fn chooses_rules(found: &Found) -> bool {
    const CHOOSING: [&str; 5] = ["--profile", "--sandbox", "--network", "--writable", "--no-auth"];
    let verb = found.arguments.iter().find(|word| word.value().is_none_or(|text| !text.starts_with('-')));
    if !verb.is_some_and(|verb| verb.value().is_none_or(|text| matches!(text, "run" | "serve"))) {
        return false;
    }
    let end = found.arguments.iter().position(|word| word.value() == Some("--"));
    let options = &found.arguments[..end.unwrap_or(found.arguments.len())];
    // A shortened option is none: they have to be written in full.
    let chooses = |word: &Text| {
        let text = word.prefix();
        let name = text.split('=').next().unwrap_or_default();
        CHOOSING.contains(&name) || word.value().is_none() && text.is_empty()
    };
    let decides = |name: &str| matches!(name, "HOME" | "XDG_CONFIG_HOME") || name.starts_with("BASHTION_");
    options.iter().any(chooses) || found.environment.iter().any(|(name, _)| decides(name))
}
