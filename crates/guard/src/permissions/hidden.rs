//! Options that make a program run or write something else. A wildcard does not cover them; an entry can name them.

use super::broad::without_version;

struct Row {
    /// Programs, or a program with the word that follows: `git clone`.
    programs: &'static [&'static str],
    options: &'static [&'static str],
    letters: Letters,
}

/// How options of one letter are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Letters {
    /// `-xo` is `-x -o`, and what follows a sign that is no letter is a value.
    Clustered,
    /// The value is attached: `-Opath`, `-B/dir`.
    Attached,
    /// Options are words: `-o` is nothing but `-o`.
    Words,
}

const fn clustered(programs: &'static [&'static str], options: &'static [&'static str]) -> Row {
    Row { programs, options, letters: Letters::Clustered }
}

const fn attached(programs: &'static [&'static str], options: &'static [&'static str]) -> Row {
    Row { programs, options, letters: Letters::Attached }
}

const fn words(programs: &'static [&'static str], options: &'static [&'static str]) -> Row {
    Row { programs, options, letters: Letters::Words }
}

const HIDDEN: &[Row] = &[
    attached(
        &["git"],
        &[
            "--output", "--open-files-in-pager", "--ext-diff", "--textconv", "--upload-pack",
            "--receive-pack", "--exec", "--exec-path", "--config-env", "-O", "--no-index",
        ],
    ),
    clustered(&["git clone"], &["--template", "--config", "-u", "-c"]),
    clustered(&["git init"], &["--template"]),
    clustered(&["git archive"], &["--remote", "-o"]),
    clustered(&["git rebase"], &["--interactive", "-x", "-i"]),
    clustered(&["sort", "shuf"], &["--output", "--compress-program", "-o"]),
    clustered(&["split"], &["--filter"]),
    clustered(&["rg"], &["--pre", "--hostname-bin", "--search-zip"]),
    clustered(&["ag", "ack", "bat"], &["--pager"]),
    clustered(&["tree"], &["-o"]),
    clustered(&["man"], &["--pager", "--html", "-P", "-H"]),
    clustered(&["date"], &["--set", "-s"]),
    clustered(
        &["tar", "gtar", "bsdtar"],
        &[
            "--to-command", "--checkpoint-action", "--use-compress-program", "--rsh-command",
            "--rmt-command", "--info-script", "--new-volume-script", "--files-from", "-I", "-F", "-T",
        ],
    ),
    clustered(&["zip"], &["--unzip-command", "-TT"]),
    clustered(
        &["rsync"],
        &["--rsh", "--rsync-path", "--remote-option", "--log-file", "--write-batch", "--daemon", "-e", "-M"],
    ),
    clustered(&["scp", "sftp"], &["-S", "-o", "-F", "-b", "-D"]),
    words(
        &["find", "gfind"],
        &["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"],
    ),
    clustered(&["fd", "fdfind"], &["--exec", "--exec-batch", "-x", "-X"]),
    clustered(&["sed", "gsed"], &["--expression", "--file", "--in-place", "-e", "-f", "-i"]),
    clustered(
        &["awk", "gawk", "mawk"],
        &["--file", "--source", "--include", "--load", "--exec", "-f", "-e", "-i", "-l", "-E"],
    ),
    clustered(&["yq"], &["--inplace", "-i"]),
    clustered(&["less"], &["--log-file", "--LOG-FILE", "-o", "-O"]),
    clustered(&["xxd"], &["-r"]),
    clustered(&["make", "gmake"], &["--eval", "--file", "--makefile", "-f", "-E"]),
    clustered(
        &["just"],
        &[
            "--shell", "--shell-arg", "--shell-command", "--justfile", "--set", "--command", "--chooser",
            "--edit", "-f", "-c", "-e",
        ],
    ),
    clustered(&["cargo"], &["--config", "--manifest-path"]),
    clustered(
        &["npm"],
        &["--script-shell", "--node-options", "--prefix", "--userconfig", "--globalconfig", "--shell", "-C"],
    ),
    clustered(&["pnpm"], &["--script-shell", "--node-options", "--dir", "--shell-mode", "-C"]),
    clustered(&["yarn"], &["--script-shell", "--cwd"]),
    words(&["go"], &["-exec", "-toolexec", "-vettool", "-overlay", "-modfile", "-C"]),
    attached(
        &["gcc", "g++", "cc", "c++", "clang", "clang++"],
        &[
            "-wrapper", "-fplugin", "-fpass-plugin", "-specs", "--specs", "-B", "-Xclang", "-fuse-ld",
            "--ld-path", "@",
        ],
    ),
    words(&["cmake"], &["-P", "-E", "-C", "--install"]),
    words(&["ctest"], &["-S", "-SP", "--script", "--script-new-process", "--build-and-test"]),
    clustered(
        &["pytest", "py.test"],
        &[
            "--log-file", "--override-ini", "--config-file", "--rootdir", "--basetemp", "--junitxml",
            "--junit-xml", "--pdbcls", "-p", "-c", "-o",
        ],
    ),
    clustered(
        &["wget"],
        &[
            "--execute", "--use-askpass", "--post-file", "--body-file", "--output-document", "--output-file",
            "--append-output", "--directory-prefix", "--config", "--save-cookies", "--warc-file", "-e", "-O",
            "-o", "-a", "-P",
        ],
    ),
    clustered(
        &["curl"],
        &[
            "--config", "--output", "--output-dir", "--remote-name", "--remote-name-all",
            "--remote-header-name", "--dump-header", "--cookie-jar", "--trace", "--trace-ascii", "--libcurl",
            "--stderr", "--etag-save", "--hsts", "--alt-svc", "-K", "-o", "-O", "-J", "-D", "-c",
        ],
    ),
    clustered(&["mapfile", "readarray"], &["-C"]),
    words(
        &["openssl"],
        &["-out", "-keyout", "-writerand", "-engine", "-provider", "-provider-path", "-config"],
    ),
    clustered(&["tcpdump"], &["-z", "-w"]),
    clustered(&["rpm"], &["--eval", "--pipe", "--define", "--rcfile", "--macros", "--load", "-E", "-D"]),
    words(&["ip"], &["-b", "-batch"]),
];

