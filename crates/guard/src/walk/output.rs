//! What commands print, where that can be told: it may be the name or the script of another.

use crate::analysis::{Found, Stream};
use crate::escapes;
use crate::options::Options;
use crate::scope::Scope;
use crate::text::{Piece, Text, Why};

use super::Walker;

/// What a program prints.
pub(super) fn of(walker: &Walker<'_>, found: &Found, scope: &Scope) -> Stream {
    let arguments = &found.arguments;
    let input = &found.input;
    match found.program.as_str() {
        "jq" if decodes(found) => Stream::Decoded,
        "echo" => echo(arguments),
        "printf" => printf(arguments).map_or_else(|| Stream::Unknown("printf".to_owned()), Stream::Known),
        "cat" | "tac" | "nl" | "less" | "more" | "bat" => {
            let files: Vec<&Text> = arguments.iter().filter(|argument| !argument.prefix().starts_with('-')).collect();
            match files.as_slice() {
                [] => input.clone(),
                files => files.iter().fold(Stream::Nothing, |all, file| followed_by(all, walker.content(file, scope))),
            }
        }
        "tee" | "sponge" | "pv" | "unbuffer" => input.clone(),
        "head" | "tail" | "sort" | "uniq" | "grep" | "egrep" | "fgrep" | "rg" | "sed" | "awk" | "cut" | "tr" | "rev"
        | "fold" | "column" | "strings" | "xargs" | "jq" | "paste" => filtered(found, walker, scope),
        "pwd" => Stream::Known(scope.cwds.first().cloned().unwrap_or_default()),
        "whoami" | "logname" => Stream::Known(Text::known(walker.world.user())),
        "dirname" => path_part(arguments, |path| path.rsplit_once('/').map_or(".", |(directory, _)| if directory.is_empty() { "/" } else { directory }).to_owned()),
        "basename" => path_part(arguments, |path| path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned()),
        "realpath" | "readlink" | "echo-path" => path_part(arguments, str::to_owned),
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
        "date" | "seq" | "wc" | "nproc" | "uname" | "hostname" | "uuidgen" | "id" | "expr" | "bc" | "stat" | "pgrep"
        | "pidof" | "lsof" | "tput" => Stream::Known(Text::unknown(Why::Number)),
        "ls" | "dir" => list_of_files(arguments),
        "git" => git(found, walker),
        "env" | "printenv" => Stream::Secret,
        _ if is_silent(&found.program) => Stream::Nothing,
        _ if sets_up(found) => Stream::Setup,
        _ if decodes(found) => Stream::Decoded,
        _ if downloads(found) => Stream::Downloaded,
        _ => passed(found, walker, scope),
    }
}

