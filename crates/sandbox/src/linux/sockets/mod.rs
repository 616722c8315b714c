//! Unix sockets by path, for commands that may use some of them.
//!
//! The same thread answers for the names in repositories, see `git`.
//!
//! Sockets for datagrams are a matter of their own, see `datagrams.rs`.
//!
//! Neither Landlock nor a namespace keeps a command from a socket that it can name, and a filter sees no names. So the
//! filter hands each `connect` to a thread of the host, which looks at the socket and connects it on the command's
//! behalf, or refuses. It never lets the call go on by itself: what it names may be another by then.

mod connect;
mod datagrams;
mod internet;
pub(super) mod notice;
mod owner;
mod queue;
mod relay;

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::git::{Ground, Masks, separate};
use crate::{Stopped, StoppedBy};
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};

pub(super) use datagrams::{Datagrams, NewSockets};
use notice::Listener;
pub(super) use notice::{Channel, Channels, network_of, refuse};

/// What a command may connect to.
#[derive(Debug, Clone, Default)]
pub(super) struct Reach {
    /// Directories and sockets. Absolute, after symbolic links.
    pub(super) open: Vec<PathBuf>,
    /// Of these, what is closed nevertheless.
    pub(super) closed: Vec<PathBuf>,
    /// Sockets of the host that were named. Links are followed when they are used.
    pub(super) named: Vec<PathBuf>,
    /// Whether it has a network of its own, in which abstract names are its own too.
    pub(super) own_network: bool,
    /// The network that its sockets must belong to, as the kernel numbers them; none if that is not asked. Others may have
    /// been handed to it.
    pub(super) network: Option<u64>,
    /// Whether it may have internet sockets at all.
    pub(super) internet: bool,
    /// The network that its sockets for datagrams come from.
    pub(super) datagrams: Datagrams,
    /// Of the directories that are open, those that the host's programs write into too: sockets in them must be the room's.
    pub(super) shared: Vec<PathBuf>,
    /// Its repositories.
    pub(super) ground: Ground,
}

impl Reach {
    /// Asked about where a socket really is.
    fn allows(&self, socket: &Path) -> bool {
        // The innermost counts: what is shared may lie in what is hidden.
        let among = |places: &[PathBuf]| {
            let around = places.iter().filter(|place| socket.starts_with(place));
            around.map(|place| place.components().count()).max()
        };
        among(&self.open) > among(&self.closed) || self.is_named(socket)
    }

    fn is_named(&self, socket: &Path) -> bool {
        let is_it = |name: &PathBuf| name.canonicalize().is_ok_and(|real| socket.starts_with(real));
        self.named.iter().any(is_it)
    }

    /// Returns true if it is not enough that a socket is in an open directory.
    fn may_be_the_hosts(&self, socket: &Path) -> bool {
        self.shared.iter().any(|root| socket.starts_with(root)) && !self.is_named(socket)
    }
}

/// One command whose connections are watched.
#[derive(Debug)]
pub(super) struct Watch {
    pub(super) listener: Listener,
    pub(super) reach: Arc<Reach>,
    refused: Mutex<Vec<String>>,
    /// Names that it wanted to make or change, and why it could not.
    stopped: Mutex<Vec<Stopped>>,
    /// Locks in repositories that it has made: device and number.
    pub(super) locks: Mutex<Vec<(u64, u64)>>,
    /// Worktrees that it is about to make: their git directories, and their names in it.
    pub(super) worktrees: Mutex<Vec<(PathBuf, String)>>,
    /// The masks of its processes.
    pub(super) masks: Masks,
    /// Shared by all who wait for somebody to read from a pipe.
    pub(super) pipes: Arc<()>,
    queue: queue::Queue,
    relays: Mutex<Vec<Arc<relay::Relay>>>,
    /// Sockets that send under the names of the command's own.
    senders: Mutex<Vec<(Vec<u8>, Arc<OwnedFd>)>>,
    /// True if the thread that answers knows it.
    is_answered: AtomicBool,
}

impl Watch {
    pub(super) fn new(listener: OwnedFd, reach: &Arc<Reach>) -> Arc<Self> {
        Arc::new(Self {
            listener: Listener::new(listener),
            reach: Arc::clone(reach),
            refused: Mutex::default(),
            stopped: Mutex::default(),
            locks: Mutex::default(),
            worktrees: Mutex::default(),
            masks: Masks::default(),
            pipes: Arc::default(),
            queue: queue::Queue::default(),
            relays: Mutex::default(),
            senders: Mutex::default(),
            is_answered: AtomicBool::new(false),
        })
    }

