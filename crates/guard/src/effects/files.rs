//! Files: what is deleted, moved, written, and whose permissions change.

use crate::analysis::{Effect, Found, Target};
use crate::effects::targets;
use crate::options::Options;
use crate::paths::Place;
use crate::text::Text;
use crate::world::World;

#[expect(clippy::too_many_lines, reason = "a table, one program after the other")]
pub(super) fn of(found: &Found, world: &World) -> Vec<Effect> {
    let arguments = found.arguments.as_slice();
    let at = |path: &Text| targets(path, found, world);
    // One by one, all files below a directory are as good as the directory.
    let each = found.via.iter().any(|via| matches!(via.as_str(), "find" | "gfind" | "fd" | "fdfind"));
    let delete = |paths: &[Text], recursive: bool| -> Vec<Effect> {
        let named = paths.iter().filter(|path| !path.is_empty());
        let mut effects: Vec<Effect> = named
            .flat_map(at)
            .map(|target| Effect::Delete { target, recursive: recursive || each })
            .collect();
        if paths.iter().any(Text::is_empty) {
            let reason = Some("it is empty here".to_owned());
            let target = Target { path: "''".to_owned(), place: Place::Unknown, reason };
            effects.push(Effect::Delete { target, recursive });
        }
        effects
    };
    let write = |paths: &[Text]| -> Vec<Effect> {
        paths.iter().flat_map(at).map(|target| Effect::Write { target }).collect()
    };
    match found.program.as_str() {
        "rm" | "grm" | "srm" | "trash" | "trash-put" | "del" | "del-cli" | "rimraf" | "gio" => {
            let options = Options::parse(arguments, "", &[]);
            let recursive = options.has(&["r", "R", "recursive"])
                || matches!(found.program.as_str(), "rimraf" | "del-cli");
            // These expand patterns by themselves.
            let own = matches!(found.program.as_str(), "rimraf" | "del-cli" | "del");
            let operands: Vec<Text> = options
                .operands
                .iter()
                .map(|path| if own { crate::expand::with_patterns(path) } else { path.clone() })
                .collect();
            if options.has(&["help", "version"]) { vec![] } else { delete(&operands, recursive) }
        }
        "unlink" | "rmdir" => delete(&Options::parse(arguments, "", &[]).operands, false),
        "shred" | "wipe" => {
            let options = Options::parse(arguments, "ns", &["iterations", "size", "random-source"]);
            [delete(&options.operands, options.has(&["r"])), write(&options.operands)].concat()
        }
        "mv" | "gmv" => moved(arguments, &at),
        "cp" | "gcp" | "install" | "ginstall" | "ln" | "link" | "ditto" => {
            let (_, into) = from_and_to(arguments);
            write(&into)
        }
        "scp" => {
            let (_, into) = from_and_to(arguments);
            write(&into.into_iter().filter(|path| !path.rough().contains(':')).collect::<Vec<_>>())
        }
        "rsync" => {
            let options =
                Options::parse(arguments, "efBTM", &["rsh", "exclude", "include", "files-from", "filter"]);
            let into: Vec<Text> = options
                .operands
                .last()
                .filter(|path| !path.rough().contains(':'))
                .cloned()
                .into_iter()
                .collect();
            let dry = options.has(&["n", "dry-run"]);
            let deletes = options.given.iter().any(|(name, _)| name.starts_with("del"));
            let sources = options.operands.split_last().map(|(_, from)| from.to_vec()).unwrap_or_default();
            let sources: Vec<Text> = sources.into_iter().filter(|path| !path.rough().contains(':')).collect();
            match (dry, deletes) {
                (true, _) => vec![],
                (false, _) if options.has(&["remove-source-files"]) => {
                    [delete(&sources, true), write(&into)].concat()
                }
                (false, true) => [delete(&into, true), write(&into)].concat(),
                (false, false) => write(&into),
            }
        }
        "tee" | "touch" | "truncate" | "sponge" | "mkdir" | "fallocate" | "mkfifo" | "mknod" | "patch"
        | "sudoedit" => {
            let short = match found.program.as_str() {
                "touch" => "rdt",
                "truncate" => "sr",
                "fallocate" => "lo",
                "mkdir" | "mkfifo" | "mknod" => "mZ",
                "patch" => "pidoDrFB",
                _ => "",
            };
            let options = Options::parse(
                arguments,
                short,
                &["size", "reference", "date", "mode", "length", "directory"],
            );
            let directory = options.value(&["d", "directory"]).filter(|_| found.program == "patch").cloned();
            write(&options.operands.iter().cloned().chain(directory).collect::<Vec<_>>())
        }
        "find" | "gfind" => {
            let named = arguments
                .windows(2)
                .filter(|pair| pair[0].prefix().starts_with("-fprint") || pair[0].value() == Some("-fls"));
            write(&named.map(|pair| pair[1].clone()).collect::<Vec<_>>())
        }
        "docker" | "podman" if arguments.first().and_then(Text::value) == Some("cp") => {
            let into = arguments.last().filter(|path| !path.rough().contains(':')).cloned();
            write(&into.into_iter().collect::<Vec<_>>())
        }
        "sort" => {
            let options = Options::parse(arguments, "okSTt", &["output", "key"]);
            write(&options.values(&["o", "output"]).cloned().collect::<Vec<_>>())
        }
        "zip" | "7z" | "7za"
            if arguments.iter().any(|argument| is_moving_flag(&found.program, &argument.rough())) =>
        {
            let operands: Vec<Text> = Options::parse(arguments, "", &[]).operands;
            delete(operands.get(1..).unwrap_or_default(), true)
        }
        "tar" | "bsdtar" | "gtar"
            if arguments.iter().any(|argument| argument.value() == Some("--remove-files")) =>
        {
            let options = Options::parse(arguments, "fCXTbIKNLFgVH", &["file", "directory", "exclude"]);
            delete(&options.operands, true)
        }
        "rename" | "prename" | "perl-rename" => {
            let options = Options::parse(arguments, "e", &[]);
            let paths: Vec<Text> = options.operands.into_iter().skip(1).collect();
            paths.iter().flat_map(at).map(|target| Effect::Move { target }).collect()
        }
        "dpkg-deb" | "dpkg"
            if arguments
                .iter()
                .any(|argument| matches!(argument.value(), Some("-x" | "-X" | "--extract"))) =>
        {
            write(arguments.get(arguments.len() - 1..).unwrap_or_default())
        }
        "unsquashfs" => write(
            Options::parse(arguments, "d", &["dest"])
                .value(&["d", "dest"])
                .map(std::slice::from_ref)
                .unwrap_or_default(),
        ),
        "qemu-img" if !found.has("dd") => {
            write(arguments.get(arguments.len().saturating_sub(1)..).unwrap_or_default())
        }
        "socat" => write(&arguments.iter().filter_map(socat_file).collect::<Vec<_>>()),
        "git" | "hub" => super::git::of(arguments, &at),
        "split" | "csplit" => {
            let options = Options::parse(arguments, "abClnt", &["bytes", "lines", "number", "suffix-length"]);
            write(options.operands.get(1..2).unwrap_or_default())
        }
        "xxd" => write(Options::parse(arguments, "cglos", &[]).operands.get(1..2).unwrap_or_default()),
        "pg_dump" | "pg_dumpall" | "mysqldump" => {
            let options = Options::parse(arguments, "fhpUd", &["file", "result-file"]);
            write(&options.values(&["f", "file", "result-file"]).cloned().collect::<Vec<_>>())
        }
        "aws" if found.has("s3") => {
            let into = arguments.iter().rfind(|word| !word.prefix().starts_with('-'));
            let into = into.filter(|path| path.prefix().starts_with('/') || path.prefix().starts_with('.'));
            write(&into.cloned().into_iter().collect::<Vec<_>>())
        }
        "dc3dd" | "dcfldd" => {
            let names = ["of=", "hof=", "wipe=", "hwipe="];
            let named = |word: &Text| names.iter().find_map(|name| word.strip_prefix(name));
            write(&arguments.iter().filter_map(named).collect::<Vec<_>>())
        }
        "qemu-img" if found.has("dd") => {
            write(&arguments.iter().filter_map(|argument| argument.strip_prefix("of=")).collect::<Vec<_>>())
        }
        "cpio" if copies_through(arguments) => write(arguments.last().map_or(&[], std::slice::from_ref)),
        "dd" => {
            write(&arguments.iter().filter_map(|argument| argument.strip_prefix("of=")).collect::<Vec<_>>())
        }
        "sed" | "gsed" | "perl" | "awk" | "gawk" | "ruby" => {
            [write(&edited(found.program.as_str(), arguments)), write(&written_by_sed(found))].concat()
        }
        "vim" | "vi" | "nvim" | "ex" | "ed" | "nano" | "emacs" | "pico" | "micro" | "code" => {
            let options = Options::parse(arguments, "cSu", &["cmd"]);
            let named = options.values(&["c", "cmd"]).filter_map(|code| {
                let code = code.rough();
                let code = code.trim_start_matches(':').trim();
                ["w! ", "w ", "wq! ", "saveas "]
                    .iter()
                    .find_map(|verb| code.strip_prefix(verb))
                    .map(Text::known)
            });
            let operands =
                options.operands.iter().filter(|operand| !operand.prefix().starts_with('+')).cloned();
            write(&operands.chain(named).collect::<Vec<_>>())
        }
        "tar" | "bsdtar" | "gtar" => unpacked_by_tar(arguments).map_or_else(Vec::new, |into| write(&[into])),
        "unzip" => {
            let options = Options::parse(arguments, "dxP", &[]);
            let lists = options.has(&["l", "t", "v", "Z", "p"]);
            let into = options.value(&["d"]).cloned().unwrap_or_else(|| Text::known("."));
            if lists { vec![] } else { write(&[into]) }
        }
        "7z" | "7za" | "unrar" => {
            let into = arguments.iter().find_map(|argument| argument.strip_prefix("-o"));
            into.map_or_else(Vec::new, |into| write(&[into]))
        }
        "cpio" => {
            let options = Options::parse(arguments, "DFEHIO", &["directory"]);
            let into = options.value(&["D", "directory"]).cloned().unwrap_or_else(|| Text::known("."));
            if options.has(&["i", "extract", "p"]) { write(&[into]) } else { vec![] }
        }
        "gzip" | "bzip2" | "xz" | "zstd" | "gunzip" | "bunzip2" | "unxz" | "compress" | "lzma" => {
            let options = Options::parse(arguments, "ST", &["suffix"]);
            let keeps = options.has(&["c", "stdout", "l", "t", "k", "keep", "test"]);
            if keeps { vec![] } else { write(&options.operands) }
        }
        "chmod" | "chown" | "chgrp" | "setfacl" | "chattr" | "gchmod" | "gchown" => {
            let options = Options::parse(&without_mode(arguments), "", &["reference", "from"]);
            let skip = usize::from(options.value(&["reference"]).is_none());
            let recursive = options.has(&["R", "recursive"]) || each;
            let paths = options.operands.iter().skip(skip).flat_map(at);
            paths.map(|target| Effect::Permissions { target, recursive }).collect()
        }
        _ => {
            // To most programs `-i` is something else.
            let editor = matches!(
                found.program.as_str(),
                "yq" | "dasel" | "clang-format" | "autopep8" | "crudini" | "xmlstarlet"
            );
            let edits = arguments.iter().filter_map(Text::value).any(|flag| match flag {
                "--in-place" | "--inplace" | "--write" => true,
                "-i" | "--set" | "-L" => editor,
                _ => false,
            });
            let paths: Vec<Text> =
                arguments.iter().filter(|path| edits && path.prefix().starts_with('/')).cloned().collect();
            [executed(found, &at), write(&named_outputs(arguments)), write(&paths)].concat()
        }
    }
}

