//! Making a process that borrows our memory until it becomes another program.
//!
//! `CLONE_VM | CLONE_VFORK` costs the same from a small host and from one with gigabytes resident, because no
//! page table is copied. The price: until `execve` the child runs in our address space, on a stack of its own,
//! and may only make system calls. See `exec.rs`.
#![expect(unsafe_code, reason = "creating a process that shares memory has no safe interface")]

use std::cell::RefCell;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags};
use rustix::process::{Pid, Signal, WaitOptions};

use super::exec::{Failure, Image, become_program};

/// The outcome of making the process, and what the child said before it gave up, if it did.
pub(super) type Started = (io::Result<(Pid, OwnedFd)>, Option<Failure>);

/// Starts a child with `image`, in `cgroup` if one is given and in the new namespaces of `flags`, and returns when it
/// has become the program.
///
/// Where `clone3` is refused, as container filters do with ENOSYS or EPERM, the older `clone` is used;
/// it cannot place a child in a control group, so with one given the refusal is returned. Nor is it tried for namespaces:
/// who refuses one refuses the other.
pub(super) fn start(mut image: Image<'_>, cgroup: Option<BorrowedFd<'_>>, flags: u64) -> Started {
    let born = STACK.with_borrow_mut(|stack| {
        let stack = match stack {
            Some(stack) => stack,
            None => stack.insert(Stack::new()?),
        };
        let _blocked = SignalsBlocked::new();
        match by_clone3(stack, (&raw mut image).cast(), cgroup, flags) {
            Err(error) if cgroup.is_none() && flags & !SHARED_TABLE == 0 && is_refusal(&error) => {
                by_clone(stack, (&raw mut image).cast(), flags)
            }
            born => born,
        }
    });
    (born, image.failure)
}

thread_local! {
    /// The child's stack. Free again when `start` returns, so a thread needs only one.
    static STACK: RefCell<Option<Stack>> = const { RefCell::new(None) };
}

fn is_refusal(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM | libc::EINVAL | libc::E2BIG))
}

/// Memory for the child to run on, with its lowest part closed.
struct Stack {
    base: *mut libc::c_void,
    size: usize,
}

impl Stack {
    const USABLE: usize = 64 * 1024;

    fn new() -> rustix::io::Result<Self> {
        // One page, whatever its size here: protection is by whole pages.
        let guard = rustix::param::page_size();
        let size = guard + Self::USABLE;
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::STACK);
        // SAFETY: a new anonymous mapping at an address of the kernel's choice touches nothing that exists.
        let base = unsafe { rustix::mm::mmap_anonymous(ptr::null_mut(), size, protection, flags)? };
        let stack = Self { base, size };
        // SAFETY: the range is the start of the mapping just made; nothing refers to it yet.
        unsafe { rustix::mm::mprotect(base, guard, MprotectFlags::empty())? };
        Ok(stack)
    }

    /// One past the highest byte; page-aligned, hence aligned for any ABI.
    fn top(&self) -> *mut libc::c_void {
        self.base.wrapping_byte_add(self.size)
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and the child that ran on it has left our memory: CLONE_VFORK
        // returns only after it became the program or exited.
        let unmapped = unsafe { rustix::mm::munmap(self.base, self.size) };
        debug_assert!(unmapped.is_ok(), "our own mapping can be removed");
    }
}

/// Blocks every signal of this thread while it lives, so that no handler of the host runs in the child.
struct SignalsBlocked {
    before: u64,
}

impl SignalsBlocked {
    fn new() -> Self {
        Self { before: set_mask(u64::MAX) }
    }
}

impl Drop for SignalsBlocked {
    fn drop(&mut self) {
        set_mask(self.before);
    }
}

/// Sets the kernel's own 64-bit mask: the C library's call leaves out the signals it keeps for itself.
fn set_mask(mask: u64) -> u64 {
    let mut before = 0_u64;
    // SAFETY: both pointers are to live 8-byte integers, the size the kernel is told.
    let result = unsafe {
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            &raw const mask,
            &raw mut before,
            size_of::<u64>(),
        )
    };
    debug_assert_eq!(result, 0, "setting the mask with valid pointers cannot fail");
    before
}

/// The child has the parent's table of descriptors until it takes its own: [`Image::above`] says what it leaves behind.
pub(super) const SHARED_TABLE: u64 = libc::CLONE_FILES.cast_unsigned() as u64;

const COMMON: libc::c_int = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD;

