//! Files outside of its own that git changes by name.

use super::files::from_and_to;
use crate::analysis::{Effect, Target};
use crate::options::Options;
use crate::rules::GLOBAL_VALUES;
use crate::text::Text;

/// The effects of a call of git. What a branch, a patch or a server brings is not known.
pub(super) fn of(arguments: &[Text], at: &impl Fn(&Text) -> Vec<Target>) -> Vec<Effect> {
    let write = |paths: &[Text]| -> Vec<Effect> {
        paths.iter().flat_map(at).map(|target| Effect::Write { target }).collect()
    };
    let (directory, rest) = without_global(arguments);
    let Some((verb, rest)) = rest.split_first() else { return vec![] };
    let here = |path: &Text| match &directory {
        Some(directory) if !path.prefix().starts_with('/') => {
            let mut whole = directory.clone();
            whole.push_str("/");
            whole.append(path);
            whole
        }
        Some(_) | None => path.clone(),
    };
    let here = |paths: &[Text]| paths.iter().map(here).collect::<Vec<_>>();
    let tree = arguments.iter().find_map(|argument| argument.strip_prefix("--work-tree="));
    let options = Options::parse(rest, "mbBos", &["source", "message"]);
    match (tree, verb.value().unwrap_or_default()) {
        (Some(tree), "checkout" | "reset" | "restore" | "checkout-index" | "clean") => write(&[tree]),
        (_, "config") if rest.iter().any(|argument| argument.value() == Some("--system")) => {
            write(&[Text::known("/etc/gitconfig")])
        }
        (_, "clone") => {
            options.operands.get(1).map_or_else(Vec::new, |into| write(&here(std::slice::from_ref(into))))
        }
        (_, "diff" | "log" | "show" | "archive" | "format-patch" | "bundle") => {
            let written = Options::parse(rest, "o", &["output", "output-directory"]);
            write(&here(&written.values(&["o", "output", "output-directory"]).cloned().collect::<Vec<_>>()))
        }
        (_, "worktree") if rest.first().and_then(Text::value) == Some("add") => {
            let added = Options::parse(&rest[1..], "bB", &["reason"]);
            write(&here(added.operands.get(..1).unwrap_or_default()))
        }
        (_, "checkout") => write(&here(&checked_out(rest, &options))),
        (_, "restore") if !options.has(&["S", "staged"]) || options.has(&["W", "worktree"]) => {
            write(&here(&options.operands))
        }
        (_, "mv") => {
            let (from, into) = from_and_to(rest);
            let moved = here(&from).iter().flat_map(at).map(|target| Effect::Move { target }).collect();
            [moved, write(&here(&into))].concat()
        }
        (_, "rm") if !options.has(&["cached", "n", "dry-run"]) => {
            let recursive = options.has(&["r"]);
            // Taking every file out is a matter of history: they can be brought back.
            let named =
                options.operands.iter().filter(|path| !matches!(path.rough().as_str(), "." | "*" | ":/"));
            here(&named.cloned().collect::<Vec<_>>())
                .iter()
                .flat_map(at)
                .map(|target| Effect::Delete { target, recursive })
                .collect()
        }
        _ => vec![],
    }
}

/// The directory of `-C`, and the arguments from the subcommand on.
fn without_global(arguments: &[Text]) -> (Option<Text>, &[Text]) {
    let (mut directory, mut at) = (None, 0);
    while let Some(argument) = arguments.get(at) {
        let text = argument.rough();
        if !text.starts_with('-') {
            break;
        }
        if text == "-C" {
            directory = arguments.get(at + 1).cloned();
        }
        at += if GLOBAL_VALUES.contains(&text.as_str()) { 2 } else { 1 };
    }
    (directory, arguments.get(at..).unwrap_or_default())
}

/// The files that `git checkout` writes. Without `--` a name may be a branch, unless a part of it begins with a dot
/// (git-check-ref-format(1)).
fn checked_out(arguments: &[Text], options: &Options) -> Vec<Text> {
    if let Some(end) = arguments.iter().position(|argument| argument.value() == Some("--")) {
        return arguments[end + 1..].to_vec();
    }
    let is_path = |name: &&Text| name.rough().split('/').any(|part| part.starts_with('.') && part != "..");
    options.operands.iter().filter(is_path).cloned().collect()
}