/// `cpio -p` copies from one directory into another.
fn copies_through(arguments: &[Text]) -> bool {
    let options = Options::parse(arguments, "DFEHIO", &["directory"]);
    options.has(&["p", "pass-through"])
}

/// `zip -m` and `7z -sdel` delete what they have packed.
fn is_moving_flag(program: &str, flag: &str) -> bool {
    let letters = flag.strip_prefix('-').filter(|letters| letters.len() <= 5 && !letters.starts_with('-'));
    match program {
        "zip" => flag == "--move" || letters.is_some_and(|letters| letters.contains('m')),
        _ => flag == "-sdel",
    }
}

fn socat_file(address: &Text) -> Option<Text> {
    let text = address.rough();
    let (kind, rest) = text.split_once(':')?;
    let writes = matches!(kind.to_uppercase().as_str(), "OPEN" | "CREATE" | "CREAT");
    writes.then(|| Text::known(rest.split(',').next().unwrap_or_default()))
}

/// The `w` command of sed.
fn written_by_sed(found: &Found) -> Vec<Text> {
    if !found.program.ends_with("sed") {
        return vec![];
    }
    let scripts = found.arguments.iter().map(Text::rough);
    let named = |script: String| {
        let pieces: Vec<Text> = script
            .split([';', '\n'])
            .filter_map(|piece| {
                let at = piece.find("w /")?;
                let before = &piece[..at];
                before
                    .chars()
                    .last()
                    .is_none_or(|c| !c.is_alphabetic())
                    .then(|| Text::known(piece[at + 2..].trim()))
            })
            .collect();
        pieces
    };
    scripts.flat_map(named).collect()
}

