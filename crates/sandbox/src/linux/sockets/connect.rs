//! One connection: looked at, then made or refused.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout, socket_domain, socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix};
use rustix::process::{Pid, PidfdFlags};

use super::notice::{Call, connect, descriptor_of, network_of, read_memory};
use super::{Reach, Watch, internet};

/// Answers one call of a command. Connecting is left to others: a command can make it take as long as it likes, and must
/// not hold up anybody but itself.
pub(super) fn answer(watch: &Arc<Watch>) {
    let Some(call) = watch.listener.receive() else { return };
    match Connection::asked_for(watch, call) {
        Ok(connection) => Queue::add(watch, call, connection),
        Err(errno) => watch.listener.answer(call, Err(errno)),
    }
}

/// The connections of one command that are being made.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    connections: VecDeque<(Call, Connection)>,
    workers: usize,
}

impl Queue {
    fn add(watch: &Arc<Watch>, call: Call, connection: Connection) {
        const MOST: usize = 1024;
        const MOST_WORKERS: usize = 32;
        let mut waiting = watch.queue.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.connections.len() >= MOST {
            return watch.listener.answer(call, Err(Errno::AGAIN));
        }
        waiting.connections.push_back((call, connection));
        if waiting.workers >= MOST_WORKERS {
            return;
        }
        let working = Arc::clone(watch);
        let thread = std::thread::Builder::new().name("bashtion-connect".to_owned()).stack_size(128 << 10);
        match thread.spawn(move || Self::work(&working)) {
            Ok(_) => waiting.workers += 1,
            Err(_) if waiting.workers > 0 => {}
            Err(_) => {
                waiting.connections.pop_back();
                watch.listener.answer(call, Err(Errno::AGAIN));
            }
        }
    }

    /// Each in turn for a while, until there are none: more may wait than there are workers.
    fn work(watch: &Watch) {
        const SLICE: Duration = Duration::from_millis(50);
        let waiting = || watch.queue.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let (call, connection) = {
                let mut waiting = waiting();
                match waiting.connections.pop_front() {
                    Some(next) => next,
                    None => {
                        waiting.workers -= 1;
                        return;
                    }
                }
            };
            match connection.attempt(SLICE) {
                Some(result) => {
                    if result == Err(Errno::CONNREFUSED) {
                        connection.note_refusal(watch);
                    }
                    watch.listener.answer(call, result);
                }
                None if has_signal(call.thread) => watch.listener.answer(call, Err(Errno::INTR)),
                // Otherwise the command is gone.
                None if watch.listener.still_waits(call) => {
                    waiting().connections.push_back((call, connection));
                }
                None => {}
            }
        }
    }
}

/// Whether a signal waits for a thread that only an answer can wake.
fn has_signal(thread: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{thread}/status")).unwrap_or_default();
    let mask = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|value| u64::from_str_radix(value.trim(), 16).ok()).unwrap_or(0)
    };
    let pending = mask("SigPnd:") | mask("ShdPnd:");
    pending & !mask("SigBlk:") & !mask("SigIgn:") != 0
}

/// What is to be connected, after it was found to be allowed.
#[derive(Debug)]
struct Connection {
    socket: OwnedFd,
    target: Target,
    /// When a socket that waits for its connection has waited enough; none if it does not wait.
    patience: Option<Patience>,
}

#[derive(Debug, Clone, Copy)]
struct Patience {
    own: Option<Duration>,
    since: Instant,
}

#[derive(Debug)]
enum Target {
    /// An address that means the same to us.
    Address(Vec<u8>),
    /// The very file that was looked at.
    File(OwnedFd),
}

impl Connection {
    fn asked_for(watch: &Watch, call: Call) -> Result<Self, Errno> {
        let [fd, address, length, ..] = call.arguments;
        let process = process_of(call.thread)?;
        #[expect(clippy::cast_possible_truncation, reason = "both are an int to the kernel")]
        let (fd, length) = (fd as RawFd, length as i32);
        let length = usize::try_from(length).map_err(|_| Errno::INVAL)?;
        let socket = descriptor_of(&process, fd)?;
        let domain = socket_domain(&socket)?;
        let is_its_own = watch.reach.network.is_none_or(|network| network_of(&socket) == Some(network));
        if !(size_of::<libc::sa_family_t>()..=size_of::<libc::sockaddr_storage>()).contains(&length) {
            return Err(Errno::INVAL);
        }
        let address = read_memory(call.thread, address, length)?;
        let family = u16::from_ne_bytes([address[0], address[1]]);
        let target = match domain {
            AddressFamily::UNIX if family == AddressFamily::UNIX.as_raw() => {
                unix_target(watch, call, address, is_its_own)?
            }
            AddressFamily::UNIX => return Err(Errno::INVAL),
            _ if !is_its_own => return Err(Errno::PERM),
            AddressFamily::INET | AddressFamily::INET6 if watch.reach.internet => {
                internet::note_unreachable(watch, &address);
                Target::Address(address)
            }
            // The kernel itself, and no group that it tells about changes.
            AddressFamily::NETLINK if watch.reach.internet && address[2..].iter().all(|byte| *byte == 0) => {
                Target::Address(address)
            }
            _ => return Err(Errno::PERM),
        };
        // Only now is it certain that all of this was about the one who asked.
        if !watch.listener.still_waits(call) {
            return Err(Errno::INTR);
        }
        let waits = !rustix::fs::fcntl_getfl(&socket)?.contains(OFlags::NONBLOCK);
        let patience = waits
            .then(|| {
                socket_timeout(&socket, Timeout::Send).map(|own| Patience { own, since: Instant::now() })
            })
            .transpose()?;
        Ok(Self { socket, target, patience })
    }

