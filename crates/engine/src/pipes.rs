//! The read ends of a command's output.

use std::future::pending;
use std::io::{self, ErrorKind, PipeReader};
use std::os::fd::OwnedFd;
use std::thread;
use std::time::Duration;

use bashtion_sandbox::Output;
use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use tokio::net::unix::pipe::Receiver;

use crate::{Stream, Streams};

/// One or two pipes. Each is dropped when its last writer has closed it.
#[derive(Debug, Default)]
pub(crate) struct Pipes {
    first: Option<Pipe>,
    second: Option<Pipe>,
    /// The last read emptied a pipe that carries much.
    drained: bool,
}

#[derive(Debug)]
struct Pipe {
    stream: Stream,
    receiver: Receiver,
    bytes: u64,
}

/// A pipe that has carried this much gets room for this much: the writer is fast, and would wait for us often.
/// Not earlier, because an unprivileged user's pipes share a limit.
const WIDE: usize = 1 << 20;

/// How long to let a busy pipe fill before the next read. Without it we would wake for every few KiB, and the
/// switching would cost more than the reading. It holds up the runtime's thread for less than starting a process does.
const NAP: Duration = Duration::from_micros(50);

/// The read ends before a runtime watches them.
#[derive(Debug)]
pub(crate) struct Readers {
    first: PipeReader,
    second: Option<PipeReader>,
}

impl Readers {
    /// New pipes: our ends, and those of the command.
    pub(crate) fn new(streams: Streams) -> io::Result<(Self, Output)> {
        let (first, stdout) = io::pipe()?;
        let (second, stderr) = match streams {
            Streams::Separate => io::pipe().map(|(read, write)| (Some(read), write))?,
            Streams::Combined => (None, stdout.try_clone()?),
        };
        Ok((Self { first, second }, Output { stdout: stdout.into(), stderr: stderr.into() }))
    }

    /// Those of pipes that somebody else has made; the second if standard error has one of its own.
    pub(crate) fn of(stdout: OwnedFd, stderr: Option<OwnedFd>) -> Self {
        Self { first: stdout.into(), second: stderr.map(PipeReader::from) }
    }

    /// Has the runtime watch them.
    pub(crate) fn watch(self) -> io::Result<Pipes> {
        let (stream, second) = match self.second {
            Some(stderr) => (Stream::Stdout, Some(Pipe::new(Stream::Stderr, stderr)?)),
            None => (Stream::Output, None),
        };
        Ok(Pipes { first: Some(Pipe::new(stream, self.first)?), second, drained: false })
    }
}

impl Pipes {
    /// Whether nobody can write any more.
    pub(crate) fn are_closed(&self) -> bool {
        self.first.is_none() && self.second.is_none()
    }

    /// The next bytes of either stream, as many as there is room for; none at its end. Waits for ever when both have
    /// ended.
    ///
    /// Nothing is lost when the future is dropped: the read itself is its last step.
    pub(crate) async fn read(&mut self, buffer: &mut Vec<u8>) -> io::Result<Stream> {
        buffer.clear();
        loop {
            if std::mem::take(&mut self.drained) {
                thread::sleep(NAP);
            }
            let pipe = tokio::select! {
                ready = readable(self.first.as_ref()) => ready?,
                ready = readable(self.second.as_ref()) => ready?,
            };
            match pipe.receiver.try_read_buf(buffer) {
                Ok(count) => {
                    let stream = pipe.stream;
                    self.drained = pipe.bytes > WIDE as u64 && count < buffer.capacity() / 2;
                    self.note(stream, count);
                    return Ok(stream);
                }
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The next bytes of either stream if there are any now.
    pub(crate) fn read_now(&mut self, buffer: &mut Vec<u8>) -> io::Result<Option<Stream>> {
        buffer.clear();
        for pipe in [&self.first, &self.second].into_iter().flatten() {
            // Past the runtime, which may not have heard yet that there is something.
            match rustix::io::read(&pipe.receiver, spare_capacity(buffer)) {
                Ok(0) | Err(Errno::AGAIN | Errno::INTR) => {}
                Ok(_) => return Ok(Some(pipe.stream)),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    fn note(&mut self, stream: Stream, count: usize) {
        for slot in [&mut self.first, &mut self.second] {
            if let Some(pipe) = slot.take_if(|pipe| pipe.stream == stream)
                && count > 0
            {
                *slot = Some(pipe.carried(count));
            }
        }
    }
}

async fn readable(pipe: Option<&Pipe>) -> io::Result<&Pipe> {
    match pipe {
        Some(pipe) => pipe.receiver.readable().await.map(|()| pipe),
        None => pending().await,
    }
}

impl Pipe {
    fn new(stream: Stream, pipe: PipeReader) -> io::Result<Self> {
        Ok(Self { stream, receiver: Receiver::from_owned_fd(pipe.into())?, bytes: 0 })
    }

    fn carried(mut self, count: usize) -> Self {
        let before = self.bytes;
        self.bytes += count as u64;
        if before < WIDE as u64 && self.bytes >= WIDE as u64 {
            widen(&self.receiver);
        }
        self
    }
}

/// A refusal costs speed only.
#[cfg(target_os = "linux")]
fn widen(pipe: &Receiver) {
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, WIDE);
}

#[cfg(not(target_os = "linux"))]
fn widen(_: &Receiver) {}
