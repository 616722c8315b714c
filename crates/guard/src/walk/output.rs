//! What commands print, where that can be told: it may be the name or the script of another.

use crate::analysis::{Found, Stream};
use crate::escapes;
use crate::options::Options;
use crate::scope::Scope;
use crate::text::{Piece, Text, Why};

use super::Walker;
use super::filters::filtered;
use super::languages::Language;
use super::sources::{decodes, downloads, is_silent, sets_up};
use super::tokens::{Token, tokens};

/// What a program prints.
pub(super) fn of(walker: &Walker<'_>, found: &Found, scope: &Scope) -> Stream {
    let arguments = &found.arguments;
    let input = &found.input;
    match found.program.as_str() {
        "jq" if decodes(found) => Stream::Decoded,
        "echo" => echo(arguments),
        "printf" => printf(arguments).map_or_else(|| Stream::Unknown("printf".to_owned()), Stream::Known),
        "cat" | "tac" | "nl" | "less" | "more" | "bat" => {
            let files: Vec<&Text> =
                arguments.iter().filter(|argument| !argument.prefix().starts_with('-')).collect();
            match files.as_slice() {
                [] => match input {
                    Stream::Unknown(_) => Stream::Unknown(found.program.clone()),
                    input => input.clone(),
                },
                files => {
                    let read = |all, file: &&Text| match walker.content(file, scope) {
                        Stream::Unknown(_) => followed_by(all, Stream::Unknown(found.program.clone())),
                        content => followed_by(all, content),
                    };
                    files.iter().fold(Stream::Nothing, read)
                }
            }
        }
        "tee" | "sponge" | "pv" | "unbuffer" => input.clone(),
        "head" | "tail" | "sort" | "uniq" | "grep" | "egrep" | "fgrep" | "rg" | "sed" | "awk" | "cut"
        | "tr" | "rev" | "fold" | "column" | "strings" | "xargs" | "jq" | "paste" => {
            filtered(found, walker, scope)
        }
        "pwd" => Stream::Known(scope.cwds.first().cloned().unwrap_or_default()),
        "whoami" | "logname" => Stream::Known(Text::known(walker.world.user())),
        "dirname" => path_part(arguments, |path| {
            path.rsplit_once('/')
                .map_or(".", |(directory, _)| if directory.is_empty() { "/" } else { directory })
                .to_owned()
        }),
        "basename" => path_part(arguments, |path| {
            path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned()
        }),
        "realpath" | "readlink" => path_part(arguments, str::to_owned),
        "which" | "command" | "type" | "whereis" => {
            let name = arguments.iter().rfind(|argument| !argument.prefix().starts_with('-'));
            match name.and_then(Text::value) {
                Some(name) => Stream::Known(Text::known(format!("/usr/bin/{name}"))),
                None => Stream::Unknown(found.program.clone()),
            }
        }
        "mktemp" => mktemp(arguments),
        "yes" => {
            let line = if arguments.is_empty() { Text::known("y") } else { joined(arguments) };
            Stream::Known(line)
        }
        "ps" if !found.arguments.first().is_some_and(|first| is_everyone(&first.rough())) => {
            Stream::Known(Text::unknown(Why::Number))
        }
        "ps" if ["-p", "--pid", "-q", "-C", "--ppid", "-g", "-t"]
            .iter()
            .any(|flag| found.arguments.iter().any(|own| own.prefix().starts_with(flag))) =>
        {
            Stream::Known(Text::unknown(Why::Number))
        }
        // Everything, or everything of somebody: as much as `ps` lists.
        "pgrep" | "pidof" if names_everybody(found) => Stream::Unknown("ps".to_owned()),
        "date" | "seq" | "wc" | "nproc" | "uname" | "hostname" | "uuidgen" | "id" | "expr" | "bc"
        | "stat" | "pgrep" | "pidof" | "lsof" | "tput" => Stream::Known(Text::unknown(Why::Number)),
        "ls" | "dir" => list_of_files(arguments),
        "git" => git(found, walker),
        _ if Language::of(&found.program).is_some_and(|language| language != Language::Awk)
            && printed_by_code(found).is_some() =>
        {
            Stream::Known(Text::known(printed_by_code(found).unwrap_or_default()))
        }
        "env" | "printenv" => Stream::Secret,
        _ if is_silent(&found.program) => Stream::Nothing,
        _ if sets_up(found) => Stream::Setup,
        _ if decodes(found) => Stream::Decoded,
        _ if downloads(found) => Stream::Downloaded,
        _ => passed(found, walker, scope),
    }
}

/// What code prints that does nothing else: `print('text')`.
fn printed_by_code(found: &Found) -> Option<String> {
    let language = Language::of(&found.program)?;
    let codes = language.code(&found.arguments);
    let [code] = codes.as_slice() else { return None };
    let tokens = tokens(code.value()?, language);
    let plain = tokens.iter().filter(|token| !matches!(token, Token::Mark('(' | ')' | ';')));
    match plain.collect::<Vec<_>>().as_slice() {
        [Token::Name(name), Token::Text(text)]
            if matches!(name.as_str(), "print" | "puts" | "console.log" | "echo" | "say" | "printf") =>
        {
            Some(format!("{text}\n"))
        }
        _ => None,
    }
}

