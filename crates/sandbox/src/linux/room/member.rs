//! A command that runs in a room, as whoever runs it holds it.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::Timespec;

use super::kept::{Room, nonsense};
use super::order::{Farewell, Reply};
use super::packet::{receive, send};
use crate::{Exit, Network, Signal, Usage};

/// A command in a room, as whoever runs it holds it. If this is dropped before its end is known, the room ends it.
#[derive(Debug)]
pub(crate) struct Member {
    socket: Arc<OwnedFd>,
    /// To whom the connection goes back.
    room: Arc<Room>,
    network: Network,
    ended: Option<End>,
    ports: Vec<u16>,
}

/// The end of a command.
#[derive(Debug, Clone, Copy)]
struct End {
    exit: Exit,
    usage: Usage,
    /// The room has ended, and with it the command.
    is_lost: bool,
    /// The room has found nothing else of the command.
    is_clear: bool,
}

impl Member {
    pub(super) fn new(socket: Arc<OwnedFd>, room: Arc<Room>, network: Network) -> Self {
        Self { socket, room, network, ended: None, ports: vec![] }
    }

    /// Can be read when it has ended.
    pub(crate) fn socket(&self) -> &Arc<OwnedFd> {
        &self.socket
    }

    /// Returns true if the shell has ended.
    pub(crate) fn has_ended(&mut self) -> io::Result<bool> {
        const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
        if self.ended.is_some() {
            return Ok(true);
        }
        let mut ready = [PollFd::new(&*self.socket, PollFlags::IN)];
        if rustix::io::retry_on_intr(|| poll(&mut ready, Some(&AT_ONCE)))? == 0 {
            return Ok(false);
        }
        self.wait().map(|_| true)
    }

    /// Waits for its end.
    pub(crate) fn wait(&mut self) -> io::Result<(Exit, Usage)> {
        if let Some(End { exit, usage, .. }) = self.ended {
            return Ok((exit, usage));
        }
        let mut buffer = [0; 8192];
        let end = match receive(&self.socket, &mut buffer, &mut vec![]) {
            Ok(count) if count > 0 => match Reply::from_bytes(&buffer[..count]) {
                Some(Reply::Ended { exit, usage, ports, is_clear }) => {
                    self.ports = ports;
                    End { exit, usage, is_lost: false, is_clear }
                }
                Some(_) | None => return Err(nonsense()),
            },
            Ok(_) => LOST,
            // One that has been silent for that long is as good as lost.
            Err(error)
                if matches!(error.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::WouldBlock) =>
            {
                LOST
            }
            Err(error) => return Err(error),
        };
        self.ended = Some(end);
        Ok((end.exit, end.usage))
    }

    /// Returns the ports that the room listened on at that time.
    pub(crate) fn ports(&self) -> &[u16] {
        &self.ports
    }

    /// Returns true if the room has found nothing of the command but its shell.
    pub(crate) fn is_clear(&self) -> bool {
        self.ended.is_some_and(|end| end.is_clear)
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.ended.is_some_and(|end| end.is_lost)
    }

    /// Lets the spawner reap it. What is left of it is left on purpose. The connection serves the next command.
    pub(crate) fn say_farewell(&self, is_clean: bool) {
        if self.ended.is_some_and(|end| !end.is_lost) {
            let farewell = if is_clean { Farewell::Clean } else { Farewell::Used };
            if send(&self.socket, &[farewell as u8], &[]).is_ok() {
                self.room.keep_connection(self.network, Arc::clone(&self.socket));
            }
        }
    }
}

const LOST: End = End {
    exit: Exit::Signal(Signal::KILL),
    usage: Usage { cpu: Duration::ZERO, max_rss_kib: 0 },
    is_lost: true,
    is_clear: false,
};
