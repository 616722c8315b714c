//! Running a command in a room: the side of whoever wants it run.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::Pid;

use super::kept::{Room, nonsense};
use super::link::send_long;
use super::member::Member;
use super::order::{Answering, Order, Question, Reply, Started, step_of};
use super::packet::receive;
use super::ports::make_socket;
use crate::imp::cgroup::Lease;
use crate::imp::confine::{NO_LISTENER, Snapshot, TreeHeld, room_report, snapshot_of};
use crate::imp::limits::TreeLimits;
use crate::imp::mark::Mark;
use crate::imp::processes;
use crate::imp::sockets::{Channel, Channels, Datagrams, Reach, network_of};
use crate::imp::tag::{self, Tag};
use crate::imp::tree::Tree;
use crate::spec::{Output, Prepared, SpawnError, Step};
use crate::{Child, Confinement, Network, Report, ResourceLimits};

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

/// The limits and the listener that its room has given a command.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terms {
    held: TreeHeld,
    /// True if somebody answers for its connections.
    is_heard: bool,
}

/// The time that a room has to start a command, also on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(20);

/// An order was sent, and no answer came.
fn not_answered(source: io::Error) -> SpawnError {
    match source.kind() {
        // The other end was closed with something unread in it (af_unix.c, unix_release_sock): the order, or its end.
        io::ErrorKind::ConnectionReset => SpawnError::NoRoom { source },
        io::ErrorKind::WouldBlock => SpawnError::RoomSilent { after: PATIENCE },
        _ => SpawnError::RoomLost { source },
    }
}

impl Visit {
    /// Starts a command, and returns once it has become the program or it is known why not.
    pub(in super::super) fn launch(
        &self,
        prepared: &Prepared,
        output: &Output,
        channels: &Channels,
    ) -> Result<Child, SpawnError> {
        let tag = Tag::unique();
        self.enter(self.order(prepared, tag), tag, prepared, output, channels).map(|(child, _)| child)
    }

    /// Sends an order, and returns once it was carried out.
    pub(super) fn enter(
        &self,
        order: Order,
        tag: Option<Tag>,
        prepared: &Prepared,
        output: &Output,
        channels: &Channels,
    ) -> Result<(Child, Terms), SpawnError> {
        let failed = |source| SpawnError::refused(Step::Prepare, source);
        let kind = if self.network == Network::On { "host" } else { "room" };
        let no_room = |source| SpawnError::NoRoom { source };
        let socket = self.room.connect(kind, PATIENCE).map_err(no_room)?;
        let snapshot = self.snapshot().map_err(failed)?;
        let channel = self.attended.then(|| channels.take()).transpose().map_err(failed)?;
        let order = Question::Order(Box::new(order));
        let end = channel.as_ref().map(|channel| channel.end().as_fd());
        let streams = [&output.stdout, &output.stderr, &prepared.cwd].map(AsFd::as_fd);
        let descriptors: Vec<BorrowedFd<'_>> = streams.into_iter().chain(end).collect();
        // Not all of it was said, so nothing was run.
        send_long(&socket, &order.to_bytes(), &descriptors).map_err(no_room)?;

        let (reply, sent) = hear(&socket)?;
        let started = match reply {
            Reply::Started(started) => started,
            Reply::NotRun => {
                return Err(SpawnError::NoRoom { source: io::ErrorKind::ConnectionRefused.into() });
            }
            Reply::Failed { step, errno } => {
                return Err(SpawnError::refused(step_of(step), io::Error::from_raw_os_error(errno)));
            }
            _ => return Err(failed(nonsense())),
        };
        let listener = channel.as_ref().and_then(Channel::received);
        let terms = Terms {
            held: TreeHeld { memory: started.memory, processes: started.processes },
            is_heard: !started.unheard && channel.is_some() == listener.is_some(),
        };
        let (room_pid, report) = (started.room_pid, self.report(terms, started.unprotected));
        let Sent { process, mark, limits } =
            Sent::sort(started, sent, tag).ok_or_else(|| failed(nonsense()))?;
        let pid = pid_of(&process).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => SpawnError::RoomLost { source },
            _ => failed(source),
        })?;
        channel.into_iter().for_each(|channel| channels.put_back(channel));
        let watch = listener.and_then(|listener| channels.watch(listener, &Arc::new(self.reach())));
        let tree = Tree::new(pid, mark, None, limits, snapshot, watch).with_leader(process);
        let child = Child::in_room(pid, room_pid, Member::new(socket), tree, report).map_err(failed)?;
        Ok((child, terms))
    }

    pub(super) fn report(&self, terms: Terms, unprotected: bool) -> Report {
        const HOSTS: &str = "with the network on, localhost is this machine's and not the room's";
        let mut report = room_report(self.room.facts(), &self.limits, terms.held, unprotected, &self.name);
        if self.network == Network::On {
            report.add_reason(HOSTS);
        }
        if !terms.is_heard {
            report.add_reason(NO_LISTENER);
        }
        report
    }

    /// The state of the repositories, before the command has begun.
    pub(super) fn snapshot(&self) -> io::Result<Snapshot> {
        snapshot_of(self.room.facts())
    }

    pub(super) fn order(&self, prepared: &Prepared, tag: Option<Tag>) -> Order {
        Order {
            network: self.network,
            waits: false,
            answering: if self.attended { Answering::Caller } else { Answering::Keeper },
            sockets: self.sockets.clone(),
            limits: self.limits,
            inherited: own_limits(),
            umask: own_umask(),
            tag: tag.map(Tag::value),
            program: prepared.program.clone(),
            cwd: prepared.cwd_path.clone(),
            args: prepared.args.clone(),
            env: prepared.variables().cloned().collect(),
        }
    }

    fn reach(&self) -> Reach {
        let facts = self.room.facts();
        reach(&facts.confinement, self.network, facts.network, self.sockets.clone(), self.room.place())
    }
}

impl Question {
    /// Asks for something that only this connection can have, and waits for the answer.
    pub(super) fn ask(&self, socket: &OwnedFd) -> Result<Reply, SpawnError> {
        // Not all of it was said, so nothing was run.
        send_long(socket, &self.to_bytes(), &[]).map_err(|source| SpawnError::NoRoom { source })?;
        hear(socket).map(|(reply, _)| reply)
    }
}

/// Waits for an answer.
fn hear(socket: &OwnedFd) -> Result<(Reply, Vec<OwnedFd>), SpawnError> {
    let (mut buffer, mut sent) = ([0; 8192], vec![]);
    let count = receive(socket, &mut buffer, &mut sent).map_err(not_answered)?;
    let reply = Reply::from_bytes(&buffer[..count]);
    reply
        .map(|reply| (reply, sent))
        .ok_or_else(|| SpawnError::RoomLost { source: io::ErrorKind::UnexpectedEof.into() })
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
    if let Some(pid) = processes::of_descriptor(process) {
        return Ok(pid);
    }
    let info = processes::read(format!("/proc/self/fdinfo/{}", process.as_raw_fd()))?;
    let pid = info.lines().find_map(|line| line.strip_prefix("Pid:")?.trim().parse().ok());
    match pid {
        // It has ended and was reaped, which only its spawner's end can be the reason of.
        Some(-1) | None => Err(io::ErrorKind::NotFound.into()),
        Some(pid) => Pid::from_raw(pid).ok_or_else(|| io::ErrorKind::NotFound.into()),
    }
}
