//! The read ends of a command's output.

use std::future::pending;
use std::io::{self, ErrorKind, PipeReader};

use tokio::net::unix::pipe::Receiver;

use crate::Stream;

/// One or two pipes. Each is dropped when its last writer has closed it.
#[derive(Debug, Default)]
pub(crate) struct Pipes {
    first: Option<Pipe>,
    second: Option<Pipe>,
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

impl Pipes {
    pub(crate) fn separate(stdout: PipeReader, stderr: PipeReader) -> io::Result<Self> {
        Ok(Self {
            first: Some(Pipe::new(Stream::Stdout, stdout)?),
            second: Some(Pipe::new(Stream::Stderr, stderr)?),
        })
    }

    pub(crate) fn combined(output: PipeReader) -> io::Result<Self> {
        Ok(Self { first: Some(Pipe::new(Stream::Output, output)?), second: None })
    }

    /// Whether nobody can write any more.
    pub(crate) fn are_closed(&self) -> bool {
        self.first.is_none() && self.second.is_none()
    }

    /// The next bytes of either stream; zero at its end. Waits for ever when both have ended.
    ///
    /// Nothing is lost when the future is dropped: the read itself is its last step.
    pub(crate) async fn read(&mut self, buffer: &mut [u8]) -> io::Result<(Stream, usize)> {
        loop {
            let pipe = tokio::select! {
                ready = readable(self.first.as_ref()) => ready?,
                ready = readable(self.second.as_ref()) => ready?,
            };
            match pipe.receiver.try_read(buffer) {
                Ok(count) => {
                    let stream = pipe.stream;
                    self.note(stream, count);
                    return Ok((stream, count));
                }
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                Err(error) => return Err(error),
            }
        }
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