    /// Can be read when it asks something; none if that is answered.
    pub(super) fn unanswered(&self) -> Option<BorrowedFd<'_>> {
        (!self.is_answered.load(Ordering::Acquire)).then(|| self.listener.as_fd())
    }

    /// The sockets that it wanted and did not get: a path, `@name`, or an internet address with its port.
    pub(super) fn refused(&self) -> Vec<String> {
        // What the command has sent arrives before it is said to have ended.
        let relays = self.relays().clone();
        relay::Relay::flush_all(&relays);
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn relays(&self) -> MutexGuard<'_, Vec<Arc<relay::Relay>>> {
        self.relays.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn senders(&self) -> MutexGuard<'_, Vec<(Vec<u8>, Arc<OwnedFd>)>> {
        self.senders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes something that the command was kept from.
    pub(super) fn stop(&self, path: PathBuf, why: StoppedBy) {
        const MOST: usize = 8;
        let mut stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        if stopped.len() < MOST && stopped.iter().all(|known| known.path != path) {
            stopped.push(Stopped { path, why });
        }
    }

    /// Lists what it was kept from in repositories.
    pub(super) fn stopped(&self) -> Vec<Stopped> {
        self.stopped.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn refuse(&self, socket: String) {
        const MOST: usize = 8;
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.len() < MOST && !refused.contains(&socket) {
            refused.push(socket);
        }
    }
}

/// Begins to answer for a command. None if this host cannot: its connections fail then.
pub(super) fn watch(listener: OwnedFd, reach: &Arc<Reach>) -> Option<Arc<Watch>> {
    let watch = Watch::new(listener, reach);
    answer(&watch).then_some(watch)
}

/// Begins to answer for a command that somebody else has watched so far.
pub(super) fn answer(watch: &Arc<Watch>) -> bool {
    static BROKER: Mutex<Option<Arc<Broker>>> = Mutex::new(None);
    let mut broker = BROKER.lock().unwrap_or_else(PoisonError::into_inner);
    if broker.is_none() {
        *broker =
            Broker::start().inspect_err(|error| tracing::warn!(%error, "unix sockets stay closed")).ok();
    }
    let is_answered = broker.as_ref().is_some_and(|broker| broker.add(Arc::clone(watch)).is_ok());
    watch.is_answered.store(is_answered, Ordering::Release);
    is_answered
}

/// The thread that answers, for all commands of this process.
struct Broker {
    events: OwnedFd,
    watches: Mutex<(u64, HashMap<u64, Arc<Watch>>)>,
}

impl Broker {
    fn start() -> io::Result<Arc<Self>> {
        let events = epoll::create(CreateFlags::CLOEXEC)?;
        let broker = Arc::new(Self { events, watches: Mutex::default() });
        let answering = Arc::clone(&broker);
        std::thread::Builder::new()
            .name("bashtion-sockets".to_owned())
            .stack_size(256 << 10)
            .spawn(move || answering.answer_all())?;
        Ok(broker)
    }

    fn add(&self, watch: Arc<Watch>) -> io::Result<()> {
        let mut watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
        watches.0 += 1;
        let key = watches.0;
        epoll::add(&self.events, &watch.listener, EventData::new_u64(key), EventFlags::IN)?;
        watches.1.insert(key, watch);
        Ok(())
    }

    fn answer_all(&self) {
        separate();
        let mut events = Vec::with_capacity(16);
        loop {
            match epoll::wait(&self.events, rustix::buffer::spare_capacity(&mut events), None) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return tracing::warn!(%error, "unix sockets stay closed"),
            }
            for event in events.drain(..) {
                let (key, flags) = (event.data.u64(), event.flags);
                let mut watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
                let Some(watch) = watches.1.get(&key).cloned() else { continue };
                if flags.contains(EventFlags::IN) {
                    drop(watches);
                    connect::answer(&watch);
                } else {
                    // The last process of the command has gone.
                    let _ = epoll::delete(&self.events, &watch.listener);
                    watches.1.remove(&key);
                    drop(watches);
                    watch.relays().iter().for_each(|relay| relay.end());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_may_reach() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        std::fs::write(root.join("real.sock"), "").unwrap();
        std::os::unix::fs::symlink(root.join("real.sock"), root.join("link.sock")).unwrap();
        let reach = Reach {
            open: vec!["/w".into(), "/w/secret/shared".into()],
            closed: vec!["/w/secret".into()],
            named: vec![root.join("link.sock"), "/gone".into()],
            ..Reach::default()
        };
        let cases = [
            ("/w/a.sock", true),
            ("/w/b/c", true),
            ("/wide/a", false),
            ("/w/secret/agent", false),
            ("/w/secret/shared/a", true),
            ("/run/docker.sock", false),
            ("/gone", false),
        ];
        for (socket, allowed) in cases {
            assert_eq!(reach.allows(Path::new(socket)), allowed, "{socket}");
        }
        assert!(reach.allows(&root.join("real.sock")));
    }
}
