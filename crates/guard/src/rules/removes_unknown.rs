use super::{Problem, Rule, about, rule};
use crate::analysis::{Effect, Found};
use crate::paths::Place;
use crate::world::World;

rule! {
    /// Deletion of something whose name is not known before it runs.
    ///
    /// ## Why
    /// A variable that is empty or wrong makes `rm -rf "$DIR"/*` mean `rm -rf /*`.
    ///
    /// ## Example
    /// `rm -rf "$BUILD_DIR"` where the command does not set `BUILD_DIR`
    ///
    /// ## Instead
    /// Write the path itself, or set the variable in the same command: `d=./build; rm -rf "$d"`.
    RemovesUnknown, "removes-unknown", Deny
}

impl Rule for RemovesUnknown {
    about!();

    fn check(&self, found: &Found, _: &World) -> Option<Problem> {
        found.effects.iter().find_map(|effect| {
            let Effect::Delete { target, .. } = effect else { return None };
            if target.place != Place::Unknown {
                return None;
            }
            let reason = target.reason.clone().unwrap_or_default();
            let help =
                "write the path itself, or set the variable in the same command: `d=./build; rm -rf \"$d\"`";
            let hidden = reason == crate::text::Why::Decoded.to_string()
                || reason == crate::text::Why::Download.to_string();
            let message = format!("deletion of {}, which is not known before it runs: {reason}", target.path);
            Some(if hidden { Problem::deny(message, help) } else { Problem::ask(message, help) })
        })
    }
}
