//! Entries that would allow anything.
//!
//! An `allow` for `bash *` is an `allow` for everything, whether its author meant that or not. One table says which
//! programs run other code, and how much of their arguments an entry must name.

use super::hidden::ends_in_command_option;
use super::pattern::Pattern;

/// Programs that run what they are given.
struct Row {
    programs: &'static [&'static str],
    kind: Kind,
}

enum Kind {
    /// The rest of its words is a command. Options with a value, and words before the command.
    Wrapper { valued: &'static [&'static str], skip: usize },
    /// It runs code from a file, an option or its input.
    Interpreter,
    /// So many words, and after some of them so many, must be named before a wildcard.
    Words { least: usize, after: &'static [(&'static str, usize)] },
    /// One word more must be named, be it an option.
    Named,
    /// No wildcard at all.
    Exact,
}

const fn wrapper(programs: &'static [&'static str], valued: &'static [&'static str], skip: usize) -> Row {
    Row { programs, kind: Kind::Wrapper { valued, skip } }
}

const fn words(
    programs: &'static [&'static str],
    least: usize,
    after: &'static [(&'static str, usize)],
) -> Row {
    Row { programs, kind: Kind::Words { least, after } }
}

const TABLE: &[Row] = &[
    Row {
        programs: &[
            "sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "rbash", "csh", "tcsh", "python",
            "python2", "python3", "pypy", "pypy3", "ipython", "node", "nodejs", "perl", "ruby", "irb", "php",
            "lua", "luajit", "Rscript", "osascript", "tclsh", "expect", "guile", "pwsh", "java", "swift",
            "julia", "octave", "groovy", "scala", "ocaml", "elixir", "runghc", "runhaskell", "ts-node",
            "tsx",
        ],
        kind: Kind::Interpreter,
    },
    Row {
        programs: &[
            "eval", "alias", "trap", "hash", "enable", "su", "sg", "vim", "vi", "nvim", "ex", "ed", "emacs",
            "gdb", "lldb", "screen", "tmux", "at", "batch", "crontab", "watch", "parallel", "script",
            "rlwrap", "bpftrace", "ansible", "nix-shell", "declare", "typeset", "export", "shopt", "local",
            "readonly", "set", "let", "bind", "complete", "compgen", "history", "fc", "R", "erl", "iex",
            "ghci", "sbcl", "clisp", "gnuplot", "dc", "m4", "socat", "sqlite3", "psql", "mysql", "mariadb",
        ],
        kind: Kind::Exact,
    },
    wrapper(
        &["sudo"],
        &["-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T", "-U", "-r", "-t", "--user", "--group"],
        0,
    ),
    wrapper(&["doas", "pkexec", "runuser"], &["-u", "-C", "-g", "--user"], 0),
    wrapper(&["env"], &["-u", "-C", "--unset", "--chdir"], 0),
    wrapper(&["timeout", "gtimeout"], &["-s", "-k", "--signal", "--kill-after"], 1),
    wrapper(&["nice", "ionice", "stdbuf"], &["-n", "-c", "-i", "-o", "-e"], 0),
    wrapper(&["time"], &["-f", "-o"], 0),
    wrapper(&["xargs"], &["-n", "-P", "-L", "-I", "-d", "-E", "-s", "-a"], 0),
    wrapper(
        &[
            "nohup", "command", "builtin", "exec", "setsid", "busybox", "toybox", "chronic", "unbuffer",
            "fakeroot", "caffeinate", "eatmydata", "torsocks", "proxychains", "valgrind", "firejail",
            "systemd-run", "unshare", "nsenter", "strace", "ltrace", "npx", "bunx", "pnpx", "uvx", "entr",
            "dotenv", "cross-env", "catchsegv", "setpriv", "tini", "dumb-init", "noglob",
        ],
        &["-p", "-o", "-e", "-a"],
        0,
    ),
    wrapper(
        &["ssh", "autossh", "mosh", "chroot", "flock", "taskset", "gosu", "su-exec", "faketime"],
        &["-p", "-i", "-l", "-o", "-F", "-J"],
        1,
    ),
    wrapper(
        &[
            "poetry", "pipenv", "pdm", "hatch", "rye", "bundle", "conda", "mamba", "micromamba", "mise",
            "asdf", "direnv", "pyenv", "rbenv",
        ],
        &["-n", "-p"],
        1,
    ),
    words(
        &["git", "hub"],
        1,
        &[
            ("config", 2),
            ("bisect", 2),
            ("bisect run", 9),
            ("submodule", 2),
            ("submodule foreach", 9),
            ("rebase", 2),
            ("filter-branch", 9),
            ("difftool", 9),
            ("mergetool", 9),
            ("worktree", 2),
            ("remote", 2),
        ],
    ),
    words(&["docker", "podman", "nerdctl"], 1, &[("run", 3), ("exec", 3), ("compose", 2), ("container", 2)]),
    words(&["docker-compose", "kubectl", "oc", "helm"], 1, &[("run", 3), ("exec", 3), ("debug", 3)]),
    words(
        &["npm", "pnpm", "yarn", "bun"],
        1,
        &[("exec", 2), ("x", 2), ("dlx", 2), ("run", 2), ("config", 2)],
    ),
    words(
        &["uv", "cargo", "go", "deno", "dotnet"],
        1,
        &[("run", 2), ("eval", 9), ("tool", 2), ("generate", 2)],
    ),
    words(&["pipx"], 1, &[("run", 2), ("runpip", 2)]),
    words(&["rustup"], 1, &[("run", 9)]),
    words(
        &["nvm", "fnm", "volta", "stack", "opam"],
        1,
        &[("run", 9), ("exec", 9), ("runghc", 9), ("ghci", 9)],
    ),
    words(&["gh", "glab"], 1, &[("alias", 9), ("extension", 9)]),
    words(&["ip"], 1, &[("netns", 9), ("vrf", 9)]),
    Row {
        programs: &["cmake", "ctest", "rpm", "tcpdump", "mapfile", "readarray", "openssl", "rsync"],
        kind: Kind::Named,
    },
    words(
        &[
            "find", "gfind", "fd", "awk", "gawk", "mawk", "sed", "gsed", "make", "gmake", "just", "task",
            "rake", "gradle", "mvn", "ninja", "source", ".", "nix", "git-lfs",
        ],
        1,
        &[],
    ),
];