/// Most programs name the file that they make with `-o`, `-out` or `--output`.
fn named_outputs(arguments: &[Text]) -> Vec<Text> {
    let mut outputs = vec![];
    for (at, argument) in arguments.iter().enumerate() {
        let text = argument.rough();
        if matches!(
            text.as_str(),
            "-o" | "--output" | "-out" | "--out" | "-keyout" | "--output-file" | "--outfile" | "--log-file"
        ) {
            outputs.extend(arguments.get(at + 1).cloned());
        } else if let Some(value) =
            argument.strip_prefix("--output=").or_else(|| argument.strip_prefix("--output-file="))
        {
            outputs.push(value);
        }
    }
    outputs
}

/// A mode such as `-x` looks like an option.
fn without_mode(arguments: &[Text]) -> Vec<Text> {
    let is_mode = |text: &str| {
        text.starts_with('-') && text.len() > 1 && text[1..].bytes().all(|byte| b"rwxXst=+-".contains(&byte))
    };
    arguments
        .iter()
        .map(|argument| if is_mode(&argument.rough()) { Text::known("mode") } else { argument.clone() })
        .collect()
}

fn moved(arguments: &[Text], at: &impl Fn(&Text) -> Vec<Target>) -> Vec<Effect> {
    let (from, into) = from_and_to(arguments);
    let into: Vec<_> = into.iter().flat_map(at).collect();
    // Into a device it is gone.
    let gone = into.iter().any(|target| matches!(target.place, Place::Harmless | Place::RawDevice));
    let mut effects: Vec<Effect> = from
        .iter()
        .flat_map(at)
        .map(|target| if gone { Effect::Delete { target, recursive: true } } else { Effect::Move { target } })
        .collect();
    effects.extend(into.into_iter().map(|target| Effect::Write { target }));
    effects
}

