//! What the kernel asks when a filter has stopped a call, and what it is answered.
#![expect(unsafe_code, reason = "requests of the kernel that have no safe interface")]

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};

use super::{Reach, Watch, watch};
use crate::imp::namespaces::in_a_copy;

/// On which a child sends its listener home before it becomes the program.
#[derive(Debug)]
pub(in super::super) struct Channel {
    ours: OwnedFd,
    theirs: OwnedFd,
}

/// Those that nobody uses. No child keeps its end: it closes when it becomes the program.
#[derive(Debug, Default)]
pub(in super::super) struct Channels {
    idle: Mutex<Vec<Channel>>,
    /// True if whoever runs the command looks whether it asks something, and only then a thread is made that answers.
    on_demand: bool,
}

impl Channels {
    pub(in super::super) fn on_demand() -> Self {
        Self { on_demand: true, ..Self::default() }
    }

    /// Begins to answer for a command, now or when it asks.
    pub(in super::super) fn watch(&self, listener: OwnedFd, reach: &Arc<Reach>) -> Option<Arc<Watch>> {
        if self.on_demand { Some(Watch::new(listener, reach)) } else { watch(listener, reach) }
    }

    pub(in super::super) fn take(&self) -> io::Result<Channel> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(Channel::new, Ok)
    }

    pub(in super::super) fn put_back(&self, channel: Channel) {
        const MOST: usize = 4;
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MOST {
            idle.push(channel);
        }
    }
}

impl Channel {
    pub(in super::super) fn new() -> io::Result<Self> {
        let (ours, theirs) =
            rustix::net::socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        Ok(Self { ours, theirs })
    }

    /// The child's end.
    pub(in super::super) fn end(&self) -> &OwnedFd {
        &self.theirs
    }

    /// What the child has sent, now that it is the program. None if its kernel gave it no listener.
    pub(in super::super) fn received(&self) -> Option<OwnedFd> {
        use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};
        let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let mut byte = [0];
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        let mut parts = [io::IoSliceMut::new(&mut byte)];
        rustix::net::recvmsg(&self.ours, &mut parts, &mut ancillary, flags).ok()?;
        ancillary.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
            _ => None,
        })
    }
}

/// Where the calls of one command arrive.
#[derive(Debug)]
pub(in super::super) struct Listener(OwnedFd);

/// One call that waits for an answer.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Call {
    id: u64,
    /// The number of the system call.
    pub(in super::super) number: libc::c_long,
    /// The thread that made it.
    pub(in super::super) thread: i32,
    pub(in super::super) arguments: [u64; 6],
}

/// The place of a descriptor that the caller is given.
#[derive(Debug, Clone, Copy)]
pub(in super::super) enum Place {
    /// Any; the call is answered with its number.
    Result,
    /// The number of another descriptor, which the caller loses.
    Instead(RawFd),
}

/// Refuses the call that waits at a listener. For whoever has seen that one does: it would wait for it.
pub(in super::super) fn refuse(listener: OwnedFd) -> OwnedFd {
    let listener = Listener(listener);
    if let Some(call) = listener.receive() {
        listener.answer(call, Err(Errno::ACCESS));
    }
    listener.0
}

impl Listener {
    pub(super) fn new(fd: OwnedFd) -> Self {
        const SET_FLAGS: libc::Ioctl = 0x4008_2104;
        const SYNC_WAKE_UP: usize = 1;
        let listener = Self(fd);
        // Question and answer on one processor are faster. Older than Linux 6.6 it does not matter.
        let _ = listener.request(SET_FLAGS, std::ptr::without_provenance_mut::<u8>(SYNC_WAKE_UP));
        listener
    }

    /// None if the caller has gone meanwhile.
    pub(super) fn receive(&self) -> Option<Call> {
        // SAFETY: plain numbers, for which zero is a value; the kernel requires it.
        let mut notice: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        self.request(libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut notice).then(|| Call {
            id: notice.id,
            number: notice.data.nr.into(),
            thread: notice.pid.cast_signed(),
            arguments: notice.data.args,
        })
    }