    /// Notes a server that did not answer in the command's own network: the host may have one there.
    fn note_refusal(&self, watch: &Watch) {
        if let Target::Address(address) = &self.target {
            internet::note_unanswered(watch, address);
        }
    }

    /// None if it takes longer than that.
    fn attempt(&self, time: Duration) -> Option<Result<(), Errno>> {
        let Some(patience) = self.patience else { return Some(self.connect()) };
        // Nothing can be sent on it yet, so nobody sees that its time to send is another for a moment.
        let set = |timeout| set_socket_timeout(&self.socket, Timeout::Send, timeout);
        if let Err(errno) = set(Some(time)) {
            return Some(Err(errno));
        }
        let result = self.connect();
        if let Err(errno) = set(patience.own) {
            return Some(Err(errno));
        }
        let is_over = patience.own.is_some_and(|own| patience.since.elapsed() >= own);
        match result {
            Err(Errno::ALREADY) if is_over => Some(Err(Errno::INPROGRESS)),
            Err(Errno::AGAIN | Errno::INPROGRESS | Errno::ALREADY | Errno::INTR) if !is_over => None,
            result => Some(result),
        }
    }

    fn connect(&self) -> Result<(), Errno> {
        match &self.target {
            Target::Address(address) => connect(&self.socket, address),
            Target::File(file) => {
                let path = format!("/proc/self/fd/{}", file.as_raw_fd());
                rustix::net::connect(&self.socket, &SocketAddrUnix::new(path)?)
            }
        }
    }
}

fn unix_target(watch: &Watch, call: Call, address: Vec<u8>, is_its_own: bool) -> Result<Target, Errno> {
    const FAMILY: usize = size_of::<libc::sa_family_t>();
    if address.len() > size_of::<libc::sockaddr_un>() {
        return Err(Errno::INVAL);
    }
    let name = &address[FAMILY..];
    if name.first().is_none_or(|first| *first == 0) {
        if !watch.reach.own_network || !is_its_own {
            watch.refuse(format!("@{}", String::from_utf8_lossy(name.get(1..).unwrap_or(&[]))));
            return Err(Errno::ACCESS);
        }
        return Ok(Target::Address(address));
    }
    let path = name.split(|byte| *byte == 0).next().unwrap_or(name);
    let (file, real) = found(call.thread, Path::new(OsStr::from_bytes(path)), &watch.reach)?;
    if watch.reach.allows(&real) {
        return Ok(Target::File(file));
    }
    watch.refuse(real.display().to_string());
    Err(Errno::ACCESS)
}

/// The socket that a path means to that thread, and where it really is.
fn found(thread: i32, path: &Path, reach: &Reach) -> Result<(OwnedFd, PathBuf), Errno> {
    /// The kernel gives up on a path with dots while something is renamed.
    const TRIES: usize = 100;
    let path = if path.is_absolute() {
        path.to_owned()
    } else {
        let cwd = rustix::fs::readlink(format!("/proc/{thread}/cwd"), vec![])?;
        Path::new(OsStr::from_bytes(cwd.as_bytes())).join(path)
    };
    let from_root = path.strip_prefix("/").unwrap_or(&path);
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let root = rustix::fs::open(format!("/proc/{thread}/root"), flags | OFlags::DIRECTORY, Mode::empty())?;
    let within = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    let mut opened = Err(Errno::AGAIN);
    for _ in 0..TRIES {
        opened = rustix::fs::openat2(&root, from_root, flags, Mode::empty(), within);
        if opened.as_ref().err() != Some(&Errno::AGAIN) {
            break;
        }
    }
    let file = opened?;
    let real = rustix::fs::readlink(format!("/proc/self/fd/{}", file.as_raw_fd()), vec![])?;
    let real = PathBuf::from(OsStr::from_bytes(real.as_bytes()));
    let stat = rustix::fs::fstat(&file)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::Socket {
        // The kernel says the same, but not of what is closed to the command.
        return Err(if reach.allows(&real) { Errno::CONNREFUSED } else { Errno::ACCESS });
    }
    Ok((file, real))
}

/// The thread, or its process where the kernel knows only those: they nearly always share their descriptors.
fn process_of(thread: i32) -> Result<OwnedFd, Errno> {
    /// Newer than rustix.
    const THREAD: PidfdFlags = PidfdFlags::from_bits_retain(0o200);
    let open = |id, flags| rustix::process::pidfd_open(Pid::from_raw(id).ok_or(Errno::SRCH)?, flags);
    open(thread, THREAD).or_else(|_| {
        let status = std::fs::read_to_string(format!("/proc/{thread}/status")).map_err(|_| Errno::SRCH)?;
        let id = status.lines().find_map(|line| line.strip_prefix("Tgid:")?.trim().parse().ok());
        open(id.ok_or(Errno::SRCH)?, PidfdFlags::empty())
    })
}
