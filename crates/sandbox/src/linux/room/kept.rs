//! A room that another process keeps: finding it, asking it, ending it.

use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use rustix::process::{Pid, kill_process};

use super::keeper::{file_name, remove_files};
use super::link::send_long;
use super::order::{Question, Reply};
use super::packet::{LONGEST, peer, receive, send};
use super::visit::Terms;
use crate::Network;
use crate::OwnFile;
use crate::imp::sockets::NewSockets;
use crate::room::{RoomFacts, RoomStatus};
use crate::wire::{Reader, Writer};

/// A room that is kept by another process.
#[derive(Debug)]
pub struct Room {
    directory: PathBuf,
    key: String,
    facts: RoomFacts,
    /// Connections on which nothing runs.
    unused: Mutex<Vec<(Network, Arc<OwnedFd>)>>,
    /// The terms of the last command.
    terms: Mutex<Option<Arc<Terms>>>,
}

impl Room {
    /// Finds the room of that name in a directory of rooms. None if there is none, or none that this version knows.
    pub fn find(directory: &Path, key: &str) -> io::Result<Option<Self>> {
        let mut bytes = vec![];
        match OwnFile::Reading.open(&directory.join(file_name(key, "facts"))) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?.read_to_end(&mut bytes)?,
        };
        let facts = RoomFacts::from_bytes(&bytes);
        Ok(facts.map(|facts| Self {
            directory: directory.to_owned(),
            key: key.to_owned(),
            facts,
            unused: Mutex::default(),
            terms: Mutex::default(),
        }))
    }

    /// Removes what a killed keeper has left of a room, of any version. One that somebody keeps stays.
    pub fn remove_if_dead(directory: &Path, key: &str) {
        let connected = connect(directory, &file_name(key, "room"), IMPATIENCE);
        if connected.is_err_and(|error| is_gone(&error)) {
            remove_files(directory, key);
        }
    }

    /// Returns what its keeper has written down.
    #[must_use]
    pub fn facts(&self) -> &RoomFacts {
        &self.facts
    }

    /// Asks for its commands, processes and ports.
    pub fn status(&self) -> io::Result<RoomStatus> {
        let Reply::Status(bytes) = self.ask(&Question::Status)? else { return Err(nonsense()) };
        let mut status = RoomStatus::from_bytes(&bytes).ok_or_else(nonsense)?;
        status.exposed = self.doors(None)?;
        Ok(status)
    }

    /// Ends it if nothing runs in it. Returns whether it ends.
    pub fn end_if_idle(&self) -> io::Result<bool> {
        Ok(self.ask(&Question::EndIfIdle)? == Reply::Done(true))
    }

    /// Ends it, with everything that runs in it. One that does not answer ends when its keeper is killed.
    pub fn end(&self) -> io::Result<()> {
        match self.ask(&Question::End) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.kill_keeper(),
            Err(error) if is_gone(&error) => Ok(()),
            asked => asked.map(drop),
        }
    }

    /// Kills the process that listens on its socket, if that is its keeper: its number may be another's by now.
    fn kill_keeper(&self) -> io::Result<()> {
        let listening = peer(&self.connect("room", IMPATIENCE)?).map_or(0, |peer| peer.pid);
        match Pid::from_raw(listening).filter(|_| listening == self.facts.keeper) {
            Some(keeper) => Ok(kill_process(keeper, rustix::process::Signal::KILL)?),
            None => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    /// Makes one of its ports reachable on the host's loopback, and returns the port there. 0 is any that is free.
    pub fn expose(&self, port: u16, outside: u16) -> io::Result<u16> {
        let doors = self.doors(Some((port, outside)))?;
        let door = doors.iter().rev().find(|(inner, outer)| *inner == port && [0, *outer].contains(&outside));
        door.map(|(_, outer)| *outer).ok_or_else(nonsense)
    }

    fn doors(&self, wanted: Option<(u16, u16)>) -> io::Result<Vec<(u16, u16)>> {
        let socket = self.connect("door", IMPATIENCE)?;
        let mut writer = Writer::default();
        match wanted {
            Some((inner, outer)) => [inner, outer].into_iter().for_each(|port| writer.number(port.into())),
            None => writer.byte(0),
        }
        send(&socket, &writer.into_bytes(), &[])?;
        let mut buffer = vec![0; LONGEST];
        let count = receive(&socket, &mut buffer, &mut vec![])?;
        let mut reader = Reader::new(&buffer[..count]);
        match reader.int().ok_or_else(nonsense)? {
            0 => {}
            errno => return Err(io::Error::from_raw_os_error(errno)),
        }
        let port = |reader: &mut Reader<'_>| u16::try_from(reader.number()?).ok();
        reader.list(|reader| Some((port(reader)?, port(reader)?))).ok_or_else(nonsense)
    }

    fn ask(&self, question: &Question) -> io::Result<Reply> {
        ask(&self.connect("room", IMPATIENCE)?, question, &mut vec![])
    }

    /// Its directory and its key.
    pub(super) fn place(&self) -> (&Path, &str) {
        (&self.directory, &self.key)
    }

    /// The terms of a command, which are mostly those of the one before it.
    pub(super) fn terms(&self, fits: impl Fn(&Terms) -> bool, make: impl FnOnce() -> Terms) -> Arc<Terms> {
        let mut last = self.terms.lock().unwrap_or_else(PoisonError::into_inner);
        let known = last.take().filter(|terms| fits(terms));
        Arc::clone(last.insert(known.unwrap_or_else(|| Arc::new(make()))))
    }

    /// A connection to whoever starts commands on that network.
    pub(super) fn connection(&self, network: Network, patience: Duration) -> io::Result<Arc<OwnedFd>> {
        let mut unused = self.unused.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = unused.iter().rposition(|(known, _)| *known == network) {
            return Ok(unused.swap_remove(at).1);
        }
        drop(unused);
        self.connect(if network == Network::On { "host" } else { "room" }, patience).map(Arc::new)
    }

    /// Keeps one on which nothing runs, for the next command.
    pub(super) fn keep_connection(&self, network: Network, socket: Arc<OwnedFd>) {
        /// Those that run have theirs. This is for the moments between them.
        const MOST: usize = 8;
        let mut unused = self.unused.lock().unwrap_or_else(PoisonError::into_inner);
        if unused.len() < MOST {
            unused.push((network, socket));
        }
    }

    pub(super) fn connect(&self, kind: &str, patience: Duration) -> io::Result<OwnedFd> {
        connect(&self.directory, &file_name(&self.key, kind), patience)
    }
}

/// Has the room of that name make sockets for datagrams in its network.
pub(in super::super) fn sockets_of_room(directory: &Path, key: &str) -> io::Result<NewSockets> {
    let mut sent = vec![];
    let socket = connect(directory, &file_name(key, "room"), IMPATIENCE)?;
    let reply = ask(&socket, &Question::Datagrams, &mut sent)?;
    let mut sent = sent.into_iter();
    match (reply, sent.next(), sent.next(), sent.next()) {
        (Reply::Done(true), Some(datagrams), Some(one), Some(other)) => {
            Ok(NewSockets { datagrams, pair: (one, other) })
        }
        _ => Err(nonsense()),
    }
}

fn ask(socket: &OwnedFd, question: &Question, sent: &mut Vec<OwnedFd>) -> io::Result<Reply> {
    send_long(socket, &question.to_bytes(), &[])?;
    let mut buffer = vec![0; LONGEST];
    match receive(socket, &mut buffer, sent)? {
        0 => Err(io::ErrorKind::ConnectionReset.into()),
        count => Reply::from_bytes(&buffer[..count]).ok_or_else(nonsense),
    }
}

/// Connects to a socket of a room, on which nothing takes longer than that.
fn connect(directory: &Path, name: &str, patience: Duration) -> io::Result<OwnedFd> {
    /// The kernel takes no longer name.
    const LONGEST_NAME: usize = 107;
    let socket =
        rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    for what in [Timeout::Recv, Timeout::Send] {
        set_socket_timeout(&socket, what, Some(patience))?;
    }
    let path = directory.join(name);
    if path.as_os_str().len() <= LONGEST_NAME {
        rustix::net::connect(&socket, &SocketAddrUnix::new(&path)?)?;
        return Ok(socket);
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = rustix::fs::open(directory, flags, Mode::empty())?;
    let path = format!("/proc/self/fd/{}/{name}", directory.as_raw_fd());
    rustix::net::connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(socket)
}

/// A room that does not answer is none. What it is asked with this it knows at once.
const IMPATIENCE: Duration = Duration::from_secs(3);

/// Returns true if nobody is at the other end any more.
fn is_gone(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionRefused, ConnectionReset, NotFound};
    matches!(error.kind(), BrokenPipe | ConnectionRefused | ConnectionReset | NotFound)
}

pub(super) fn nonsense() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "the room's keeper does not answer as one of this version does",
    )
}
