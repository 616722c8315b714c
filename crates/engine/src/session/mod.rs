//! Sessions: the working directory and the exported variables go from one command to the next, without a shell that lives.

mod epilogue;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use bashtion_sandbox::OwnFile;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::output::StateDir;
use crate::rooms::may_be_of_room;
use crate::seal::{Flaw, Kind, Seals};
use crate::{Request, ToolContext};
pub(crate) use epilogue::{Answers, Desk, Epilogue, Questions};

/// What went wrong about a session.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// A name that cannot be a file's.
    #[error("{name:?} cannot be a session: use up to 64 letters, digits, dots, dashes and underscores")]
    Name {
        /// What was given.
        name: String,
    },
    /// It cannot be read or written.
    #[error("cannot use the session in {}", path.display())]
    State {
        /// Its file.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// A file that nobody can vouch for: it decides what may be changed.
    #[error("the session in {} does not count: {flaw}", path.display())]
    Untrusted {
        /// Its file.
        path: PathBuf,
        /// The flaw of its seal.
        flaw: Flaw,
    },
    /// It was begun where this caller has no business.
    #[error("the session {name} was begun in another place, {}", workspace.display())]
    Elsewhere {
        /// The session.
        name: String,
        /// Where it was begun.
        workspace: PathBuf,
    },
    /// Where it was is gone.
    #[error("a directory of the session {name}, {}, is gone or was replaced", cwd.display())]
    Gone {
        /// The session.
        name: String,
        /// The directory.
        cwd: PathBuf,
    },
}

/// What is remembered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    version: u32,
    /// Where it was begun: what may be changed does not move with the working directory.
    #[serde(with = "crate::raw")]
    workspace: PathBuf,
    #[serde(with = "crate::raw")]
    cwd: Option<PathBuf>,
    /// Variables that differ from what a command would get without it.
    set: BTreeMap<String, Value>,
    unset: Vec<OsString>,
}

/// The name as it is, because a key must be text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Value {
    name: OsString,
    value: OsString,
}

const VERSION: u32 = 1;

/// The sessions of a state directory.
///
/// ```
/// use bashtion::{Engine, Request, ToolContext};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), bashtion::Error> {
/// let dir = tempfile::tempdir().unwrap();
/// let engine = Engine::builder().state_dir(dir.path().join("state")).build();
/// let context = ToolContext::from_host(dir.path());
/// let run = |command| engine.run(Request::new(command).session("agent-1"), &context);
/// run("mkdir sub; cd sub; export NAME=value").await?;
/// let outcome = run("echo $NAME; basename $PWD").await?;
/// assert_eq!(outcome.output.stdout(), "value\nsub\n");
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Sessions {
    state: StateDir,
    seals: Seals,
}

/// One command in a session.
#[derive(Debug)]
pub(crate) struct Session {
    name: String,
    folder: PathBuf,
    workspace: PathBuf,
    seals: Seals,
}

impl Sessions {
    /// The sessions in a state directory; by default the one in `/tmp`.
    #[must_use]
    pub fn new(state_dir: Option<&Path>) -> Self {
        let state = StateDir::new(state_dir.map(Path::to_owned));
        Self { seals: Seals::new(&state), state }
    }

    /// Where a session was begun; none if it has not begun.
    pub fn workspace(&self, name: &str) -> Result<Option<PathBuf>, SessionError> {
        check(name)?;
        let folder = self.state.path().join(KIND);
        load(&folder, name, &self.seals)?.map(|state| still_there(name, state.workspace)).transpose()
    }

    /// Puts a command into its session: where the last one left off, with what it exported.
    pub(crate) fn enter(
        &self,
        request: Request,
        context: &ToolContext,
    ) -> Result<(Request, Option<Session>), SessionError> {
        let Some(name) = request.session.clone() else { return Ok((request, None)) };
        check(&name)?;
        let failed = |source| SessionError::State { path: self.state.path().join(KIND), source };
        let folder = self.state.folder(KIND).map_err(failed)?;
        if request.resets_session {
            let path = file(&folder, &name);
            match fs::remove_file(&path) {
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    return Err(SessionError::State { path, source });
                }
                Ok(()) | Err(_) => {}
            }
        }
        let (request, workspace) = joined(request, context, &name, load(&folder, &name, &self.seals)?)?;
        let seals = Seals::new(&self.state);
        Ok((request, Some(Session { name, folder, workspace, seals })))
    }

    /// Makes of a request what [`Self::enter`] would, and changes nothing.
    pub(crate) fn preview(&self, request: Request, context: &ToolContext) -> Result<Request, SessionError> {
        let Some(name) = request.session.clone() else { return Ok(request) };
        check(&name)?;
        let state = if request.resets_session {
            None
        } else {
            load(&self.state.path().join(KIND), &name, &self.seals)?
        };
        joined(request, context, &name, state).map(|(request, _)| request)
    }
}

