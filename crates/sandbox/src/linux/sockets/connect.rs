//! One connection: looked at, then made or refused.

use std::ffi::OsStr;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::net::AddressFamily;
use rustix::net::sockopt::{Timeout, set_socket_timeout, socket_domain, socket_timeout};
use rustix::process::{Pid, PidfdFlags};

use super::datagrams::{self, Delivery, Linking, Making};
use super::notice::{Call, connect, descriptor_of, network_of, read_memory};
use super::queue::{Patience, Queue, Task};
use super::{Reach, Watch, internet, owner};
use crate::imp::git;

/// Answers one call of a command.
pub(super) fn answer(watch: &Arc<Watch>) {
    let Some(call) = watch.listener.receive() else { return };
    if git::is_about_names(call.number) {
        return git::answer(watch, call);
    }
    let task = match call.number {
        libc::SYS_socket => Making::asked_for(watch, call).map(Task::Making).map(Some),
        libc::SYS_sendto => Delivery::asked_for(watch, call).map(|delivery| delivery.map(Task::Delivery)),
        _ => asked_for(watch, call).map(Some),
    };
    match task {
        Ok(Some(task)) => Queue::add(watch, call, task),
        // No socket of the command could send a datagram by itself, so whatever it is now about is harmless.
        Ok(None) => watch.listener.let_go_on(call),
        Err(errno) => watch.listener.answer(call, Err(errno)),
    }
}

/// What is to be connected, after it was found to be allowed.
#[derive(Debug)]
pub(super) struct Connection {
    socket: OwnedFd,
    target: Target,
    /// When a socket that waits for its connection has waited enough; none if it does not wait.
    patience: Option<Patience>,
}

/// An address or a file that a command may talk to.
#[derive(Debug)]
pub(super) enum Target {
    /// An address that means the same to us.
    Address(Vec<u8>),
    /// The very file that was looked at.
    File(OwnedFd),
}

impl Target {
    /// The address of it that means the same to us.
    pub(super) fn address(&self) -> Vec<u8> {
        match self {
            Self::Address(address) => address.clone(),
            Self::File(file) => {
                let mut address = AddressFamily::UNIX.as_raw().to_ne_bytes().to_vec();
                address.extend(format!("/proc/self/fd/{}\0", file.as_raw_fd()).bytes());
                address
            }
        }
    }
}

/// A socket of the command that a call is about.
pub(super) struct Asked {
    pub(super) socket: OwnedFd,
    pub(super) domain: AddressFamily,
}

impl Asked {
    pub(super) fn socket(call: Call) -> Result<Self, Errno> {
        let process = process_of(call.thread)?;
        #[expect(clippy::cast_possible_truncation, reason = "it is an int to the kernel")]
        let socket = descriptor_of(&process, call.arguments[0] as RawFd)?;
        let domain = socket_domain(&socket)?;
        Ok(Self { socket, domain })
    }

    /// Returns true if it belongs to the command's network.
    pub(super) fn is_its_own(&self, watch: &Watch) -> bool {
        watch.reach.network.is_none_or(|network| network_of(&self.socket) == Some(network))
    }

    /// The time that the caller has for this socket. None if it does not wait.
    pub(super) fn patience(&self) -> Result<Option<Patience>, Errno> {
        if rustix::fs::fcntl_getfl(&self.socket)?.contains(OFlags::NONBLOCK) {
            return Ok(None);
        }
        let own = socket_timeout(&self.socket, Timeout::Send)?;
        Ok(Some(Patience { own, since: Instant::now() }))
    }
}

/// Reads an address and its family.
pub(super) fn read_address(thread: i32, address: u64, length: u64) -> Result<(Vec<u8>, u16), Errno> {
    #[expect(clippy::cast_possible_truncation, reason = "it is an int to the kernel")]
    let length = usize::try_from(length as i32).map_err(|_| Errno::INVAL)?;
    if !(size_of::<libc::sa_family_t>()..=size_of::<libc::sockaddr_storage>()).contains(&length) {
        return Err(Errno::INVAL);
    }
    let address = read_memory(thread, address, length)?;
    let family = u16::from_ne_bytes([address[0], address[1]]);
    Ok((address, family))
}

