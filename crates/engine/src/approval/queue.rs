//! Questions that wait until somebody looks, in files, so that any process of the user can answer.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::io::Errno;

use super::record::Record;
use super::turn::Turn;
use super::{Answer, Approval, ApprovalId, ApprovalLimits, ApprovalState, Binding, Question};
use crate::ledger::{Books, LedgerError};
use crate::output::StateDir;
use crate::seal::{Flaw, Seals};
use crate::{Event, Ledger};

/// The questions of a state directory.
///
/// ```
/// use bashtion::{Approvals, Engine, Request, Status, ToolContext};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let dir = tempfile::tempdir()?;
/// let engine = Engine::builder().state_dir(dir.path().join("state")).queue_approvals().build();
/// let context = ToolContext::from_host(dir.path());
/// let run = || engine.run(Request::new("echo asked; $UNSET true"), &context);
///
/// let outcome = run().await?;
/// assert_eq!(outcome.status, Status::NeedsApproval);
///
/// let approvals = Approvals::new(Some(&dir.path().join("state")));
/// approvals.approve(&outcome.approval_id.unwrap(), "the example")?;
/// assert_eq!(run().await?.output.stdout(), "asked\n");
/// assert_eq!(run().await?.status, Status::NeedsApproval, "once");
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Approvals {
    state: StateDir,
    seals: Seals,
    books: Books,
}

/// All questions, and what could not be read.
#[derive(Debug)]
pub struct ApprovalList {
    /// The oldest first.
    pub approvals: Vec<Approval>,
    /// Files that are damaged or of a newer version.
    pub problems: Vec<ApprovalError>,
}

