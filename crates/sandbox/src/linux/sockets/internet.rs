//! Connections over internet protocols that lead nowhere, because a command has a network of its own.
//!
//! Nothing is decided here. The kernel refuses these connections by itself; the listener sees each of them, so what was
//! stopped is known and need not be guessed from what a program prints.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::Watch;

/// The port of name servers. One may be at the loopback address (systemd-resolved): then a datagram socket
/// is connected without an error, and nobody answers.
const NAME_SERVICE: u16 = 53;

/// Notes a connection to another machine, or to a name server, that cannot come about.
pub(super) fn note_unreachable(watch: &Watch, address: &[u8]) {
    if let Some(target) = parse(address).filter(|_| watch.reach.own_network)
        && target.port() != 0
        && (!is_own(target.ip()) || target.port() == NAME_SERVICE)
    {
        watch.refuse(target.to_string());
    }
}

/// Notes a connection to the command's own loopback that nobody answered.
pub(super) fn note_unanswered(watch: &Watch, address: &[u8]) {
    if let Some(target) = parse(address).filter(|_| watch.reach.own_network)
        && is_own(target.ip())
    {
        watch.refuse(target.to_string());
    }
}

/// Returns true for addresses that mean the machine itself.
fn is_own(ip: IpAddr) -> bool {
    let ip = ip.to_canonical();
    ip.is_loopback() || ip.is_unspecified()
}

/// A `sockaddr_in` or `sockaddr_in6`: see ip(7) and ipv6(7).
fn parse(address: &[u8]) -> Option<SocketAddr> {
    let bytes = |from: usize, count: usize| address.get(from..from + count);
    let family = i32::from(u16::from_ne_bytes(bytes(0, 2)?.try_into().ok()?));
    let port = u16::from_be_bytes(bytes(2, 2)?.try_into().ok()?);
    let ip = match family {
        libc::AF_INET => IpAddr::from(Ipv4Addr::from(<[u8; 4]>::try_from(bytes(4, 4)?).ok()?)),
        libc::AF_INET6 => IpAddr::from(Ipv6Addr::from(<[u8; 16]>::try_from(bytes(8, 16)?).ok()?)),
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_as_the_kernel_has_them() {
        let family = u16::try_from(libc::AF_INET).unwrap().to_ne_bytes();
        let four = [family.as_slice(), &[0x1f, 0x90, 192, 0, 2, 1], &[0; 8]].concat();
        assert_eq!(parse(&four), Some("192.0.2.1:8080".parse().unwrap()));
        let family = u16::try_from(libc::AF_INET6).unwrap().to_ne_bytes();
        let six = [family.as_slice(), &[0, 53, 0, 0, 0, 0], &[0; 15], &[1], &[0; 4]].concat();
        assert_eq!(parse(&six), Some("[::1]:53".parse().unwrap()));
        for wrong in [&four[..6], &six[..20], &[], &[0; 16]] {
            assert_eq!(parse(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn what_is_the_machine_itself() {
        for (ip, own) in [
            ("127.0.0.1", true),
            ("127.0.0.53", true),
            ("0.0.0.0", true),
            ("::1", true),
            ("::ffff:127.0.0.1", true),
            ("192.0.2.1", false),
            ("2001:db8::1", false),
        ] {
            assert_eq!(is_own(ip.parse().unwrap()), own, "{ip}");
        }
    }
}
