//! What the shell says about itself at its end: where it is, what it exports, how the stages of its last pipeline ended.
//!
//! Bash reads the file that `BASH_ENV` names before it begins. There it finds a trap for its exit, and removes the
//! variable. So the command itself is not changed: not its text, its line numbers, its `$?`, `$0`, `set -e` or `set -x`.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bashtion_sandbox::{OwnDirectory, Temporary};
use rustix::fs::{Mode, OFlags};

use crate::quote::quote_path;

/// What is to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Questions {
    /// Where it is, and what it exports.
    pub(crate) state: bool,
    /// How the stages of the last pipeline ended.
    pub(crate) pipeline: bool,
    /// Whether the command sets traps of its own.
    pub(crate) traps: bool,
}

/// A directory in which a private one can be made, for a shell to leave its answers in.
#[derive(Debug, Clone)]
pub(crate) struct Desk {
    /// The directory itself, if it is open: commands may write in it, or exchange its path for a link.
    directory: Option<Arc<OwnedFd>>,
    /// As we see it.
    outside: PathBuf,
    /// As the shell does.
    inside: PathBuf,
}

impl Desk {
    /// In a temporary directory that is the command's alone.
    pub(crate) fn within(temporary: &Temporary) -> Self {
        let directory = Some(Arc::clone(temporary.descriptor()));
        Self { directory, ..Self::beside_others(temporary.path()) }
    }

    /// In a temporary directory that others use too.
    pub(crate) fn beside_others(temporary: &Path) -> Self {
        Self { directory: None, outside: temporary.to_owned(), inside: temporary.to_owned() }
    }

    /// In a room's temporary directory, which is that of the host if that is a workspace. Its path lies in what commands
    /// cannot see.
    pub(crate) fn in_room(temporary: &Path, workspaces: &[PathBuf]) -> Self {
        let inside = Path::new(crate::launch::ROOMS_TEMPORARY);
        let is_the_hosts = workspaces.iter().any(|root| inside.starts_with(root));
        let outside = if is_the_hosts { inside } else { temporary };
        Self { directory: None, outside: outside.to_owned(), inside: inside.to_owned() }
    }

    fn private_directory(&self) -> io::Result<OwnDirectory> {
        match &self.directory {
            Some(directory) => OwnDirectory::create(Arc::clone(directory), &self.outside, PREFIX),
            None => OwnDirectory::create_in(&self.outside, PREFIX),
        }
    }
}

const PREFIX: &str = ".bashtion-";

/// A private directory in which a shell leaves its answers.
#[derive(Debug)]
pub(crate) struct Epilogue {
    /// Known by descriptor, so that it is this one however the command calls another.
    directory: OwnDirectory,
    /// What it was given.
    environment: Vec<(OsString, OsString)>,
    questions: Questions,
    /// The script that bash reads first, and the file that it can find it in.
    pub(crate) prelude: OsString,
    file: PathBuf,
}

/// The answers.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    pub(crate) cwd: Option<PathBuf>,
    /// Changes of exported variables: a new value, or none for those that are gone.
    pub(crate) changes: Option<Vec<(OsString, Option<OsString>)>>,
    pub(crate) pipeline: Option<Vec<i32>>,
}

/// What could notice that the shell is asked something at its end. How a pipeline ended is not worth that.
const SEEING: [&str; 12] = [
    "set -v", "verbose", "XTRACEFD", "set -r", "restricted", "ulimit", "declare -", "typeset -", "compgen",
    "alias", "_bashtion", "RETURN",
];

impl Questions {
    /// None if there is nothing to ask, or if asking would be seen.
    pub(crate) fn about(command: &str, state: bool, has_pipeline: bool) -> Option<Self> {
        let traps = command.contains("trap");
        // A trap before every command would see ours, too.
        let would_be_seen = command.contains("DEBUG") || command.contains("extdebug");
        let might_be_seen = traps || SEEING.iter().any(|word| command.contains(word));
        let questions = Self { state, pipeline: has_pipeline && (state || !might_be_seen), traps };
        ((state || questions.pipeline) && !would_be_seen).then_some(questions)
    }
}

impl Epilogue {
    /// Makes the directory.
    pub(crate) fn prepare(
        questions: Questions,
        desk: &Desk,
        environment: &[(OsString, OsString)],
    ) -> io::Result<Self> {
        let directory = desk.private_directory()?;
        let inside = desk.inside.join(directory.name());
        let given = environment.iter().find(|(name, _)| name == VARIABLE).map(|(_, value)| value.clone());
        Ok(Self {
            directory,
            environment: environment.to_vec(),
            questions,
            prelude: script(&inside, questions, given.as_deref()),
            file: inside.join(PRELUDE),
        })
    }