/// What went wrong about a question.
#[derive(Debug, thiserror::Error)]
pub enum ApprovalError {
    /// There is none of that name.
    #[error("there is no question {given}")]
    Unknown {
        /// The name, or its beginning.
        given: String,
    },
    /// Several begin like that.
    #[error("{given} could be any of {}", found.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    Ambiguous {
        /// What was given.
        given: String,
        /// Those that begin so.
        found: Vec<ApprovalId>,
    },
    /// Too late.
    #[error("the question {id} has expired")]
    Expired {
        /// Which.
        id: ApprovalId,
    },
    /// Somebody was faster.
    #[error("the question {id} was answered already: {how}")]
    Answered {
        /// Which.
        id: ApprovalId,
        /// How.
        how: String,
    },
    /// The answer has been used: the command has run, or was refused.
    #[error("the answer to {id} was used already: {how}")]
    Used {
        /// Which.
        id: ApprovalId,
        /// The answer.
        how: String,
    },
    /// As many wait as may.
    #[error("{most} questions wait already, and no more are kept")]
    TooMany {
        /// How many may.
        most: usize,
    },
    /// The state directory cannot be used.
    #[error("cannot use {}", path.display())]
    State {
        /// Where.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// A file that was not written by this version, or was damaged.
    #[error("cannot read {}: {problem}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A file that nobody can vouch for, so it is as if it were not there.
    #[error("{} does not count: {flaw}", path.display())]
    Untrusted {
        /// Which file.
        path: PathBuf,
        /// The flaw of its seal.
        flaw: Flaw,
    },
    /// The answer could not be written down, so it was not given.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// What the queue knows about a request.
#[derive(Debug)]
pub(crate) enum Known {
    Answered(ApprovalId, Answer),
    Waiting(ApprovalId),
    Nothing,
}

/// What no command may see, because it could answer.
const KIND: &str = "private/approvals";

impl Approvals {
    /// The questions in a state directory; by default the one in `/tmp`.
    #[must_use]
    pub fn new(state_dir: Option<&Path>) -> Self {
        let state = StateDir::new(state_dir.map(Path::to_owned));
        Self { seals: Seals::new(&state), state, books: Books::default() }
    }

    pub(crate) fn with_books(state_dir: Option<&Path>, books: Books) -> Self {
        Self { books, ..Self::new(state_dir) }
    }

    /// Writes answers down, before they are given.
    #[must_use]
    pub fn ledger(mut self, ledger: Arc<dyn Ledger>) -> Self {
        self.books = Books(Some(ledger));
        self
    }

    /// All of them: those that wait, and for a while those that were answered.
    pub fn list(&self) -> Result<ApprovalList, ApprovalError> {
        let (records, problems) = self.records()?;
        Ok(ApprovalList { approvals: records.into_iter().map(Approval::from).collect(), problems })
    }

    /// One of them.
    pub fn get(&self, id: &ApprovalId) -> Result<Approval, ApprovalError> {
        Record::read(&self.directory(), id, &self.seals)?
            .map(Approval::from)
            .ok_or_else(|| ApprovalError::Unknown { given: id.to_string() })
    }

    /// The only one whose name begins so, with or without `ask-`; if that is not one, the only one of them that waits.
    pub fn find(&self, given: &str) -> Result<ApprovalId, ApprovalError> {
        let wanted = given.strip_prefix("ask-").unwrap_or(given);
        let unknown = || ApprovalError::Unknown { given: given.to_owned() };
        // An empty variable must not mean whatever waits.
        if wanted.is_empty() {
            return Err(unknown());
        }
        let begins =
            |id: &ApprovalId| id.as_str().strip_prefix("ask-").is_some_and(|id| id.starts_with(wanted));
        let found: Vec<ApprovalId> = self.names()?.into_iter().filter(begins).collect();
        let waits = |id: &&ApprovalId| {
            self.get(id).is_ok_and(|approval| matches!(approval.state, ApprovalState::Waiting { .. }))
        };
        let waiting: Vec<&ApprovalId> = found.iter().filter(waits).collect();
        match (found.as_slice(), waiting.as_slice()) {
            ([one], _) | (_, &[one]) => Ok(one.clone()),
            ([], _) => Err(unknown()),
            (_, _) => Err(ApprovalError::Ambiguous { given: given.to_owned(), found }),
        }
    }

    /// Lets the very same request run when it is made again, once. Runs nothing by itself.
    pub fn approve(&self, id: &ApprovalId, by: &str) -> Result<Approval, ApprovalError> {
        self.answer(id, Answer::Approved { by: by.to_owned() })
    }

    /// Refuses the same request when it is made again, once, and says why. Revokes an approval that was not used yet.
    pub fn deny(&self, id: &ApprovalId, by: &str, reason: &str) -> Result<Approval, ApprovalError> {
        self.answer(id, Answer::Denied { by: by.to_owned(), reason: reason.to_owned() })
    }

    fn answer(&self, id: &ApprovalId, answer: Answer) -> Result<Approval, ApprovalError> {
        self.get(id)?;
        let turn = Turn::take(self.make_directory()?).map_err(|source| self.failed(source))?;
        let unknown = || ApprovalError::Unknown { given: id.to_string() };
        let mut record = Record::read(turn.folder(), id, &self.seals)?.ok_or_else(unknown)?;
        if let Some(given) = &record.given {
            let how = in_words(&given.answer);
            let revokes =
                matches!((&given.answer, &answer), (Answer::Approved { .. }, Answer::Denied { .. }));
            if record.used {
                return Err(ApprovalError::Used { id: id.clone(), how });
            }
            if !revokes {
                return Err(ApprovalError::Answered { id: id.clone(), how });
            }
        }
        if !record.is_live() {
            return Err(ApprovalError::Expired { id: id.clone() });
        }
        self.books.record(|| Event::Answered {
            operation_id: record.operation_id.as_str().into(),
            approval_id: Some(id.clone()),
            answer: answer.clone(),
        })?;
        record.give(answer);
        record.write(turn.folder(), &self.seals).map_err(|source| self.failed(source))?;
        Ok(record.into())
    }

    /// What is known about a request. An answer is used up by this, and only one caller gets it.
    pub(crate) async fn consult(&self, binding: &Binding) -> Result<Known, ApprovalError> {
        let turn = self.turn().await?;
        self.known(binding, &turn)
    }

    /// The same without using anything up.
    pub(crate) fn peek(&self, binding: &Binding) -> Result<Known, ApprovalError> {
        let about =
            self.all_records()?.into_iter().find(|record| record.binding == *binding && record.is_live());
        Ok(match about {
            Some(Record { id, given: Some(given), .. }) => Known::Answered(id, given.answer),
            Some(Record { id, given: None, .. }) => Known::Waiting(id),
            None => Known::Nothing,
        })
    }

    /// Keeps a question, unless it waits already or was answered meanwhile.
    pub(crate) async fn file(
        &self,
        question: &Question,
        limits: &ApprovalLimits,
    ) -> Result<Known, ApprovalError> {
        let turn = self.turn().await?;
        match self.known(&question.binding, &turn)? {
            Known::Nothing => {}
            known => return Ok(known),
        }
        self.make_room(limits.most, &turn)?;
        let names = self.names()?;
        let id = std::iter::repeat_with(ApprovalId::random).find(|id| !names.contains(id));
        let Some(id) = id else { return Ok(Known::Nothing) };
        let record = Record::new(id.clone(), question, limits);
        record.write(turn.folder(), &self.seals).map_err(|source| self.failed(source))?;
        Ok(Known::Waiting(id))
    }

    /// Settles a question that was answered elsewhere. A denial is kept first, so that it holds even if that fails; an approval
    /// is not, since it could be used again then.
    pub(crate) async fn close(&self, id: &ApprovalId, answer: &Answer) -> Result<(), ApprovalError> {
        let turn = self.turn().await?;
        let Some(mut record) = Record::read(turn.folder(), id, &self.seals)? else { return Ok(()) };
        if record.given.is_none() && !record.used {
            if let Answer::Denied { .. } = answer {
                record.give(answer.clone());
                record.write(turn.folder(), &self.seals).map_err(|source| self.failed(source))?;
            }
            record.use_up(turn.folder()).map_err(|source| self.failed(source))?;
        }
        Ok(())
    }

    fn known(&self, binding: &Binding, turn: &Turn) -> Result<Known, ApprovalError> {
        for record in
            self.all_records()?.into_iter().filter(|record| record.binding == *binding && record.is_live())
        {
            let Some(given) = &record.given else { return Ok(Known::Waiting(record.id)) };
            // The lock is enough; the rename is for file systems where it is none.
            if record.use_up(turn.folder()).map_err(|source| self.failed(source))? {
                return Ok(Known::Answered(record.id, given.answer.clone()));
            }
        }
        Ok(Known::Nothing)
    }

    /// Forgets the oldest of which nothing can come any more, and what a writer that died has left.
    fn make_room(&self, most: usize, turn: &Turn) -> Result<(), ApprovalError> {
        for entry in fs::read_dir(turn.folder()).into_iter().flatten().flatten() {
            if entry.path().extension().is_some_and(|extension| extension == "new") {
                let _ = fs::remove_file(entry.path());
            }
        }
        let (live, over): (Vec<_>, Vec<_>) = self.records()?.0.into_iter().partition(Record::is_live);
        let surplus = (over.len() + 1).saturating_sub(most);
        over.iter().take(surplus).for_each(|record| record.remove(turn.folder()));
        if live.len() >= most { Err(ApprovalError::TooMany { most }) } else { Ok(()) }
    }

    /// None of them may be missed for want of a descriptor: it could be a denial.
    fn all_records(&self) -> Result<Vec<Record>, ApprovalError> {
        const PASSING: [Errno; 4] = [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::IO];
        let (records, problems) = self.records()?;
        let passes = |problem: &ApprovalError| match problem {
            ApprovalError::State { source, .. } => {
                PASSING.iter().any(|errno| source.raw_os_error() == Some(errno.raw_os_error()))
            }
            _ => false,
        };
        problems.into_iter().find(passes).map_or(Ok(records), Err)
    }

    /// The files that nobody can vouch for, in words.
    pub(crate) fn untrusted(&self) -> Vec<String> {
        let problems = self.records().map(|(_, problems)| problems).unwrap_or_default();
        let untrusted = |problem: &ApprovalError| matches!(problem, ApprovalError::Untrusted { .. });
        problems.iter().filter(|problem| untrusted(problem)).map(ToString::to_string).collect()
    }

    /// The oldest first.
    fn records(&self) -> Result<(Vec<Record>, Vec<ApprovalError>), ApprovalError> {
        let (mut records, mut problems) = (vec![], vec![]);
        for id in self.names()? {
            match Record::read(&self.directory(), &id, &self.seals) {
                Ok(record) => records.extend(record),
                Err(problem) => problems.push(problem),
            }
        }
        records.sort_by(|a, b| a.asked.cmp(&b.asked).then(a.id.cmp(&b.id)));
        Ok((records, problems))
    }

    /// Where nothing was ever asked there are none.
    fn names(&self) -> Result<Vec<ApprovalId>, ApprovalError> {
        let entries = match fs::read_dir(self.directory()) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
            Err(source) => return Err(self.failed(source)),
        };
        let name = |file: &str| {
            let (name, kind) = file.split_once('.')?;
            ["json", "used"].contains(&kind).then(|| name.parse().ok())?
        };
        let mut names: Vec<ApprovalId> =
            entries.flatten().filter_map(|entry| name(entry.file_name().to_str()?)).collect();
        names.sort();
        names.dedup();
        Ok(names)
    }

    async fn turn(&self) -> Result<Turn, ApprovalError> {
        Turn::wait(self.make_directory()?).await.map_err(|source| self.failed(source))
    }

    fn make_directory(&self) -> Result<PathBuf, ApprovalError> {
        self.state.folder(KIND).map_err(|source| self.failed(source))
    }

    fn directory(&self) -> PathBuf {
        self.state.path().join(KIND)
    }

    fn failed(&self, source: io::Error) -> ApprovalError {
        ApprovalError::State { path: self.directory(), source }
    }
}

fn in_words(answer: &Answer) -> String {
    match answer {
        Answer::Approved { by } | Answer::Waived { by } => format!("approved by {by}"),
        Answer::Denied { by, reason } if reason.is_empty() => format!("denied by {by}"),
        Answer::Denied { by, reason } => format!("denied by {by}, {reason:?}"),
        Answer::NoAnswer => "nobody knows how".to_owned(),
    }
}
