//! The commands of a room: from an order until nothing is left of it.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::Timespec;

use super::super::groups::Groups;
use super::super::link::ToKeeper;
use super::super::order::{Farewell, Order, Reply};
use super::super::packet::send;
use super::super::ports::listening;
use super::Serving;
use super::command::{Command, Refused, Tools};
use super::ready::Model;
use crate::Network;
use crate::imp::exhaustion::is_exhaustion;
use crate::imp::wait;
use crate::spec::Step;

impl Serving {
    pub(super) fn start(&mut self, key: u64, order: &Order, descriptors: &[OwnedFd]) {
        let is_first = self.connections.get(&key).is_some_and(|connection| connection.command.is_none());
        if !is_first {
            return self.let_go(key);
        }
        let shared = self.spawner.shared;
        if order.again.is_none() {
            self.hide_ready();
        }
        self.protect();
        // The kernel leaves out those that there is no room for here: unix(7), MSG_CTRUNC.
        if descriptors.len() < order.descriptors() && self.give_up_idle() {
            return self.say(key, &Reply::NotRun, &[]);
        }
        let begun = self.groups_for(order).and_then(|groups| {
            let tools = Tools { null: &self.null, filters: &self.spawner.filters, link: &self.spawner.link };
            Command::start(order, descriptors, groups, tools, &mut self.slots).map_err(|refused| {
                let (groups, error) = *refused;
                self.groups.extend(groups);
                error
            })
        });
        let command = match begun {
            Ok(command) => command,
            Err(Refused::AtStep { errno: libc::EMFILE | libc::ENFILE, .. }) if self.give_up_idle() => {
                return self.say(key, &Reply::NotRun, &[]);
            }
            Err(Refused::AtStep { step, errno }) => {
                return self.say(key, &Reply::Failed { step: step as i32, errno }, &[]);
            }
            // The kernel ends this process in a moment.
            Err(Refused::KeeperIsGone { has_begun: false }) => return self.say(key, &Reply::NotRun, &[]),
            Err(Refused::KeeperIsGone { has_begun: true }) => std::process::exit(1),
        };
        let (started, sent) = command.told(shared.has_unprotected());
        let event = EventData::new_u64(key + 1);
        let watched = epoll::add(&self.events, command.process(), event, EventFlags::IN);
        let Some(connection) = self.connections.get_mut(&key) else { return };
        shared.begin();
        self.has_served = true;
        let said = send(&connection.socket, &Reply::Started(started).to_bytes(), &sent);
        drop(sent);
        connection.command = Some(command);
        if watched.is_err() || said.is_err() {
            return self.let_go(key);
        }
        if let Some(model) = descriptors.get(2).and_then(|cwd| Model::of(order, cwd)) {
            self.waiting.follow(model);
        }
    }

    /// Has repositories protected that have appeared.
    pub(super) fn protect(&self) {
        let shared = self.spawner.shared;
        let has_unprotected = shared.has_unprotected() && shared.running() == 0;
        if has_unprotected || shared.is_dirty() || self.has_news() {
            let _ = self.ask_keeper(&ToKeeper::Protect);
        }
    }

    /// Returns true if something has appeared in the workspace that the keeper has not looked at yet.
    pub(super) fn has_news(&self) -> bool {
        const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
        self.spawner.news.as_ref().is_some_and(|news| {
            let mut ready = [PollFd::new(news, PollFlags::IN)];
            poll(&mut ready, Some(&AT_ONCE)).is_ok_and(|count| count > 0)
        })
    }