/// A program that is not known prints something of what it reads.
fn passed(found: &Found, walker: &Walker<'_>, scope: &Scope) -> Stream {
    match &found.input {
        kept @ (Stream::Downloaded | Stream::Decoded | Stream::Secret) => kept.clone(),
        Stream::Nothing
        | Stream::Known(_)
        | Stream::Names { .. }
        | Stream::Setup
        | Stream::Program(_)
        | Stream::Unknown(_) => {
            let secret = |argument: &Text| walker.content(argument, scope) == Stream::Secret;
            if found.arguments.iter().any(secret) { Stream::Secret } else { Stream::Unknown(found.program.clone()) }
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
    text.push_str("\n");
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
                    text.append(&value.value().map_or_else(|| value.clone(), |value| Text::known(escapes::interpret(value))));
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
    let mut paths: Vec<Text> = arguments.iter().filter(|argument| !argument.prefix().starts_with('-')).cloned().collect();
    if paths.is_empty() {
        paths.push(Text::known("."));
    }
    for path in paths.iter_mut().filter(|path| !path.has_pattern()) {
        path.push_str("/");
        path.push(Piece::Pattern("*".to_owned()));
    }
    Stream::Names { directories: paths, all: true }
}

fn git(found: &Found, walker: &Walker<'_>) -> Stream {
    let some = || Stream::Names { directories: vec![Text::known("./…")], all: false };
    if found.has("--show-toplevel") {
        let root = walker.world.workspaces().last().map_or(walker.world.cwd(), String::as_str);
        return Stream::Known(Text::known(root));
    }
    match found.argument(0) {
        Some("ls-files") if found.arguments.len() == 1 => {
            Stream::Names { directories: vec![Text::known(".")], all: true }
        }
        Some("ls-files" | "diff" | "status" | "show" | "grep") => some(),
        Some("rev-parse" | "describe" | "rev-list" | "merge-base" | "log") => {
            Stream::Known(Text::unknown(Why::Number))
        }
        _ => Stream::Unknown("git".to_owned()),
    }
}

/// Programs that print a part of what they read, or change it.
fn filtered(found: &Found, walker: &Walker<'_>, scope: &Scope) -> Stream {
    let program = found.program.as_str();
    match &found.input {
        Stream::Known(text) => match text.value().and_then(|text| transformed(found, text)) {
            Some(text) => Stream::Known(Text::known(text)),
            None => Stream::Unknown(program.to_owned()),
        },
        Stream::Names { directories, all } if matches!(program, "sort" | "uniq" | "sed" | "tr" | "rev") => {
            Stream::Names { directories: directories.clone(), all: *all }
        }
        Stream::Names { directories, .. } => {
            let chosen = |path: &Text| {
                let mut pieces = path.pieces().to_vec();
                if matches!(pieces.last(), Some(Piece::Pattern(_))) {
                    pieces.pop();
                }
                let mut path = Text::default();
                pieces.into_iter().for_each(|piece| path.push(piece));
                path.push_str("/…");
                path
            };
            Stream::Names { directories: directories.iter().map(chosen).collect(), all: false }
        }
        Stream::Nothing
        | Stream::Downloaded
        | Stream::Decoded
        | Stream::Secret
        | Stream::Setup
        | Stream::Program(_)
        | Stream::Unknown(_) => {
            if let Some(names) = names_of_matches(found) {
                return names;
            }
            // A part of a list is still of that list, unless it was chosen by what it says.
            let chooses = matches!(program, "grep" | "egrep" | "fgrep" | "rg" | "head" | "tail")
                || program == "awk" && found.arguments.first().is_some_and(|code| code.rough().contains('/'));
            match &found.input {
                Stream::Unknown(source) if !chooses => Stream::Unknown(source.clone()),
                _ => passed(found, walker, scope),
            }
        }
    }
}

/// `grep -l pattern files` prints names of files there.
fn names_of_matches(found: &Found) -> Option<Stream> {
    if !matches!(found.program.as_str(), "grep" | "egrep" | "fgrep" | "rg") {
        return None;
    }
    let options = Options::parse(&found.arguments, "efmABC", &["regexp", "file", "include", "exclude"]);
    if !options.has(&["l", "L", "files-with-matches", "files-without-match"]) {
        return None;
    }
    let skip = usize::from(!options.has(&["e", "f", "regexp"]));
    let mut directories: Vec<Text> = options.operands.into_iter().skip(skip).collect();
    if directories.is_empty() {
        directories.push(Text::known("."));
    }
    for directory in &mut directories {
        directory.push_str("/…");
    }
    Some(Stream::Names { directories, all: false })
}

fn transformed(found: &Found, text: &str) -> Option<String> {
    let lines = || text.lines().map(str::to_owned);
    let options = Options::parse(&found.arguments, "nc", &["lines"]);
    let count = || {
        let dashed = found.arguments.first().and_then(|first| first.rough().strip_prefix('-').map(str::to_owned));
        let given = options.value(&["n", "lines"]).map(Text::rough).or(dashed).unwrap_or_else(|| "10".to_owned());
        given.parse::<usize>().ok()
    };
    let joined = |lines: Vec<String>| Some(lines.join("\n"));
    match found.program.as_str() {
        "rev" => joined(lines().map(|line| line.chars().rev().collect()).collect()),
        "tac" => joined(lines().collect::<Vec<_>>().into_iter().rev().collect()),
        "head" => joined(lines().take(count()?).collect()),
        "tail" => {
            let all: Vec<String> = lines().collect();
            joined(all[all.len().saturating_sub(count()?)..].to_vec())
        }
        "sort" | "uniq" => Some(text.to_owned()),
        "tr" => translated(&found.arguments, text),
        "sed" => substituted(&found.arguments, text),
        _ => None,
    }
}

/// `tr SET1 SET2` and `tr -d SET`.
fn translated(arguments: &[Text], text: &str) -> Option<String> {
    let options = Options::parse(arguments, "", &[]);
    let sets: Vec<Vec<char>> = options.operands.iter().map(|set| Some(characters(set.value()?))).collect::<Option<_>>()?;
    match sets.as_slice() {
        [deleted] if options.has(&["d", "delete"]) => Some(text.chars().filter(|c| !deleted.contains(c)).collect()),
        [from, to] if !options.has(&["c", "C", "complement", "d"]) => {
            let last = to.last().copied()?;
            let map = |c: char| from.iter().position(|own| *own == c).map_or(c, |at| to.get(at).copied().unwrap_or(last));
            Some(text.chars().map(map).collect())
        }
        _ => None,
    }
}

fn characters(set: &str) -> Vec<char> {
    let chars: Vec<char> = escapes::interpret(set).chars().collect();
    let mut all = vec![];
    let mut at = 0;
    while at < chars.len() {
        if let (Some('-'), Some(end)) = (chars.get(at + 1), chars.get(at + 2)) {
            all.extend(chars[at]..=*end);
            at += 3;
        } else {
            all.push(chars[at]);
            at += 1;
        }
    }
    all
}

/// `sed s/a/b/` with plain text for a pattern.
fn substituted(arguments: &[Text], text: &str) -> Option<String> {
    let [script] = arguments else { return None };
    let script = script.value()?.strip_prefix('s')?;
    let separator = script.chars().next()?;
    let mut parts = script[separator.len_utf8()..].split(separator);
    let (from, to, flags) = (parts.next()?, parts.next()?, parts.next()?);
    if from.contains(['\\', '[', '.', '*', '^', '$']) || to.contains(['\\', '&']) || from.is_empty() {
        return None;
    }
    let most = if flags.contains('g') { usize::MAX } else { 1 };
    Some(text.lines().map(|line| line.replacen(from, to, most)).collect::<Vec<_>>().join("\n"))
}

fn is_silent(program: &str) -> bool {
    const SILENT: [&str; 21] = [
        "", ":", "true", "false", "test", "[", "mkdir", "touch", "cp", "mv", "rm", "rmdir", "ln", "chmod", "chown", "sleep",
        "export", "wait", "exit", "return", "kill",
    ];
    SILENT.contains(&program)
}

/// Programs whose output is meant for `eval`: they set up an environment.
fn sets_up(found: &Found) -> bool {
    const WORDS: [&str; 16] = [
        "completion", "completions", "init", "hook", "env", "shellenv", "activate", "shell.bash", "shell.zsh", "export", "docker-env",
        "path", "-s", "-b", "-c", "config",
    ];
    match found.program.as_str() {
        "dircolors" | "lesspipe" | "lesspipe.sh" | "register-python-argcomplete" | "resize" | "keychain" => true,
        "ssh-agent" | "gpg-agent" => true,
        "direnv" | "brew" | "pyenv" | "rbenv" | "nodenv" | "jenv" | "goenv" | "opam" | "starship" | "fnm" | "conda" | "mamba"
        | "micromamba" | "zoxide" | "mise" | "rtx" | "asdf" | "minikube" | "docker-machine" | "luarocks" | "npm" | "kubectl"
        | "helm" | "gh" | "thefuck" | "atuin" | "docker" | "rustup" | "poetry" | "uv" | "hugo" | "argocd" | "flux" | "kind" => {
            found.arguments.iter().filter_map(Text::value).any(|word| WORDS.contains(&word))
        }
        _ => false,
    }
}

/// Whether it prints something that was encoded or packed.
fn decodes(found: &Found) -> bool {
    let options = Options::parse(&found.arguments, "", &[]);
    match found.program.as_str() {
        "base64" | "base32" | "basenc" | "gbase64" => options.has(&["d", "D", "decode"]),
        "xxd" => options.has(&["r", "revert"]),
        "openssl" => ["-d", "-decrypt"].iter().any(|flag| found.has(flag)),
        "gunzip" | "bunzip2" | "unxz" | "unzstd" | "uncompress" | "gzip" | "bzip2" | "xz" | "zstd" | "lz4" | "brotli" => {
            found.program.starts_with("un") || found.program.contains("unz") || options.has(&["d", "decompress"])
        }
        "zcat" | "bzcat" | "xzcat" | "zstdcat" | "gzcat" | "uudecode" | "funzip" => true,
        "python" | "python3" | "perl" | "ruby" | "node" | "php" | "jq" => {
            let words = ["base64", "b64decode", "fromhex", "unhexlify", "@base64d", "decode_base64", "rot13", "unpack"];
            let encodes = found.has("-e") && found.has("base64");
            !encodes && found.arguments.iter().any(|argument| words.iter().any(|word| argument.rough().contains(word)))
        }
        "gpg" => options.has(&["d", "decrypt"]),
        "unzip" | "7z" => options.has(&["p", "so"]),
        "tar" | "bsdtar" => options.has(&["O", "to-stdout"]) || found.argument(0).is_some_and(|first| first.contains('O')),
        _ => false,
    }
}

/// Whether it prints something from another machine.
fn downloads(found: &Found) -> bool {
    let options = Options::parse(&found.arguments, "oOHdXuAeFTbPUw", &["output", "header", "data", "user", "request"]);
    match found.program.as_str() {
        "curl" => {
            let into_file = options.given.iter().any(|(name, value)| match name.as_str() {
                "o" | "output" => value.as_ref().and_then(Text::value) != Some("-"),
                // Written as an option with a value above, which it is for wget only.
                "O" | "remote-name" => true,
                _ => false,
            });
            !into_file && !options.has(&["version", "help"])
        }
        "wget" => options.given.iter().any(|(name, value)| {
            matches!(name.as_str(), "O" | "output-document") && matches!(value.as_ref().and_then(Text::value), Some("-" | "/dev/stdout"))
        }),
        "nc" | "ncat" | "netcat" | "socat" | "telnet" | "lynx" | "w3m" | "http" | "https" | "xh" | "fetch" | "ssh" | "rsh"
        | "ftp" | "tftp" | "dig" | "nslookup" => true,
        "gh" | "glab" => matches!(found.argument(0), Some("api" | "gist" | "snippet")),
        "aws" | "gsutil" | "az" | "gcloud" | "mc" | "rclone" => found.has("-") || found.has("cat"),
        _ => false,
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
        (other, Stream::Names { .. } | Stream::Setup | Stream::Program(_) | Stream::Unknown(_)) => other,
    }
}

/// The output of a loop.
pub(super) fn repeated(stream: Stream) -> Stream {
    stream
}

/// What `$( … )` stands for.
pub(super) fn as_text(stream: Stream) -> Text {
    match stream {
        Stream::Nothing => Text::default(),
        Stream::Known(text) => match text.value() {
            Some(value) => Text::known(value.trim_end_matches('\n')),
            None => without_newline(&text),
        },
        Stream::Names { directories, all } => names(&directories, all),
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
pub(super) fn names(paths: &[Text], _all: bool) -> Text {
    let mut text = Text::default();
    for (index, path) in paths.iter().enumerate() {
        if index > 0 {
            text.push_str("\n");
        }
        text.append(path);
    }
    text
}

/// What `xargs` makes arguments of.
pub(super) fn words(stream: &Stream) -> Vec<Text> {
    match stream {
        Stream::Nothing => vec![],
        Stream::Known(text) => match text.value() {
            Some(value) => value.split(|c: char| c.is_whitespace() || c == '\0').filter(|word| !word.is_empty()).map(Text::known).collect(),
            None => vec![without_newline(text)],
        },
        Stream::Names { directories, .. } => directories.clone(),
        Stream::Downloaded => vec![Text::unknown(Why::Download)],
        Stream::Decoded => vec![Text::unknown(Why::Decoded)],
        Stream::Unknown(program) => vec![Text::unknown(Why::Output(program.clone()))],
        Stream::Secret | Stream::Setup | Stream::Program(_) => vec![Text::unknown(Why::Input)],
    }
}