/// A word of a command, and whether the entry says it at this place.
#[derive(Clone, Copy)]
pub(super) struct Said<'a> {
    pub(super) word: &'a str,
    pub(super) named: bool,
}

/// Whether a wildcard would cover a word that it must not.
pub(super) fn hides(program: &str, words: &[Said<'_>]) -> bool {
    let (program, words) = match words {
        // `python -m pytest` is pytest.
        [Said { word: "-m", .. }, module, rest @ ..] if without_version(program) == "python" => {
            (module.word, rest)
        }
        _ => (program, words),
    };
    let verb = words.first().map(|verb| format!("{program} {}", verb.word));
    let about = |row: &&Row| {
        row.programs.iter().any(|name| {
            *name == program || *name == without_version(program) || Some(*name) == verb.as_deref()
        })
    };
    let mut options = words.iter().take_while(|said| said.word != "--").filter(|said| !said.named);
    let rows: Vec<&Row> = HIDDEN.iter().filter(about).collect();
    let given = |word: &str| rows.iter().any(|row| row.options.iter().any(|option| row.gives(word, option)));
    options.any(|said| given(said.word)) || hides_operand(program, words)
}

/// Options whose value is a command.
const RUNS: [&str; 21] = [
    "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "-e", "-I", "-F", "-S", "-u", "-P", "-E", "-wrapper",
    "--exec", "--exec-batch", "--rsh", "--to-command", "--use-compress-program", "--upload-pack", "--filter",
];

/// Whether words end in an option whose value is a command.
pub(super) fn ends_in_command_option(program: &str, words: &[String]) -> bool {
    let Some(last) = words.last().filter(|last| RUNS.contains(&last.as_str())) else { return false };
    let mut said: Vec<Said<'_>> = words.iter().map(|word| Said { word, named: true }).collect();
    if let Some(end) = said.last_mut() {
        *end = Said { word: last, named: false };
    }
    hides(program, &said)
}

/// Operands that run or write something.
fn hides_operand(program: &str, words: &[Said<'_>]) -> bool {
    let mut own = words.iter().filter(|said| !said.named).map(|said| said.word);
    match program {
        // `tar cIf PROGRAM x y`: the first word is options, with or without a dash.
        "tar" | "gtar" | "bsdtar" => words.first().is_some_and(|said| {
            !said.named && !said.word.starts_with("--") && said.word.contains(['I', 'F', 'T'])
        }),
        // `make SHELL=./x`.
        "make" | "gmake" | "just" => own.any(|word| !word.starts_with('-') && word.contains('=')),
        // The second one is written.
        "uniq" | "xxd" => {
            let operands = words.iter().filter(|said| !said.word.starts_with('-') || said.word == "-");
            operands.skip(1).any(|said| !said.named)
        }
        _ => false,
    }
}

impl Row {
    /// Whether a word gives an option: in full, shortened, with a value, or as a letter in a cluster.
    fn gives(&self, word: &str, option: &str) -> bool {
        if let Some(long) = option.strip_prefix("--") {
            let name = word.split('=').next().unwrap_or(word);
            return name.strip_prefix("--").is_some_and(|name| !name.is_empty() && long.starts_with(name));
        }
        if self.letters == Letters::Attached {
            return word.starts_with(option);
        }
        let letters = option.strip_prefix('-').unwrap_or(option);
        if letters.len() > 1 || self.letters == Letters::Words {
            return word.trim_start_matches('-').split('=').next() == Some(letters) && word.starts_with('-');
        }
        let cluster = word.strip_prefix('-').filter(|cluster| !cluster.starts_with('-'));
        cluster.is_some_and(|cluster| {
            cluster.bytes().take_while(u8::is_ascii_alphanumeric).any(|byte| letters.as_bytes() == [byte])
        })
    }
}
