//! The end of a room, and its account of itself until then.

use std::io;
use std::time::Duration;

use rustix::fs::Timespec;

use super::super::link::ToKeeper;
use super::super::ports::listening;
use super::Serving;
use crate::room::RoomStatus;

/// The pause between looks at commands that are being ended.
const SOON: Duration = Duration::from_millis(5);
/// The pause between looks at the processes of a room that nobody finds any more.
const LATER: Duration = Duration::from_secs(5);

impl Serving {
    pub(super) fn timeout(&self) -> Option<Timespec> {
        let wait = match self.patience() {
            _ if !self.doomed.is_empty() || !self.unsettled.is_empty() => SOON,
            Some(_) if self.has_left => LATER,
            Some(idle) => idle.saturating_sub(self.spawner.shared.idle()).max(SOON),
            None => return None,
        };
        wait.try_into().ok()
    }

    pub(super) fn status(&self) -> RoomStatus {
        RoomStatus {
            commands: self.spawner.shared.running().into(),
            processes: processes()
                .saturating_sub(self.spawner.servants + u64::from(self.spawner.shared.waiting())),
            ports: listening(),
            exposed: vec![],
            // What was kept on purpose is something that runs.
            idle: if self.is_empty() { self.spawner.shared.idle() } else { Duration::ZERO },
        }
    }

    /// Returns true if nothing runs, kept leftovers included.
    pub(super) fn is_empty(&self) -> bool {
        self.spawner.shared.running() == 0
            && self.doomed.is_empty()
            && processes() <= self.spawner.servants + u64::from(self.spawner.shared.waiting())
    }

    /// For how long nothing has to run until it ends. Whoever had it made has a moment to come.
    pub(super) fn patience(&self) -> Option<Duration> {
        const A_MOMENT: Duration = Duration::from_secs(10);
        self.spawner.idle.map(|idle| if self.has_served { idle } else { idle.max(A_MOMENT) })
    }

    pub(super) fn may_end(&self) -> bool {
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

    /// Leaves, and returns true if it can end: whoever has ordered something at the last moment is served first.
    pub(super) fn leave(&mut self) -> io::Result<bool> {
        if !self.has_left {
            self.ask_keeper(&ToKeeper::Leave)?;
            self.has_left = true;
        }
        self.accept();
        Ok(self.connections.values().all(|connection| connection.command.is_none()) && self.is_empty())
    }
}

/// Every process that there is in the room.
fn processes() -> u64 {
    crate::imp::processes::pids().map_or(u64::MAX, |pids| pids.len() as u64)
}
