use super::{Problem, Rule, about, rule};
use crate::analysis::{Effect, Found};
use crate::paths::Place;
use crate::programs::{Concern, Usage, page};
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
        let lost = found.concerns.iter().find_map(|concern| match concern {
            Concern::Contents(what, help) => Some(Problem::ask(*what, *help)),
            _ => None,
        });
        let cut = || cuts(found).then(|| Problem::ask("a file is emptied or cut", "keep a copy of it first"));
        lost.or_else(cut)
    }
}

/// `truncate` to less than there may be. A log is emptied as it would be by `> app.log`.
fn cuts(found: &Found) -> bool {
    if found.program != "truncate" {
        return false;
    }
    let Some(page) = page(&found.program) else { return false };
    let usage = Usage::of(found, page);
    let size = usage.value("-s --size").map(Text::rough).unwrap_or_default();
    let grows = size.starts_with('+')
        || size.bytes().any(|byte| (b'1'..=b'9').contains(&byte)) && !size.starts_with(['-', '<']);
    let unneeded = |effect: &Effect| match effect {
        Effect::Write { target } => match target.place {
            Place::Temporary | Place::Harmless => true,
            Place::Workspace => target.path.ends_with(".log"),
            _ => false,
        },
        _ => true,
    };
    !grows && !usage.shows() && !found.effects.iter().all(unneeded)
}
