//! The process that starts a room's commands: it waits for orders, and is never held up by whoever gives them.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::net::SocketFlags;

use super::groups::Groups;
use super::link::{Inbox, ToKeeper, receive_long, send_long};
use super::order::{Farewell, Question, Reply};
use super::packet::{LONGEST, is_ours, receive, send};
use super::ports::make_socket;
use super::shared::Shared;
use crate::Network;
use crate::imp::confine::Filters;
use crate::imp::sockets::NewSockets;

mod command;
mod commands;
mod ending;
mod ready;
mod slots;
mod waiting;
use command::Command;
use slots::Slots;
use waiting::Waiting;

/// A spawner, and what it serves with.
#[derive(Debug)]
pub(super) struct Spawner {
    /// On which it asks the keeper.
    pub(super) link: OwnedFd,
    /// On which the keeper asks for sockets of the room's network.
    pub(super) outside: OwnedFd,
    pub(super) listener: OwnedFd,
    pub(super) shared: Shared,
    /// Can be read when something has appeared in the workspace.
    pub(super) news: Option<OwnedFd>,
    /// For as long as nothing runs; none if another one decides about that.
    pub(super) idle: Option<Duration>,
    /// The network that it is in: the room's own, or the host's.
    pub(super) network: Network,
    /// The processes that serve the room.
    pub(super) servants: u64,
    pub(super) filters: Filters,
}

/// Serves until there is nothing to serve any more.
pub(super) fn serve(spawner: Spawner, children: &OwnedFd) -> io::Result<()> {
    let null = rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let events = epoll::create(CreateFlags::CLOEXEC)?;
    for (key, fd) in [(LISTENER, spawner.listener.as_fd()), (CHILDREN, children.as_fd())] {
        epoll::add(&events, fd, EventData::new_u64(key), EventFlags::IN)?;
    }
    epoll::add(&events, &spawner.outside, EventData::new_u64(OUTSIDE), EventFlags::IN)?;
    let slots = Slots::new(&null, spawner.shared, spawner.network)?;
    let mut serving = Serving {
        spawner,
        events,
        slots,
        null,
        connections: HashMap::new(),
        doomed: vec![],
        groups: vec![],
        waiting: Waiting::default(),
        next: FIRST,
        is_paused: false,
        has_left: false,
        has_served: false,
        unsettled: vec![],
        known_ports: None,
        buffer: vec![0; LONGEST],
    };
    serving.run(children)
}

const LISTENER: u64 = 0;
const CHILDREN: u64 = 1;
const OUTSIDE: u64 = 2;
const READY: u64 = 3;
const TRIAL: u64 = 4;
/// Added to the two, for their connections.
const ASKING: u64 = 2;
/// Of a connection; its command has the number after it.
const FIRST: u64 = 16;

#[derive(Debug)]
struct Serving {
    spawner: Spawner,
    events: OwnedFd,
    null: OwnedFd,
    slots: Slots,
    connections: HashMap<u64, Connection>,
    /// Commands whose callers are gone, until nothing is left of them.
    doomed: Vec<Command>,
    /// That nobody uses.
    groups: Vec<Groups>,
    waiting: Waiting,
    next: u64,
    /// Nobody new is let in until a descriptor is free.
    is_paused: bool,
    /// Nobody finds the room any more.
    has_left: bool,
    /// True once a command has run here.
    has_served: bool,
    /// Connections whose shells have ended, as far as that can be seen.
    unsettled: Vec<u64>,
    /// The ports that the room listened on, and when.
    known_ports: Option<(Vec<u16>, Instant)>,
    /// For what is heard.
    buffer: Vec<u8>,
}

/// Somebody who asks something, and the command that runs for them.
#[derive(Debug)]
struct Connection {
    socket: OwnedFd,
    inbox: Inbox,
    command: Option<Command>,
}

impl Serving {
    fn run(&mut self, children: &OwnedFd) -> io::Result<()> {
        let mut events = Vec::with_capacity(64);
        loop {
            let timeout = self.timeout();
            let timeout = timeout.as_ref();
            match epoll::wait(&self.events, rustix::buffer::spare_capacity(&mut events), timeout) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            for event in events.drain(..) {
                let (key, flags) = (event.data.u64(), event.flags);
                match key {
                    LISTENER => self.accept(),
                    CHILDREN => drain(children),
                    OUTSIDE => self.make_socket()?,
                    READY => self.look_at_ready(),
                    TRIAL => self.look_at_trial(),
                    // Not that it has ended, which is told otherwise.
                    key if key < FIRST && flags.contains(EventFlags::IN) => self.refuse_connection(key),
                    key if key < FIRST => {}
                    key if key % 2 == 0 => self.hear(key),
                    key => self.look_at(key - 1),
                }
            }
            for key in std::mem::take(&mut self.unsettled) {
                self.look_at(key);
            }
            self.end_doomed();
            self.reap_orphans();
            self.renew_ready();
            if self.may_end() && self.leave()? {
                return Ok(());
            }
        }
    }