/// A program that is not known prints something of what it reads.
pub(super) fn passed(found: &Found, walker: &Walker<'_>, scope: &Scope) -> Stream {
    match &found.input {
        kept @ (Stream::Downloaded | Stream::Decoded | Stream::Secret) => kept.clone(),
        Stream::Nothing
        | Stream::Known(_)
        | Stream::Names(_)
        | Stream::Setup
        | Stream::Program(_)
        | Stream::Unknown(_) => {
            let secret = |argument: &Text| walker.content(argument, scope) == Stream::Secret;
            if found.arguments.iter().any(secret) {
                Stream::Secret
            } else {
                Stream::Unknown(found.program.clone())
            }
        }
    }
}

fn echo(arguments: &[Text]) -> Stream {
    let flags = |argument: &&Text| {
        argument.value().is_some_and(|text| {
            text.len() > 1 && text.starts_with('-') && text[1..].bytes().all(|flag| b"neE".contains(&flag))
        })
    };
    let count = arguments.iter().take_while(flags).count();
    let escapes = arguments[..count].iter().any(|flags| flags.rough().contains('e'));
    let mut text = joined(&arguments[count..]);
    if escapes && let Some(value) = text.value() {
        text = Text::known(escapes::interpret(value));
    }
    if !arguments[..count].iter().any(|flags| flags.rough().contains('n')) {
        text.push_str("\n");
    }
    Stream::Known(text)
}

/// `%s`, `%b`, `%d` and `%%`; the format is used again while there are arguments.
pub(super) fn printf(arguments: &[Text]) -> Option<Text> {
    let arguments = arguments.strip_prefix(&[Text::known("--")]).unwrap_or(arguments);
    let (format, values) = arguments.split_first()?;
    let format = format.value()?;
    let mut values = values.iter();
    let mut text = Text::default();
    loop {
        let before = values.len();
        let mut rest = format;
        while let Some(at) = rest.find('%') {
            text.push_str(&escapes::interpret(&rest[..at]));
            rest = &rest[at + 1..];
            let length = rest.find(|c: char| c.is_ascii_alphabetic() || c == '%').unwrap_or(rest.len());
            let kind = rest[length..].chars().next();
            rest = rest.get(length + 1..).unwrap_or_default();
            match kind {
                Some('%') => text.push_str("%"),
                Some('b') => {
                    let value = values.next().cloned().unwrap_or_default();
                    text.append(
                        &value
                            .value()
                            .map_or_else(|| value.clone(), |value| Text::known(escapes::interpret(value))),
                    );
                }
                _ => text.append(values.next().unwrap_or(&Text::default())),
            }
        }
        text.push_str(&escapes::interpret(rest));
        if values.len() == 0 || values.len() == before {
            return Some(text);
        }
    }
}

fn mktemp(arguments: &[Text]) -> Stream {
    let options = Options::parse(arguments, "p", &["suffix"]);
    let directory = options.value(&["p", "tmpdir"]);
    let template = options.operands.first().filter(|template| template.prefix().contains('/'));
    let mut path = directory.cloned().unwrap_or_else(|| Text::known("/tmp"));
    path.push_str("/tmp.mktemp");
    Stream::Known(template.cloned().unwrap_or(path))
}

fn path_part(arguments: &[Text], part: impl Fn(&str) -> String) -> Stream {
    match arguments.iter().find(|argument| !argument.prefix().starts_with('-')).and_then(Text::value) {
        Some(path) => Stream::Known(Text::known(part(path))),
        None => Stream::Unknown("a path".to_owned()),
    }
}

fn list_of_files(arguments: &[Text]) -> Stream {
    let mut paths: Vec<Text> =
        arguments.iter().filter(|argument| !argument.prefix().starts_with('-')).cloned().collect();
    if paths.is_empty() {
        paths.push(Text::known("."));
    }
    for path in paths.iter_mut().filter(|path| !path.has_pattern()) {
        path.push_str("/");
        path.push(Piece::Pattern("*".to_owned()));
    }
    Stream::Names(paths)
}

fn git(found: &Found, walker: &Walker<'_>) -> Stream {
    let some = || Stream::Names(vec![Text::known("./…")]);
    if found.has("--show-toplevel") {
        let root = walker.world.workspaces().last().map_or(walker.world.cwd(), String::as_str);
        return Stream::Known(Text::known(root));
    }
    if found.has("--git-dir") {
        return Stream::Known(Text::known(".git"));
    }
    match found.argument(0) {
        Some("ls-files")
            if found.arguments[1..]
                .iter()
                .all(|word| matches!(word.value(), Some("-z" | "--cached" | "-c"))) =>
        {
            Stream::Names(vec![Text::known(".")])
        }
        Some("ls-files" | "diff" | "status" | "show" | "grep") => some(),
        Some("rev-parse" | "describe" | "rev-list" | "merge-base" | "log") => {
            Stream::Known(Text::unknown(Why::Number))
        }
        _ => Stream::Unknown("git".to_owned()),
    }
}

