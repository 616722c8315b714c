//! Files near a command are used by descriptor: a path may lead elsewhere by the time that it is used.

use std::path::Path;

/// The modules that work where a command can write.
const NEAR_COMMANDS: [&str; 10] = [
    "crates/engine/src/rooms/temporary.rs",
    "crates/engine/src/session/epilogue.rs",
    "crates/sandbox/src/linux/confine/cells.rs",
    "crates/sandbox/src/linux/confine/confined.rs",
    "crates/sandbox/src/linux/confine/remove.rs",
    "crates/sandbox/src/linux/confine/scratch.rs",
    "crates/sandbox/src/linux/confine/snapshot.rs",
    "crates/sandbox/src/linux/confine/state.rs",
    "crates/sandbox/src/own_directory.rs",
    "crates/sandbox/src/own_file.rs",
];

/// Calls that take a path, or that a path has as a method.
const BY_PATH: [&str; 22] = [
    "fs::read", "fs::write", "fs::remove", "fs::create", "fs::rename", "fs::copy", "fs::metadata",
    "fs::symlink_metadata", "fs::canonicalize", "fs::set_permissions", "File::open", "File::create",
    "File::options", "OpenOptions::new", "DirBuilder::new", ".canonicalize()", ".symlink_metadata()",
    ".try_exists()", ".exists()", ".read_dir()", ".read_link()", "open(",
];

/// A line that is allowed: its file, a part of it, and why it can do no harm.
const ALLOWED: [(&str, &str, &str); 14] = [
    ("temporary.rs", "place.temporary().canonicalize()?", "in the hidden part of the state directory"),
    ("temporary.rs", "open(*root, flags", "in the hidden part of the state directory; no link is followed"),
    ("temporary.rs", "fs::read_dir(folder)", "in the hidden part of the state directory; names only"),
    ("cells.rs", "parent.canonicalize()", "the host's directory, compared with what is writable right after"),
    ("confined.rs", "path.exists()", "decides about a mount only, and that fails if it is gone"),
    ("remove.rs", "match open(OFlags::RDONLY)", "a closure over `openat`"),
    ("remove.rs", "open(OFlags::PATH)?", "a closure over `openat`"),
    ("remove.rs", "open(OFlags::RDONLY)?", "a closure over `openat`"),
    ("scratch.rs", "open(parent, flags", "the host's directory, which the command may not change"),
    ("scratch.rs", "Path::new(\"/proc\")", "the process table, which no command can change"),
    ("snapshot.rs", "self.path.symlink_metadata().is_err()", "decides about words only"),
    (
        "snapshot.rs",
        "fs::read_link(format!(\"/proc/thread-self/fd/",
        "asks the kernel where a descriptor leads",
    ),
    ("own_directory.rs", "open(parent, flags", "the host's directory, which the command may not change"),
    ("own_file.rs", "", "opens without following or waiting, and looks at what it opened"),
];

fn without_tests_and_comments(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let code = text.split_once("#[cfg(test)]").map_or(text, |(code, _)| code);
    let lines = code.lines().enumerate().map(|(number, line)| (number + 1, line));
    lines.filter(|(_, line)| !line.trim_start().starts_with("//") && !line.starts_with("use "))
}

/// Returns true if the name stands there as a word: `openat(` and `opened(` are others.
fn calls(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        name.starts_with('.')
            || before.is_none_or(|before| !before.is_alphanumeric() && before != '_' && before != '.')
    })
}

#[test]
fn files_near_commands_are_used_by_descriptor() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut problems = vec![];
    let mut used = [false; ALLOWED.len()];
    for file in NEAR_COMMANDS {
        let text = std::fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        for (number, line) in without_tests_and_comments(&text) {
            if line.trim_start().starts_with("fn ") || !BY_PATH.iter().any(|name| calls(line, name)) {
                continue;
            }
            let allowed = ALLOWED
                .iter()
                .position(|(at, part, _)| file.ends_with(&format!("/{at}")) && line.contains(part));
            match allowed {
                Some(at) => used[at] = true,
                None => problems.push(format!("{file}:{number}: {}", line.trim())),
            }
        }
    }
    assert!(problems.is_empty(), "by path, where a command can write:\n{}", problems.join("\n"));
    let unused: Vec<_> =
        ALLOWED.iter().zip(used).filter(|(_, used)| !used).map(|(allowed, _)| allowed).collect();
    assert!(unused.is_empty(), "these lines are gone: {unused:?}");
}