/// Why an `allow` with this pattern would let anything through. None if it does not.
pub(super) fn too_broad(pattern: &Pattern) -> Option<String> {
    let words = pattern.words();
    let constants = pattern.constants();
    let set = words.iter().take_while(|word| is_assignment(word)).count();
    if set > constants {
        return Some("a variable in it may have any value; name the value".to_owned());
    }
    if set == words.len() {
        return None;
    }
    check(&words[set..], constants - set).err()
}

/// The first so many words are constants.
fn check(words: &[String], constants: usize) -> Result<(), String> {
    let Some(program) = words.first().filter(|_| constants > 0) else {
        return Err("any program would fit; name the program, as in `git log *`".to_owned());
    };
    let name = program.rsplit('/').next().unwrap_or(program);
    if constants < words.len() && ends_in_command_option(name, &words[1..constants]) {
        let said = words[..constants].join(" ");
        return Err(format!("`{said}` runs what follows; name that too, as in `{said} WORD *`"));
    }
    let row = |name: &str| TABLE.iter().find(|row| row.programs.contains(&name));
    let Some(row) = row(name).or_else(|| row(without_version(name))) else { return Ok(()) };
    let exact = constants == words.len();
    let operands: Vec<&String> =
        words[1..constants].iter().filter(|word| !word.starts_with('-') || word.len() == 1).collect();
    match &row.kind {
        Kind::Exact if exact => Ok(()),
        Kind::Exact => {
            Err(format!("`{name}` runs what it is given; write the whole command, without a wildcard"))
        }
        Kind::Interpreter => interpreter(name, &words[1..constants], exact),
        Kind::Words { .. } if exact => Ok(()),
        Kind::Words { least, after } => {
            let verb = operands.first().map(|verb| verb.as_str());
            let two = operands.iter().take(2).map(|word| word.as_str()).collect::<Vec<_>>().join(" ");
            let said = |verb: &str| after.iter().find(|(word, _)| *word == verb).map(|(_, least)| *least);
            let least = said(&two).or_else(|| said(verb?)).unwrap_or(*least);
            // An option before the word may take it for a value.
            let direct = words.get(1).is_some_and(|word| !word.starts_with('-'));
            if operands.len() >= least && direct {
                return Ok(());
            }
            let said = words[..constants].join(" ");
            if least > words.len() {
                return Err(format!(
                    "`{said}` can run any code; write the whole command, without a wildcard"
                ));
            }
            let word =
                if matches!(name, "sed" | "gsed" | "awk" | "gawk" | "mawk") { "'SCRIPT'" } else { "WORD" };
            Err(format!("`{said}` can run any code; name what it may do, as in `{said} {word} *`"))
        }
        Kind::Named if exact || constants > 1 => Ok(()),
        Kind::Named => Err(format!("`{name}` can run any code; name what it may do, as in `{name} WORD *`")),
        Kind::Wrapper { valued, skip } => {
            let mut at = 1;
            let mut skip = *skip;
            while let Some(word) = words[..constants].get(at) {
                at += match word.as_str() {
                    "--" => 1,
                    option if valued.contains(&option) => 2,
                    option if option.starts_with('-') || is_assignment(option) => 1,
                    _ if skip > 0 => {
                        skip -= 1;
                        1
                    }
                    _ => break,
                };
            }
            at += skip;
            if at >= words.len() {
                let tells = words.iter().any(|word| {
                    matches!(
                        word.as_str(),
                        "-l" | "-v" | "-V" | "-k" | "-K" | "--list" | "--version" | "--help"
                    )
                });
                let shell = words.iter().any(|word| matches!(word.as_str(), "-i" | "-s"));
                return if exact && (tells || !shell && !matches!(name, "ssh" | "sudo" | "doas" | "chroot")) {
                    Ok(())
                } else {
                    Err(format!("`{name}` runs another command; name that too, as in `{name} git status`"))
                };
            }
            check(&words[at..], constants.saturating_sub(at))
                .map_err(|reason| format!("`{name}` runs another command, and in that {reason}"))
        }
    }
}

/// `python script.py *` and `python -m pytest *`, but not `python *` nor `python -W ignore *`.
fn interpreter(name: &str, constants: &[String], exact: bool) -> Result<(), String> {
    const ALONE: [&str; 12] = ["-u", "-B", "-I", "-x", "-e", "-m", "-c", "-E", "-n", "-ne", "-pe", "-lc"];
    let names_code = |word: &&String| !word.starts_with('-') && !word.starts_with("/dev/");
    let tells = |word: &String| matches!(word.as_str(), "--version" | "-V" | "-v" | "--help" | "-h");
    let options = constants.iter().take_while(|word| word.starts_with('-')).collect::<Vec<_>>();
    let named = constants.get(options.len()).as_ref().is_some_and(names_code);
    let plain = exact || options.iter().all(|option| ALONE.contains(&option.as_str()));
    if named && plain || exact && constants.iter().any(tells) {
        return Ok(());
    }
    Err(format!("`{name}` runs any code; name the script or module, as in `{name} script *`"))
}

/// `python` for `python3.11`, `gcc` for `gcc-12`.
pub(super) fn without_version(program: &str) -> &str {
    program.trim_end_matches(|c: char| c.is_ascii_digit() || ".-".contains(c))
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}