    /// Writes the script that bash is to read first, and returns where it finds it. By descriptor, because others may write
    /// where it is.
    pub(crate) fn write_prelude(&self) -> io::Result<&Path> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let prelude = rustix::fs::openat(&self.directory, PRELUDE, flags, Mode::from_raw_mode(0o600))?;
        // The last line is for `$_`, which is the shell's own name when a command begins.
        File::from(prelude).write_all(&[self.prelude.as_bytes(), b": bash\n"].concat())?;
        Ok(&self.file)
    }

    /// What the shell has said. It may have been killed, or have become another program; and what is there may have
    /// been put there by somebody else.
    pub(crate) fn answers(&self) -> Answers {
        let mut answers = Answers::default();
        if self.questions.pipeline {
            answers.pipeline = self.read("pipeline").and_then(|text| codes(&text));
        }
        if self.questions.state {
            let cwd = self.read("cwd").map(|mut bytes| {
                bytes.truncate(bytes.strip_suffix(b"\n").unwrap_or(&bytes).len());
                PathBuf::from(OsString::from_vec(bytes))
            });
            answers.cwd = cwd.filter(|path| path.is_absolute());
            let environment = self.read("complete").and_then(|_| self.read("environment"));
            answers.changes = environment.map(|bytes| self.changes(&bytes));
        }
        answers
    }

    fn changes(&self, bytes: &[u8]) -> Vec<(OsString, Option<OsString>)> {
        let entries = bytes.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
        let now: Vec<(&OsStr, &OsStr)> = entries
            .filter_map(|entry| {
                let equals = entry.iter().position(|byte| *byte == b'=')?;
                Some((OsStr::from_bytes(&entry[..equals]), OsStr::from_bytes(&entry[equals + 1..])))
            })
            .filter(|(name, _)| !name.is_empty() && !is_its_own(name))
            .collect();
        let had = |name: &OsStr| self.environment.iter().find(|(known, _)| known == name).map(|(_, v)| v);
        let set = now.iter().filter(|(name, value)| had(name).is_none_or(|old| old != value));
        let mut changes: Vec<_> =
            set.map(|(name, value)| ((*name).to_owned(), Some((*value).to_owned()))).collect();
        for (name, _) in self.environment.iter().filter(|(name, _)| !is_its_own(name)) {
            if !now.iter().any(|(known, _)| known == name) {
                changes.push((name.clone(), None));
            }
        }
        changes
    }

    /// A plain file of sane size, and nothing else.
    fn read(&self, name: &str) -> Option<Vec<u8>> {
        const LARGEST: u64 = 4 << 20;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::openat(&self.directory, name, flags, Mode::empty()).ok()?);
        let metadata = file.metadata().ok()?;
        if !metadata.is_file() || metadata.len() > LARGEST {
            return None;
        }
        let mut bytes = vec![];
        file.take(LARGEST).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }
}

const VARIABLE: &str = "BASH_ENV";

