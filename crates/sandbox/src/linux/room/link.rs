//! Messages between the keeper and a spawner. A spawner asks and waits; the keeper never does.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::PathBuf;

use super::packet::{LONGEST, receive, send};
use crate::Network;
use crate::room::{Stamp, read_stamped, write_stamped};
use crate::wire::{Reader, Writer};

/// From a spawner to the keeper.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ToKeeper {
    /// The world stands. What was listed for its rules, and which network is its own.
    Ready { listed: Vec<(PathBuf, Stamp)>, network: Option<u64> },
    /// The world could not be made.
    Failed { step: i32, errno: i32 },
    /// Groups for a command with these limits. Answered with [`ToSpawner::Groups`].
    Groups { memory: Option<u64>, processes: Option<u64> },
    /// Those are no longer needed.
    Drop { id: u64 },
    /// Nothing runs: repositories that have appeared can be protected now. Answered with [`ToSpawner::Done`].
    Protect,
    /// The keeper is to answer for the connections of the command whose listener comes with this. No reply.
    Listener { network: Network, sockets: Vec<PathBuf> },
    /// The room wants to end. Answered with [`ToSpawner::Done`]; nobody finds it any more then.
    Leave,
}

/// From the keeper to a spawner.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ToSpawner {
    /// Groups. Descriptors: three of the group of version 2 if there is one, then those to join, then the counters.
    Groups { id: u64, path: Option<PathBuf>, joins: u64, memory: bool, processes: bool },
    /// The request was carried out.
    Done,
}

impl ToKeeper {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        match self {
            Self::Ready { listed, network } => {
                writer.byte(b'R');
                writer.optional(*network);
                writer.list(listed, |writer, (path, stamp)| write_stamped(writer, path, *stamp));
            }
            Self::Failed { step, errno } => {
                writer.byte(b'F');
                writer.signed((*step).into());
                writer.signed((*errno).into());
            }
            Self::Groups { memory, processes } => {
                writer.byte(b'G');
                writer.optional(*memory);
                writer.optional(*processes);
            }
            Self::Drop { id } => {
                writer.byte(b'D');
                writer.number(*id);
            }
            Self::Protect => writer.byte(b'P'),
            Self::Listener { network, sockets } => {
                writer.byte(b'A');
                writer.byte((*network == Network::On).into());
                writer.paths(sockets);
            }
            Self::Leave => writer.byte(b'L'),
        }
        writer.into_bytes()
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        Some(match reader.byte()? {
            b'R' => Self::Ready { network: reader.optional()?, listed: reader.list(read_stamped)? },
            b'F' => Self::Failed { step: reader.int()?, errno: reader.int()? },
            b'G' => Self::Groups { memory: reader.optional()?, processes: reader.optional()? },
            b'D' => Self::Drop { id: reader.number()? },
            b'P' => Self::Protect,
            b'A' => Self::Listener {
                network: if reader.flag()? { Network::On } else { Network::Off },
                sockets: reader.paths()?,
            },
            b'L' => Self::Leave,
            _ => return None,
        })
    }
}

impl ToSpawner {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        match self {
            Self::Groups { id, path, joins, memory, processes } => {
                writer.byte(b'G');
                writer.number(*id);
                writer.byte(path.is_some().into());
                writer.path(path.as_deref().unwrap_or("".as_ref()));
                writer.number(*joins);
                writer.byte((*memory).into());
                writer.byte((*processes).into());
            }
            Self::Done => writer.byte(b'D'),
        }
        writer.into_bytes()
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        Some(match reader.byte()? {
            b'G' => {
                let (id, has_path, path) = (reader.number()?, reader.flag()?, reader.path()?);
                let path = has_path.then_some(path);
                Self::Groups {
                    id,
                    path,
                    joins: reader.number()?,
                    memory: reader.flag()?,
                    processes: reader.flag()?,
                }
            }
            b'D' => Self::Done,
            _ => return None,
        })
    }
}

/// Sends a message of any length: the first packet says how long it is.
pub(super) fn send_long(socket: &OwnedFd, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut message = Vec::with_capacity(bytes.len() + 8);
    message.extend((bytes.len() as u64).to_le_bytes());
    message.extend(bytes);
    let mut descriptors = descriptors;
    for packet in message.chunks(LONGEST) {
        send(socket, packet, descriptors)?;
        descriptors = &[];
    }
    Ok(())
}

/// Receives one, waiting for all of it. None at the end.
pub(super) fn receive_long(socket: &OwnedFd) -> io::Result<Option<(Vec<u8>, Vec<OwnedFd>)>> {
    let mut inbox = Inbox::default();
    let mut buffer = vec![0; LONGEST];
    loop {
        let count = receive(socket, &mut buffer, &mut inbox.descriptors)?;
        if count == 0 {
            return Ok(None);
        }
        if let Some(message) = inbox.add(&buffer[..count])? {
            return Ok(Some(message));
        }
    }
}

/// A message that comes in pieces.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    bytes: Vec<u8>,
    pub(super) descriptors: Vec<OwnedFd>,
}

impl Inbox {
    /// The message, when all of it is there. More than the longest command can need is refused.
    pub(super) fn add(&mut self, packet: &[u8]) -> io::Result<Option<(Vec<u8>, Vec<OwnedFd>)>> {
        const MOST: u64 = 64 << 20;
        self.bytes.extend(packet);
        let Some((length, rest)) = self.bytes.split_first_chunk::<8>() else { return Ok(None) };
        let length = u64::from_le_bytes(*length);
        if length > MOST {
            return Err(io::ErrorKind::InvalidData.into());
        }
        if (rest.len() as u64) < length {
            return Ok(None);
        }
        let message = rest.to_vec();
        self.bytes.clear();
        Ok(Some((message, std::mem::take(&mut self.descriptors))))
    }
}
