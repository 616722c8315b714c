//! Error messages about files: the reason, and the paths that they name.

use std::path::{Path, PathBuf};

/// An error of the kernel, as the C library words it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    /// `EROFS`
    ReadOnly,
    /// `EACCES`
    Denied,
    /// `EPERM`
    NotPermitted,
    /// `EXDEV`: Landlock says so about renaming and linking to where that is not granted.
    CrossDevice,
    /// `EBUSY`: what is mounted cannot be replaced.
    Busy,
    /// `ENOENT`: a room does not show all that the host has.
    Missing,
}

/// An error message in one line of output.
#[derive(Debug)]
pub(super) struct Message<'a> {
    pub(super) reason: Reason,
    /// The words for the reason, as they stand there.
    pub(super) sign: &'a str,
    before: &'a str,
    after: &'a str,
}

impl<'a> Message<'a> {
    /// Without its first letter, which some write large. Words before codes, which stand in the same line.
    const SIGNS: [(&'static str, Reason); 12] = [
        ("ead-only file system", Reason::ReadOnly),
        ("ermission denied", Reason::Denied),
        ("peration not permitted", Reason::NotPermitted),
        ("nvalid cross-device link", Reason::CrossDevice),
        ("evice or resource busy", Reason::Busy),
        ("o such file or directory", Reason::Missing),
        ("ROFS", Reason::ReadOnly),
        ("ACCES", Reason::Denied),
        ("PERM", Reason::NotPermitted),
        ("XDEV", Reason::CrossDevice),
        ("BUSY", Reason::Busy),
        ("NOENT", Reason::Missing),
    ];

    /// Reads a line, if it has the form of an error message: `PATH: REASON`, `[Errno 13] REASON: 'PATH'`,
    /// `EACCES: REASON, open 'PATH'`, `PATH (REASON)`, `REASON (os error 13)`.
    pub(super) fn read(line: &'a str) -> Option<Self> {
        let (at, sign, reason) = Self::SIGNS.iter().find_map(|(sign, reason)| {
            let at = line.rfind(sign)?;
            let first = line[..at].chars().next_back().filter(char::is_ascii_alphabetic)?;
            let start = at - first.len_utf8();
            Some((start, &line[start..at + sign.len()], *reason))
        })?;
        let (before, after) = (&line[..at], &line[at + sign.len()..]);
        let (left, right) = (before.trim_end(), after.trim_start());
        let begins = left.is_empty() || left.ends_with([':', ']', '(', '-', '=', '\'', '"', ',', '[']);
        let ends = right.is_empty()
            || right.starts_with([':', ',', '(', ')', '.', ';', '\'', '"', '@', ']', '}'])
            || right.starts_with("at ")
            || right.starts_with("in ");
        (begins && ends).then_some(Self { reason, sign, before, after })
    }

    /// The paths that it names, the likeliest first: the nearest one before the reason, then those after it.
    pub(super) fn paths(&self, cwd: &Path) -> Vec<PathBuf> {
        let mut before = paths_in(self.before, cwd);
        // At the start stands the program that complains, or the file where it does.
        if before.len() > 1 && self.before.starts_with(['/', '.']) {
            before.remove(0);
        }
        before.reverse();
        before.into_iter().chain(paths_in(self.after, cwd)).collect()
    }

    /// Returns true if it says why, and leaves to another line what it is about.
    pub(super) fn names_nothing(&self) -> bool {
        self.before
            .trim_matches(|c: char| c.is_whitespace() || c.is_ascii_digit() || ":[]-=".contains(c))
            .is_empty()
    }
}

/// The path in the lines before, where some programs name it: `Caused by:` and their like stand between.
pub(super) fn path_before(lines: &[&str], cwd: &Path) -> Option<PathBuf> {
    const LINES: usize = 4;
    let near = lines.iter().rev().take(LINES).filter(|line| !line.trim_start().starts_with("File \""));
    near.into_iter().find_map(|line| paths_in(line, cwd).pop())
}

/// The path in the lines after, where Node.js lists the fields of an error: `code: 'EROFS'`, then `path: '/x'`.
pub(super) fn path_after(lines: &[&str], cwd: &Path) -> Option<PathBuf> {
    const LINES: usize = 4;
    let is_field =
        |line: &&&str| ["path: ", "dest: "].iter().any(|field| line.trim_start().starts_with(field));
    lines.iter().take(LINES).filter(is_field).find_map(|line| paths_in(line, cwd).pop())
}

/// Paths that a text names, in its order: quoted, or a word of their own.
fn paths_in(text: &str, cwd: &Path) -> Vec<PathBuf> {
    let is_quote = |c: char| "'\"‘’`«»".contains(c);
    let pieces = text.split(is_quote).enumerate().flat_map(|(index, piece)| match index % 2 {
        1 => vec![piece],
        _ => piece.split_whitespace().collect(),
    });
    let words = pieces.map(|word| word.trim_matches(|c: char| ":,;()[]".contains(c)));
    let is_path = |word: &&str| {
        let is_written_as_one = word.starts_with('/') || word.starts_with("./") || word.starts_with("../");
        !word.is_empty()
            && word.len() < 4096
            && (is_written_as_one || word.starts_with(".git/") || cwd.join(word).exists())
    };
    words.filter(is_path).map(|word| cwd.join(word)).filter(|path| path != cwd).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_that_a_message_is_about() {
        let cases = [
            ("touch: cannot touch '/etc/x': Read-only file system", "/etc/x"),
            ("bash: line 1: /etc/x: Permission denied", "/etc/x"),
            ("PermissionError: [Errno 13] Permission denied: '/root/.ssh/id'", "/root/.ssh/id"),
            ("cat: ../other/x: Permission denied", "/w/../other/x"),
            ("/usr/bin/ld: cannot open output file ../as: Read-only file system", "/w/../as"),
            ("error: could not write config file .git/config: Device or resource busy", "/w/.git/config"),
            ("mkdir /root/go: read-only file system", "/root/go"),
            ("Error: EROFS: read-only file system, mkdir '/opt/zz'", "/opt/zz"),
            ("java.io.FileNotFoundException: /opt/x (Read-only file system)", "/opt/x"),
            ("-e:1:in `initialize': Permission denied @ rb_sysopen - /opt/x (Errno::EACCES)", "/opt/x"),
            ("Cannot open /opt/x: Read-only file system at -e line 1.", "/opt/x"),
            ("mv: cannot move 'a b' to '/opt/a b': Permission denied", "/opt/a b"),
            ("/etc/x: Permission denied", "/etc/x"),
        ];
        for (line, path) in cases {
            let message = Message::read(line).unwrap();
            assert_eq!(message.paths(Path::new("/w")).first(), Some(&PathBuf::from(path)), "{line}");
        }
        let message = Message::read("nothing here: Permission denied").unwrap();
        assert_eq!(message.paths(Path::new("/w")), Vec::<PathBuf>::new());
    }

    #[test]
    fn what_has_no_form_of_a_message() {
        for line in [
            "all is well",
            "Permission denied for /etc/x was fixed last week",
            "we had Permission denied at /etc/x",
            "see Read-only file system tips in /usr/share/doc",
            "PERMISSIONS of /etc/x",
            "test_permission denied_case ok",
        ] {
            assert!(Message::read(line).is_none(), "{line}");
        }
    }

    #[test]
    fn a_path_some_lines_before() {
        let lines = [
            "error: Failed to create package `zz` at `/w/../zz`",
            "",
            "Caused by:",
            "  failed to create `/w/../zz`",
            "",
            "Caused by:",
        ];
        assert!(Message::read("  Read-only file system (os error 30)").unwrap().names_nothing());
        assert_eq!(path_before(&lines, Path::new("/w")), Some("/w/../zz".into()));
    }
}