    fn accept(&mut self) {
        loop {
            let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
            let socket = match rustix::net::accept_with(&self.spawner.listener, flags) {
                Ok(socket) => socket,
                Err(Errno::MFILE | Errno::NFILE) if self.give_up_idle() || self.let_go_of_silent() => {
                    continue;
                }
                Err(Errno::MFILE | Errno::NFILE) => return self.pause(),
                Err(_) => return,
            };
            // Nobody else can reach the socket; it costs little to be sure.
            let key = self.next;
            self.next += 2;
            if !is_ours(&socket)
                || epoll::add(&self.events, &socket, EventData::new_u64(key), EventFlags::IN).is_err()
            {
                continue;
            }
            let connection = Connection { socket, inbox: Inbox::default(), command: None };
            self.connections.insert(key, connection);
            // Most have said all by now.
            self.hear(key);
        }
    }

    /// Lets go of whoever has come first and has nothing running. Returns false if there is nobody.
    fn let_go_of_silent(&mut self) -> bool {
        let silent = self.connections.iter().filter(|(_, connection)| connection.command.is_none());
        let Some(first) = silent.map(|(key, _)| *key).min() else { return false };
        self.let_go(first);
        true
    }

    /// Waits for descriptors.
    fn pause(&mut self) {
        self.is_paused = epoll::delete(&self.events, &self.spawner.listener).is_ok();
    }

    fn resume(&mut self) {
        let flags = EventFlags::IN;
        if self.is_paused
            && epoll::add(&self.events, &self.spawner.listener, EventData::new_u64(LISTENER), flags).is_ok()
        {
            self.is_paused = false;
        }
    }

    /// Hears what somebody says. Whoever says nonsense, or nothing more, is let go.
    fn hear(&mut self, key: u64) {
        let mut buffer = std::mem::take(&mut self.buffer);
        self.hear_into(key, &mut buffer);
        self.buffer = buffer;
    }

    fn hear_into(&mut self, key: u64, buffer: &mut [u8]) {
        while let Some(connection) = self.connections.get_mut(&key) {
            match receive(&connection.socket, buffer, &mut connection.inbox.descriptors) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Ok(0) | Err(_) => return self.let_go(key),
                Ok(1) if connection.command.is_some() => match Farewell::from_byte(buffer[0]) {
                    Some(farewell) => self.part(key, farewell),
                    None => return self.let_go(key),
                },
                Ok(count) => match connection.inbox.add(&buffer[..count]) {
                    Ok(None) => {}
                    Ok(Some((message, descriptors))) => match Question::from_bytes(&message) {
                        Some(question) => self.answer(key, question, &descriptors),
                        None => return self.let_go(key),
                    },
                    Err(_) => return self.let_go(key),
                },
            }
        }
    }

    fn answer(&mut self, key: u64, question: Question, descriptors: &[OwnedFd]) {
        let reply = match question {
            Question::Datagrams => {
                let made = NewSockets::make();
                let sockets = made.as_ref().map(|made| [&made.datagrams, &made.pair.0, &made.pair.1]);
                let descriptors: Vec<BorrowedFd<'_>> =
                    sockets.iter().flatten().map(|socket| socket.as_fd()).collect();
                return self.say(key, &Reply::Done(made.is_ok()), &descriptors);
            }
            Question::Order(order) => return self.start(key, &order, descriptors),
            Question::Take(take) => return self.take(key, &take),
            Question::Status => Reply::Status(self.status().to_bytes()),
            Question::EndIfIdle => {
                let idle = self.is_empty();
                self.has_left |= idle && self.ask_keeper(&ToKeeper::Leave).is_ok();
                Reply::Done(idle)
            }
            Question::End => {
                let _ = self.ask_keeper(&ToKeeper::Leave);
                self.say(key, &Reply::Done(true), &[]);
                // The first process: with it goes everything.
                std::process::exit(0);
            }
        };
        self.say(key, &reply, &[]);
    }

    /// The keeper wants a socket of the room's network.
    fn make_socket(&self) -> io::Result<()> {
        let mut is_v6 = [0];
        if receive(&self.spawner.outside, &mut is_v6, &mut vec![])? == 0 {
            // It is gone; so are we, in a moment.
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let socket = make_socket(is_v6 != [0]);
        let descriptors: Vec<BorrowedFd<'_>> = socket.iter().map(AsFd::as_fd).collect();
        send(&self.spawner.outside, b".", &descriptors)
    }

    /// Asks and waits.
    fn ask_keeper(&self, question: &ToKeeper) -> io::Result<()> {
        send_long(&self.spawner.link, &question.to_bytes(), &[])?;
        receive_long(&self.spawner.link)?.map(drop).ok_or_else(|| io::ErrorKind::BrokenPipe.into())
    }

    fn say(&mut self, key: u64, reply: &Reply, descriptors: &[BorrowedFd<'_>]) {
        let Some(connection) = self.connections.get(&key) else { return };
        if send(&connection.socket, &reply.to_bytes(), descriptors).is_err() {
            self.let_go(key);
        }
    }
}

/// Forgets what a signal descriptor has to tell: that something has ended is all we want to know.
fn drain(children: &OwnedFd) {
    let mut buffer = [0; 1024];
    while rustix::io::read(children, &mut buffer).is_ok_and(|count| count > 0) {}
}
