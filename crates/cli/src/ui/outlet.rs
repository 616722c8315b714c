//! Where printed bytes go: all of them, whatever the other end is like.

use std::io::{self, IsTerminal};
use std::os::fd::BorrowedFd;

use bashtion::Decoder;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::stdio;

use super::sanitize::Sanitizer;

/// Standard output or standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Stdout,
    Stderr,
}

/// Whether the terminal takes no escape sequences.
pub(super) fn is_dumb() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term == "dumb" || term.is_empty())
}

impl Target {
    fn fd(self) -> BorrowedFd<'static> {
        match self {
            Self::Stdout => stdio::stdout(),
            Self::Stderr => stdio::stderr(),
        }
    }

    pub(super) fn is_terminal(self) -> bool {
        match self {
            Self::Stdout => io::stdout().is_terminal(),
            Self::Stderr => io::stderr().is_terminal(),
        }
    }

    /// Whether it is a terminal that takes colours, and whoever sits at it wants them.
    pub(super) fn is_coloured(self) -> bool {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        self.is_terminal() && !unwanted && !is_dumb()
    }

    /// Writes all of it, also to a pipe that somebody made non-blocking.
    pub(super) fn write(self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match rustix::io::write(self.fd(), bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => bytes = &bytes[count..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    let fd = self.fd();
                    poll(&mut [PollFd::new(&fd, PollFlags::OUT)], None)?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// A target for a command's output: byte for byte, unless it is a terminal, which the command must not drive.
#[derive(Debug)]
pub(super) struct Outlet {
    target: Target,
    guard: Option<(Decoder, Sanitizer)>,
}

impl Outlet {
    pub(super) fn new(target: Target) -> Self {
        Self { target, guard: target.is_terminal().then(Default::default) }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.guard {
            None => self.target.write(bytes),
            Some((decoder, sanitizer)) => {
                let mut safe = String::new();
                decoder.push(bytes, |text| safe += &sanitizer.push(text));
                self.target.write(safe.as_bytes())
            }
        }
    }

    /// The rest of what was held back to see what it becomes.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        let Some((decoder, sanitizer)) = &mut self.guard else { return Ok(()) };
        let mut safe = String::new();
        decoder.finish(|text| safe += &sanitizer.push(text));
        safe += &sanitizer.finish();
        self.target.write(safe.as_bytes())
    }
}