pub(super) fn joined(arguments: &[Text]) -> Text {
    let mut text = Text::default();
    for (index, argument) in arguments.iter().enumerate() {
        if index > 0 {
            text.push_str(" ");
        }
        text.append(argument);
    }
    text
}

/// The output of one command and then of another.
pub(super) fn followed_by(first: Stream, second: Stream) -> Stream {
    match (first, second) {
        (Stream::Nothing, other) | (other, Stream::Nothing) => other,
        (Stream::Known(mut text), Stream::Known(more)) => {
            text.append(&more);
            Stream::Known(text)
        }
        (special @ (Stream::Downloaded | Stream::Decoded | Stream::Secret), _)
        | (_, special @ (Stream::Downloaded | Stream::Decoded | Stream::Secret)) => special,
        // Something unknown may do anything, so it hides what is known; but what is known is looked at by itself.
        (Stream::Known(mut text), other) => {
            text.append(&as_text(other));
            Stream::Known(text)
        }
        (other, Stream::Known(text)) => {
            let mut all = as_text(other);
            all.push_str("\n");
            all.append(&text);
            Stream::Known(all)
        }
        (other, Stream::Names(_) | Stream::Setup | Stream::Program(_) | Stream::Unknown(_)) => other,
    }
}

/// What `$( … )` stands for.
pub(super) fn as_text(stream: Stream) -> Text {
    match stream {
        Stream::Nothing => Text::default(),
        Stream::Known(text) => match text.value() {
            Some(value) => Text::known(value.trim_end_matches('\n')),
            None => without_newline(&text),
        },
        Stream::Names(directories) => names(&directories),
        Stream::Downloaded => Text::unknown(Why::Download),
        Stream::Decoded => Text::unknown(Why::Decoded),
        Stream::Secret => Text::unknown(Why::Output("a secret".to_owned())),
        Stream::Setup => Text::unknown(Why::Setup),
        Stream::Program(name) => Text::unknown(Why::Output(name)),
        Stream::Unknown(program) => Text::unknown(Why::Output(program)),
    }
}

fn without_newline(text: &Text) -> Text {
    let mut result = Text::default();
    let count = text.pieces().len();
    for (index, piece) in text.pieces().iter().enumerate() {
        match piece {
            Piece::Known(known) if index + 1 == count => result.push_str(known.trim_end_matches('\n')),
            _ => result.push(piece.clone()),
        }
    }
    result
}

/// Names of files as one string, a line each.
pub(super) fn names(paths: &[Text]) -> Text {
    let mut text = Text::default();
    for (index, path) in paths.iter().enumerate() {
        if index > 0 {
            text.push_str("\n");
        }
        text.append(path);
    }
    text
}

/// What `xargs -I` puts in, a line each.
pub(super) fn lines(stream: &Stream) -> Vec<Text> {
    match stream {
        Stream::Known(text) => match text.value() {
            Some(value) => value.lines().map(Text::known).collect(),
            None => vec![without_newline(text)],
        },
        other => words(other),
    }
}

/// What `xargs` makes arguments of.
pub(super) fn words(stream: &Stream) -> Vec<Text> {
    match stream {
        Stream::Nothing => vec![],
        Stream::Known(text) => match text.value() {
            Some(value) => value
                .split(|c: char| c.is_whitespace() || c == '\0')
                .filter(|word| !word.is_empty())
                .map(Text::known)
                .collect(),
            None => vec![without_newline(text)],
        },
        Stream::Names(directories) => directories.clone(),
        Stream::Downloaded => vec![Text::unknown(Why::Download)],
        Stream::Decoded => vec![Text::unknown(Why::Decoded)],
        Stream::Unknown(program) => vec![Text::unknown(Why::Output(program.clone()))],
        Stream::Secret | Stream::Setup | Stream::Program(_) => vec![Text::unknown(Why::Input)],
    }
}

/// Returns true if `pgrep` finds all processes, of the machine or of a user.
fn names_everybody(found: &Found) -> bool {
    let options = Options::parse(&found.arguments, "uUgGPstFO", &["euid", "uid", "group", "parent"]);
    let patterns: Vec<&str> = options.operands.iter().filter_map(Text::value).collect();
    let all = |pattern: &&str| matches!(*pattern, "." | ".*" | "" | "^" | "$" | ".+");
    patterns.iter().any(all)
        || patterns.is_empty() && options.has(&["u", "U", "euid", "uid"]) && !options.has(&["P", "parent"])
}

/// Options of `ps` that list every process.
fn is_everyone(flags: &str) -> bool {
    flags != "-o"
        && flags.trim_start_matches('-').chars().take_while(|c| *c != '=').any(|flag| "eAax".contains(flag))
}
