//! Ports of the room: which are listened on, and sockets to reach them from outside.

use std::os::fd::OwnedFd;

use rustix::net::{AddressFamily, SocketFlags, SocketType};

use crate::imp::processes;

/// The TCP ports that something in this network listens on, lowest first.
pub(super) fn listening() -> Vec<u16> {
    const LISTEN: &str = "0A";
    let mut ports = vec![];
    for table in ["/proc/self/net/tcp", "/proc/self/net/tcp6"] {
        let text = processes::read(table).unwrap_or_default();
        for line in text.lines().skip(1) {
            let mut fields = line.split_ascii_whitespace().skip(1);
            let (local, state) = (fields.next(), fields.nth(1));
            let port = local.and_then(|local| u16::from_str_radix(local.rsplit_once(':')?.1, 16).ok());
            ports.extend(port.filter(|_| state == Some(LISTEN)));
        }
    }
    ports.sort_unstable();
    ports.dedup();
    // More than anybody wants to read, and a message has its limits.
    ports.truncate(MOST);
    ports
}

const MOST: usize = 256;

/// A socket of the network that this process is in.
pub(super) fn make_socket(is_v6: bool) -> Option<OwnedFd> {
    let family = if is_v6 { AddressFamily::INET6 } else { AddressFamily::INET };
    rustix::net::socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None).ok()
}