/// What every shell has its own of; and what would act on the next command before it begins, which nobody has judged.
fn is_its_own(name: &OsStr) -> bool {
    const NAMES: [&str; 10] =
        ["_", "SHLVL", "PWD", "TMPDIR", VARIABLE, "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "GCONV_PATH"];
    const BEGINNINGS: [&[u8]; 3] = [b"LD_", b"BASH_FUNC_", b"BASHTION_"];
    NAMES.iter().any(|own| name == *own)
        || BEGINNINGS.iter().any(|beginning| name.as_bytes().starts_with(beginning))
}

const PRELUDE: &str = "prelude";

fn codes(text: &[u8]) -> Option<Vec<i32>> {
    let text = std::str::from_utf8(text).ok()?;
    text.split_ascii_whitespace().map(|code| code.parse().ok()).collect()
}

/// What bash executes first.
fn script(directory: &Path, questions: Questions, given: Option<&OsStr>) -> OsString {
    let at = |name: &str| quote_path(directory.join(name).as_os_str());
    let mut script = OsString::new();
    match given {
        None => script.push("unset BASH_ENV\n"),
        Some(given) => {
            // It is read after us, as it would have been.
            script.push("BASH_ENV=");
            script.push(quote_path(given));
            script.push("\n[[ -r $BASH_ENV ]] && . \"$BASH_ENV\"\n");
        }
    }
    script.push("_bashtion_end() {\n  local _bashtion_status=$?\n  {\n    local -\n    set +x\n    if [[ $BASHPID == \"$$\" ]]; then\n");
    if questions.pipeline {
        script.push("      printf '%s ' \"$@\" >| ");
        script.push(at("pipeline"));
        script.push("\n");
    }
    if questions.state {
        script.push("      builtin pwd -P >| ");
        script.push(at("cwd"));
        // The environment may be too large for any program.
        script.push("\n      /usr/bin/env -0 >| ");
        script.push(at("environment"));
        script.push(" && : >| ");
        script.push(at("complete"));
        script.push("\n");
    }
    script.push("    fi\n  } > /dev/null 2>&1 || :\n  return \"$_bashtion_status\"\n}\n");
    if questions.traps && questions.state {
        script.push(TRAP);
    }
    script.push(format!("builtin trap -- '{ACTION}' EXIT\n"));
    script
}

/// A condition, because a trap for ERR would run once more for what the command ended with.
const ACTION: &str = "if { _bashtion_end \"${PIPESTATUS[@]}\"; } 2> /dev/null; then :; fi";

/// For commands that set a trap for their exit: theirs runs after ours, and they never see ours.
///
/// In both branches `$?` is what the command ended with, and no failure of ours stops anything.
const TRAP: &str = r#"trap() {
  { local -; set +x; } 2> /dev/null
  local _bashtion_status=0 _bashtion_now
  if [[ $BASHPID != "$$" ]]; then
    builtin trap "$@"
    return
  fi
  if [[ -n ${_bashtion_user+set} ]]; then builtin trap -- "$_bashtion_user" EXIT; else builtin trap - EXIT; fi
  builtin trap "$@" || _bashtion_status=$?
  _bashtion_now=$(builtin trap -p EXIT)
  if [[ -n $_bashtion_now ]]; then
    eval "set -- $_bashtion_now"
    _bashtion_user=$3
    if [[ -n ${_bashtion_user//[[:space:]]/} ]]; then
      builtin trap -- "if { _bashtion_end \"\${PIPESTATUS[@]}\"; } 2> /dev/null; then
$_bashtion_user
else
$_bashtion_user
fi" EXIT
    else
      builtin trap -- 'if { _bashtion_end "${PIPESTATUS[@]}"; } 2> /dev/null; then :; fi' EXIT
    fi
  else
    unset _bashtion_user
    builtin trap -- 'if { _bashtion_end "${PIPESTATUS[@]}"; } 2> /dev/null; then :; fi' EXIT
  fi
  return "$_bashtion_status"
}
"#;

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_is_asked() {
        let ask = |command, state, pipeline| Questions::about(command, state, pipeline);
        assert_eq!(ask("true", false, false), None);
        assert!(ask("a | b", false, true).is_some_and(|questions| !questions.state));
        assert_eq!(ask("trap x EXIT; a | b", false, true), None, "it would be seen");
        assert!(ask("trap x EXIT; a | b", true, true).is_some_and(|questions| questions.pipeline));
        assert_eq!(ask("trap x DEBUG; true", true, false), None, "it would be seen");
    }

    #[test]
    fn only_plain_files_are_believed() {
        let temp = tempfile::tempdir().unwrap();
        let questions = Questions { state: true, pipeline: true, traps: false };
        let env = [("A".into(), "1".into()), ("B".into(), "2".into())];
        let epilogue = Epilogue::prepare(questions, &Desk::beside_others(temp.path()), &env).unwrap();
        assert!(epilogue.write_prelude().unwrap().starts_with(temp.path()));
        let at = |name: &str| epilogue.directory.path().join(name);
        fs::write(at("cwd"), "/w\n").unwrap();
        fs::write(at("environment"), b"A=1\0C=x=y\0PWD=/w\0SHLVL=1\0_=/usr/bin/env\0").unwrap();
        fs::write(at("complete"), "").unwrap();
        fs::write(at("pipeline"), "1 0 ").unwrap();
        let answers = epilogue.answers();
        assert_eq!(answers.cwd, Some("/w".into()));
        assert_eq!(answers.pipeline, Some(vec![1, 0]));
        let expected = [("C".into(), Some("x=y".into())), ("B".into(), None)];
        assert_eq!(answers.changes.unwrap(), expected);

        fs::remove_file(at("environment")).unwrap();
        std::os::unix::fs::symlink("/proc/self/environ", at("environment")).unwrap();
        fs::remove_file(at("cwd")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, at("cwd"), rustix::fs::FileType::Fifo, Mode::RWXU, 0).unwrap();
        fs::write(at("pipeline"), "1 many").unwrap();
        let answers = epilogue.answers();
        assert!(answers.cwd.is_none() && answers.changes.is_none() && answers.pipeline.is_none());
    }
}
