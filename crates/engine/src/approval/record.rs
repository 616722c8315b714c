//! One question in a file of its own.
//!
//! `ask-7k2m9q.json` waits or was answered; when its answer is used, or it is settled otherwise, it becomes
//! `ask-7k2m9q.used` by a rename, which succeeds once, whoever tries it.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bashtion_sandbox::OwnFile;
use serde::{Deserialize, Serialize};

use super::queue::ApprovalError;
use super::{Answer, ApprovalId, ApprovalLimits, Binding, Grant, Question};
use crate::Verdict;
use crate::seal::{Kind, Seals};

/// A question, and its answer when there is one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Record {
    /// Of this format. Newer fields must be optional for as long as it stays.
    version: u32,
    pub(super) id: ApprovalId,
    pub(super) binding: Binding,
    pub(super) operation_id: String,
    pub(super) command: String,
    pub(super) display: String,
    pub(super) description: Option<String>,
    pub(super) cwd: String,
    pub(super) verdict: Verdict,
    pub(super) effects: Vec<String>,
    #[serde(default)]
    pub(super) circumstances: Vec<String>,
    #[serde(default)]
    pub(super) grant: Grant,
    /// Milliseconds since 1970, as all times here.
    pub(super) asked: u64,
    pub(super) expires: u64,
    /// For whoever answers, in milliseconds.
    answer_within: u64,
    use_within: u64,
    pub(super) given: Option<Given>,
    /// Known by the name of its file.
    #[serde(skip)]
    pub(super) used: bool,
}

/// An answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Given {
    pub(super) answer: Answer,
    pub(super) at: u64,
    pub(super) expires: u64,
    /// The one who had approved what was denied then.
    #[serde(default)]
    pub(super) revoked: Option<String>,
}

const VERSION: u32 = 1;
/// More than any question that is written.
const LARGEST: u64 = 8 << 20;

impl Record {
    pub(super) fn new(id: ApprovalId, question: &Question, limits: &ApprovalLimits) -> Self {
        let asked = now();
        let answer_within = milliseconds(limits.answer_within);
        Self {
            version: VERSION,
            id,
            binding: question.binding.clone(),
            operation_id: question.operation_id.to_string(),
            command: question.command.clone(),
            display: question.display.clone(),
            description: question.description.clone(),
            cwd: question.cwd.to_string_lossy().into_owned(),
            verdict: question.verdict.clone(),
            effects: question.effects.clone(),
            circumstances: question.circumstances.clone(),
            grant: question.grant.clone(),
            asked,
            expires: asked.saturating_add(answer_within),
            answer_within,
            use_within: milliseconds(limits.use_within),
            given: None,
            used: false,
        }
    }

    pub(super) fn give(&mut self, answer: Answer) {
        let within = match answer {
            Answer::Approved { .. } | Answer::Waived { .. } => self.use_within,
            Answer::Denied { .. } | Answer::NoAnswer => self.answer_within,
        };
        let at = now();
        let revoked = match self.given.take().map(|given| given.answer) {
            Some(Answer::Approved { by } | Answer::Waived { by }) => Some(by),
            Some(Answer::Denied { .. } | Answer::NoAnswer) | None => None,
        };
        self.given = Some(Given { answer, at, expires: at.saturating_add(within), revoked });
    }

    /// Whether anything can still come of it.
    pub(super) fn is_live(&self) -> bool {
        let expires = self.given.as_ref().map_or(self.expires, |given| given.expires);
        !self.used && now() < expires
    }

    pub(super) fn write(&self, folder: &Path, seals: &Seals) -> io::Result<()> {
        let partial = folder.join(format!("{}.new", self.id));
        let text = seals.seal(Kind::Approval, self.id.as_str(), serde_json::to_vec(self)?)?;
        if text.len() as u64 > LARGEST {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the question is too long"));
        }
        OwnFile::Replacing.open(&partial)?.write_all(&text)?;
        fs::rename(partial, waiting(folder, &self.id))
    }

    /// Whether it was us who used it up.
    pub(super) fn use_up(&self, folder: &Path) -> io::Result<bool> {
        // A copy of what was used is as good as sealed, and must not be used again.
        if used(folder, &self.id).symlink_metadata().is_ok() {
            return Ok(false);
        }
        match fs::rename(waiting(folder, &self.id), used(folder, &self.id)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    pub(super) fn remove(&self, folder: &Path) {
        let path = if self.used { used(folder, &self.id) } else { waiting(folder, &self.id) };
        let _ = fs::remove_file(path);
    }

    /// None if there is none of that name.
    pub(super) fn read(folder: &Path, id: &ApprovalId, seals: &Seals) -> Result<Option<Self>, ApprovalError> {
        // In this order: it only ever goes from one to the other.
        if let Some(record) = read(&waiting(folder, id), id, seals)? {
            return Ok(Some(record));
        }
        let record = read(&used(folder, id), id, seals)?;
        Ok(record.map(|record| Self { used: true, ..record }))
    }
}

fn waiting(folder: &Path, id: &ApprovalId) -> PathBuf {
    folder.join(format!("{id}.json"))
}

fn used(folder: &Path, id: &ApprovalId) -> PathBuf {
    folder.join(format!("{id}.used"))
}

fn read(path: &Path, id: &ApprovalId, seals: &Seals) -> Result<Option<Record>, ApprovalError> {
    #[derive(Deserialize)]
    struct Version {
        version: u32,
    }
    let text = match plain(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(ApprovalError::State { path: path.to_owned(), source }),
    };
    let unreadable = |problem: String| ApprovalError::Unreadable { path: path.to_owned(), problem };
    let Version { version } = serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))?;
    if version > VERSION {
        return Err(unreadable(format!(
            "its format is version {version}, and this Bashtion knows {VERSION}"
        )));
    }
    let record: Record = serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))?;
    if record.id != *id {
        return Err(unreadable(format!("it is about {}", record.id)));
    }
    let checked = seals.check(Kind::Approval, id.as_str(), &text);
    let checked = checked.map_err(|source| ApprovalError::State { path: path.to_owned(), source })?;
    checked.map_err(|flaw| ApprovalError::Untrusted { path: path.to_owned(), flaw })?;
    Ok(Some(record))
}

/// A plain file of an ordinary size, not behind a link: a pipe would be a place to wait for ever.
fn plain(path: &Path) -> io::Result<Vec<u8>> {
    let file = OwnFile::Reading.open(path)?;
    if file.metadata()?.len() > LARGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not a file of an ordinary size"));
    }
    let mut text = vec![];
    file.take(LARGEST).read_to_end(&mut text)?;
    Ok(text)
}

pub(super) fn time(milliseconds: u64) -> SystemTime {
    UNIX_EPOCH.checked_add(Duration::from_millis(milliseconds)).unwrap_or(UNIX_EPOCH)
}

fn now() -> u64 {
    milliseconds(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
