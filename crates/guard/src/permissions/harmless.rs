//! What needs no permission of its own: variables, commands and wrappers that do nothing by themselves.

use crate::paths::locate;
use crate::text::Text;
use crate::trace::{Function, Invocation};
use crate::world::World;

/// Variables that change how something looks, and nothing else.
const VARIABLES: [&str; 24] = [
    "LANG", "LANGUAGE", "TZ", "CI", "DEBUG", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE",
    "NODE_ENV", "RUST_LOG", "RUST_BACKTRACE", "CARGO_TERM_COLOR", "PYTHONUNBUFFERED", "PYTHONIOENCODING",
    "PYTHONDONTWRITEBYTECODE", "TERM", "COLUMNS", "LINES", "GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS",
    "DEBIAN_FRONTEND", "RAILS_ENV", "VERBOSE",
];

/// Names that scripts give to variables of their own, and that no program looks at.
const OWN: [&str; 40] = [
    "A", "B", "BASE", "BODY", "BRANCH", "COMMIT", "COUNT", "DATE", "DEST", "DIR", "DIRS", "DST", "END", "F",
    "FILE", "FILES", "I", "ID", "INPUT", "LINE", "LIST", "MSG", "N", "NAME", "NOW", "OUT", "OUTPUT", "PID",
    "RC", "RESULT", "ROOT", "SHA", "SRC", "START", "STATUS", "TAG", "TARGET", "URL", "X", "Y",
];

/// Whether a program may be given this variable without being named for it.
pub(super) fn is_harmless_variable(name: &str) -> bool {
    VARIABLES.contains(&name) || name.starts_with("LC_")
}

/// Whether the shell itself may set this variable: programs see it only if they had it before.
pub(super) fn is_own_variable(name: &str) -> bool {
    let lower = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    let read = name.starts_with("npm_") || name.starts_with("pip_") || name.ends_with("_proxy");
    lower && !read || is_harmless_variable(name) || OWN.contains(&name)
}

/// Builtins that declare variables.
pub(super) const DECLARE: [&str; 5] = ["declare", "typeset", "local", "export", "readonly"];

/// Whether a command does nothing by itself. What is in its words and where its output goes are steps of their own.
pub(super) fn needs_nothing(call: &Invocation, cwds: &[Text], world: &World) -> bool {
    if call.function == Function::Perhaps || !call.environment.iter().all(|(name, _)| is_own_variable(name)) {
        return false;
    }
    let Some((name, arguments)) = call.words.split_first() else { return true };
    let known = || arguments.iter().map(Text::value);
    match name.value() {
        Some(":" | "true" | "false" | "test" | "[" | "exit" | "return" | "break" | "continue") => true,
        // Without a command it only redirects, and each redirection is a step.
        Some("exec" | "wait") => arguments.is_empty(),
        Some("set") => known().all(|word| word.is_some_and(is_mild_option)),
        Some("cd") => match arguments {
            [directory] => !directory.prefix().starts_with('-') && is_inside(directory, cwds, world),
            _ => false,
        },
        Some(name @ ("declare" | "typeset" | "local" | "export")) => {
            let own = |name: &str| is_own_variable(name);
            let exports = name == "export" || known().any(|word| word == Some("-x"));
            let fine = |name: &str| if exports { is_harmless_variable(name) } else { own(name) };
            // A reference, `-n`, would be another variable under a harmless name; what is read-only, `-r`, keeps its value.
            known().all(|word| match word {
                Some("-a" | "-A" | "-x") => true,
                Some(word) => fine(word.split('=').next().unwrap_or(word)),
                None => false,
            }) && call.environment.iter().all(|(name, _)| fine(name))
        }
        Some(_) | None => false,
    }
}

/// `-e`, `-euo pipefail` and the like; `-a` would export everything.
fn is_mild_option(word: &str) -> bool {
    let letters = word.strip_prefix(['-', '+']).filter(|letters| !letters.is_empty());
    word == "pipefail"
        || letters.is_some_and(|letters| letters.bytes().all(|letter| b"euxo".contains(&letter)))
}

/// Whether a directory is in the workspace, from wherever it is entered.
fn is_inside(directory: &Text, cwds: &[Text], world: &World) -> bool {
    let inside = |path: &str| {
        let below =
            |root: &str| path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        world.workspaces().iter().any(|root| below(root))
    };
    directory.value().is_some()
        && locate(directory, cwds, world).iter().all(|path| path.why.is_none() && inside(&path.name))
}

/// The variables that a builtin sets by their names: `printf -v NAME`, `read NAME`.
pub(super) fn variables_set(call: &Invocation) -> Vec<String> {
    let Some((name, arguments)) = call.words.split_first() else { return vec![] };
    let words = || arguments.iter().map(Text::rough);
    match name.value() {
        Some("printf") => {
            let attached = words().find_map(|word| word.strip_prefix("-v").map(str::to_owned));
            let next = words().skip_while(|word| word != "-v").nth(1);
            attached.filter(|name| !name.is_empty()).or(next).into_iter().collect()
        }
        Some("read" | "mapfile" | "readarray" | "getopts" | "unset" | "let") => {
            words().filter(|word| !word.starts_with('-') && !word.is_empty()).collect()
        }
        Some(_) | None => vec![],
    }
}

