//! The shell that waits in a room for the next command.
//!
//! One is enough: it is given up when any command ends, which could have made something else of it.

use std::ffi::CString;
use std::os::fd::OwnedFd;

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::Timespec;
use rustix::process::{Resource, getrlimit};

use super::super::order::{Reply, Take};
use super::super::packet::send;
use super::command::Command;
use super::ready::{Model, Ready};
use super::{ASKING, READY, Serving, TRIAL};

/// The shell that waits, if one does, and what for.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    pub(super) model: Option<Model>,
    pub(super) ready: Option<Ready>,
    /// The one that shows whether its bash can wait.
    trial: Option<(CString, Ready)>,
    /// The bash that was tried last, and whether it can.
    tried: Option<(CString, bool)>,
    /// True if something has ended, so that a new one is due.
    pub(super) is_due: bool,
    /// True if the last command was like the one before it.
    is_called_for: bool,
    /// The number of those that have waited for nothing, since one was taken.
    in_vain: u32,
}

impl Waiting {
    /// Notes a command that was ordered. Others like it may follow.
    pub(super) fn follow(&mut self, model: Model) {
        /// One that waits has nine descriptors here, and as many in the keeper.
        const ENOUGH: u64 = 256;
        if getrlimit(Resource::Nofile).current.is_some_and(|most| most < ENOUGH) {
            return;
        }
        self.is_called_for = self.model.as_ref().is_some_and(|known| known.is_same(&model));
        self.model = Some(model);
    }

    /// The commands that are nobody's yet.
    pub(super) fn commands(&self) -> impl Iterator<Item = &Command> {
        let trial = self.trial.as_ref().map(|(_, ready)| ready);
        self.ready.iter().chain(trial).map(Ready::command)
    }
}

impl Serving {
    /// Gives a command to the shell that waits, if it waits for such a one.
    pub(super) fn take(&mut self, key: u64, take: &Take) {
        let is_first = self.connections.get(&key).is_some_and(|connection| connection.command.is_none());
        if !is_first {
            return self.let_go(key);
        }
        self.protect();
        let shared = self.spawner.shared;
        self.waiting.is_called_for = self.waiting.model.as_ref().is_some_and(|model| model.is_like(take));
        let fits = |ready: &mut Ready| !shared.has_strays() && ready.fits(take, shared.changes());
        let Some(mut ready) = self.waiting.ready.take_if(fits) else {
            return self.say(key, &Reply::NoneWaits, &[]);
        };
        shared.end_waiting();
        self.ignore(&ready);
        if ready.go(&take.text, &take.script).is_err() {
            self.doomed.push(ready.into_command());
            return self.say(key, &Reply::NoneWaits, &[]);
        }
        self.waiting.in_vain = 0;
        shared.begin();
        self.has_served = true;
        let event = EventData::new_u64(key + 1);
        let watched = epoll::add(&self.events, ready.command().process(), event, EventFlags::IN);
        let Some(connection) = self.connections.get_mut(&key) else { return };
        let (started, descriptors) = ready.told(shared.has_unprotected());
        let said = send(&connection.socket, &Reply::Started(started).to_bytes(), &descriptors);
        let mut command = ready.into_command();
        command.begin_for_somebody();
        connection.command = Some(command);
        if watched.is_err() || said.is_err() {
            self.let_go(key);
        }
    }

