//! A task's output file: all of it up to a limit, then its beginning and its end.
//!
//! Up to the limit for the beginning everything goes to one file. What follows goes to pieces, each named by the offset
//! of its first byte, of which the last two are kept. At the end they are put behind the beginning, with a line that says
//! what is missing. So an offset means the same byte at any time, and a crash at any point leaves nothing ambiguous.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use rustix::process::{Resource, getrlimit};
use serde::{Deserialize, Serialize};

use super::folder::private;

/// Writes the output of one task.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    head: File,
    sizes: Sizes,
    seen: u64,
    pieces: Vec<Piece>,
    last: Option<u8>,
    failed: Option<io::Error>,
}

/// How much of the output is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sizes {
    /// Of the beginning.
    pub(crate) head: u64,
    /// Of each of the two pieces of the end.
    pub(crate) piece: u64,
}

impl Sizes {
    /// Half for the beginning, half for the end.
    pub(crate) fn of(limit: u64) -> Self {
        // Beyond the host's own limit the kernel would kill the host.
        let most = getrlimit(Resource::Fsize).current.unwrap_or(u64::MAX);
        let head = (limit / 2).min(most / 3).max(1);
        Self { head, piece: (head / 2).max(1) }
    }
}

/// Where the bytes of a finished output are in its file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Layout {
    /// How many bytes were printed.
    pub(super) total: u64,
    /// So many are at the beginning of the file.
    pub(super) head: u64,
    /// After these follows a line of our own, so long.
    pub(super) marker: u64,
    /// Then so many of the end.
    pub(super) tail: u64,
}

#[derive(Debug)]
struct Piece {
    file: File,
    path: PathBuf,
    start: u64,
    length: u64,
}

impl Log {
    pub(super) fn create(path: PathBuf, sizes: Sizes) -> io::Result<Self> {
        let head = private().create_new(true).open(&path)?;
        Ok(Self { path, head, sizes, seen: 0, pieces: vec![], last: None, failed: None })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn seen(&self) -> u64 {
        self.seen
    }

    /// A full disk must not stop the command. What follows is counted, and the result says why it is missing.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        if self.failed.is_none()
            && let Err(error) = self.try_write(bytes)
        {
            tracing::warn!(%error, "cannot keep a task's output");
            self.failed = Some(error);
        }
        self.seen += bytes.len() as u64;
        self.last = bytes.last().copied().or(self.last);
    }

    /// Whether what follows begins a line.
    pub(super) fn ends_with_newline(&self) -> bool {
        self.last.is_none_or(|byte| byte == b'\n')
    }

    fn try_write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let room = usize::try_from(self.sizes.head.saturating_sub(self.seen)).unwrap_or(usize::MAX);
        let (first, mut rest) = bytes.split_at(bytes.len().min(room));
        self.head.write_all(first)?;
        let mut at = self.seen + first.len() as u64;
        while !rest.is_empty() {
            if self.pieces.last().is_none_or(|piece| piece.length >= self.sizes.piece) {
                self.begin_piece(at)?;
            }
            let Some(piece) = self.pieces.last_mut() else { break };
            let room = usize::try_from(self.sizes.piece - piece.length).unwrap_or(usize::MAX);
            let (now, later) = rest.split_at(rest.len().min(room));
            piece.file.write_all(now)?;
            piece.length += now.len() as u64;
            at += now.len() as u64;
            rest = later;
        }
        Ok(())
    }

    fn begin_piece(&mut self, start: u64) -> io::Result<()> {
        const KEPT: usize = 2;
        let path = piece_path(&self.path, start);
        let file = private().create_new(true).open(&path)?;
        self.pieces.push(Piece { file, path, start, length: 0 });
        if self.pieces.len() > KEPT {
            let oldest = self.pieces.remove(0);
            fs::remove_file(oldest.path)?;
        }
        Ok(())
    }

    /// Puts everything into one file. The pieces stay until [`Log::close`]. Also what could not be written.
    pub(super) fn finish(&mut self) -> (Layout, Option<io::Error>) {
        let kept = self.kept_head();
        let mut layout = Layout { total: self.seen, head: kept, marker: 0, tail: 0 };
        let mut problem = self.failed.take();
        // What follows a failure is missing: the pieces are not the end, and stay by themselves with their offsets.
        if let Some(first) = self.pieces.first().filter(|_| problem.is_none()) {
            let dropped = first.start - kept;
            let tail = self.pieces.iter().map(|piece| piece.length).sum();
            let marker = format!("\n[... {dropped} bytes dropped ...]\n");
            match self.gather(&marker) {
                Ok(()) => layout = Layout { marker: marker.len() as u64, tail, ..layout },
                Err(error) => problem = problem.or(Some(error)),
            }
        }
        (layout, problem)
    }

    fn kept_head(&self) -> u64 {
        let written = self.head.metadata().map_or(0, |metadata| metadata.len());
        written.min(self.sizes.head)
    }

    fn gather(&mut self, marker: &str) -> io::Result<()> {
        self.head.write_all(marker.as_bytes())?;
        for piece in &self.pieces {
            io::copy(&mut File::open(&piece.path)?.take(piece.length), &mut self.head)?;
        }
        Ok(())
    }

    /// Once it is recorded where everything is: a last line, and no more pieces. Before, the line could be taken for output.
    pub(super) fn close(mut self, layout: Layout, last_line: &str) {
        // On a full disk it is missing, and the result is not.
        let _ = self.head.write_all(last_line.as_bytes());
        if layout.tail > 0 {
            for piece in self.pieces {
                let _ = fs::remove_file(piece.path);
            }
        }
    }
}

/// `bash-7k2m9q@4096`
fn piece_path(output: &Path, start: u64) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(format!("@{start}"));
    name.into()
}

/// The folder of all outputs. It is listed once, when pieces are first asked for.
#[derive(Debug, Default)]
pub(super) struct Outputs {
    pieces: OnceCell<BTreeMap<String, Vec<u64>>>,
}

impl Outputs {
    /// Finds the pieces of an output, by their offsets.
    pub(super) fn pieces(&self, output: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
        let listed = match self.pieces.get() {
            Some(listed) => listed,
            None => {
                let listed = list_pieces(output.parent().unwrap_or(output))?;
                self.pieces.get_or_init(|| listed)
            }
        };
        let name = output.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let starts = listed.get(name).into_iter().flatten();
        Ok(starts.map(|start| (*start, piece_path(output, *start))).collect())
    }
}

fn list_pieces(folder: &Path) -> io::Result<BTreeMap<String, Vec<u64>>> {
    let mut found: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for entry in fs::read_dir(folder)?.flatten() {
        let name = entry.file_name();
        let Some((output, start)) = name.to_str().and_then(|name| name.split_once('@')) else { continue };
        if let Ok(start) = start.parse() {
            found.entry(output.to_owned()).or_default().push(start);
        }
    }
    found.values_mut().for_each(|starts| starts.sort_unstable());
    Ok(found)
}
