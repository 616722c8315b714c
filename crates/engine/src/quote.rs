//! Putting untrusted words into a command.

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
