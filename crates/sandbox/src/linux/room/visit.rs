//! Running a command in a room: the side of whoever wants it run.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags, Timespec};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use rustix::process::Pid;

use super::keeper::file_name;
use super::link::send_long;
use super::order::{Answering, Farewell, Order, Question, Reply, Started, step_of};
use super::packet::{LONGEST, receive, send};
use super::ports::make_socket;
use crate::imp::cgroup::Lease;
use crate::imp::confine::{TreeHeld, room_report, snapshot_of};
use crate::imp::limits::TreeLimits;
use crate::imp::mark::Mark;
use crate::imp::processes;
use crate::imp::sockets::{self, Channel, Channels, Datagrams, NewSockets, Reach, network_of};
use crate::imp::tag::{self, Tag};
use crate::imp::tree::Tree;
use crate::room::{RoomFacts, RoomStatus};
use crate::spec::{Prepared, SpawnError, Step};
use crate::wire::{Reader, Writer};
use crate::{Child, Confinement, Exit, Network, ResourceLimits, Signal, Usage};

/// A room that is kept by another process.
#[derive(Debug)]
pub struct Room {
    directory: PathBuf,
    key: String,
    facts: RoomFacts,
}

/// One command's stay in a room.
#[derive(Debug, Clone)]
pub struct Visit {
    /// The room.
    pub room: Arc<Room>,
    /// The room's name in results.
    pub name: String,
    /// The network that the command has.
    pub network: Network,
    /// True if the caller outlives the command, and answers for its connections.
    pub attended: bool,
    /// Unix sockets of the host that it may connect to.
    pub sockets: Vec<PathBuf>,
    /// The command's limits.
    pub limits: ResourceLimits,
}

impl Room {
    /// Finds the room of that name in a directory of rooms. None if there is none, or none that this version knows.
    pub fn find(directory: &Path, key: &str) -> io::Result<Option<Self>> {
        let bytes = match fs::read(directory.join(file_name(key, "facts"))) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            bytes => bytes?,
        };
        let facts = RoomFacts::from_bytes(&bytes);
        Ok(facts.map(|facts| Self { directory: directory.to_owned(), key: key.to_owned(), facts }))
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

    /// Ends it, with everything that runs in it.
    pub fn end(&self) -> io::Result<()> {
        self.ask(&Question::End).map(drop)
    }

    /// Makes one of its ports reachable on the host's loopback, and returns the port there. 0 is any that is free.
    pub fn expose(&self, port: u16, outside: u16) -> io::Result<u16> {
        let doors = self.doors(Some((port, outside)))?;
        let door = doors.iter().rev().find(|(inner, outer)| *inner == port && [0, *outer].contains(&outside));
        door.map(|(_, outer)| *outer).ok_or_else(nonsense)
    }

    fn doors(&self, wanted: Option<(u16, u16)>) -> io::Result<Vec<(u16, u16)>> {
        let socket = self.connect("door")?;
        impatient(&socket)?;
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
        ask(&self.connect("room")?, question, &mut vec![])
    }

    fn connect(&self, kind: &str) -> io::Result<OwnedFd> {
        connect(&self.directory, &file_name(&self.key, kind))
    }
}

/// Has the room of that name make sockets for datagrams in its network.
pub(in super::super) fn sockets_of_room(directory: &Path, key: &str) -> io::Result<NewSockets> {
    let mut sent = vec![];
    let socket = connect(directory, &file_name(key, "room"))?;
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
    impatient(socket)?;
    send_long(socket, &question.to_bytes(), &[])?;
    let mut buffer = vec![0; LONGEST];
    let count = receive(socket, &mut buffer, sent)?;
    Reply::from_bytes(&buffer[..count]).ok_or_else(nonsense)
}

/// Connects to a socket in a directory of rooms.
fn connect(directory: &Path, name: &str) -> io::Result<OwnedFd> {
    /// The kernel takes no longer name.
    const LONGEST_NAME: usize = 107;
    let socket =
        rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    let path = directory.join(name);
    if path.as_os_str().len() <= LONGEST_NAME {
        rustix::net::connect(&socket, &SocketAddrUnix::new(&path)?)?;
        return Ok(socket);
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = rustix::fs::open(directory, flags, Mode::empty())?;
    let name = format!("/proc/self/fd/{}/{name}", directory.as_raw_fd());
    rustix::net::connect(&socket, &SocketAddrUnix::new(name)?)?;
    Ok(socket)
}

/// A room that does not answer is none. What it is asked here it knows at once.
fn impatient(socket: &OwnedFd) -> io::Result<()> {
    const PATIENCE: Duration = Duration::from_secs(3);
    Ok(set_socket_timeout(socket, Timeout::Recv, Some(PATIENCE))?)
}

fn nonsense() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "the room's keeper does not answer as one of this version does",
    )
}

