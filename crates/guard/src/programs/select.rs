//! Words that a page cannot name by their places.

use super::usage::{Usage, is_elsewhere};
use crate::text::Text;

/// Operands of programs that expand patterns by themselves.
pub(super) fn expanded(usage: &Usage<'_>) -> Vec<Text> {
    usage.operands.iter().map(crate::expand::with_patterns).collect()
}

const TARGET_DIRECTORY: &str = "-t --target-directory";

/// What `cp` and its kin copy.
pub(super) fn sources(usage: &Usage<'_>) -> Vec<Text> {
    if usage.value(TARGET_DIRECTORY).is_some() {
        return usage.operands.clone();
    }
    if makes_directories(usage) {
        return vec![];
    }
    usage.operands.split_last().map(|(_, from)| from.to_vec()).unwrap_or_default()
}

/// Where `cp` and its kin put it.
pub(super) fn destinations(usage: &Usage<'_>) -> Vec<Text> {
    if let Some(directory) = usage.value(TARGET_DIRECTORY) {
        return usage.operands.iter().map(|from| named_inside(directory, from)).collect();
    }
    if makes_directories(usage) {
        return usage.operands.clone();
    }
    // `ln -s /etc/x` makes a link here.
    usage.operands.get(1..).and_then(<[Text]>::last).cloned().into_iter().collect()
}

/// `install -d` makes directories.
fn makes_directories(usage: &Usage<'_>) -> bool {
    usage.found.program.ends_with("install") && usage.has("-d --directory")
}

/// The name that a file has in a directory that it is put into.
pub(crate) fn named_inside(directory: &Text, from: &Text) -> Text {
    let mut path = directory.clone();
    path.push_str("/");
    path.push_str(from.rough().trim_end_matches('/').rsplit('/').next().unwrap_or_default());
    path
}

/// All but the last operand, if they are here.
pub(super) fn sources_here(usage: &Usage<'_>) -> Vec<Text> {
    sources(usage).into_iter().filter(|path| !is_elsewhere(path)).collect()
}

/// Files that `socat` opens.
pub(super) fn socat_files(usage: &Usage<'_>) -> Vec<Text> {
    let file = |address: &Text| {
        let text = address.rough();
        let (kind, rest) = text.split_once(':')?;
        let writes = matches!(kind.to_uppercase().as_str(), "OPEN" | "CREATE" | "CREAT" | "FILE" | "GOPEN");
        writes.then(|| Text::known(rest.split(',').next().unwrap_or_default()))
    };
    usage.found.arguments.iter().filter_map(file).collect()
}

/// The files after a mode or an owner. A mode such as `-x` looks like an option.
pub(super) fn after_mode(usage: &Usage<'_>) -> Vec<Text> {
    let is_mode = |text: &str| {
        text.len() > 1
            && text.starts_with('-')
            && text[1..].bytes().all(|byte| b"rwxXstugo=+-".contains(&byte))
            && text != "--"
    };
    let named = usage.value("--reference").is_some()
        || usage.found.arguments.iter().any(|argument| is_mode(&argument.rough()));
    usage.operands.iter().skip(usize::from(!named)).cloned().collect()
}

/// The files after `+i`, `-i` or `=i`.
pub(super) fn after_attributes(usage: &Usage<'_>) -> Vec<Text> {
    let is_file = |operand: &&Text| !operand.prefix().starts_with(['+', '=']);
    usage.operands.iter().filter(is_file).cloned().collect()
}

/// The script that an interpreter or a shell is given.
pub(super) fn script(usage: &Usage<'_>) -> Vec<Text> {
    let arguments = &usage.found.arguments;
    let Some(at) = arguments.iter().position(|argument| !argument.prefix().starts_with('-')) else {
        return vec![];
    };
    // With these the script comes from elsewhere.
    let elsewhere = |flags: &Text| !flags.prefix().starts_with("--") && flags.prefix().contains(['s', 'c']);
    let named = arguments[at].value().is_some_and(|text| !text.contains(' '));
    if named && !arguments[..at].iter().any(elsewhere) { vec![arguments[at].clone()] } else { vec![] }
}

/// Most programs name the file that they make with `-o`, `-out` or `--output`.
pub(super) fn named_outputs(usage: &Usage<'_>) -> Vec<Text> {
    outputs(&usage.found.arguments)
}

/// Files that a program of which nothing is known would write, by the options that most of them have.
pub(crate) fn outputs(arguments: &[Text]) -> Vec<Text> {
    let mut outputs = vec![];
    for (at, argument) in arguments.iter().enumerate() {
        let text = argument.rough();
        if matches!(
            text.as_str(),
            "-o" | "--output" | "-out" | "--out" | "-keyout" | "--output-file" | "--outfile" | "--log-file"
        ) {
            outputs.extend(arguments.get(at + 1).cloned());
        } else if let Some(value) = ["--output=", "--output-file=", "--outfile=", "--log-file=", "--out="]
            .iter()
            .find_map(|option| argument.strip_prefix(option))
        {
            outputs.push(value);
        }
    }
    let edits = |flag: &Text| matches!(flag.value(), Some("--in-place" | "--inplace" | "--write"));
    if arguments.iter().any(edits) {
        outputs.extend(arguments.iter().filter(|path| path.prefix().starts_with('/')).cloned());
    }
    outputs
}