/// Sources and destinations of `cp` and its kin.
pub(super) fn from_and_to(arguments: &[Text]) -> (Vec<Text>, Vec<Text>) {
    let options =
        Options::parse(arguments, "tSmogiFPlc", &["target-directory", "suffix", "mode", "owner", "group"]);
    if let Some(directory) = options.value(&["t", "target-directory"]) {
        let joined = |from: &Text| {
            let mut path = directory.clone();
            path.push_str("/");
            path.push_str(from.rough().trim_end_matches('/').rsplit('/').next().unwrap_or_default());
            path
        };
        return (options.operands.clone(), options.operands.iter().map(joined).collect());
    }
    // `install -d` makes directories.
    if options.has(&["d", "directory"]) {
        return (vec![], options.operands);
    }
    match options.operands.split_last() {
        // `ln -s /etc/x` makes a link here.
        Some((_, [])) | None => (vec![], vec![]),
        Some((into, from)) => (from.to_vec(), vec![into.clone()]),
    }
}

/// The one file that `cp`, `ln`, `install` or `mv` copies, and the names it may have then.
pub(super) fn copied(found: &Found) -> Option<(&Text, Vec<Text>)> {
    if !matches!(found.program.as_str(), "cp" | "ln" | "install" | "mv" | "link") {
        return None;
    }
    let (from, into) = from_and_to(&found.arguments);
    let [from] = from.as_slice() else { return None };
    let source = found.arguments.iter().find(|argument| *argument == from)?;
    let mut names = into.clone();
    for into in into {
        let mut inside = into;
        inside.push_str("/");
        inside.push_str(source.rough().rsplit('/').next().unwrap_or_default());
        names.push(inside);
    }
    Some((source, names))
}