    /// Has a shell wait for the next command, if something has ended and nobody is waited for.
    pub(super) fn renew_ready(&mut self) {
        /// After so many that nobody wanted there is another only if two commands in a row were alike.
        const MOST_IN_VAIN: u32 = 3;
        if !std::mem::take(&mut self.waiting.is_due) {
            return;
        }
        self.give_up_ready();
        // What was kept could do something to one that waits, and end; nobody would tell us.
        if self.spawner.shared.has_strays() && self.is_empty() {
            self.spawner.shared.set_strays(false);
        }
        let is_called_for = std::mem::take(&mut self.waiting.is_called_for);
        if self.waiting.trial.is_some()
            || self.spawner.shared.has_strays()
            || self.is_busy()
            || (self.waiting.in_vain >= MOST_IN_VAIN && !is_called_for)
        {
            return;
        }
        let Some(model) = self.waiting.model.take() else { return };
        let tried = self.waiting.tried.as_ref().filter(|(program, _)| program.as_c_str() == model.program());
        match tried.map(|(_, can_wait)| *can_wait) {
            Some(true) => self.waiting.ready = self.start_waiting(&model, READY),
            Some(false) => {}
            None => {
                let trial = self.start_waiting(&model, TRIAL).map(|mut trial| {
                    // One that cannot be told was killed, and has not passed.
                    let _ = trial.try_out();
                    (model.program().to_owned(), trial)
                });
                self.waiting.trial = trial;
            }
        }
        self.waiting.model = Some(model);
    }

    fn start_waiting(&mut self, model: &Model, key: u64) -> Option<Ready> {
        let groups = self.groups_for(model.order()).ok()?;
        let changes = self.spawner.shared.changes();
        match Ready::start(model, changes, groups, &self.spawner.filters, &mut self.slots) {
            Ok(ready) => {
                self.spawner.shared.begin_waiting();
                let add = |fd: &OwnedFd, key| {
                    epoll::add(&self.events, fd, EventData::new_u64(key), EventFlags::IN).is_ok()
                };
                let is_watched = add(ready.command().process(), key)
                    && ready.listener().is_none_or(|listener| add(listener, key + ASKING));
                if !is_watched {
                    self.give_up(ready);
                    return None;
                }
                Some(ready)
            }
            Err(refused) => {
                self.groups.extend(refused.0);
                None
            }
        }
    }

    /// Nobody will want the one that waits.
    pub(super) fn give_up_ready(&mut self) {
        if let Some(ready) = self.waiting.ready.take() {
            self.waiting.in_vain += 1;
            self.give_up(ready);
        }
    }

    /// Has the one that waits gone before a command begins that may look at processes.
    pub(super) fn hide_ready(&mut self) {
        /// A killed shell takes less than one; nobody is kept waiting for one that does not die.
        const MOST_MILLISECONDS: i64 = 20;
        let patience = Timespec { tv_sec: 0, tv_nsec: MOST_MILLISECONDS * 1_000_000 };
        if let Some(ready) = self.waiting.ready.take() {
            self.give_up(ready);
            if let Some(command) = self.doomed.last() {
                let _ = poll(&mut [PollFd::new(command.process(), PollFlags::IN)], Some(&patience));
            }
            self.end_doomed();
        }
    }

    fn give_up(&mut self, ready: Ready) {
        self.spawner.shared.end_waiting();
        self.ignore(&ready);
        let mut command = ready.into_command();
        command.kill();
        self.doomed.push(command);
    }

    fn ignore(&self, ready: &Ready) {
        for fd in [Some(ready.command().process()), ready.listener()].into_iter().flatten() {
            let _ = epoll::delete(&self.events, fd);
        }
    }

    /// One of those that wait asks about a connection.
    pub(super) fn refuse_connection(&mut self, key: u64) {
        let trial = self.waiting.trial.as_mut().map(|(_, trial)| trial);
        let asking = if key == READY + ASKING { self.waiting.ready.as_mut() } else { trial };
        asking.into_iter().for_each(Ready::refuse_connection);
    }

    /// The one that waits has ended: somebody has killed it.
    pub(super) fn look_at_ready(&mut self) {
        self.give_up_ready();
        self.waiting.is_due = true;
    }

    /// The one that shows whether its bash can wait has ended.
    pub(super) fn look_at_trial(&mut self) {
        if let Some((program, ready)) = self.waiting.trial.take() {
            self.waiting.tried = Some((program, ready.has_passed()));
            self.give_up(ready);
            self.waiting.is_due = true;
        }
    }

    /// Returns true if commands come one upon the other, so that one that waits would only take their time.
    fn is_busy(&self) -> bool {
        let mut running = self.connections.values().filter_map(|connection| connection.command.as_ref());
        running.any(Command::is_new)
    }
}
