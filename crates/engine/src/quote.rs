//! Putting untrusted words into a command.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Quotes a word so that bash takes it as it is.
///
/// ```
/// use bashtion::escape_arg;
/// assert_eq!(escape_arg("hello"), "'hello'");
/// assert_eq!(escape_arg("it's"), r"'it'\''s'");
/// assert_eq!(escape_arg("$(reboot)"), "'$(reboot)'");
/// ```
#[must_use]
pub fn escape_arg(arg: &str) -> String {
    format!("'{}'", arg.replace('\'', r"'\''"))
}

/// As [`crate::escape_arg`], for paths that need not be UTF-8.
pub(crate) fn quote_path(path: &OsStr) -> OsString {
    let quoted = path.as_bytes().split(|byte| *byte == b'\'').collect::<Vec<_>>().join(br"'\''".as_slice());
    OsString::from_vec([b"'", quoted.as_slice(), b"'"].concat())
}

/// A command with its arguments quoted.
///
/// ```
/// use bashtion::build_safe_command;
/// assert_eq!(build_safe_command("grep", &["-r", "a b; rm x"]), "grep '-r' 'a b; rm x'");
/// assert_eq!(build_safe_command("ls", &[]), "ls");
/// ```
#[must_use]
pub fn build_safe_command(command: &str, args: &[&str]) -> String {
    args.iter().fold(command.to_owned(), |line, arg| line + " " + &escape_arg(arg))
}
