//! The raw output, whole, in a file that is made only when it is needed.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;

use rustix::process::{Resource, getrlimit};

use super::state::StateDir;
use crate::{KeepFile, Limits};

const KIND: &str = "output";
/// Up to this much is held in memory, since most output turns out to need no file.
const IN_MEMORY: usize = 64 * 1024;

/// Takes the bytes of both streams in the order read.
#[derive(Debug)]
pub(crate) struct OutputFile {
    keep: KeepFile,
    state: StateDir,
    limits: Limits,
    held: Vec<u8>,
    open: Option<(File, PathBuf)>,
    written: u64,
    seen: u64,
    failed: Option<io::Error>,
}

/// What became of it.
#[derive(Debug)]
pub(super) enum Saved {
    /// Every byte, so many.
    Whole(PathBuf, u64),
    /// The first so many bytes.
    Beginning(PathBuf, u64),
    /// It could not be written.
    Failed(io::Error),
    /// It was not wanted.
    No,
}

impl OutputFile {
    pub(super) fn new(keep: KeepFile, state: StateDir, limits: &Limits) -> Self {
        Self {
            keep,
            state,
            limits: limits.clone(),
            held: vec![],
            open: None,
            written: 0,
            seen: 0,
            failed: None,
        }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        self.seen += bytes.len() as u64;
        match self.keep {
            KeepFile::Never => {}
            KeepFile::WhenTextDiffers
                if self.open.is_none() && self.held.len() + bytes.len() <= IN_MEMORY =>
            {
                self.held.extend_from_slice(bytes);
            }
            KeepFile::WhenTextDiffers => self.write_through(bytes),
        }
    }

    /// Keeps the file if the text differs from it.
    pub(super) fn finish(mut self, differs: bool) -> Saved {
        if self.keep == KeepFile::Never || !differs {
            return Saved::No;
        }
        self.write_through(&[]);
        if let Some(error) = self.failed.take() {
            return Saved::Failed(error);
        }
        match self.open.take() {
            Some((_, path)) if self.written < self.seen => Saved::Beginning(path, self.written),
            Some((_, path)) => Saved::Whole(path, self.written),
            None => Saved::No,
        }
    }

    /// A full disk must not stop the command: the reason is told where the text is cut.
    fn write_through(&mut self, bytes: &[u8]) {
        if self.failed.is_none()
            && let Err(error) = self.try_write(bytes)
        {
            tracing::warn!(%error, "cannot keep the whole output");
            self.failed = Some(error);
        }
    }

    fn try_write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.open.is_none() {
            self.state.prune(KIND, self.limits.keep_files_for, self.limits.keep_files_size);
            self.open = Some(self.state.create_file(KIND)?);
        }
        let Some((file, _)) = &mut self.open else { return Ok(()) };
        let held = std::mem::take(&mut self.held);
        // Beyond the host's own limit the kernel would kill the host.
        let most = self.limits.file_size.min(getrlimit(Resource::Fsize).current.unwrap_or(u64::MAX));
        for bytes in [held.as_slice(), bytes] {
            let room = usize::try_from(most.saturating_sub(self.written)).unwrap_or(usize::MAX);
            let taken = &bytes[..bytes.len().min(room)];
            file.write_all(taken)?;
            self.written += taken.len() as u64;
        }
        Ok(())
    }
}

/// What was not handed over is not needed, or nobody waits for it.
impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some((_, path)) = self.open.take() {
            let _ = fs::remove_file(path);
        }
    }
}

impl Saved {
    /// Where it is, and how many bytes.
    pub(super) fn into_file(self) -> Option<(PathBuf, u64)> {
        match self {
            Self::Whole(path, bytes) | Self::Beginning(path, bytes) => Some((path, bytes)),
            Self::Failed(_) | Self::No => None,
        }
    }
}

impl fmt::Display for Saved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(path, _) => write!(f, "the whole output is in {}", path.display()),
            Self::Beginning(path, bytes) => write!(f, "the first {bytes} bytes are in {}", path.display()),
            Self::Failed(error) => write!(f, "the whole output could not be kept: {error}"),
            Self::No => f.write_str("the rest was not kept"),
        }
    }
}