impl Visit {
    /// Starts a command, and returns once it has become the program or it is known why not.
    pub(in super::super) fn launch(
        &self,
        prepared: &Prepared,
        channels: &Channels,
    ) -> Result<Child, SpawnError> {
        let failed = |source| SpawnError::refused(Step::Prepare, source);
        let kind = if self.network == Network::On { "host" } else { "room" };
        let socket = self.room.connect(kind).map_err(|source| SpawnError::NoRoom { source })?;
        let snapshot = snapshot_of(&self.room.facts).map_err(failed)?;
        let channel = self.attended.then(|| channels.take()).transpose().map_err(failed)?;
        let tag = Tag::unique();
        let order = Question::Order(Box::new(self.order(prepared, tag)));
        let end = channel.as_ref().map(|channel| channel.end().as_fd());
        let streams = [&prepared.stdout, &prepared.stderr, &prepared.cwd].map(AsFd::as_fd);
        let descriptors: Vec<BorrowedFd<'_>> = streams.into_iter().chain(end).collect();
        // Not all of it was said, so nothing was run.
        send_long(&socket, &order.to_bytes(), &descriptors)
            .map_err(|source| SpawnError::NoRoom { source })?;

        let (mut buffer, mut sent) = ([0; 8192], vec![]);
        let count =
            receive(&socket, &mut buffer, &mut sent).map_err(|source| SpawnError::RoomLost { source })?;
        let started = match Reply::from_bytes(&buffer[..count]) {
            Some(Reply::Started(started)) => started,
            Some(Reply::Failed { step, errno }) => {
                return Err(SpawnError::refused(step_of(step), io::Error::from_raw_os_error(errno)));
            }
            Some(_) => return Err(failed(nonsense())),
            None => return Err(SpawnError::RoomLost { source: io::ErrorKind::UnexpectedEof.into() }),
        };
        let held = TreeHeld { memory: started.memory, processes: started.processes };
        let report = room_report(&self.room.facts, &self.limits, held, started.unprotected, &self.name);
        let room_pid = started.room_pid;
        let Sent { process, mark, limits } =
            Sent::sort(started, sent, tag).ok_or_else(|| failed(nonsense()))?;
        let pid = pid_of(&process).map_err(failed)?;
        let listener = channel.as_ref().and_then(Channel::received);
        channel.into_iter().for_each(|channel| channels.put_back(channel));
        let watch = listener.and_then(|listener| sockets::watch(listener, &Arc::new(self.reach())));
        let tree = Tree::new(pid, mark, None, limits, snapshot, watch).with_leader(process);
        Child::in_room(pid, room_pid, Member { socket, ended: None, ports: vec![] }, tree, report)
            .map_err(failed)
    }

    fn order(&self, prepared: &Prepared, tag: Option<Tag>) -> Order {
        Order {
            network: self.network,
            answering: if self.attended { Answering::Caller } else { Answering::Keeper },
            sockets: self.sockets.clone(),
            limits: self.limits,
            inherited: own_limits(),
            umask: own_umask(),
            tag: tag.map(Tag::value),
            program: prepared.program.clone(),
            cwd: prepared.cwd_path.clone(),
            args: prepared.args.clone(),
            env: prepared.env.clone(),
        }
    }

    fn reach(&self) -> Reach {
        let facts = &self.room.facts;
        let home = (self.room.directory.as_path(), self.room.key.as_str());
        reach(&facts.confinement, self.network, facts.network, self.sockets.clone(), home)
    }
}