/// The request as it is in the session, and where that was begun. None: it begins here.
fn joined(
    mut request: Request,
    context: &ToolContext,
    name: &str,
    state: Option<State>,
) -> Result<(Request, PathBuf), SessionError> {
    let here = context.working_dir();
    let state = state.unwrap_or_else(|| State {
        version: VERSION,
        workspace: here.canonicalize().unwrap_or_else(|_| here.to_owned()),
        ..State::default()
    });
    let name = name.to_owned();
    still_there(&name, state.workspace.clone())?;
    if !context.allowed_roots().contain(&state.workspace) {
        return Err(SessionError::Elsewhere { name, workspace: state.workspace });
    }
    if request.cwd.is_none() {
        let is_gone = |cwd: &&PathBuf| !cwd.is_dir() && !may_be_of_room(cwd, &state.workspace);
        if let Some(cwd) = state.cwd.as_ref().filter(is_gone) {
            return Err(SessionError::Gone { name, cwd: cwd.clone() });
        }
        request.moved = state.cwd.is_some();
        request.cwd = state.cwd;
    }
    // Lower than what the request itself sets.
    let set = state.set.into_values().map(|Value { name, value }| (name, value));
    request.env = set.chain(request.env).collect();
    request.unset = state.unset;
    Ok((request, state.workspace))
}

impl Session {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Adds what this command has changed to what the session is by now: another may have ended meanwhile.
    pub(crate) fn leave(self, answers: &Answers) -> Result<(), SessionError> {
        let path = file(&self.folder, &self.name);
        let failed = |source| SessionError::State { path: path.clone(), source };
        let lock = self.folder.join(format!("{}.lock", self.name));
        let lock =
            OwnFile::Keeping.open(&lock).map_err(|source| SessionError::State { path: lock, source })?;
        rustix::io::retry_on_intr(|| flock(&lock, FlockOperation::LockExclusive))
            .map_err(|errno| failed(errno.into()))?;
        let fresh = || State { version: VERSION, workspace: self.workspace.clone(), ..State::default() };
        let mut state = load(&self.folder, &self.name, &self.seals)?.unwrap_or_else(fresh);
        if let Some(cwd) = &answers.cwd {
            state.cwd = Some(cwd.clone());
        }
        for (name, value) in answers.changes.iter().flatten() {
            let key = name.to_string_lossy().into_owned();
            state.unset.retain(|known| known != name);
            match value {
                Some(value) => {
                    state.set.insert(key, Value { name: name.clone(), value: value.clone() });
                }
                None => {
                    state.set.remove(&key);
                    state.unset.push(name.clone());
                }
            }
        }
        let text = serde_json::to_vec(&state).map_err(|error| failed(error.into()))?;
        let text = self.seals.seal(Kind::Session, &self.name, text).map_err(failed)?;
        let partial = self.folder.join(format!("{}.new", self.name));
        let draft = OwnFile::Replacing.open(&partial);
        let mut draft = draft.map_err(|source| SessionError::State { path: partial.clone(), source })?;
        draft.write_all(&text).and_then(|()| fs::rename(&partial, &path)).map_err(failed)
    }
}

const KIND: &str = "private/sessions";

/// Something else in its place would become what may be changed.
fn still_there(name: &str, workspace: PathBuf) -> Result<PathBuf, SessionError> {
    match workspace.canonicalize() {
        Ok(real) if real == workspace => Ok(workspace),
        Ok(_) | Err(_) => Err(SessionError::Gone { name: name.to_owned(), cwd: workspace }),
    }
}

fn check(name: &str) -> Result<(), SessionError> {
    const LONGEST: usize = 64;
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let fits = (1..=LONGEST).contains(&name.len()) && name.bytes().all(is_letter) && !name.starts_with('.');
    if fits { Ok(()) } else { Err(SessionError::Name { name: name.to_owned() }) }
}

fn file(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.json"))
}

fn load(folder: &Path, name: &str, seals: &Seals) -> Result<Option<State>, SessionError> {
    let path = file(folder, name);
    let mut text = vec![];
    match OwnFile::Reading.open(&path).and_then(|mut file| file.read_to_end(&mut text)) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(SessionError::State { path, source }),
    }
    let state: State = serde_json::from_slice(&text)
        .map_err(|error| SessionError::State { path: path.clone(), source: error.into() })?;
    if state.version > VERSION {
        let source = io::Error::new(io::ErrorKind::InvalidData, "it was written by a newer Bashtion");
        return Err(SessionError::State { path, source });
    }
    let checked = seals.check(Kind::Session, name, &text);
    let checked = checked.map_err(|source| SessionError::State { path: path.clone(), source })?;
    checked.map_err(|flaw| SessionError::Untrusted { path, flaw })?;
    Ok(Some(state))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for name in ["a", "agent-1", "Task_2.b", &"x".repeat(64)] {
            check(name).unwrap();
        }
        for name in ["", ".hidden", "..", "a/b", "a b", "ä", &"x".repeat(65)] {
            check(name).unwrap_err();
        }
    }
}
