//! The process that starts a room's commands: it waits for orders, and is never held up by whoever gives them.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags, Timespec};
use rustix::io::Errno;
use rustix::net::SocketFlags;

use super::groups::Groups;
use super::link::{Inbox, ToKeeper, receive_long, send_long};
use super::order::{Farewell, Order, Question, Reply};
use super::packet::{LONGEST, is_ours, receive, send};
use super::ports::{listening, make_socket};
use super::shared::Shared;
use crate::Network;
use crate::imp::confine::Filters;
use crate::imp::exhaustion::is_exhaustion;
use crate::imp::sockets::NewSockets;
use crate::imp::wait;
use crate::room::RoomStatus;
use crate::spec::Step;

mod command;
use command::{Command, Refused, Tools};

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
    let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    let events = epoll::create(CreateFlags::CLOEXEC)?;
    for (key, fd) in [(LISTENER, spawner.listener.as_fd()), (CHILDREN, children.as_fd())] {
        epoll::add(&events, fd, EventData::new_u64(key), EventFlags::IN)?;
    }
    epoll::add(&events, &spawner.outside, EventData::new_u64(OUTSIDE), EventFlags::IN)?;
    let mut serving = Serving {
        spawner,
        events,
        null,
        connections: HashMap::new(),
        doomed: vec![],
        groups: vec![],
        next: FIRST,
        is_paused: false,
        has_left: false,
        has_served: false,
        buffer: vec![0; LONGEST],
    };
    serving.run(children)
}

const LISTENER: u64 = 0;
const CHILDREN: u64 = 1;
const OUTSIDE: u64 = 2;
/// Of a connection; its command has the number after it.
const FIRST: u64 = 16;

#[derive(Debug)]
struct Serving {
    spawner: Spawner,
    events: OwnedFd,
    null: OwnedFd,
    connections: HashMap<u64, Connection>,
    /// Commands whose callers are gone, until nothing is left of them.
    doomed: Vec<Command>,
    /// That nobody uses.
    groups: Vec<Groups>,
    next: u64,
    /// Nobody new is let in until a descriptor is free.
    is_paused: bool,
    /// Nobody finds the room any more.
    has_left: bool,
    /// True once a command has run here.
    has_served: bool,
    /// For what is heard.
    buffer: Vec<u8>,
}

/// Somebody who asks something, and the command that runs for them.
#[derive(Debug)]
struct Connection {
    socket: OwnedFd,
    inbox: Inbox,
    command: Option<Command>,
    farewell: Option<Farewell>,
}

impl Connection {
    fn is_waiting(&self) -> bool {
        self.command.as_ref().is_some_and(Command::is_waiting)
    }
}

