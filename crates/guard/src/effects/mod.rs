//! What programs do to files and to other machines, by their pages.

mod hosts;
mod paths;

use crate::analysis::{Effect, Found, Target};
use crate::paths::{Place, locate};
use crate::programs::{Concern, Deed, Usage, outputs, page};
use crate::scope::{File, Scope};
use crate::text::Text;
use crate::world::World;

pub(crate) use hosts::hosts;
pub(crate) use paths::{located, targets};

/// What a use of a program comes to.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) effects: Vec<Effect>,
    /// Matters for rules.
    pub(crate) concerns: Vec<Concern>,
}

/// The effects of a program.
pub(crate) fn of(found: &Found, world: &World) -> Outcome {
    let mut outcome = Outcome::default();
    let page = page(&found.program);
    if page.is_none_or(|page| !page.knows_files()) {
        let paths = outputs(&found.arguments);
        let written = paths.iter().flat_map(|path| targets(path, found, world));
        outcome.effects.extend(written.map(|target| Effect::Write { target }));
    }
    let Some(page) = page else { return outcome };
    let usage = Usage::of(found, page);
    for (deed, skipped) in usage.deeds() {
        outcome.add(deed, skipped, &usage, world);
    }
    outcome.throw_away();
    let hosts = hosts::of(&usage).into_iter();
    outcome.effects.extend(hosts.map(|host| Effect::Connect { host }));
    outcome
}

impl Outcome {
    fn add(&mut self, deed: &Deed, skipped: usize, usage: &Usage<'_>, world: &World) {
        let found = usage.found;
        // One by one, all files below a directory are as good as the directory.
        let each = found.via.iter().any(|via| matches!(via.as_str(), "find" | "gfind" | "fd" | "fdfind"));
        let at = |which| {
            let paths = usage.select(which, skipped).into_iter().map(|path| from_directory(path, usage));
            paths.flat_map(|path| targets(&path, found, world)).collect::<Vec<_>>()
        };
        match deed {
            Deed::Writes(which) | Deed::Copies(_, which) | Deed::Downloads(which) => {
                let paths = usage.select(which, skipped).into_iter().filter(|path| path.value() != Some("-"));
                let paths = paths.map(|path| from_directory(path, usage));
                let written = paths.flat_map(|path| targets(&path, found, world));
                self.effects.extend(written.map(|target| Effect::Write { target }));
            }
            Deed::Deletes(which) | Deed::DeletesTree(which) => {
                let recursive = each || matches!(deed, Deed::DeletesTree(_));
                self.delete(&usage.select(which, skipped), recursive, usage, world);
            }
            Deed::Mirrors(which) => {
                let gone = at(which).into_iter().filter(|target| !is_deployed(target));
                self.effects.extend(gone.map(|target| Effect::Delete { target, recursive: true }));
            }
            Deed::Moves(which) => {
                let paths = usage.select(which, skipped).into_iter().filter(|path| !is_renamed(path, usage));
                let paths = paths.map(|path| from_directory(path, usage));
                let moved = paths.flat_map(|path| targets(&path, found, world));
                self.effects.extend(moved.map(|target| Effect::Move { target }));
            }
            Deed::Renames(which) => {
                let moved = at(which).into_iter().filter(|target| target.place != Place::WorkspaceRoot);
                self.effects.extend(moved.map(|target| Effect::Move { target }));
            }
            Deed::ChangesPermissions(which) => {
                let changed = at(which).into_iter();
                self.effects.extend(changed.map(|target| Effect::Permissions { target, recursive: each }));
            }
            Deed::ChangesPermissionsOfTree(which) => {
                let changed = at(which).into_iter();
                self.effects.extend(changed.map(|target| Effect::Permissions { target, recursive: true }));
            }
            Deed::Executes(which) => {
                self.effects.extend(at(which).into_iter().map(|target| Effect::Execute { target }));
            }
            Deed::Concerns(concern) => self.concerns.push(*concern),
        }
    }

    fn delete(&mut self, paths: &[Text], recursive: bool, usage: &Usage<'_>, world: &World) {
        for path in paths {
            if path.is_empty() {
                let reason = Some("it is empty here".to_owned());
                let target = Target { path: "''".to_owned(), place: Place::Unknown, reason };
                self.effects.push(Effect::Delete { target, recursive });
                continue;
            }
            let path = from_directory(path.clone(), usage);
            let gone = targets(&path, usage.found, world).into_iter();
            self.effects.extend(gone.map(|target| Effect::Delete { target, recursive }));
        }
    }

    /// What is moved into a device is gone.
    fn throw_away(&mut self) {
        let is_device = |effect: &Effect| matches!(effect, Effect::Write { target } if matches!(target.place, Place::Harmless | Place::RawDevice));
        let moves = self.effects.iter().any(|effect| matches!(effect, Effect::Move { .. }));
        if !moves || !self.effects.iter().any(is_device) {
            return;
        }
        self.concerns.push(Concern::Contents(
            "files moved into a device are gone", "use `rm`, which says what it does",
        ));
        for effect in &mut self.effects {
            if let Effect::Move { target } = effect {
                *effect = Effect::Delete { target: target.clone(), recursive: true };
            }
        }
    }
}

