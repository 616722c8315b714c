//! Whose a unix socket in the workspace is. The host's own programs make some there too: terminals, editors, databases.
//!
//! A socket belongs to the network of whoever made it. The kernel lists those of one network, with the files that they are
//! bound to (sock_diag(7)).
#![expect(unsafe_code, reason = "a question in another network has no safe interface")]

use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use rustix::fs::fstat;

use crate::imp::namespaces::in_a_copy;

/// Returns true if a socket file is bound by somebody in the network of that thread, and that is not the host's.
pub(super) fn is_of_network(thread: i32, file: &OwnedFd) -> bool {
    let Ok(stat) = fstat(file) else { return false };
    let open = |name: &str| File::open(format!("/proc/{thread}/ns/{name}"));
    let is_ours = |name: &str| {
        let link = |pid: &str| std::fs::read_link(format!("/proc/{pid}/ns/{name}")).ok();
        link(&thread.to_string()) == link("self")
    };
    if is_ours("net") {
        return false;
    }
    let (Ok(user), Ok(network)) = (open("user"), open("net")) else { return false };
    let has_user = !is_ours("user");
    let wanted = Vfs {
        // The kernel tells the lower half of the number, and the device as it has it itself.
        inode: u32::try_from(stat.st_ino & u64::from(u32::MAX)).unwrap_or(0),
        device: (rustix::fs::major(stat.st_dev) << 20) | rustix::fs::minor(stat.st_dev),
    };
    in_a_copy(|| {
        // SAFETY: takes two numbers.
        let enter = |file: &File| unsafe { libc::setns(file.as_raw_fd(), 0) == 0 };
        (!has_user || enter(&user)) && enter(&network) && is_bound(wanted)
    })
}

/// `struct unix_diag_vfs` of the kernel.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Vfs {
    inode: u32,
    device: u32,
}

/// `struct nlmsghdr` and `struct unix_diag_req`.
#[repr(C)]
struct Request {
    length: u32,
    kind: u16,
    flags: u16,
    sequence: u32,
    port: u32,
    family: u8,
    protocol: u8,
    padding: u16,
    states: u32,
    inode: u32,
    show: u32,
    cookie: [u32; 2],
}

/// Asks for all sockets of this network. System calls only.
fn is_bound(wanted: Vfs) -> bool {
    const BY_FAMILY: u16 = 20;
    const DUMP: u16 = 0x301;
    const SHOW_VFS: u32 = 2;
    const DIAG: i32 = 4;
    let request = Request {
        length: u32::try_from(size_of::<Request>()).unwrap_or(0),
        kind: BY_FAMILY,
        flags: DUMP,
        sequence: 1,
        port: 0,
        family: 1,
        protocol: 0,
        padding: 0,
        states: u32::MAX,
        inode: 0,
        show: SHOW_VFS,
        cookie: [u32::MAX; 2],
    };
    // SAFETY: takes three numbers, and the kernel has just opened it for us.
    let socket = unsafe {
        match libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, DIAG) {
            -1 => return false,
            fd => OwnedFd::from_raw_fd(fd),
        }
    };
    // SAFETY: the request is a live value of that size.
    let sent =
        unsafe { libc::send(socket.as_raw_fd(), (&raw const request).cast(), size_of::<Request>(), 0) };
    if sent < 0 {
        return false;
    }
    let mut buffer = [0_u8; 16 << 10];
    loop {
        // SAFETY: the buffer is a live one of that size.
        let got = unsafe { libc::recv(socket.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0) };
        let Ok(got @ 1..) = usize::try_from(got) else { return false };
        if let Some(found) = look_through(&buffer[..got], wanted) {
            return found;
        }
    }
}

/// None if more is to come.
fn look_through(mut messages: &[u8], wanted: Vfs) -> Option<bool> {
    const HEADER: usize = 16;
    const SOCKET: usize = 16;
    const DONE: u16 = 3;
    const ERROR: u16 = 2;
    const VFS: u16 = 1;
    while messages.len() >= HEADER {
        let length = number(messages, 0) as usize;
        match half(messages, 4) {
            DONE | ERROR => return Some(false),
            _ if length < HEADER || length > messages.len() => return Some(false),
            _ => {}
        }
        let mut attributes = messages.get(HEADER + SOCKET..length).unwrap_or_default();
        while attributes.len() >= 4 {
            let size = usize::from(half(attributes, 0));
            if size < 4 || size > attributes.len() {
                break;
            }
            if half(attributes, 2) == VFS
                && size >= 12
                && wanted == (Vfs { inode: number(attributes, 4), device: number(attributes, 8) })
            {
                return Some(true);
            }
            attributes = attributes.get(aligned(size)..).unwrap_or_default();
        }
        messages = messages.get(aligned(length)..).unwrap_or_default();
    }
    None
}

fn aligned(size: usize) -> usize {
    size.next_multiple_of(4)
}

fn number(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map_or(0, u32::from_ne_bytes)
}

fn half(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).and_then(|two| two.try_into().ok()).map_or(0, u16::from_ne_bytes)
}