    pub(super) fn groups_for(&mut self, order: &Order) -> Result<Option<Groups>, Refused> {
        let (memory, processes) = (order.limits.memory, order.limits.processes);
        let fits = |groups: &Groups| groups.fit(memory, processes) && groups.are_empty();
        if let Some(at) = self.groups.iter().position(fits) {
            return Ok(Some(self.groups.swap_remove(at)));
        }
        let ask = |serving: &Self| Groups::ask_for(&serving.spawner.link, memory, processes);
        let asked = match ask(self) {
            Err(error) if is_exhaustion(&error) && self.give_up_idle() => ask(self),
            asked => asked,
        };
        asked.map(Some).map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => {
                Refused::KeeperIsGone { has_begun: false }
            }
            _ => Refused::new(Step::Limits, &error),
        })
    }

    /// Removes the groups that nobody uses, which hold descriptors here and in the keeper, and the shell that waits. Returns
    /// true if there were any.
    pub(super) fn give_up_idle(&mut self) -> bool {
        let idle = std::mem::take(&mut self.groups);
        let had_some = !idle.is_empty() || self.waiting.ready.is_some();
        self.give_up_ready();
        self.waiting.model = None;
        idle.into_iter().for_each(|groups| drop(groups.give_back(&self.spawner.link)));
        had_some
    }

    /// The shell of this connection may have ended.
    pub(super) fn look_at(&mut self, key: u64) {
        let Some(connection) = self.connections.get_mut(&key) else { return };
        let Some(command) = connection.command.as_mut() else { return };
        let _ = epoll::delete(&self.events, command.process());
        let Some((exit, usage)) = command.look() else {
            // Whoever traces it is told first, and may take their time; see ptrace(2).
            self.unsettled.push(key);
            return;
        };
        // From now on it makes nothing of a shell that begins to wait; unless something of it is left.
        self.spawner.shared.note_change();
        let is_clear = command.note_end();
        // Only if others run on: a port that this one has left behind is theirs then.
        let has_others = self.spawner.shared.running() > 1 && self.spawner.network == Network::Off;
        let ports = if has_others { self.ports() } else { vec![] };
        let Some(connection) = self.connections.get(&key) else { return };
        if send(&connection.socket, &Reply::Ended { exit, usage, ports, is_clear }.to_bytes(), &[]).is_err() {
            self.let_go(key);
        }
    }

    /// The ports that the room listens on; those of a moment ago where commands end one upon the other.
    fn ports(&mut self) -> Vec<u16> {
        const A_MOMENT: Duration = Duration::from_millis(5);
        match &self.known_ports {
            Some((ports, seen)) if seen.elapsed() < A_MOMENT => ports.clone(),
            Some(_) | None => {
                let ports = listening();
                self.known_ports = Some((ports.clone(), Instant::now()));
                ports
            }
        }
    }

    /// Whoever ran a command has said good-bye to it, and has seen to what is left.
    pub(super) fn part(&mut self, key: u64, farewell: Farewell) {
        let Some(connection) = self.connections.get_mut(&key) else { return };
        if let Some(command) = connection.command.take() {
            self.finish(command, Some(farewell));
        }
        self.resume();
    }

    /// Somebody has gone. A command that they have not said good-bye to is ended.
    pub(super) fn let_go(&mut self, key: u64) {
        let Some(connection) = self.connections.remove(&key) else { return };
        let _ = epoll::delete(&self.events, &connection.socket);
        if let Some(command) = connection.command {
            self.finish(command, None);
        }
        self.resume();
    }

    fn finish(&mut self, mut command: Command, farewell: Option<Farewell>) {
        self.spawner.shared.end();
        if !command.was_clear() {
            self.spawner.shared.note_change();
        }
        self.waiting.is_due = true;
        if !command.has_ended() {
            let _ = epoll::delete(&self.events, command.process());
        }
        match farewell {
            Some(farewell) if command.reap() => {
                // Kept on purpose. When it ends nobody tells us.
                if farewell == Farewell::Used && !command.is_clear() {
                    self.spawner.shared.set_strays(true);
                }
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

    pub(super) fn put_back(&mut self, groups: Groups, farewell: Farewell) {
        /// Making and removing them takes a tenth of a shell, and more when many do.
        const MOST: usize = 512;
        if farewell == Farewell::Clean && self.groups.len() < MOST {
            self.groups.push(groups);
        } else {
            let _ = groups.give_back(&self.spawner.link);
        }
    }

    pub(super) fn end_doomed(&mut self) {
        for mut command in std::mem::take(&mut self.doomed) {
            if !command.is_over() {
                command.kill();
                self.doomed.push(command);
                continue;
            }
            if command.is_anybodys() {
                // Until now it could have made something else of a shell that waits.
                self.spawner.shared.note_change();
                self.waiting.is_due = true;
            }
            if let Some(groups) = command.into_groups() {
                let _ = groups.give_back(&self.spawner.link);
            }
        }
    }

    /// Reaps processes that lost their parents. A shell that has ended is reaped by its own command, later; while one is
    /// held, the others have to wait behind it.
    pub(super) fn reap_orphans(&self) {
        let commands = || {
            let running = self.connections.values().filter_map(|connection| connection.command.as_ref());
            running.chain(&self.doomed).chain(self.waiting.commands())
        };
        loop {
            let Some(ended) = wait::look(wait::Whose::Any) else { return };
            if commands().any(|command| command.pid() == ended.pid) {
                return;
            }
            wait::reap(ended.pid);
        }
    }
}