/// A path from the directory that an option names.
fn from_directory(path: Text, usage: &Usage<'_>) -> Text {
    match usage.value(usage.page.enters) {
        Some(directory) if !path.prefix().starts_with('/') => {
            let mut whole = directory.clone();
            whole.push_str("/");
            whole.append(&path);
            whole
        }
        Some(_) | None => path,
    }
}

/// `xargs -I{} mv {} {}.bak`: each file keeps its place, and gets another name.
fn is_renamed(path: &Text, usage: &Usage<'_>) -> bool {
    let each = usage.found.via.iter().any(|via| matches!(via.as_str(), "find" | "gfind" | "fd" | "xargs"));
    let Some(into) = usage.operands.last() else { return false };
    let (from, into) = (path.rough(), into.rough());
    let added = into.strip_prefix(from.as_str());
    each && usage.operands.len() == 2 && added.is_some_and(|added| !added.is_empty() && !added.contains('/'))
}

/// A directory that programs are deployed to: what is mirrored there is asked about, and no more.
fn is_deployed(target: &Target) -> bool {
    let deep = target.path.matches('/').count() > 2;
    let kept = ["/var/lib/", "/var/log/", "/var/backups/", "/var/spool/"];
    target.place == Place::System
        && deep
        && ["/var/", "/opt/", "/usr/local/", "/srv/"].iter().any(|root| target.path.starts_with(root))
        && !kept.iter().any(|root| target.path.starts_with(root))
}

/// Everything that a command makes, replaces or fills, also by putting files into a directory.
pub(crate) fn written(found: &Found, world: &World) -> Vec<Target> {
    let named = found.effects.iter().filter_map(|effect| match effect {
        Effect::Write { target } => Some(target.clone()),
        Effect::Delete { .. }
        | Effect::Move { .. }
        | Effect::Permissions { .. }
        | Effect::Execute { .. }
        | Effect::Connect { .. } => None,
    });
    let inside = copies(found).into_iter().flat_map(|(from, into)| names_inside(&from, &into));
    named.chain(inside.flat_map(|path| targets(&path, found, world))).collect()
}

/// What a command copies, and where to.
fn copies(found: &Found) -> Option<(Vec<Text>, Vec<Text>)> {
    let page = page(&found.program).filter(|page| {
        page.cases.iter().any(|case| case.deeds.iter().any(|deed| matches!(deed, Deed::Copies(..))))
    })?;
    let usage = Usage::of(found, page);
    usage.deeds().into_iter().find_map(|(deed, skipped)| match deed {
        Deed::Copies(from, into) => Some((usage.select(from, skipped), usage.select(into, skipped))),
        _ => None,
    })
}

/// The names that files have in a directory that they are put into.
fn names_inside(from: &[Text], into: &[Text]) -> Vec<Text> {
    let [directory] = into else { return vec![] };
    from.iter().map(|from| crate::programs::named_inside(directory, from)).collect()
}

/// What later commands of the script should know: where programs were copied to, and what was downloaded into what.
pub(crate) fn remember(found: &Found, world: &World, scope: &mut Scope) {
    if let Some((from, mut names)) = copies(found)
        && let [source] = from.as_slice()
    {
        names.extend(names_inside(&from, &names));
        let name = source.rough();
        let base = name.rsplit('/').next().unwrap_or_default().to_owned();
        let file =
            locate(source, &found.cwds, world).into_iter().find_map(|path| scope.file(&path.name).cloned());
        let from_system = ["/bin/", "/usr/", "/sbin/"].iter().any(|directory| name.starts_with(directory));
        let file = file.or(from_system.then_some(File::Program(base)));
        for path in names.iter().flat_map(|copy| locate(copy, &found.cwds, world)) {
            scope.write_file(&path.name, file.clone());
        }
    }
    for path in downloaded(found).iter().flat_map(|file| locate(file, &found.cwds, world)) {
        scope.write_file(&path.name, Some(File::Downloaded));
    }
    if found.program == "tee"
        && let Some(file) = crate::walk::as_file(found.input.clone())
    {
        for path in found.arguments.iter().flat_map(|argument| locate(argument, &found.cwds, world)) {
            scope.write_file(&path.name, Some(file.clone()));
        }
    }
}

/// The files that a program makes of what it fetches.
fn downloaded(found: &Found) -> Vec<Text> {
    let fetches = |deed: &Deed| matches!(deed, Deed::Downloads(_));
    let page =
        page(&found.program).filter(|page| page.cases.iter().any(|case| case.deeds.iter().any(fetches)));
    let Some(page) = page else { return vec![] };
    let usage = Usage::of(found, page);
    let deeds = usage.deeds().into_iter();
    deeds
        .flat_map(|(deed, skipped)| match deed {
            Deed::Downloads(which) => usage.select(which, skipped),
            _ => vec![],
        })
        .collect()
}