    /// Whether that thread still waits in that call, so that its number is nobody else's.
    pub(in super::super) fn still_waits(&self, call: Call) -> bool {
        let mut id = call.id;
        self.request(libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw mut id)
    }

    /// The result of the call, or the reason why it was refused.
    pub(in super::super) fn answer(&self, call: Call, result: Result<i64, Errno>) {
        let error = result.err().map_or(0, |errno| -errno.raw_os_error());
        let mut response =
            libc::seccomp_notif_resp { id: call.id, val: result.unwrap_or(0), error, flags: 0 };
        // It may have been killed meanwhile.
        let _ = self.request(libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut response);
    }

    /// Lets the kernel do what was asked for. Its arguments may be others by then, so only where none could do harm.
    pub(in super::super) fn let_go_on(&self, call: Call) {
        #[expect(clippy::cast_possible_truncation, reason = "the flag is 1")]
        let flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32;
        let mut response = libc::seccomp_notif_resp { id: call.id, val: 0, error: 0, flags };
        let _ = self.request(libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut response);
    }

    /// Gives the caller a descriptor, as the result of its call or in the place of one that it has.
    pub(in super::super) fn give(
        &self,
        call: Call,
        socket: &OwnedFd,
        place: Place,
        kept: SocketFlags,
    ) -> bool {
        #[expect(clippy::cast_possible_truncation, reason = "the flag is 1")]
        let (flags, newfd) = match place {
            Place::Result => (0, 0),
            Place::Instead(fd) => (libc::SECCOMP_ADDFD_FLAG_SETFD as u32, fd.cast_unsigned()),
        };
        // The only flag of a descriptor; it has the same value for a socket.
        let newfd_flags = (kept & SocketFlags::CLOEXEC).bits();
        let srcfd = socket.as_raw_fd().cast_unsigned();
        let mut added = libc::seccomp_notif_addfd { id: call.id, flags, srcfd, newfd, newfd_flags };
        let Some(number) = self.added(&mut added) else { return false };
        // Not with `SECCOMP_ADDFD_FLAG_SEND`: if we are stopped in the middle of it, the caller gets 0 and no descriptor.
        if let Place::Result = place {
            self.answer(call, Ok(number.into()));
        }
        true
    }

    fn added(&self, request: &mut libc::seccomp_notif_addfd) -> Option<RawFd> {
        loop {
            // SAFETY: the value is a live one of the type that the request reads.
            let number = unsafe {
                libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ADDFD, &raw mut *request)
            };
            if number >= 0 {
                return Some(number);
            }
            if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                return None;
            }
        }
    }

    fn request<T>(&self, number: libc::Ioctl, value: *mut T) -> bool {
        loop {
            // SAFETY: each caller passes a live value of the type that the request reads and writes.
            if unsafe { libc::ioctl(self.0.as_raw_fd(), number, value) } == 0 {
                return true;
            }
            if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                return false;
            }
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// The bytes of an address in the memory of another process.
pub(super) fn read_memory(thread: i32, address: u64, length: usize) -> Result<Vec<u8>, Errno> {
    let mut bytes = vec![0; length];
    let ours = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: length };
    let base = usize::try_from(address).map_err(|_| Errno::FAULT)?;
    let theirs = libc::iovec { iov_base: std::ptr::without_provenance_mut(base), iov_len: length };
    // SAFETY: our part is a live buffer of that length; the kernel checks the other.
    let read = unsafe { libc::process_vm_readv(thread, &raw const ours, 1, &raw const theirs, 1, 0) };
    if usize::try_from(read) == Ok(length) { Ok(bytes) } else { Err(Errno::FAULT) }
}

/// A string in the memory of another process, without the byte that ends it.
pub(in super::super) fn read_string(thread: i32, address: u64) -> Result<Vec<u8>, Errno> {
    const PAGE: u64 = 4096;
    let longest = usize::try_from(libc::PATH_MAX).unwrap_or(0);
    let mut text = vec![];
    let mut from = address;
    while text.len() <= longest {
        // Not beyond a page: the next may not be there.
        let length = (PAGE - from % PAGE).min(if text.is_empty() { 256 } else { PAGE });
        let part = read_memory(thread, from, usize::try_from(length).map_err(|_| Errno::FAULT)?)?;
        if let Some(end) = part.iter().position(|byte| *byte == 0) {
            text.extend(&part[..end]);
            return Ok(text);
        }
        text.extend(part);
        from = from.checked_add(length).ok_or(Errno::FAULT)?;
    }
    Err(Errno::NAMETOOLONG)
}

