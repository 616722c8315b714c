//! Cells: the private directories of one confined command, with the rules that open them to it and to no other.
//!
//! Rules cost more than a directory, so a cell is used again by the next command under an equal confinement, after it was
//! emptied.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::super::exhaustion::is_exhaustion;
use super::rules::{Hold, Rules};
use super::scratch::Scratch;
use crate::{ConfineError, Confinement, Mode, OwnDirectory};

/// The cells of commands under one confinement.
#[derive(Debug)]
pub(super) struct Cells {
    /// Cells that no command has just now. Dropped before the directory that they are in.
    idle: Mutex<Vec<Cell>>,
    scratch: Option<Scratch>,
    /// The place of the scratch.
    parent: PathBuf,
}

/// The private directories of one command, and its rules.
#[derive(Debug, Default)]
pub(super) struct Cell {
    temporary: Option<OwnDirectory>,
    /// Shared memory, in place of everybody's.
    shared_memory: OnceLock<OwnDirectory>,
    with_namespaces: Mutex<Option<Arc<Hold>>>,
    without: Mutex<Option<Arc<Hold>>>,
}

impl Cells {
    pub(super) fn new(confinement: &Confinement) -> Result<Self, ConfineError> {
        let Confinement { mode, temporary: parent, writable, .. } = confinement;
        let failed = |source| not_made(parent, source);
        let scratch = match mode {
            Mode::Off => None,
            Mode::Workspace | Mode::ReadOnly => {
                let path = parent.canonicalize().map_err(failed)?;
                let roots = writable.iter().filter(|_| *mode == Mode::Workspace);
                if let Some(root) = roots.into_iter().find(|root| path.starts_with(root)) {
                    return Err(ConfineError::TemporaryInside { path, root: root.clone() });
                }
                Some(Scratch::create(&path).map_err(failed)?)
            }
        };
        Ok(Self { idle: Mutex::default(), scratch, parent: parent.clone() })
    }

    fn take(&self) -> Result<Cell, ConfineError> {
        if let Some(cell) = self.idle().pop() {
            return Ok(cell);
        }
        let temporary = self.scratch.as_ref().map(|scratch| scratch.directory(TEMPORARY)).transpose();
        Ok(Cell { temporary: temporary.map_err(|source| self.failed(source))?, ..Cell::default() })
    }

    fn take_back(&self, cell: Cell) {
        const MOST_IDLE: usize = 16;
        if cell.is_as_new() && self.idle().len() < MOST_IDLE {
            self.idle().push(cell);
        }
    }

    /// The shared memory of a command that does not see everybody's.
    pub(super) fn shared_memory<'a>(&self, cell: &'a Cell) -> Result<Option<&'a OwnDirectory>, ConfineError> {
        let Some(scratch) = &self.scratch else { return Ok(None) };
        if let Some(made) = cell.shared_memory.get() {
            return Ok(Some(made));
        }
        let made = scratch.directory(SHARED_MEMORY).map_err(|source| self.failed(source))?;
        Ok(Some(cell.shared_memory.get_or_init(|| made)))
    }

    /// A directory that nobody can enter, to lay over secrets.
    pub(super) fn cover(&self) -> Result<PathBuf, ConfineError> {
        let cover = self.scratch.as_ref().map(Scratch::cover).transpose();
        cover.map(Option::unwrap_or_default).map_err(|source| self.failed(source))
    }

    fn failed(&self, source: io::Error) -> ConfineError {
        not_made(&self.parent, source)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Cell>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn not_made(parent: &Path, source: io::Error) -> ConfineError {
    if is_exhaustion(&source) {
        return ConfineError::Exhausted { source };
    }
    ConfineError::Temporary { path: parent.to_owned(), source }
}

const TEMPORARY: &str = "tmp-";
const SHARED_MEMORY: &str = "shm-";

impl Cell {
    pub(super) fn temporary(&self) -> Option<&OwnDirectory> {
        self.temporary.as_ref()
    }

    /// Empties its directories. False if that fails, or if one of them is elsewhere by now.
    fn is_as_new(&self) -> bool {
        let mut own = self.temporary.iter().chain(self.shared_memory.get());
        own.all(|directory| directory.empty().is_ok() && directory.is_in_place())
    }
}

/// A cell while one command has it.
#[derive(Debug)]
pub(super) struct Lease {
    /// Taken only by drop.
    cell: Option<Cell>,
    rules: Arc<Rules>,
}

impl Lease {
    pub(super) fn take(rules: Arc<Rules>) -> Result<Self, ConfineError> {
        let cell = rules.cells.take()?;
        Ok(Self { cell: Some(cell), rules })
    }

    pub(super) fn rules(&self) -> &Rules {
        &self.rules
    }

    pub(super) fn cell(&self) -> &Cell {
        self.cell.as_ref().expect("present until dropped")
    }

    /// The rules, made when first needed and again when a directory around a secret has changed.
    pub(super) fn hold(&self, namespaces: bool) -> Result<Arc<Hold>, ConfineError> {
        let cell = self.cell();
        let place = if namespaces { &cell.with_namespaces } else { &cell.without };
        let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(hold) = place.as_ref().filter(|hold| hold.is_current()) {
            return Ok(Arc::clone(hold));
        }
        Ok(Arc::clone(place.insert(Arc::new(self.rules.build(cell, namespaces)?))))
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // Processes that were left running may still write there, so nobody else gets it then.
        if let Some(cell) = self.cell.take().filter(|_| self.rules.confinement.attended) {
            self.rules.cells.take_back(cell);
        }
    }
}

/// The temporary directory of one command. What is in it goes when this is dropped.
#[derive(Debug)]
pub struct Temporary {
    lease: Arc<Lease>,
}

impl Temporary {
    pub(super) fn of(lease: &Arc<Lease>) -> Option<Self> {
        lease.cell().temporary().map(|_| Self { lease: Arc::clone(lease) })
    }

    fn directory(&self) -> &OwnDirectory {
        self.lease.cell().temporary().expect("looked at when this was made")
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.directory().path()
    }

    /// The directory itself, whatever its path leads to.
    #[must_use]
    pub fn descriptor(&self) -> &Arc<OwnedFd> {
        self.directory().descriptor()
    }
}
