//! Unix sockets for datagrams, for the commands of a room.
//!
//! Such a socket needs no connection to send, the address of each datagram is in the memory of the program, and nothing in the
//! kernel keeps it from the sockets of the host's daemons. So a command never has one that can send. Its socket is shut down
//! for writing before it gets it, which nothing undoes (`sock_alloc_send_pskb` in the kernel's `net/core/sock.c`), and
//! the host sends in its place, from a socket of the same name, what was addressed to a place that the command may reach.
//!
//! After `connect` a program sends without an address, and the host is not asked. Then it has one end of a pair instead, which
//! ignores addresses (`unix_seqpacket_sendmsg`), and the host passes on what comes out at the other end: see `relay.rs`.

use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout, socket_domain, socket_timeout, socket_type};
use rustix::net::{AddressFamily, Shutdown, SocketFlags, SocketType};

use super::Watch;
use super::connect::{Asked, Target, read_address, unix_target};
use super::notice::{Call, Place, bind_within, name_of, read_memory, send_to};
use super::queue::Patience;
use super::relay::Relay;
use crate::imp::room::sockets_of_room;

/// The network that a command's sockets for datagrams belong to.
#[derive(Debug, Clone, Default)]
pub(in super::super) enum Datagrams {
    /// There are none.
    #[default]
    Refused,
    OfHost,
    /// The network of a room, which makes them.
    OfRoom {
        directory: PathBuf,
        key: String,
    },
}

/// A socket for datagrams, and a pair of sockets that keep messages apart.
#[derive(Debug)]
pub(in super::super) struct NewSockets {
    pub(in super::super) datagrams: OwnedFd,
    pub(in super::super) pair: (OwnedFd, OwnedFd),
}

impl NewSockets {
    /// Makes them in the network of this process.
    pub(in super::super) fn make() -> io::Result<Self> {
        let (unix, flags) = (AddressFamily::UNIX, SocketFlags::CLOEXEC);
        Ok(Self {
            datagrams: rustix::net::socket_with(unix, SocketType::DGRAM, flags, None)?,
            pair: rustix::net::socketpair(unix, SocketType::SEQPACKET, flags, None)?,
        })
    }

    fn of(network: &Datagrams) -> Result<Self, Errno> {
        let made = match network {
            Datagrams::Refused => return Err(Errno::ACCESS),
            Datagrams::OfHost => Self::make(),
            Datagrams::OfRoom { directory, key } => sockets_of_room(directory, key),
        };
        made.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::ACCESS))
    }
}

/// Returns true if a socket is one of those that this module is about.
pub(super) fn is_for_datagrams(watch: &Watch, socket: &OwnedFd) -> Result<bool, Errno> {
    if socket_domain(socket)? != AddressFamily::UNIX {
        return Ok(false);
    }
    let kind = socket_type(socket)?;
    Ok(kind == SocketType::DGRAM || (kind == SocketType::SEQPACKET && Relay::of(watch, socket).is_some()))
}

/// A new socket.
#[derive(Debug)]
pub(super) struct Making {
    flags: SocketFlags,
}

impl Making {
    pub(super) fn asked_for(watch: &Watch, call: Call) -> Result<Self, Errno> {
        let [domain, kind, protocol, ..] = call.arguments;
        #[expect(clippy::cast_possible_truncation, reason = "they are ints to the kernel")]
        let (domain, kind, protocol) = (domain as i32, kind as u32, protocol as i32);
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let is_datagram = kind & !flags.bits() == libc::SOCK_DGRAM.cast_unsigned();
        let is_allowed = !matches!(watch.reach.datagrams, Datagrams::Refused);
        if domain != libc::AF_UNIX || !is_datagram || ![0, libc::PF_UNIX].contains(&protocol) || !is_allowed {
            return Err(Errno::ACCESS);
        }
        Ok(Self { flags: SocketFlags::from_bits_truncate(kind) & flags })
    }

