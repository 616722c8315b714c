//! Passing on what a program sends after it has connected a socket for datagrams, to the one target that was looked at.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::Timespec;
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{RecvFlags, SendFlags, Shutdown};

use super::Watch;
use super::connect::Target;
use super::notice::send_to;

/// For a receiver that does not read what a program has left that is gone.
const AFTERWARDS: Duration = Duration::from_secs(2);

/// One connected socket.
#[derive(Debug)]
pub(super) struct Relay {
    /// The number of the end that the program has.
    number: u64,
    ours: OwnedFd,
    /// The socket that it had before, if others know its name: what arrives there is the program's.
    bound: Option<OwnedFd>,
    sender: Arc<OwnedFd>,
    target: Mutex<Option<Arc<Target>>>,
    /// True while something is neither in our end nor at its target.
    is_carrying: AtomicBool,
    /// When the command has ended.
    over: OnceLock<Instant>,
}

impl Relay {
    /// The relay behind a socket of a program.
    pub(super) fn of(watch: &Watch, socket: &OwnedFd) -> Option<Arc<Self>> {
        let number = rustix::fs::fstat(socket).ok()?.st_ino;
        watch.relays().iter().find(|relay| relay.number == number).cloned()
    }

    /// Begins to pass on what is written to the other end of ours.
    pub(super) fn start(
        watch: &Arc<Watch>,
        theirs: &OwnedFd,
        ours: OwnedFd,
        bound: Option<OwnedFd>,
        sender: Arc<OwnedFd>,
        target: Arc<Target>,
    ) -> Result<(), Errno> {
        const MOST: usize = 256;
        let number = rustix::fs::fstat(theirs)?.st_ino;
        let (target, is_carrying, over) = (Mutex::new(Some(target)), AtomicBool::new(false), OnceLock::new());
        let relay = Arc::new(Self { number, ours, bound, sender, target, is_carrying, over });
        let mut relays = watch.relays();
        if relays.len() >= MOST {
            return Err(Errno::AGAIN);
        }
        let (working, watching) = (Arc::clone(&relay), Arc::clone(watch));
        let thread = std::thread::Builder::new().name("bashtion-relay".to_owned()).stack_size(128 << 10);
        let work = move || {
            working.work();
            watching.relays().retain(|relay| relay.number != working.number);
        };
        thread.spawn(work).map_err(|_| Errno::AGAIN)?;
        relays.push(relay);
        Ok(())
    }

    pub(super) fn sender(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.sender)
    }

    /// Sends to another from now on, or to nobody.
    pub(super) fn lead_to(&self, target: Option<Arc<Target>>) {
        *self.target() = target;
    }

    /// The command has ended. Its end may lie in a queue, and would never be closed.
    pub(super) fn end(&self) {
        let _ = self.over.set(Instant::now());
        let _ = rustix::net::shutdown(&self.ours, Shutdown::Both);
    }

    fn target(&self) -> MutexGuard<'_, Option<Arc<Target>>> {
        self.target.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for what was written before now to be delivered, but not for receivers that do not read.
    pub(super) fn flush_all(relays: &[Arc<Self>]) {
        const PATIENCE: Duration = Duration::from_millis(500);
        let since = Instant::now();
        while relays.iter().any(|relay| relay.has_more()) && since.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn has_more(&self) -> bool {
        let is_waiting = rustix::io::ioctl_fionread(&self.ours).is_ok_and(|count| count > 0);
        is_waiting || self.is_carrying.load(Ordering::Acquire)
    }

    /// Returns true if the command has ended, and what it sent was delivered or has waited long enough.
    fn is_done(&self) -> bool {
        self.over.get().is_some_and(|since| !self.has_more() || since.elapsed() >= AFTERWARDS)
    }

    fn work(&self) {
        let mut inward: Option<Vec<u8>> = None;
        let mut bound_socket = self.bound.as_ref();
        while !self.is_done() {
            let wanted = if inward.is_some() { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
            let mut ready = vec![PollFd::new(&self.ours, wanted)];
            ready.extend(
                bound_socket.iter().filter(|_| inward.is_none()).map(|fd| PollFd::new(*fd, PollFlags::IN)),
            );
            match poll(&mut ready, None::<&Timespec>) {
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(_) => return,
            }
            let (ours, bound) =
                (ready[0].revents(), ready.get(1).map_or(PollFlags::empty(), PollFd::revents));
            drop(ready);
            if ours.contains(PollFlags::IN) {
                self.is_carrying.store(true, Ordering::Release);
                let passed_on = self.pass_on();
                self.is_carrying.store(false, Ordering::Release);
                // A receiver that has gone may come again; what was for it is lost, as datagrams are.
                if passed_on == Err(Errno::PIPE) {
                    let _ = rustix::net::shutdown(&self.ours, Shutdown::Both);
                    return;
                }
            } else if ours.intersects(PollFlags::HUP | PollFlags::ERR) {
                return;
            }
            if let Some(socket) = bound_socket.filter(|_| !bound.is_empty()) {
                inward = next(socket).ok();
                if inward.is_none() {
                    // The program has closed it to what arrives: nothing ever will.
                    bound_socket = None;
                }
            }
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            inward = inward.filter(|data| rustix::net::send(&self.ours, data, flags) == Err(Errno::AGAIN));
        }
    }

    /// Passes one message on. A broken pipe means that there are none any more.
    fn pass_on(&self) -> Result<(), Errno> {
        const SLICE: Duration = Duration::from_millis(50);
        let data = next(&self.ours)?;
        // The end reads as an empty message.
        if data.is_empty() && self.is_closed() {
            return Err(Errno::PIPE);
        }
        let since = Instant::now();
        loop {
            let target = self.target().clone().ok_or(Errno::NOTCONN)?;
            set_socket_timeout(&self.sender, Timeout::Send, Some(SLICE))?;
            match send_to(&self.sender, &data, libc::MSG_NOSIGNAL, &target.address()) {
                Err(Errno::AGAIN | Errno::INTR) if !self.is_closed() || since.elapsed() < AFTERWARDS => {
                    if self.is_done() {
                        return Err(Errno::PIPE);
                    }
                }
                result => return result.map(drop),
            }
        }
    }

    fn is_closed(&self) -> bool {
        const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut ready = [PollFd::new(&self.ours, PollFlags::empty())];
        poll(&mut ready, Some(&AT_ONCE)).is_ok() && ready[0].revents().contains(PollFlags::HUP)
    }
}

/// One message, however long.
fn next(socket: &OwnedFd) -> Result<Vec<u8>, Errno> {
    let flags = RecvFlags::PEEK | RecvFlags::TRUNC | RecvFlags::DONTWAIT;
    let (_, length) = rustix::net::recv(socket, &mut [0_u8; 0][..], flags)?;
    let mut data = vec![0; length];
    let (_, read) = rustix::net::recv(socket, &mut data[..], RecvFlags::DONTWAIT)?;
    data.truncate(read);
    Ok(data)
}