/// A program that only starts another one, and how its options are told from it.
struct Wrapper {
    name: &'static str,
    /// Options without a value. An option with `=` or digits attached is its beginning.
    alone: &'static [&'static str],
    /// Options whose value is the next word.
    valued: &'static [&'static str],
    /// What stands before the command.
    before: Before,
}

#[derive(PartialEq, Eq)]
enum Before {
    Nothing,
    /// `timeout 5`.
    Duration,
    /// `env NAME=value`.
    Assignments,
}

const fn wrapper(
    name: &'static str,
    alone: &'static [&'static str],
    valued: &'static [&'static str],
) -> Wrapper {
    Wrapper { name, alone, valued, before: Before::Nothing }
}

/// They run the command that they are given and do nothing else: they are taken off before an `allow` is looked for.
///
/// Not among them: those that change who runs it or where (`sudo`, `doas`, `su`, `chroot`, `ssh`, `docker exec`), those
/// that write files (`time -o`, `script`, `strace`), and those that fetch what they run (`npx`).
const WRAPPERS: &[Wrapper] = &[
    wrapper("time", &["-p"], &[]),
    wrapper("nohup", &[], &[]),
    wrapper("command", &["-p", "--"], &[]),
    wrapper("builtin", &["--"], &[]),
    wrapper("exec", &[], &[]),
    wrapper("nice", &["-n", "--adjustment="], &["-n"]),
    wrapper("ionice", &["-c", "-n", "-t"], &["-c", "-n"]),
    wrapper("stdbuf", &["-i", "-o", "-e"], &["-i", "-o", "-e"]),
    Wrapper {
        name: "timeout",
        alone: &["-v", "--verbose", "--foreground", "--preserve-status", "--signal=", "--kill-after="],
        valued: &["-s", "-k", "--signal", "--kill-after"],
        before: Before::Duration,
    },
    Wrapper { name: "env", alone: &[], valued: &[], before: Before::Assignments },
    wrapper(
        "xargs",
        &["-0", "-r", "-t", "-n", "-P", "-L", "--null", "--no-run-if-empty"],
        &["-n", "-P", "-L", "-d"],
    ),
];

/// Where the command begins in the words of a wrapper that is harmless, with the options that it has.
pub(super) fn wrapped(words: &[Text]) -> Option<usize> {
    let name = words.first()?.value()?;
    let wrapper = WRAPPERS.iter().find(|wrapper| wrapper.name == name)?;
    let mut at = 1;
    loop {
        let word = words.get(at)?.value()?;
        if wrapper.before == Before::Assignments {
            if !word.contains('=') || word.starts_with(['-', '=']) {
                break;
            }
            at += 1;
        } else if wrapper.valued.contains(&word) {
            words.get(at + 1)?.value()?;
            at += 2;
        } else if word.starts_with('-') {
            wrapper.alone.iter().find(|option| is_option(word, option))?;
            at += 1;
        } else {
            break;
        }
    }
    if wrapper.before == Before::Duration {
        let number = words.get(at)?.value()?.trim_end_matches(['s', 'm', 'h', 'd']);
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            return None;
        }
        at += 1;
    }
    (at < words.len()).then_some(at)
}

/// The option itself, or with a value that is attached: `-n5`, `-oL`, `--signal=KILL`.
fn is_option(word: &str, option: &str) -> bool {
    word.strip_prefix(option).is_some_and(|value| {
        let long = option.starts_with("--");
        value.is_empty()
            || long && option.ends_with('=')
            || !long && value.bytes().all(|b| b.is_ascii_alphanumeric())
    })
}

/// Whether a shell or builtin runs nothing but the constant code in its words: then each command in it is looked at.
pub(super) fn runs_its_words(call: &Invocation) -> bool {
    let Some(words) = call.words.iter().map(Text::value).collect::<Option<Vec<_>>>() else { return false };
    let mild = |flags: &str| {
        flags.strip_prefix('-').is_some_and(|letters| {
            letters.contains('c') && letters.bytes().all(|letter| b"celux".contains(&letter))
        })
    };
    match words.as_slice() {
        ["bash" | "/bin/bash" | "/usr/bin/bash", flags, _, ..] => mild(flags),
        // Another shell than bash reads these as something else.
        ["sh" | "dash" | "/bin/sh" | "/bin/dash" | "/usr/bin/sh", flags, code, ..] => {
            let other =
                ["[[", "((", "&>", "|&", "<<<", "<(", ">(", "function", "$'", "$\"", "coproc", "select"];
            mild(flags) && !other.iter().any(|syntax| code.contains(syntax))
        }
        ["eval", first, ..] => !first.starts_with('-'),
        _ => false,
    }
}