/// Lists what a command of a room may connect to.
pub(super) fn reach(
    confinement: &Confinement,
    network: Network,
    of_room: Option<u64>,
    sockets: Vec<PathBuf>,
    (directory, key): (&Path, &str),
) -> Reach {
    let of_host = || make_socket(false).and_then(|socket| network_of(&socket));
    let own = ["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from);
    Reach {
        open: confinement.workspaces.iter().cloned().chain(own).collect(),
        closed: confinement.secrets.clone(),
        named: sockets,
        network: if network == Network::Off { of_room } else { of_host() },
        own_network: network == Network::Off,
        internet: true,
        datagrams: match network {
            Network::Off => Datagrams::OfRoom { directory: directory.to_owned(), key: key.to_owned() },
            Network::On => Datagrams::OfHost,
        },
    }
}

/// The descriptors that came with a command.
struct Sent {
    process: OwnedFd,
    mark: Mark,
    limits: TreeLimits,
}

impl Sent {
    fn sort(started: Started, sent: Vec<OwnedFd>, tag: Option<Tag>) -> Option<Self> {
        let mut sent = sent.into_iter();
        let process = sent.next()?;
        let mark = match started.group {
            Some(path) => Mark::Cgroup(Lease::of_another(path, sent.next()?, sent.next()?, sent.next()?)),
            None => tag.filter(|_| started.is_tagged).map_or(Mark::Kinship, Mark::Tag),
        };
        let mut counter = |is_there: bool| if is_there { Some(sent.next().map(File::from)) } else { None };
        let (memory, processes) = (counter(started.memory), counter(started.processes));
        let limits = TreeLimits::of_another(memory.flatten(), processes.flatten());
        Some(Self { process, mark, limits })
    }
}

/// The limits of this process, but for the one that is a tag.
fn own_limits() -> Vec<(u32, u64, u64)> {
    const RESOURCES: u32 = 16;
    let wanted = (0..RESOURCES).filter(|resource| i64::from(*resource) != tag::RESOURCE);
    wanted
        .filter_map(|resource| {
            crate::imp::limits::limit_of(resource).map(|(now, most)| (resource, now, most))
        })
        .collect()
}

fn own_umask() -> u32 {
    // The only call that tells it sets it, for all threads.
    if let Some(known) = crate::umask::known() {
        return known;
    }
    let status = processes::read("/proc/self/status").unwrap_or_default();
    let umask = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    umask.and_then(|umask| u32::from_str_radix(umask.trim(), 8).ok()).unwrap_or(0o022)
}

/// The id that a process has for us.
fn pid_of(process: &OwnedFd) -> io::Result<Pid> {
    let info = processes::read(format!("/proc/self/fdinfo/{}", process.as_raw_fd()))?;
    let pid = info.lines().find_map(|line| line.strip_prefix("Pid:")?.trim().parse().ok());
    match pid {
        // It has ended and was reaped, which only its spawner's end can be the reason of.
        Some(-1) | None => Err(io::ErrorKind::NotFound.into()),
        Some(pid) => Pid::from_raw(pid).ok_or_else(|| io::ErrorKind::NotFound.into()),
    }
}

/// A command in a room, as whoever runs it holds it. If this is dropped before its end is known, the room ends it.
#[derive(Debug)]
pub(crate) struct Member {
    socket: OwnedFd,
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
}

impl Member {
    /// Can be read when it has ended.
    pub(crate) fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    /// Returns true if the shell has ended.
    pub(crate) fn has_ended(&mut self) -> io::Result<bool> {
        const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
        if self.ended.is_some() {
            return Ok(true);
        }
        let mut ready = [PollFd::new(&self.socket, PollFlags::IN)];
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
                Some(Reply::Ended { exit, usage, ports }) => {
                    self.ports = ports;
                    End { exit, usage, is_lost: false }
                }
                Some(_) | None => return Err(nonsense()),
            },
            Ok(_) => LOST,
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => LOST,
            Err(error) => return Err(error),
        };
        self.ended = Some(end);
        Ok((end.exit, end.usage))
    }

    /// Returns the ports that the room listened on at that time.
    pub(crate) fn ports(&self) -> &[u16] {
        &self.ports
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.ended.is_some_and(|end| end.is_lost)
    }

    /// Lets the spawner reap it. What is left of it is left on purpose.
    pub(crate) fn say_farewell(&self, is_clean: bool) {
        if self.ended.is_some_and(|end| !end.is_lost) {
            let farewell = if is_clean { Farewell::Clean } else { Farewell::Used };
            let _ = send(&self.socket, &[farewell as u8], &[]);
        }
    }
}

const LOST: End = End {
    exit: Exit::Signal(Signal::KILL),
    usage: Usage { cpu: Duration::ZERO, max_rss_kib: 0 },
    is_lost: true,
};