    pub(super) fn make(&self, watch: &Watch, call: Call) -> Result<(), Errno> {
        let socket = NewSockets::of(&watch.reach.datagrams)?.datagrams;
        rustix::net::shutdown(&socket, Shutdown::Write)?;
        if self.flags.contains(SocketFlags::NONBLOCK) {
            rustix::fs::fcntl_setfl(&socket, OFlags::NONBLOCK)?;
        }
        if watch.listener.give(call, &socket, Place::Result, self.flags) { Ok(()) } else { Err(Errno::MFILE) }
    }
}

/// A socket that is led to one target, or away from it.
#[derive(Debug)]
pub(super) struct Linking {
    pub(super) socket: OwnedFd,
    pub(super) target: Option<Target>,
}

impl Linking {
    /// Puts one end of a pair into the place of the socket, or leads the one that is there elsewhere.
    pub(super) fn link(self, watch: &Arc<Watch>, call: Call) -> Result<i64, Errno> {
        let target = self.target.map(Arc::new);
        if let Some(relay) = Relay::of(watch, &self.socket) {
            relay.lead_to(target);
            return Ok(0);
        }
        let Some(target) = target else { return Ok(0) };
        let sender = sender_like(watch, &self.socket)?;
        // As the kernel would: is anybody there, and for datagrams?
        try_connecting(&target)?;
        let NewSockets { pair: (ours, theirs), .. } = NewSockets::of(&watch.reach.datagrams)?;
        let flags = rustix::fs::fcntl_getfl(&self.socket)? & OFlags::NONBLOCK;
        rustix::fs::fcntl_setfl(&theirs, flags)?;
        for which in [Timeout::Recv, Timeout::Send] {
            set_socket_timeout(&theirs, which, socket_timeout(&self.socket, which)?)?;
        }
        #[expect(clippy::cast_possible_truncation, reason = "it is an int to the kernel")]
        let number = call.arguments[0] as i32;
        let flags = flags_of(call.thread, number);
        let bound = (name_of(&self.socket).len() > FAMILY).then_some(self.socket);
        Relay::start(watch, &theirs, ours, bound, sender, target)?;
        if watch.listener.give(call, &theirs, Place::Instead(number), flags) {
            Ok(0)
        } else {
            Err(Errno::INTR)
        }
    }
}

/// Connects a socket that nobody sees, for the errors that this has.
fn try_connecting(target: &Target) -> Result<(), Errno> {
    let (unix, flags) = (AddressFamily::UNIX, SocketFlags::CLOEXEC);
    let probe = rustix::net::socket_with(unix, SocketType::DGRAM, flags, None)?;
    match target {
        Target::File(_) => super::notice::connect(&probe, &target.address()),
        // A name in another network.
        Target::Address(_) => Ok(()),
    }
}

/// The flags of a descriptor of another process: see proc_pid_fdinfo(5).
fn flags_of(thread: i32, descriptor: i32) -> SocketFlags {
    let info = std::fs::read_to_string(format!("/proc/{thread}/fdinfo/{descriptor}")).unwrap_or_default();
    let flags =
        info.lines().find_map(|line| i32::from_str_radix(line.strip_prefix("flags:")?.trim(), 8).ok());
    let closes = flags.is_some_and(|flags| flags & libc::O_CLOEXEC != 0);
    if closes { SocketFlags::CLOEXEC } else { SocketFlags::empty() }
}

/// One datagram with its address.
#[derive(Debug)]
pub(super) struct Delivery {
    socket: OwnedFd,
    target: Target,
    data: Vec<u8>,
    patience: Option<Patience>,
    sender: OnceLock<Arc<OwnedFd>>,
}

/// Longer than the kernel sends at once, unless somebody has raised its limit.
const LONGEST: usize = 1 << 20;

