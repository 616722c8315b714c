//! Commands that can have a shell which was started before they were known.
//!
//! Starting bash is most of the time that a short command takes. So after a command its room starts another shell, with the
//! same environment and directory. If the next command wants just that, it gets this shell, and can see no difference.
//! Otherwise one is started as ever.

use std::ffi::OsString;

/// Returns true if a command with this environment can have a shell that has waited, and see no difference.
pub(crate) fn can_have_waited(command: &str, env: &[(OsString, OsString)]) -> bool {
    !might_see(command)
        && !env.iter().any(|(name, _)| {
            let name = name.to_string_lossy();
            name.starts_with("BASH_FUNC_") || ACTING_FIRST.contains(&name.as_ref())
        })
}

/// Returns true if a command could see that its shell has waited: by its age, its arguments or what it did first.
fn might_see(command: &str) -> bool {
    const PARTS: [&str; 6] = ["/proc", "/dev/fd", "PIPESTATUS", "BASH_ARG", "${!", "declare -p"];
    const WORDS: [&str; 10] =
        ["ps", "pgrep", "pkill", "pidof", "killall", "pstree", "top", "htop", "times", "compgen"];
    let mut words = command.split(|c: char| !c.is_alphanumeric() && c != '_');
    PARTS.iter().any(|part| command.contains(part)) || words.any(|word| WORDS.contains(&word))
}

/// Variables that act on what bash reads first.
const ACTING_FIRST: [&str; 7] =
    ["BASH_ENV", "ENV", "POSIXLY_CORRECT", "SHELLOPTS", "BASHOPTS", "BASH_XTRACEFD", "BASH_COMPAT"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_might_see_it() {
        for command in ["ps -ef", "echo;ps", "cat /proc/$$/cmdline", "a | b; echo ${PIPESTATUS[0]}", "times"]
        {
            assert!(might_see(command), "{command}");
        }
        for command in ["curl https://a.b", "set -euo pipefail", "make steps", "tops", "./ps2"] {
            assert!(!might_see(command), "{command}");
        }
    }

    #[test]
    fn what_acts_first_keeps_a_shell_from_waiting() {
        let suits = |name: &str| can_have_waited("true", &[(name.into(), "x".into())]);
        assert!(suits("PATH"));
        for name in ["BASH_ENV", "SHELLOPTS", "POSIXLY_CORRECT", "BASH_FUNC_unset%%"] {
            assert!(!suits(name), "{name}");
        }
    }
}
