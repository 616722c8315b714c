//! Shells that are started before their commands are known.
//!
//! Starting bash is most of the time that a short command takes. So after a command that ran in a room another shell is
//! started there, with the same environment and directory. If the next command wants just that, it gets this shell, and can
//! see no difference. Otherwise one is started as ever.

use std::ffi::{CStr, OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bashtion_sandbox::{Prepared, Sandbox, SpawnError, WaitingShell};

use crate::Streams;
use crate::pipes::Readers;
use crate::quote::escape_arg;

/// The shells that wait.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    most: usize,
    waiting: Mutex<Vec<Waiting>>,
    /// The bashes that were tried, and whether they can wait.
    tried: Mutex<Vec<(PathBuf, bool)>>,
}

/// One shell, and the pipes that it writes to.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) shell: WaitingShell,
    pub(crate) readers: Readers,
    streams: Streams,
}

/// A command as it could be run once more, but for its text.
#[derive(Debug)]
pub(crate) struct Again {
    pub(crate) program: PathBuf,
    pub(crate) prepared: Prepared,
    pub(crate) streams: Streams,
}

impl Pool {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, ..Self::default() }
    }

    /// Returns true if a command with this environment can have a shell that has waited, and see no difference.
    pub(crate) fn suits(&self, command: &str, env: &[(OsString, OsString)]) -> bool {
        self.most > 0
            && !might_see(command)
            && !env.iter().any(|(name, _)| {
                let name = name.to_string_lossy();
                name.starts_with("BASH_FUNC_") || ACTING_FIRST.contains(&name.as_ref())
            })
    }

    /// The shell that waits for such a command, if there is one.
    pub(crate) fn take(&self, prepared: &Prepared, streams: Streams) -> Option<Waiting> {
        let mut waiting = self.waiting();
        let at = waiting.iter().position(|one| one.streams == streams && one.shell.fits(prepared))?;
        Some(waiting.remove(at))
    }

    /// Has a shell wait for the next command that is like this one. One too many goes.
    pub(crate) fn refill(&self, sandbox: &Sandbox, again: Again) {
        let Again { program, mut prepared, streams } = again;
        // A command has ended since those began to wait: their room does not let them go on any more.
        let (old, others) = std::mem::take(&mut *self.waiting())
            .into_iter()
            .partition(|one| one.streams == streams && one.shell.fits(&prepared));
        self.waiting().extend::<Vec<_>>(others);
        drop::<Vec<_>>(old);
        if self.known(&program).is_none() {
            let (can_wait, same) = try_out(sandbox, prepared);
            prepared = same;
            let mut tried = self.tried.lock().unwrap_or_else(PoisonError::into_inner);
            tried.extend(can_wait.map(|can_wait| (program.clone(), can_wait)));
        }
        if self.known(&program) != Some(true) {
            return;
        }
        match start(sandbox, &prepared, streams) {
            Ok(Some(one)) => {
                let mut waiting = self.waiting();
                waiting.push(one);
                let too_many = waiting.len().saturating_sub(self.most);
                let gone: Vec<_> = waiting.drain(..too_many).collect();
                drop(waiting);
                drop(gone);
            }
            Ok(None) => {}
            Err(error) => tracing::debug!(%error, "no shell waits for the next command"),
        }
    }

    fn known(&self, program: &Path) -> Option<bool> {
        let tried = self.tried.lock().unwrap_or_else(PoisonError::into_inner);
        tried.iter().find(|(known, _)| known == program).map(|(_, can_wait)| *can_wait)
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns true if a command could see that its shell has waited: by its age, its arguments or what it did first.
fn might_see(command: &str) -> bool {
    const PARTS: [&str; 4] = ["/proc", "/dev/fd", "PIPESTATUS", "BASH_ARG"];
    const WORDS: [&str; 6] = ["ps", "pgrep", "pkill", "top", "htop", "times"];
    let mut words = command.split(|c: char| !c.is_alphanumeric() && c != '_');
    PARTS.iter().any(|part| command.contains(part)) || words.any(|word| WORDS.contains(&word))
}

/// Variables that act on what bash reads first.
const ACTING_FIRST: [&str; 7] =
    ["BASH_ENV", "ENV", "POSIXLY_CORRECT", "SHELLOPTS", "BASHOPTS", "BASH_XTRACEFD", "BASH_COMPAT"];

/// Puts everything as it is when `bash -c` begins. Bash reads this instead of a file of the user's.
pub(crate) fn script(command: &str, prelude: Option<&OsStr>) -> Vec<u8> {
    let prelude = prelude.unwrap_or(OsStr::new("unset BASH_ENV\n"));
    let execution = format!("exec <>/dev/null\nBASH_EXECUTION_STRING={}\n", escape_arg(command));
    [execution.as_bytes(), prelude.as_bytes(), b"SECONDS=0\n: bash\n"].concat()
}

fn start(sandbox: &Sandbox, prepared: &Prepared, streams: Streams) -> Result<Option<Waiting>, SpawnError> {
    let made = Readers::new(streams);
    let Ok((readers, output)) = made else { return Ok(None) };
    let shell = sandbox.launch_waiting(prepared, &output).transpose()?;
    Ok(shell.map(|shell| Waiting { shell, readers, streams }))
}

/// Finds out whether this bash, started before its command is known, does what the command says. None if it was not heard.
fn try_out(sandbox: &Sandbox, prepared: Prepared) -> (Option<bool>, Prepared) {
    const COMMAND: &CStr = c"printf %s \"$BASH_EXECUTION_STRING,$0,$#,$-,$LINENO,${BASH_ENV-no}\"";
    let command = COMMAND.to_string_lossy();
    let expected = format!("{command},bash,0,hBc,1,no");
    let prepared = prepared.with_last_argument(COMMAND.to_owned());
    let said = start(sandbox, &prepared, Streams::Separate).ok().flatten().and_then(|waiting| {
        let mut child = waiting.shell.go(&prepared, &script(&command, None)).ok()?;
        let said = waiting.readers.read_to_end(Duration::from_secs(5)).ok()?;
        child.wait().ok().map(|_| said)
    });
    (said.map(|said| said == expected.as_bytes()), prepared)
}

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
        let suits = |name: &str| Pool::new(1).suits("true", &[(name.into(), "x".into())]);
        assert!(suits("PATH"));
        for name in ["BASH_ENV", "SHELLOPTS", "POSIXLY_CORRECT", "BASH_FUNC_unset%%"] {
            assert!(!suits(name), "{name}");
        }
        assert!(!Pool::new(0).suits("true", &[]));
    }
}