/// Files that `sed -i` changes.
pub(super) fn edited_by_sed(usage: &Usage<'_>) -> Vec<Text> {
    if !usage.has("-i --in-place -I") {
        return vec![];
    }
    let scripted = usage.has("-e -f --expression --file");
    usage.operands.iter().skip(usize::from(!scripted)).cloned().collect()
}

/// The `w` command of sed.
pub(super) fn written_by_sed(usage: &Usage<'_>) -> Vec<Text> {
    let mut files = vec![];
    for script in usage.found.arguments.iter().map(Text::rough) {
        for piece in script.split([';', '\n']) {
            let Some(at) = piece.find("w /") else { continue };
            if piece[..at].chars().last().is_none_or(|c| !c.is_alphabetic()) {
                files.push(Text::known(piece[at + 2..].trim()));
            }
        }
    }
    files
}

/// Files that `perl -i` and `ruby -i` change.
pub(super) fn edited_in_place(usage: &Usage<'_>) -> Vec<Text> {
    let in_place = |argument: &Text| {
        let text = argument.rough();
        text.starts_with('-')
            && !text.starts_with("--")
            && text.contains('i')
            && !text.contains(' ')
            && !text.starts_with("-M")
    };
    if usage.found.arguments.iter().any(in_place) { usage.operands.clone() } else { vec![] }
}

/// The files after a script, unless the script is in a file.
pub(super) fn after_script(usage: &Usage<'_>) -> Vec<Text> {
    let scripted = usage.has("-f -e --file --source");
    usage.operands.iter().skip(usize::from(!scripted)).cloned().collect()
}

/// The files that an editor opens, and those that its commands write.
pub(super) fn edited_by_hand(usage: &Usage<'_>) -> Vec<Text> {
    let named = usage.values("-c --cmd").filter_map(|code| {
        let code = code.rough();
        let code = code.trim_start_matches(':').trim();
        ["w! ", "w ", "wq! ", "saveas "].iter().find_map(|verb| code.strip_prefix(verb)).map(Text::known)
    });
    let opened = usage.operands.iter().filter(|operand| !operand.prefix().starts_with('+')).cloned();
    opened.chain(named).collect()
}

/// Where `tar` puts files.
pub(super) fn unpacked_by_tar(usage: &Usage<'_>) -> Vec<Text> {
    let into = usage.value("-C --directory").or_else(|| usage.value("--one-top-level"));
    let here = if usage.has("-P --absolute-names") { "/" } else { "." };
    vec![into.cloned().unwrap_or_else(|| Text::known(here))]
}

fn is_url(argument: &Text) -> bool {
    argument.rough().contains("://")
}

/// The name of what an address stands for.
fn name_of(url: &Text) -> Text {
    let url = url.rough();
    let name = url.split(['?', '#']).next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
    Text::known(name)
}

fn in_directory(directory: Option<&Text>, name: Text) -> Text {
    let Some(directory) = directory else { return name };
    let mut path = directory.clone();
    path.push_str("/");
    path.append(&name);
    path
}

pub(super) fn saved_by_curl(usage: &Usage<'_>) -> Vec<Text> {
    let directory = usage.value("--output-dir");
    let mut files: Vec<Text> = usage
        .values("-o --output")
        .filter(|file| file.value() != Some("-"))
        .map(|file| {
            if file.prefix().starts_with('/') { file.clone() } else { in_directory(directory, file.clone()) }
        })
        .collect();
    if usage.has("-O -J --remote-name --remote-name-all --remote-header-name") {
        let urls = usage.operands.iter().filter(|url| is_url(url));
        files.extend(urls.map(|url| in_directory(directory, name_of(url))));
    }
    files
}

pub(super) fn saved_by_wget(usage: &Usage<'_>) -> Vec<Text> {
    match usage.value("-O --output-document") {
        Some(file) if matches!(file.value(), Some("-" | "/dev/stdout")) => vec![],
        Some(file) => vec![file.clone()],
        None => {
            let directory = usage.value("-P --directory-prefix");
            usage
                .operands
                .iter()
                .filter(|url| is_url(url))
                .map(|url| in_directory(directory, name_of(url)))
                .collect()
        }
    }
}

pub(super) fn saved_by_aria(usage: &Usage<'_>) -> Vec<Text> {
    let name = usage.value("-o --out --output").cloned();
    let name = name.or_else(|| usage.operands.first().map(name_of));
    name.map(|name| in_directory(usage.value("-d --dir"), name)).into_iter().collect()
}

/// The files that `git checkout` writes. Without `--` a name may be a branch, unless a part of it begins with a dot
/// (git-check-ref-format(1)).
pub(super) fn checked_out(usage: &Usage<'_>) -> Vec<Text> {
    let arguments = &usage.found.arguments;
    if let Some(end) = arguments.iter().position(|argument| argument.value() == Some("--")) {
        return arguments[end + 1..].to_vec();
    }
    let is_path = |name: &&Text| name.rough().split('/').any(|part| part.starts_with('.') && part != "..");
    usage.operands.iter().skip(1).filter(is_path).cloned().collect()
}

/// The files that `git rm` deletes. Taking every file out is a matter of history: they can be brought back.
pub(super) fn taken_out(usage: &Usage<'_>) -> Vec<Text> {
    let named = |path: &&Text| !matches!(path.rough().as_str(), "." | "*" | ":/");
    usage.operands.iter().skip(1).filter(named).cloned().collect()
}