fn asked_for(watch: &Watch, call: Call) -> Result<Task, Errno> {
    let [_, address, length, ..] = call.arguments;
    let asked = Asked::socket(call)?;
    let is_its_own = asked.is_its_own(watch);
    let (address, family) = read_address(call.thread, address, length)?;
    let is_linked = datagrams::is_for_datagrams(watch, &asked.socket)?;
    let target = match asked.domain {
        AddressFamily::UNIX if family == AddressFamily::UNIX.as_raw() => {
            Some(unix_target(watch, call, address, is_its_own)?)
        }
        AddressFamily::UNIX if is_linked && family == AddressFamily::UNSPEC.as_raw() => None,
        AddressFamily::UNIX => return Err(Errno::INVAL),
        _ if !is_its_own => return Err(Errno::PERM),
        AddressFamily::INET | AddressFamily::INET6 if watch.reach.internet => {
            internet::note_unreachable(watch, &address);
            Some(Target::Address(address))
        }
        // The kernel itself, and no group that it tells about changes.
        AddressFamily::NETLINK if watch.reach.internet && address[2..].iter().all(|byte| *byte == 0) => {
            Some(Target::Address(address))
        }
        _ => return Err(Errno::PERM),
    };
    // Only now is it certain that all of this was about the one who asked.
    if !watch.listener.still_waits(call) {
        return Err(Errno::INTR);
    }
    let patience = asked.patience()?;
    match target {
        Some(target) if !is_linked => {
            Ok(Task::Connection(Connection { socket: asked.socket, target, patience }))
        }
        target => Ok(Task::Linking(Linking { socket: asked.socket, target })),
    }
}

impl Connection {
    /// Notes a server that did not answer in the command's own network: the host may have one there.
    fn note_refusal(&self, watch: &Watch) {
        if let Target::Address(address) = &self.target {
            internet::note_unanswered(watch, address);
        }
    }

    /// None if it takes longer than that.
    pub(super) fn attempt(&self, watch: &Watch, time: Duration) -> Option<Result<i64, Errno>> {
        let result = self.try_for(time)?;
        if result == Err(Errno::CONNREFUSED) {
            self.note_refusal(watch);
        }
        Some(result.map(|()| 0))
    }

    fn try_for(&self, time: Duration) -> Option<Result<(), Errno>> {
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
        match result {
            Err(Errno::ALREADY) if patience.is_over() => Some(Err(Errno::INPROGRESS)),
            Err(Errno::AGAIN | Errno::INPROGRESS | Errno::ALREADY | Errno::INTR) if !patience.is_over() => {
                None
            }
            result => Some(result),
        }
    }

    fn connect(&self) -> Result<(), Errno> {
        connect(&self.socket, &self.target.address())
    }
}

/// Looks at an address of a unix socket, and finds out whether the command may reach it.
pub(super) fn unix_target(
    watch: &Watch,
    call: Call,
    address: Vec<u8>,
    is_its_own: bool,
) -> Result<Target, Errno> {
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
    let is_the_rooms = || !watch.reach.may_be_the_hosts(&real) || owner::is_of_network(call.thread, &file);
    if watch.reach.allows(&real) && is_the_rooms() {
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
pub(in super::super) fn process_of(thread: i32) -> Result<OwnedFd, Errno> {
    /// Newer than rustix.
    const THREAD: PidfdFlags = PidfdFlags::from_bits_retain(0o200);
    let open = |id, flags| rustix::process::pidfd_open(Pid::from_raw(id).ok_or(Errno::SRCH)?, flags);
    open(thread, THREAD).or_else(|_| {
        let status = std::fs::read_to_string(format!("/proc/{thread}/status")).map_err(|_| Errno::SRCH)?;
        let id = status.lines().find_map(|line| line.strip_prefix("Tgid:")?.trim().parse().ok());
        open(id.ok_or(Errno::SRCH)?, PidfdFlags::empty())
    })
}
