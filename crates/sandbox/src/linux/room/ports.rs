//! Ports of the room: which are listened on, and sockets to reach them from outside.

use std::os::fd::OwnedFd;

use crate::imp::processes;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink};

/// The TCP ports that something in this network listens on, lowest first.
pub(super) fn listening() -> Vec<u16> {
    let families = [(libc::AF_INET, "/proc/self/net/tcp"), (libc::AF_INET6, "/proc/self/net/tcp6")];
    let mut ports: Vec<u16> = families
        .into_iter()
        .flat_map(|(family, table)| {
            u8::try_from(family).ok().and_then(listening_by).unwrap_or_else(|| listening_in(table))
        })
        .collect();
    ports.sort_unstable();
    ports.dedup();
    // More than anybody wants to read, and a message has its limits.
    ports.truncate(MOST);
    ports
}

const MOST: usize = 256;

/// Reads the kernel's table, where it cannot be asked; see proc_pid_net(5).
fn listening_in(table: &str) -> Vec<u16> {
    const LISTEN: &str = "0A";
    let text = processes::read(table).unwrap_or_default();
    let ports = text.lines().skip(1).filter_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let (local, state) = (fields.next()?, fields.nth(1)?);
        let port = u16::from_str_radix(local.rsplit_once(':')?.1, 16).ok();
        port.filter(|_| state == LISTEN)
    });
    ports.collect()
}

/// Asks the kernel for those that listen, and no others: its table of all connections takes milliseconds to go through.
fn listening_by(family: u8) -> Option<Vec<u16>> {
    let flags = SocketFlags::CLOEXEC;
    let socket =
        rustix::net::socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, Some(netlink::SOCK_DIAG));
    let socket = socket.ok()?;
    rustix::net::send(&socket, &request(family), SendFlags::empty()).ok()?;
    let (mut ports, mut buffer) = (vec![], vec![0; 16 << 10]);
    loop {
        let (count, _) = rustix::net::recv(&socket, buffer.as_mut_slice(), RecvFlags::empty()).ok()?;
        let mut rest = buffer.get(..count)?;
        while let Some((length, kind)) = header(rest) {
            if kind != SOCK_DIAG_BY_FAMILY {
                return (kind == DONE).then_some(ports);
            }
            let port = rest.get(HEADER + PORT..HEADER + PORT + 2)?;
            ports.push(u16::from_be_bytes(port.try_into().ok()?));
            rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        }
        if count == 0 {
            return None;
        }
    }
}

const SOCK_DIAG_BY_FAMILY: u16 = 20;
/// The kind of the last message.
const DONE: u16 = 3;
/// The length of the kernel's `struct nlmsghdr`.
const HEADER: usize = 16;
/// The offset of the local port in its `struct inet_diag_msg`.
const PORT: usize = 4;

/// A message of the kernel: its length and its kind.
fn header(message: &[u8]) -> Option<(usize, u16)> {
    let length = u32::from_ne_bytes(message.get(..4)?.try_into().ok()?);
    let kind = u16::from_ne_bytes(message.get(4..6)?.try_into().ok()?);
    usize::try_from(length).ok().filter(|length| *length >= HEADER).map(|length| (length, kind))
}

/// The kernel's `struct inet_diag_req_v2` for TCP sockets that listen, as a dump.
fn request(family: u8) -> [u8; 72] {
    const LISTEN: u32 = 1 << 10;
    const REQUEST_AND_DUMP: u16 = 0x301;
    const TCP: u8 = 6;
    let mut message = [0; 72];
    message[..4].copy_from_slice(&72_u32.to_ne_bytes());
    message[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    message[6..8].copy_from_slice(&REQUEST_AND_DUMP.to_ne_bytes());
    message[16..18].copy_from_slice(&[family, TCP]);
    message[20..24].copy_from_slice(&LISTEN.to_ne_bytes());
    message
}

/// A socket of the network that this process is in.
pub(super) fn make_socket(is_v6: bool) -> Option<OwnedFd> {
    let family = if is_v6 { AddressFamily::INET6 } else { AddressFamily::INET };
    rustix::net::socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None).ok()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_port_is_listed_for_as_long_as_it_is_listened_on() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            // Not every machine has the sixth version.
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let port = listener.local_addr().unwrap().port();
            let family =
                if listener.local_addr().unwrap().is_ipv6() { libc::AF_INET6 } else { libc::AF_INET };
            let all = || listening_by(family.try_into().unwrap()).unwrap();
            let table = if listener.local_addr().unwrap().is_ipv6() { "tcp6" } else { "tcp" };
            let listed = listening_in(&format!("/proc/self/net/{table}"));
            assert!(all().contains(&port) && listed.contains(&port));
            drop(listener);
            assert!(!all().contains(&port));
        }
    }
}
