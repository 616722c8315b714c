//! Running a command in a room: the side of whoever wants it run.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::fstat;
use rustix::process::Pid;

use super::kept::{Room, nonsense};
use super::link::send_long;
use super::member::Member;
use super::order::{Answering, LONGEST_TEXT, Order, Question, Reply, Started, Take, step_of, waiting_script};
use super::packet::receive;
use super::ports::make_socket;
use crate::imp::cgroup::Lease;
use crate::imp::confine::{NO_LISTENER, Snapshot, TreeHeld, room_report, snapshot_of};
use crate::imp::git::{Fence, Ground};
use crate::imp::limits::TreeLimits;
use crate::imp::mark::Mark;
use crate::imp::processes;
use crate::imp::sockets::{Channel, Channels, Datagrams, Reach, network_of};
use crate::imp::tag::{self, Tag};
use crate::imp::tree::Tree;
use crate::room::KnownRepository;
use crate::spec::{Output, Prepared, SpawnError, Step};
use crate::{Child, Confinement, Network, Piping, Report, ResourceLimits};

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
    /// The pipes of a shell that may have waited for this command, after which another waits for the next. None: a shell is
    /// started for it.
    pub again: Option<Piping>,
}

/// The terms of a stay, which most commands of a room have in common.
#[derive(Debug)]
pub(super) struct Terms {
    /// Everything that the command is held to.
    confinement: Arc<Confinement>,
    reach: Arc<Reach>,
}

/// A command in a shell that has waited for it.
#[derive(Debug)]
pub struct Waited {
    /// The shell.
    pub child: Child,
    /// The end of the pipe that its standard output goes to.
    pub stdout: OwnedFd,
    /// And its standard error, if that is another.
    pub stderr: Option<OwnedFd>,
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
    /// Everything that the command is held to.
    #[must_use]
    pub fn confinement(&self) -> Arc<Confinement> {
        Arc::clone(&self.terms().confinement)
    }

    fn terms(&self) -> Arc<Terms> {
        let fits = |terms: &Terms| {
            let Confinement { network, limits, sockets, .. } = &*terms.confinement;
            (*network, limits, sockets) == (self.network, &self.limits, &self.sockets)
        };
        self.room.terms(fits, || {
            let confinement = Confinement {
                network: self.network,
                limits: self.limits,
                sockets: self.sockets.clone(),
                ..self.room.facts().confinement.clone()
            };
            Terms { confinement: Arc::new(confinement), reach: Arc::new(self.reach()) }
        })
    }

    /// Starts a command, and returns once it has become the program or it is known why not.
    pub(in super::super) fn launch(
        &self,
        prepared: &Prepared,
        output: &Output,
        channels: &Channels,
    ) -> Result<Child, SpawnError> {
        let failed = |source| SpawnError::refused(Step::Prepare, source);
        let socket = self.connect()?;
        let snapshot = snapshot_of(self.room.facts()).map_err(failed)?;
        let channel = self.attended.then(|| channels.take()).transpose().map_err(failed)?;
        let order = Question::Order(Box::new(self.order(prepared, Tag::unique())));
        let end = channel.as_ref().map(|channel| channel.end().as_fd());
        let streams = [&output.stdout, &output.stderr, &prepared.cwd].map(AsFd::as_fd);
        let descriptors: Vec<BorrowedFd<'_>> = streams.into_iter().chain(end).collect();
        let started = match order.ask(&socket, &descriptors)? {
            (Reply::Started(started), sent) => (started, sent),
            (Reply::NotRun, _) => {
                return Err(SpawnError::NoRoom { source: io::ErrorKind::ConnectionRefused.into() });
            }
            (Reply::Failed { step, errno }, _) => {
                return Err(SpawnError::refused(step_of(step), io::Error::from_raw_os_error(errno)));
            }
            _ => return Err(failed(nonsense())),
        };
        let (started, mut sent) = Sent::sort(started).ok_or_else(|| failed(nonsense()))?;
        sent.listener = channel.as_ref().and_then(Channel::received);
        let is_heard = !started.unheard && channel.is_some() == sent.listener.is_some();
        channel.into_iter().for_each(|channel| channels.put_back(channel));
        self.child(socket, &started, sent, is_heard, snapshot, channels)
    }

