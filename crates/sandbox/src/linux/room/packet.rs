//! Packets with descriptors, on sockets that keep them apart.
#![expect(
    unsafe_code,
    reason = "the safe interface takes no peer of another process table, whose id is 0 here"
)]

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags,
};

/// Longer messages are sent in several packets.
pub(super) const LONGEST: usize = 60_000;

const MOST_DESCRIPTORS: usize = 12;

/// Sends one packet.
pub(super) fn send(socket: impl AsFd, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let parts = [IoSlice::new(bytes)];
    rustix::io::retry_on_intr(|| rustix::net::sendmsg(&socket, &parts, &mut ancillary, SendFlags::NOSIGNAL))?;
    Ok(())
}

/// Receives one packet into the buffer, and says how long it is: 0 at the end. The descriptors are appended.
pub(super) fn receive(
    socket: impl AsFd,
    buffer: &mut [u8],
    descriptors: &mut Vec<OwnedFd>,
) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [IoSliceMut::new(buffer)];
    let received = rustix::io::retry_on_intr(|| {
        rustix::net::recvmsg(&socket, &mut parts, &mut ancillary, RecvFlags::CMSG_CLOEXEC)
    })?;
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(sent) = message {
            descriptors.extend(sent);
        }
    }
    Ok(received.bytes)
}

/// Returns true if the other end belongs to the user of this process.
pub(super) fn is_ours(socket: &OwnedFd) -> bool {
    peer(socket).is_some_and(|peer| peer.uid == rustix::process::geteuid().as_raw())
}

/// Returns the credentials of the other end: for a client's socket those of whoever listens, for an accepted one the
/// client's (unix(7), `SO_PEERCRED`).
pub(super) fn peer(socket: &OwnedFd) -> Option<libc::ucred> {
    let mut peer = libc::ucred { pid: 0, uid: u32::MAX, gid: u32::MAX };
    let mut length = libc::socklen_t::try_from(size_of::<libc::ucred>()).unwrap_or(0);
    // SAFETY: the kernel writes at most that many bytes to a live value of the type that this option has.
    let result = unsafe {
        let (peer, length) = ((&raw mut peer).cast(), &raw mut length);
        libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_PEERCRED, peer, length)
    };
    (result == 0).then_some(peer)
}
