use super::{Problem, Rule, about, rule};
use crate::analysis::{Effect, Found};
use crate::paths::Place;
use crate::text::Text;
use crate::world::World;

rule! {
    /// Writing without end into a file.
    ///
    /// ## Why
    /// It stops when the disk is full, and then nothing works any more.
    ///
    /// ## Example
    /// `dd if=/dev/zero of=fill`, `yes > file`, `cat /dev/urandom > file`
    ///
    /// ## Instead
    /// Say how much: `head -c 16M /dev/zero > disk.img`, `truncate -s 16M disk.img`.
    FillsDisk, "fills-disk", Deny
}

impl Rule for FillsDisk {
    about!();

    fn check(&self, found: &Found, _: &World) -> Option<Problem> {
        let endless = |text: &str| matches!(text, "/dev/zero" | "/dev/urandom" | "/dev/random" | "/dev/full");
        let writes = found.effects.iter().any(|effect| {
            matches!(effect, Effect::Write { target } if !matches!(target.place, Place::Harmless | Place::RawDevice))
        });
        if !writes {
            return None;
        }
        let help = "say how much, for example `head -c 16M /dev/zero > disk.img`";
        match found.program.as_str() {
            "dd" => {
                let source = found.arguments.iter().find_map(|argument| argument.strip_prefix("if="))?;
                if !source.value().is_some_and(endless) {
                    return None;
                }
                let bounded = found.arguments.iter().any(|argument| argument.prefix().starts_with("count="));
                let temporary = |effect: &Effect| matches!(effect, Effect::Write { target } if target.place == Place::Temporary);
                if bounded && found.effects.iter().all(temporary) {
                    return None;
                }
                Some(if bounded {
                    Problem::ask(
                        "`dd` overwrites a file with zeros or noise",
                        "make sure that nothing in it is needed",
                    )
                } else {
                    Problem::deny("`dd` writes without end, until the disk is full", help)
                })
            }
            "yes" => Some(Problem::deny("`yes` writes without end, until the disk is full", help)),
            "cat" if found.arguments.iter().filter_map(Text::value).any(endless) => {
                Some(Problem::deny("an endless device is written into a file, until the disk is full", help))
            }
            _ => None,
        }
    }
}