    /// Gives a command to a shell that has waited for it. None if there is none; then nothing was run.
    pub(in super::super) fn take(
        &self,
        prepared: &Prepared,
        prelude: Option<&[u8]>,
        channels: &Channels,
    ) -> Result<Option<Waited>, SpawnError> {
        let failed = |source| SpawnError::refused(Step::Prepare, source);
        let text = prepared.args.last().filter(|text| text.as_bytes().len() <= LONGEST_TEXT);
        let (Some(piping), Some(text), true) = (self.again, text, self.attended) else { return Ok(None) };
        let socket = self.connect()?;
        let snapshot = snapshot_of(self.room.facts()).map_err(failed)?;
        let directory = fstat(&prepared.cwd).map_err(|error| failed(error.into()))?;
        let take = Take {
            order: self.order(prepared, None).waiting().to_bytes(),
            directory: (directory.st_dev, directory.st_ino),
            text: text.clone(),
            script: waiting_script(text, prelude),
        };
        let (started, sent) = match Question::Take(Box::new(take)).ask(&socket, &[])? {
            (Reply::Started(started), sent) => (started, sent),
            (Reply::NoneWaits, _) => {
                self.room.keep_connection(self.network, socket);
                return Ok(None);
            }
            // It may have begun.
            _ => return Err(SpawnError::RoomLost { source: nonsense() }),
        };
        let unknown = || SpawnError::RoomLost { source: nonsense() };
        let (started, mut sent) = Sent::sort((started, sent)).ok_or_else(unknown)?;
        let is_heard = !started.unheard;
        sent.listener = if is_heard { sent.others.next() } else { None };
        let stdout = sent.others.next().ok_or_else(unknown)?;
        let stderr = match piping {
            Piping::Separate => Some(sent.others.next().ok_or_else(unknown)?),
            Piping::Combined => None,
        };
        let child = self.child(socket, &started, sent, is_heard, snapshot, channels)?;
        Ok(Some(Waited { child, stdout, stderr }))
    }

    fn connect(&self) -> Result<Arc<OwnedFd>, SpawnError> {
        self.room.connection(self.network, PATIENCE).map_err(|source| SpawnError::NoRoom { source })
    }

    /// The command that the room has started.
    fn child(
        &self,
        socket: Arc<OwnedFd>,
        started: &Started,
        sent: Sent,
        is_heard: bool,
        snapshot: Snapshot,
        channels: &Channels,
    ) -> Result<Child, SpawnError> {
        let failed = |source| SpawnError::refused(Step::Prepare, source);
        let pid = pid_of(&sent.process).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => SpawnError::RoomLost { source },
            _ => failed(source),
        })?;
        let report = self.report(started, is_heard);
        let watch = sent.listener.and_then(|listener| channels.watch(listener, &self.terms().reach));
        let tree = Tree::new(pid, sent.mark, None, sent.limits, snapshot, watch).with_leader(sent.process);
        let member = Member::new(socket, Arc::clone(&self.room), self.network);
        Ok(Child::in_room(pid, started.room_pid, member, tree, report))
    }

    fn report(&self, started: &Started, is_heard: bool) -> Report {
        const HOSTS: &str = "with the network on, localhost is this machine's and not the room's";
        let held = TreeHeld { memory: started.memory, processes: started.processes };
        let mut report = room_report(self.room.facts(), &self.limits, held, started.unprotected, &self.name);
        if self.network == Network::On {
            report.add_reason(HOSTS);
        }
        if !is_heard {
            report.add_reason(NO_LISTENER);
        }
        report
    }

    fn order(&self, prepared: &Prepared, tag: Option<Tag>) -> Order {
        Order {
            network: self.network,
            again: self.again,
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
        reach(
            &facts.confinement,
            &facts.repositories,
            self.network,
            facts.network,
            self.sockets.clone(),
            self.room.place(),
        )
    }
}

impl Question {
    /// Asks for something that only this connection can have, and waits for the answer and its descriptors.
    fn ask(
        &self,
        socket: &OwnedFd,
        descriptors: &[BorrowedFd<'_>],
    ) -> Result<(Reply, Vec<OwnedFd>), SpawnError> {
        // Not all of it was said, so nothing was run.
        send_long(socket, &self.to_bytes(), descriptors).map_err(|source| SpawnError::NoRoom { source })?;
        let (mut buffer, mut sent) = ([0; 8192], vec![]);
        let count = receive(socket, &mut buffer, &mut sent).map_err(not_answered)?;
        let reply = Reply::from_bytes(&buffer[..count]);
        reply
            .map(|reply| (reply, sent))
            .ok_or_else(|| SpawnError::RoomLost { source: io::ErrorKind::UnexpectedEof.into() })
    }
}

/// Lists what a command of a room may connect to.
pub(super) fn reach(
    confinement: &Confinement,
    known: &[KnownRepository],
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
        // In the host's network they cannot be told from the host's own.
        shared: if network == Network::Off { confinement.workspaces.clone() } else { vec![] },
        ground: Ground::of(confinement, known, Fence::Mounts),
    }
}

/// The descriptors that came with a command.
struct Sent {
    process: OwnedFd,
    mark: Mark,
    limits: TreeLimits,
    listener: Option<OwnedFd>,
    others: std::vec::IntoIter<OwnedFd>,
}

impl Sent {
    fn sort((started, sent): (Started, Vec<OwnedFd>)) -> Option<(Started, Self)> {
        let mut sent = sent.into_iter();
        let process = sent.next()?;
        let mark = match &started.group {
            Some(path) => {
                Mark::Cgroup(Lease::of_another(path.clone(), sent.next()?, sent.next()?, sent.next()?))
            }
            None => started.tag.map_or(Mark::Kinship, |tag| Mark::Tag(Tag::of_value(tag))),
        };
        let mut counter = |is_there: bool| if is_there { Some(sent.next().map(File::from)) } else { None };
        let (memory, processes) = (counter(started.memory), counter(started.processes));
        let limits = TreeLimits::of_another(memory.flatten(), processes.flatten());
        Some((started, Self { process, mark, limits, listener: None, others: sent }))
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
    processes::umask_of("self")
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
