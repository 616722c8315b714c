//! What a script leaves behind for its own later commands: directories that are there, links that lead elsewhere.

use crate::analysis::Found;
use crate::options::Options;
use crate::paths::{locate, normalise};
use crate::scope::Scope;
use crate::text::Text;

use super::Walker;

/// Links that lead to links, and so on.
const MOST_LINKS: usize = 4;

/// What becomes of a link that is the last part of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Last {
    Followed,
    /// The link itself is meant, unless a slash follows it.
    Itself,
}

impl Walker<'_> {
    /// Remembers directories and links that a command makes.
    pub(super) fn leave_behind(&self, found: &Found, scope: &mut Scope) {
        match found.program.as_str() {
            "mkdir" => {
                let options = Options::parse(&found.arguments, "mZ", &["mode"]);
                for directory in &options.operands {
                    self.known_places(directory, scope)
                        .into_iter()
                        .for_each(|path| scope.make_directory(path));
                }
            }
            "dd" if !found.arguments.iter().any(|word| word.prefix().starts_with("if=")) => {
                let file = found.arguments.iter().find_map(|word| word.strip_prefix("of="));
                let paths = file.map(|file| self.known_places(&file, scope)).unwrap_or_default();
                for path in paths {
                    scope.write_file(&path, super::as_file(found.input.clone()));
                }
            }
            "ln" => {
                let options = Options::parse(&found.arguments, "St", &["suffix", "target-directory"]);
                if options.has(&["s", "symbolic"]) {
                    self.link(&options, scope);
                }
            }
            _ => {}
        }
    }

    fn link(&self, options: &Options, scope: &mut Scope) {
        let base = |target: &Text| {
            let target = target.rough();
            Text::known(target.trim_end_matches('/').rsplit('/').next().unwrap_or_default())
        };
        let inside = |directory: &Text, target: &Text| {
            let mut path = directory.clone();
            path.push_str("/");
            path.append(&base(target));
            path
        };
        let directory = options.value(&["t", "target-directory"]);
        let links: Vec<(&Text, Text)> = match (directory, options.operands.as_slice()) {
            (Some(directory), targets) => {
                targets.iter().map(|target| (target, inside(directory, target))).collect()
            }
            (None, [target]) => vec![(target, base(target))],
            // The second may be a directory that is there: then the link is made in it.
            (None, [target, name]) => vec![(target, name.clone()), (target, inside(name, target))],
            (None, [targets @ .., directory]) => {
                targets.iter().map(|target| (target, inside(directory, target))).collect()
            }
            (None, []) => vec![],
        };
        for (target, link) in links {
            let Some(target) = target.value() else { continue };
            for path in self.known_places(&link, scope) {
                let around = path.rsplit_once('/').map_or("", |(around, _)| around);
                let leads =
                    if target.starts_with('/') { target.to_owned() } else { format!("{around}/{target}") };
                scope.make_link(path, normalise(&leads));
            }
        }
    }

    fn known_places(&self, path: &Text, scope: &Scope) -> Vec<String> {
        let paths = locate(path, &scope.cwds, self.world).into_iter();
        paths.filter(|path| path.why.is_none()).map(|path| path.name).collect()
    }

    /// Where a path leads by the links that the script has made. None if there are none on its way.
    pub(super) fn followed(&self, path: &Text, last: Last, scope: &Scope) -> Option<Text> {
        if scope.links().is_empty() {
            return None;
        }
        let ends = path.rough().ends_with('/');
        let last = if ends { Last::Followed } else { last };
        let start = self.known_places(path, scope);
        start.into_iter().find_map(|start| {
            let mut now = start.clone();
            for _ in 0..MOST_LINKS {
                let next = scope.links().iter().find_map(|(link, target)| {
                    let rest = now.strip_prefix(link.as_str())?;
                    let through = rest.starts_with('/') || rest.is_empty() && last == Last::Followed;
                    through.then(|| format!("{}{rest}", target.trim_end_matches('/')))
                });
                match next {
                    Some(next) => now = if next.is_empty() { "/".to_owned() } else { next },
                    None => break,
                }
            }
            (now != start).then(|| crate::expand::with_patterns(&Text::known(now)))
        })
    }

    /// The arguments of a program with links followed. None if that changes nothing.
    pub(super) fn arguments_followed(
        &self,
        program: &str,
        arguments: &[Text],
        scope: &Scope,
    ) -> Option<Vec<Text>> {
        if scope.links().is_empty() || program == "ln" {
            return None;
        }
        let itself = matches!(program, "rm" | "mv" | "unlink" | "rmdir");
        let last = if itself { Last::Itself } else { Last::Followed };
        let mut changed = false;
        let followed = arguments.iter().map(|argument| {
            if argument.prefix().starts_with('-') {
                return argument.clone();
            }
            // `of=link/file` too.
            let text = argument.rough();
            let value = text.split_once('=').and_then(|(name, _)| {
                let rest = argument.strip_prefix(&format!("{name}="))?;
                let mut whole = Text::known(format!("{name}="));
                whole.append(&self.followed(&rest, last, scope)?);
                Some(whole)
            });
            let followed = self.followed(argument, last, scope).or(value);
            changed |= followed.is_some();
            followed.unwrap_or_else(|| argument.clone())
        });
        let followed = followed.collect();
        changed.then_some(followed)
    }
}