/// `struct clone_args` of the kernel, version 2 (Linux 5.7).
#[repr(C)]
#[derive(Default)]
struct CloneArgs {
    flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    exit_signal: u64,
    stack: u64,
    stack_size: u64,
    tls: u64,
    set_tid: u64,
    set_tid_size: u64,
    cgroup: u64,
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn by_clone3(
    stack: &Stack,
    image: *mut Image<'static>,
    cgroup: Option<BorrowedFd<'_>>,
    flags: u64,
) -> io::Result<(Pid, OwnedFd)> {
    const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;
    /// Without the cgroup field, for kernels that don't know it.
    const VERSION_1: usize = 64;

    let mut pidfd: libc::c_int = -1;
    let mut args = CloneArgs {
        flags: u64::from(COMMON.cast_unsigned()) | flags,
        pidfd: (&raw mut pidfd) as u64,
        exit_signal: u64::from(libc::SIGCHLD.cast_unsigned()),
        stack: stack.base as u64,
        stack_size: stack.size as u64,
        ..CloneArgs::default()
    };
    let mut size = VERSION_1;
    if let Some(cgroup) = cgroup {
        args.flags |= CLONE_INTO_CGROUP;
        args.cgroup = u64::from(cgroup.as_raw_fd().cast_unsigned());
        size = size_of::<CloneArgs>();
    }
    // SAFETY: `args` describes a mapping that outlives the child's use of it, and `image` stays valid and
    // untouched while this thread is suspended, which CLONE_VFORK guarantees until the child has left.
    let result = unsafe { clone3_and_call(&raw const args, size, become_program, image) };
    if result < 0 {
        return Err(io::Error::from_raw_os_error(i32::try_from(-result).unwrap_or(libc::EINVAL)));
    }
    own(i32::try_from(result).unwrap_or(0), pidfd)
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn by_clone3(
    _: &Stack,
    _: *mut Image<'static>,
    _: Option<BorrowedFd<'_>>,
    _: u64,
) -> io::Result<(Pid, OwnedFd)> {
    Err(io::Error::from_raw_os_error(libc::ENOSYS))
}

fn by_clone(stack: &Stack, image: *mut Image<'static>, flags: u64) -> io::Result<(Pid, OwnedFd)> {
    extern "C" fn enter(image: *mut libc::c_void) -> libc::c_int {
        become_program(image.cast())
    }
    let mut pidfd: libc::c_int = -1;
    let flags = COMMON | libc::SIGCHLD | if flags == SHARED_TABLE { libc::CLONE_FILES } else { 0 };
    // SAFETY: as for clone3: the stack and the image outlive the child's stay in our memory.
    let pid = unsafe { libc::clone(enter, stack.top(), flags, image.cast(), &raw mut pidfd) };
    if pid < 0 {
        return Err(io::Error::last_os_error());
    }
    own(pid, pidfd)
}

/// What the kernel made. Before Linux 5.2 the old call ignores the wish for a descriptor; then there is no way to go on.
fn own(pid: i32, pidfd: libc::c_int) -> io::Result<(Pid, OwnedFd)> {
    let pid = Pid::from_raw(pid).expect("the kernel answers the parent with a positive id");
    if pidfd < 0 {
        let _ = rustix::process::kill_process(pid, Signal::KILL);
        let _ = rustix::process::waitpid(Some(pid), WaitOptions::empty());
        return Err(io::Error::new(io::ErrorKind::Unsupported, "Linux 5.2 or newer is needed"));
    }
    // SAFETY: the kernel has just opened this descriptor for us and nobody else knows it.
    Ok((pid, unsafe { OwnedFd::from_raw_fd(pidfd) }))
}

/// The `clone3` system call; the child calls `entry(image)` on its own stack and never returns.
///
/// # Safety
/// `args` must describe a stack that is free and stays mapped until the child is gone from our memory.
#[cfg(target_arch = "x86_64")]
unsafe fn clone3_and_call(
    args: *const CloneArgs,
    size: usize,
    entry: extern "C" fn(*mut Image<'static>) -> !,
    image: *mut Image<'static>,
) -> i64 {
    let result: i64;
    // SAFETY: in the parent this is one system call with the clobbers the kernel documents. The child
    // continues after it with the same registers but the new stack, which is 16-byte aligned as a call needs.
    unsafe {
        std::arch::asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "mov rdi, r13",
            "call r12",
            "ud2",
            "2:",
            inlateout("rax") libc::SYS_clone3 => result,
            in("rdi") args,
            in("rsi") size,
            in("r12") entry,
            in("r13") image,
            lateout("rcx") _,
            lateout("r11") _,
        );
    }
    result
}

/// The `clone3` system call; the child calls `entry(image)` on its own stack and never returns.
///
/// # Safety
/// `args` must describe a stack that is free and stays mapped until the child is gone from our memory.
#[cfg(target_arch = "aarch64")]
unsafe fn clone3_and_call(
    args: *const CloneArgs,
    size: usize,
    entry: extern "C" fn(*mut Image<'static>) -> !,
    image: *mut Image<'static>,
) -> i64 {
    let result: i64;
    // SAFETY: in the parent this is one system call. The child continues after it with the same registers
    // but the new stack, which is 16-byte aligned as a call needs.
    unsafe {
        std::arch::asm!(
            "svc 0",
            "cbnz x0, 2f",
            "mov x29, xzr",
            "mov x30, xzr",
            "mov x0, x21",
            "blr x20",
            "brk 1",
            "2:",
            inlateout("x0") args => result,
            in("x1") size,
            in("x8") libc::SYS_clone3,
            in("x20") entry,
            in("x21") image,
        );
    }
    result
}