/// A descriptor of another process, also in our table.
pub(super) fn descriptor_of(pidfd: &OwnedFd, number: RawFd) -> Result<OwnedFd, Errno> {
    // SAFETY: takes three numbers.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_getfd, pidfd.as_raw_fd(), number, 0) };
    let fd = RawFd::try_from(fd).ok().filter(|fd| *fd >= 0).ok_or_else(last)?;
    // SAFETY: the kernel has just made it for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// The network that a socket belongs to, as the kernel numbers them. None where it does not tell (before Linux 5.14).
pub(in super::super) fn network_of(socket: &OwnedFd) -> Option<u64> {
    const SO_NETNS_COOKIE: libc::c_int = 71;
    let mut cookie = 0_u64;
    let mut length = libc::socklen_t::try_from(size_of::<u64>()).ok()?;
    // SAFETY: the kernel writes at most that many bytes to a live value of the type that this option has.
    let result = unsafe {
        let (cookie, length) = ((&raw mut cookie).cast(), &raw mut length);
        libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, SO_NETNS_COOKIE, cookie, length)
    };
    (result == 0).then_some(cookie)
}

/// Connects to an address as a program would have written it.
pub(super) fn connect(socket: &OwnedFd, address: &[u8]) -> Result<(), Errno> {
    let length = libc::socklen_t::try_from(address.len()).map_err(|_| Errno::INVAL)?;
    // SAFETY: the address is a live buffer of that length.
    let result = unsafe { libc::connect(socket.as_raw_fd(), address.as_ptr().cast(), length) };
    if result == 0 { Ok(()) } else { Err(last()) }
}

/// The name of a socket, as the kernel writes it.
pub(super) fn name_of(socket: &OwnedFd) -> Vec<u8> {
    let mut name = vec![0_u8; size_of::<libc::sockaddr_un>() + 1];
    let mut length = libc::socklen_t::try_from(name.len()).unwrap_or(0);
    // SAFETY: the buffer is as long as the length says.
    let result = unsafe { libc::getsockname(socket.as_raw_fd(), name.as_mut_ptr().cast(), &raw mut length) };
    name.truncate(if result == 0 { usize::try_from(length).unwrap_or(0) } else { 0 });
    name
}

/// Sends a datagram to an address as a program would have written it.
pub(super) fn send_to(socket: &OwnedFd, data: &[u8], flags: i32, address: &[u8]) -> Result<i64, Errno> {
    let length = libc::socklen_t::try_from(address.len()).map_err(|_| Errno::INVAL)?;
    // SAFETY: data and address are live buffers of these lengths.
    let sent = unsafe {
        let (data, size) = (data.as_ptr().cast(), data.len());
        libc::sendto(socket.as_raw_fd(), data, size, flags, address.as_ptr().cast(), length)
    };
    if sent < 0 { Err(last()) } else { Ok(i64::try_from(sent).unwrap_or(i64::MAX)) }
}

/// Binds a socket to a name in a directory that is the whole file system for the purpose: the name is what counts.
///
/// A process of its own does it, because a root directory is one for all threads of a process.
pub(super) fn bind_within(socket: &OwnedFd, root: &std::ffi::CStr, name: &[u8]) -> bool {
    let is_root = rustix::process::geteuid().is_root();
    let Ok(length) = libc::socklen_t::try_from(name.len()) else { return false };
    in_a_copy(|| {
        // SAFETY: these take numbers and live values.
        unsafe {
            (is_root || libc::unshare(libc::CLONE_NEWUSER) == 0)
                && libc::chroot(root.as_ptr()) == 0
                && libc::chdir(c"/".as_ptr()) == 0
                && libc::bind(socket.as_raw_fd(), name.as_ptr().cast(), length) == 0
        }
    })
}

fn last() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::PERM)
}
