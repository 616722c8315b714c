//! Programs that show texts which others have written. Data: add a name.

use bashtion_guard::Found;

/// They print what they are given or what is in files, and complain in their own name: `cat: x: Permission denied`.
const PRINTERS: &[&str] = &[
    "awk", "base64", "bat", "cat", "column", "comm", "cut", "diff", "dmesg", "echo", "egrep", "expand",
    "fgrep", "fmt", "fold", "gawk", "grep", "gunzip", "gzip", "head", "hexdump", "jq", "journalctl", "less",
    "mawk", "more", "nl", "od", "paste", "pr", "printf", "rev", "rg", "sed", "shuf", "sort", "strings",
    "tac", "tail", "tee", "tr", "uniq", "unxz", "wc", "xxd", "xz", "xzcat", "yes", "yq", "zcat", "zgrep",
    "zstdcat",
];

/// They print nothing, or nothing that could be taken for a message.
const SILENT: &[&str] = &[
    "", ":", "[", "[[", "break", "cd", "continue", "date", "exit", "export", "false", "hostname", "let",
    "local", "ls", "pwd", "read", "return", "set", "shift", "sleep", "test", "true", "unset", "wait",
    "whoami",
];

/// The subcommands of git that show what is in a repository.
const OF_GIT: &[&str] = &["blame", "cat-file", "diff", "grep", "log", "reflog", "shortlog", "show"];

/// Programs through which others are started, and which say nothing themselves.
const SILENT_WRAPPERS: &[&str] =
    &["bash", "builtin", "command", "env", "eval", "nice", "nohup", "sh", "stdbuf", "time", "timeout"];

/// Returns true if a command does nothing but show texts.
pub(super) fn prints_only(found: &Found) -> bool {
    let is_silent = |wrapper: &String| SILENT_WRAPPERS.contains(&wrapper.as_str());
    found.via.iter().all(is_silent) && program_prints_only(found)
}

fn program_prints_only(found: &Found) -> bool {
    let program = found.program.as_str();
    let is_git_printer = || {
        let mut words = found.arguments.iter().filter_map(|argument| argument.value());
        program == "git"
            && words.find(|word| !word.starts_with('-')).is_some_and(|word| OF_GIT.contains(&word))
    };
    PRINTERS.contains(&program) || SILENT.contains(&program) || is_git_printer()
}

/// The beginning of a program's own error messages, or of bash's about it.
pub(super) fn is_voice_of(line: &str, programs: &[String]) -> bool {
    let Some((name, _)) = line.split_once(": ") else { return false };
    let name = name.rsplit('/').next().unwrap_or(name);
    let of_git =
        ["error", "fatal", "warning"].contains(&name) && programs.iter().any(|program| program == "git");
    name == "bash" || of_git || programs.iter().any(|program| program == name)
}

/// Files that programs read without being told, with words of their own in them.
pub(super) const READ_BY: &[(&str, &[&str])] = &[
    ("bun", &["package.json"]),
    ("gmake", &["GNUmakefile", "makefile", "Makefile"]),
    ("just", &["justfile", "Justfile", ".justfile"]),
    ("make", &["GNUmakefile", "makefile", "Makefile"]),
    ("npm", &["package.json"]),
    ("pnpm", &["package.json"]),
    ("task", &["Taskfile.yml", "Taskfile.yaml"]),
    ("yarn", &["package.json"]),
];