/// The names that copied, moved and linked files have in a directory that they are put into.
pub(super) fn names_in_directory(found: &Found) -> Vec<Text> {
    if !matches!(
        found.program.as_str(),
        "cp" | "gcp" | "mv" | "gmv" | "install" | "ginstall" | "ln" | "rsync"
    ) {
        return vec![];
    }
    let (from, into) = from_and_to(&found.arguments);
    let [directory] = into.as_slice() else { return vec![] };
    let inside = |from: &Text| {
        let name = from.rough().trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
        let mut path = directory.clone();
        path.push_str("/");
        path.push_str(&name);
        path
    };
    from.iter().map(inside).collect()
}

/// Files that are edited in place.
fn edited(program: &str, arguments: &[Text]) -> Vec<Text> {
    match program {
        "sed" | "gsed" => {
            let options = Options::parse(arguments, "efl", &["expression", "file", "line-length"]);
            if !options.has(&["i", "in-place"]) {
                return vec![];
            }
            let scripted = options.has(&["e", "f", "expression", "file"]);
            options.operands.into_iter().skip(usize::from(!scripted)).collect()
        }
        "perl" | "ruby" => {
            let in_place = arguments.iter().any(|argument| {
                let text = argument.rough();
                text.starts_with('-')
                    && !text.starts_with("--")
                    && text.contains('i')
                    && !text.contains(' ')
                    && !text.starts_with("-M")
            });
            let options = Options::parse(arguments, "eEIMm", &[]);
            if in_place { options.operands } else { vec![] }
        }
        _ => {
            let options = Options::parse(arguments, "Fvfi", &[]);
            let in_place = options.value(&["i"]).and_then(Text::value) == Some("inplace");
            if in_place { options.operands.into_iter().skip(1).collect() } else { vec![] }
        }
    }
}

/// Where `tar` would put files, if it takes any out.
fn unpacked_by_tar(arguments: &[Text]) -> Option<Text> {
    // The old style has no dash.
    let mut arguments = arguments.to_vec();
    if let Some(first) = arguments.first().map(Text::rough)
        && !first.starts_with('-')
    {
        arguments[0] = Text::known(format!("-{first}"));
    }
    let options = Options::parse(
        &arguments,
        "fCXTbIKNLFgVH",
        &["file", "directory", "exclude", "files-from", "transform"],
    );
    if !options.has(&["x", "extract", "get"]) || options.has(&["t", "list", "O", "to-stdout"]) {
        return None;
    }
    let absolute = options.has(&["P", "absolute-names"]);
    let into = options.value(&["C", "directory"]).cloned();
    Some(into.unwrap_or_else(|| Text::known(if absolute { "/" } else { "." })))
}

/// A program that is named by its path.
fn executed(found: &Found, at: &impl Fn(&Text) -> Vec<Target>) -> Vec<Effect> {
    let script = match found.program.as_str() {
        "bash" | "sh" | "zsh" | "source" | "." | "python" | "python3" | "node" | "ruby" => {
            let at = found.arguments.iter().position(|argument| !argument.prefix().starts_with('-'));
            // With these the script comes from elsewhere.
            let elsewhere =
                |flags: &Text| !flags.prefix().starts_with("--") && flags.prefix().contains(['s', 'c']);
            at.filter(|at| !found.arguments[..*at].iter().any(elsewhere)).map(|at| &found.arguments[at])
        }
        _ => None,
    };
    let paths = script.filter(|path| path.value().is_some_and(|text| !text.contains(' ')));
    paths.into_iter().flat_map(at).map(|target| Effect::Execute { target }).collect()
}
