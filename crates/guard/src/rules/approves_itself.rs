use super::{Problem, Rule, about, rule};
use crate::analysis::Found;
use crate::text::Text;
use crate::world::World;

rule! {
    /// Answers to Bashtion's own questions, given by a command, and changes to its hooks.
    ///
    /// ## Why
    /// A question is put to a person. A command that answers it has not been agreed to by anybody. Nor has one that takes
    /// the guard away.
    ///
    /// ## Example
    /// `bashtion approve ask-7k2m9q`, `bashtion run --approve always 'git reset --hard'`, `bashtion hook codex --uninstall`
    ///
    /// ## Instead
    /// Say which question waits, and leave the answer to the user. Listing them with `bashtion approve` is refused too.
    ApprovesItself, "approves-itself", Deny
}

impl Rule for ApprovesItself {
    about!();

    fn check(&self, found: &Found, _: &World) -> Option<Problem> {
        if found.program == "bashtion" && changes_hooks(&found.arguments) {
            return Some(Problem::deny(
                "this changes what guards the agent",
                "tell the user what you want changed, and leave it to them",
            ));
        }
        if found.program != "bashtion" || !answers(&found.arguments) {
            return None;
        }
        Some(Problem::deny(
            "this answers for the user",
            "tell the user which question waits, and leave the answer to them",
        ))
    }
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