impl Delivery {
    /// None: it is not about a datagram that the host has to send.
    pub(super) fn asked_for(watch: &Watch, call: Call) -> Result<Option<Self>, Errno> {
        let asked = Asked::socket(call)?;
        if asked.domain != AddressFamily::UNIX || !is_for_datagrams(watch, &asked.socket)? {
            return Ok(None);
        }
        let [_, data, length, flags, address, address_length] = call.arguments;
        let length = usize::try_from(length).ok().filter(|length| *length <= LONGEST);
        // Read once: it may be something else by then.
        let data = read_memory(call.thread, data, length.ok_or(Errno::MSGSIZE)?)?;
        let (address, family) = read_address(call.thread, address, address_length)?;
        if family != AddressFamily::UNIX.as_raw() {
            return Err(Errno::INVAL);
        }
        let target = unix_target(watch, call, address, asked.is_its_own(watch))?;
        // Only now is it certain that all of this was about the one who asked.
        if !watch.listener.still_waits(call) {
            return Err(Errno::INTR);
        }
        let waits = flags & u64::from(libc::MSG_DONTWAIT.cast_unsigned()) == 0;
        let patience = if waits { asked.patience()? } else { None };
        Ok(Some(Self { socket: asked.socket, target, data, patience, sender: OnceLock::new() }))
    }

    /// None if it takes longer than that.
    pub(super) fn attempt(&self, watch: &Watch, time: Duration) -> Option<Result<i64, Errno>> {
        if self.sender.get().is_none() {
            let of = Relay::of(watch, &self.socket).map(|relay| Ok(relay.sender()));
            match of.unwrap_or_else(|| sender_like(watch, &self.socket)) {
                Ok(sender) => drop(self.sender.set(sender)),
                Err(errno) => return Some(Err(errno)),
            }
        }
        let sender = self.sender.get()?;
        let flags = libc::MSG_NOSIGNAL | if self.patience.is_none() { libc::MSG_DONTWAIT } else { 0 };
        let _ = set_socket_timeout(sender, Timeout::Send, Some(time));
        match (send_to(sender, &self.data, flags, &self.target.address()), self.patience) {
            (Err(Errno::AGAIN | Errno::INTR), Some(patience)) if !patience.is_over() => None,
            (result, _) => Some(result),
        }
    }
}

/// The length of an address that names nothing.
const FAMILY: usize = size_of::<libc::sa_family_t>();

/// A socket that sends under the name of another, as far as that can be.
fn sender_like(watch: &Watch, socket: &OwnedFd) -> Result<Arc<OwnedFd>, Errno> {
    const MOST: usize = 32;
    let name = name_of(socket);
    if let Some(known) = watch.senders().iter().find(|(known, _)| *known == name) {
        return Ok(Arc::clone(&known.1));
    }
    let sender = Arc::new(NewSockets::of(&watch.reach.datagrams)?.datagrams);
    let path = name.get(FAMILY..).and_then(|name| name.split(|byte| *byte == 0).next()).unwrap_or_default();
    if !path.is_empty() {
        // Without a name it can still send, only nobody can answer.
        let _ = take_name(&sender, &name, Path::new(OsStr::from_bytes(path)));
    }
    let mut senders = watch.senders();
    if senders.len() >= MOST {
        senders.remove(0);
    }
    senders.push((name, Arc::clone(&sender)));
    Ok(sender)
}

/// Gives a socket a name that another has already, by having it bound to that name in a file system of its own.
fn take_name(socket: &OwnedFd, name: &[u8], path: &Path) -> io::Result<bool> {
    if path.components().any(|part| matches!(part, Component::ParentDir)) {
        return Ok(false);
    }
    let root = tempfile::tempdir()?;
    let inner = root.path().join(path.strip_prefix("/").unwrap_or(path));
    inner.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    let c_root = CString::new(root.path().as_os_str().as_bytes())?;
    Ok(bind_within(socket, &c_root, name))
}