/// The pause between looks at commands that are being ended.
const SOON: Duration = Duration::from_millis(5);
/// The pause between looks at the processes of a room that nobody finds any more.
const LATER: Duration = Duration::from_secs(5);

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
                match event.data.u64() {
                    LISTENER => self.accept(),
                    CHILDREN => drain(children),
                    OUTSIDE => self.make_socket()?,
                    key if key % 2 == 0 => self.hear(key),
                    key => self.look_at(key - 1),
                }
            }
            self.end_doomed();
            self.reap_orphans();
            if self.may_end() && self.leave()? {
                return Ok(());
            }
        }
    }

    fn timeout(&self) -> Option<Timespec> {
        let wait = match self.patience() {
            _ if !self.doomed.is_empty() => SOON,
            Some(_) if self.has_left => LATER,
            Some(idle) => idle.saturating_sub(self.spawner.shared.idle()).max(SOON),
            None => return None,
        };
        wait.try_into().ok()
    }

    fn accept(&mut self) {
        loop {
            let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
            let socket = match rustix::net::accept_with(&self.spawner.listener, flags) {
                Ok(socket) => socket,
                Err(Errno::MFILE | Errno::NFILE) if self.give_up_idle_groups() || self.let_go_of_silent() => {
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
            let connection = Connection { socket, inbox: Inbox::default(), command: None, farewell: None };
            self.connections.insert(key, connection);
            // Most have said all by now.
            self.hear(key);
        }
    }

    /// Lets go of whoever has come first and asked nothing yet. Returns false if there is nobody.
    fn let_go_of_silent(&mut self) -> bool {
        let silent = self.connections.iter().filter(|(_, connection)| connection.command.is_none());
        let Some(first) = silent.map(|(key, _)| *key).min() else { return false };
        self.let_go(first);
        true
    }

    /// Removes the groups that nobody uses, which hold descriptors here and in the keeper. Returns true if there were any.
    fn give_up_idle_groups(&mut self) -> bool {
        let idle = std::mem::take(&mut self.groups);
        let had_some = !idle.is_empty();
        idle.into_iter().for_each(|groups| drop(groups.give_back(&self.spawner.link)));
        had_some
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
                Ok(1) if connection.command.is_some() => {
                    connection.farewell = match buffer[0] {
                        byte if byte == Farewell::Clean as u8 => Some(Farewell::Clean),
                        byte if byte == Farewell::Used as u8 => Some(Farewell::Used),
                        _ => None,
                    };
                }
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
            Question::Go(script) => self.go_on(key, &script),
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

    fn start(&mut self, key: u64, order: &Order, descriptors: &[OwnedFd]) {
        let is_first = self.connections.get(&key).is_some_and(|connection| connection.command.is_none());
        if !is_first {
            return self.let_go(key);
        }
        let shared = self.spawner.shared;
        if !order.waits {
            self.protect();
        }
        // The kernel leaves out those that there is no room for here: unix(7), MSG_CTRUNC.
        if descriptors.len() < order.descriptors() && self.give_up_idle_groups() {
            return self.say(key, &Reply::NotRun, &[]);
        }
        let begun = self.groups_for(order).and_then(|groups| {
            let tools = Tools { null: &self.null, filters: &self.spawner.filters, link: &self.spawner.link };
            Command::start(order, descriptors, groups, tools).map_err(|refused| {
                let (groups, error) = *refused;
                self.groups.extend(groups);
                error
            })
        });
        let command = match begun {
            Ok(command) => command,
            Err(Refused::AtStep { step, errno }) => {
                return self.say(key, &Reply::Failed { step: step as i32, errno }, &[]);
            }
            // The kernel ends this process in a moment.
            Err(Refused::KeeperIsGone { has_begun: false }) => return self.say(key, &Reply::NotRun, &[]),
            Err(Refused::KeeperIsGone { has_begun: true }) => std::process::exit(1),
        };
        let unprotected = shared.has_unprotected();
        let (bytes, descriptors) = command.told(unprotected);
        let event = EventData::new_u64(key + 1);
        let watched = epoll::add(&self.events, command.process(), event, EventFlags::IN);
        let Some(connection) = self.connections.get_mut(&key) else { return };
        if !order.waits {
            shared.begin();
            self.has_served = true;
        }
        let said = send(&connection.socket, &bytes, &descriptors);
        drop(descriptors);
        connection.command = Some(command);
        if watched.is_err() || said.is_err() {
            self.let_go(key);
        }
    }

    /// Lets a shell go on that has waited for this. Until then it was no command.
    fn go_on(&mut self, key: u64, script: &[u8]) -> Reply {
        self.protect();
        let shared = self.spawner.shared;
        let command = self.connections.get_mut(&key).and_then(|connection| connection.command.as_mut());
        let Some(command) = command.filter(|command| command.is_waiting()) else {
            return Reply::Failed { step: Step::Prepare as i32, errno: libc::ESRCH };
        };
        shared.begin();
        self.has_served = true;
        match command.go_on(script) {
            Ok(()) => Reply::Going { unprotected: shared.has_unprotected() },
            Err(error) => {
                let errno = error.raw_os_error().unwrap_or(libc::EIO);
                Reply::Failed { step: Step::Prepare as i32, errno }
            }
        }
    }

    /// Has repositories protected that have appeared.
    fn protect(&self) {
        let shared = self.spawner.shared;
        let has_unprotected = shared.has_unprotected() && shared.running() == 0;
        if has_unprotected || shared.is_dirty() || self.has_news() {
            let _ = self.ask_keeper(&ToKeeper::Protect);
        }
    }

    /// Returns true if something has appeared in the workspace that the keeper has not looked at yet.
    fn has_news(&self) -> bool {
        const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
        self.spawner.news.as_ref().is_some_and(|news| {
            let mut ready = [PollFd::new(news, PollFlags::IN)];
            poll(&mut ready, Some(&AT_ONCE)).is_ok_and(|count| count > 0)
        })
    }

    fn groups_for(&mut self, order: &Order) -> Result<Option<Groups>, Refused> {
        let (memory, processes) = (order.limits.memory, order.limits.processes);
        let fits = |groups: &Groups| groups.fit(memory, processes) && groups.are_empty();
        if let Some(at) = self.groups.iter().position(fits) {
            return Ok(Some(self.groups.swap_remove(at)));
        }
        let ask = |serving: &Self| Groups::ask_for(&serving.spawner.link, memory, processes);
        let asked = match ask(self) {
            Err(error) if is_exhaustion(&error) && self.give_up_idle_groups() => ask(self),
            asked => asked,
        };
        asked.map(Some).map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => {
                Refused::KeeperIsGone { has_begun: false }
            }
            _ => Refused::new(Step::Limits, &error),
        })
    }

    /// The shell of this connection may have ended.
    fn look_at(&mut self, key: u64) {
        let Some(connection) = self.connections.get_mut(&key) else { return };
        let Some(command) = connection.command.as_mut() else { return };
        let Some((exit, usage)) = command.look() else { return };
        let _ = epoll::delete(&self.events, command.process());
        if command.is_waiting() {
            // Somebody has ended it, before it was a command.
            if let Some(mut command) = connection.command.take() {
                command.kill();
                self.doomed.push(command);
            }
            return;
        }
        // Only if others run on: a port that this one has left behind is theirs then.
        let has_others = self.spawner.shared.running() > 1 && self.spawner.network == Network::Off;
        let ports = if has_others { listening() } else { vec![] };
        if send(&connection.socket, &Reply::Ended { exit, usage, ports }.to_bytes(), &[]).is_err() {
            self.let_go(key);
        }
    }

    /// Whoever ran the command has gone. If they said good-bye they have seen to it; otherwise we do.
    fn let_go(&mut self, key: u64) {
        let Some(connection) = self.connections.remove(&key) else { return };
        let _ = epoll::delete(&self.events, &connection.socket);
        if let Some(mut command) = connection.command {
            if !command.is_waiting() {
                self.spawner.shared.end();
            }
            let _ = epoll::delete(&self.events, command.process());
            match connection.farewell {
                Some(farewell) if command.reap() => {
                    if let Some(groups) = command.into_groups() {
                        self.put_back(groups, farewell);
                    }
                }
                Some(_) | None => {
                    command.kill();
                    self.doomed.push(command);
                }
            }
        }
        self.resume();
    }

    fn put_back(&mut self, groups: Groups, farewell: Farewell) {
        const MOST: usize = 64;
        if farewell == Farewell::Clean && self.groups.len() < MOST {
            self.groups.push(groups);
        } else {
            let _ = groups.give_back(&self.spawner.link);
        }
    }

    fn end_doomed(&mut self) {
        for mut command in std::mem::take(&mut self.doomed) {
            if !command.is_over() {
                command.kill();
                self.doomed.push(command);
            } else if let Some(groups) = command.into_groups() {
                let _ = groups.give_back(&self.spawner.link);
            }
        }
    }

    /// Reaps processes that lost their parents. A shell that has ended is reaped by its own command, later; while one is
    /// held, the others have to wait behind it.
    fn reap_orphans(&self) {
        let commands = || {
            let running = self.connections.values().filter_map(|connection| connection.command.as_ref());
            running.chain(&self.doomed)
        };
        loop {
            let Some(ended) = wait::look(wait::Whose::Any) else { return };
            if commands().any(|command| command.pid() == ended.pid) {
                return;
            }
            wait::reap(ended.pid);
        }
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

    fn status(&self) -> RoomStatus {
        RoomStatus {
            commands: self.spawner.shared.running().into(),
            processes: processes().saturating_sub(self.spawner.servants + self.waiting()),
            ports: listening(),
            exposed: vec![],
            // What was kept on purpose is something that runs.
            idle: if self.is_empty() { self.spawner.shared.idle() } else { Duration::ZERO },
        }
    }

    /// Returns true if nothing runs, kept leftovers included.
    fn is_empty(&self) -> bool {
        self.spawner.shared.running() == 0
            && self.doomed.is_empty()
            && processes() <= self.spawner.servants + self.waiting()
    }

    /// Counts shells that wait for their commands.
    fn waiting(&self) -> u64 {
        self.connections.values().filter(|connection| connection.is_waiting()).count() as u64
    }

    /// For how long nothing has to run until it ends. Whoever had it made has a moment to come.
    fn patience(&self) -> Option<Duration> {
        const A_MOMENT: Duration = Duration::from_secs(10);
        self.spawner.idle.map(|idle| if self.has_served { idle } else { idle.max(A_MOMENT) })
    }

    fn may_end(&self) -> bool {
        let Some(idle) = self.patience() else { return false };
        if self.spawner.shared.idle() < idle && !self.has_left {
            return false;
        }
        let is_empty = self.is_empty();
        if !is_empty && self.spawner.shared.running() == 0 && !self.has_left {
            // Something was left behind. The time begins when it has ended.
            self.spawner.shared.touch();
        }
        is_empty
    }

    /// Leaves, and returns true if it can end: somebody who came in at the last moment is served first.
    fn leave(&mut self) -> io::Result<bool> {
        if !self.has_left {
            self.ask_keeper(&ToKeeper::Leave)?;
            self.has_left = true;
        }
        self.accept();
        Ok(self.connections.values().all(Connection::is_waiting) && self.is_empty())
    }
}

/// Forgets what a signal descriptor has to tell: that something has ended is all we want to know.
fn drain(children: &OwnedFd) {
    let mut buffer = [0; 1024];
    while rustix::io::read(children, &mut buffer).is_ok_and(|count| count > 0) {}
}

/// Every process that there is in the room.
fn processes() -> u64 {
    crate::imp::processes::pids().map_or(u64::MAX, |pids| pids.len() as u64)
}
