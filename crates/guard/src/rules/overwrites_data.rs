use super::{Problem, Rule, about, rule};
use crate::analysis::{Effect, Found, Target};
use crate::options::Options;
use crate::paths::Place;
use crate::text::Text;
use crate::world::World;

rule! {
    /// Contents of files that are made unreadable or thrown away.
    ///
    /// ## Why
    /// What is overwritten cannot be brought back, not even from a trash.
    ///
    /// ## Example
    /// `shred -u secrets.txt`, `truncate -s 0 data.db`, `mv notes.txt /dev/null`, `rsync -a --delete src/ backup/`
    ///
    /// ## Instead
    /// Move the file aside first, or leave `--delete` away.
    OverwritesData, "overwrites-data", Ask
}

impl Rule for OverwritesData {
    about!();

    fn check(&self, found: &Found, _: &World) -> Option<Problem> {
        let deletes = found.effects.iter().any(|effect| matches!(effect, Effect::Delete { .. }));
        let problem = |what: &str, help: &str| Some(Problem::ask(what, help));
        match found.program.as_str() {
            "shred" | "wipe" | "srm" if deletes => {
                problem("the contents of files are made unreadable for good", "use `rm`, or keep the files")
            }
            "truncate" => {
                let options = Options::parse(&found.arguments, "sr", &["size", "reference"]);
                let size = options.value(&["s", "size"]).map(Text::rough).unwrap_or_default();
                let grows = size.starts_with('+')
                    || size.bytes().any(|byte| (b'1'..=b'9').contains(&byte))
                        && !size.starts_with(['-', '<']);
                let is_log =
                    |target: &Target| target.place == Place::Workspace && target.path.ends_with(".log");
                let expendable = found.effects.iter().all(|effect| {
                    matches!(effect, Effect::Write { target }
                        if is_log(target) || matches!(target.place, Place::Temporary | Place::Harmless))
                });
                if grows || expendable {
                    None
                } else {
                    problem("a file is emptied or cut", "keep a copy of it first")
                }
            }
            "mv" if deletes => {
                problem("files moved into a device are gone", "use `rm`, which says what it does")
            }
            "rsync" if deletes || mirrors(found) => problem(
                "`rsync --delete` removes what the source does not have",
                "look first with `--dry-run`, or leave `--delete` away",
            ),
            _ => None,
        }
    }
}

/// `rsync --delete` onto another machine.
fn mirrors(found: &Found) -> bool {
    let flags: Vec<String> = found.arguments.iter().map(Text::rough).collect();
    let dry = |flag: &String| {
        flag == "--dry-run" || flag.starts_with('-') && !flag.starts_with("--") && flag.contains('n')
    };
    flags.iter().any(|flag| flag.starts_with("--del")) && !flags.iter().any(dry)
}
