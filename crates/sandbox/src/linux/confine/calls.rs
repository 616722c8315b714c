//! System calls as a child makes them: no allocation, no locks, the reason of a refusal in `errno`.
#![expect(unsafe_code, reason = "raw system calls between clone and execve")]

use libc::c_long;

pub(in super::super) fn address<T>(value: &T) -> i64 {
    (&raw const *value) as i64
}

pub(in super::super) fn size<T>(_: &T) -> i64 {
    i64::try_from(size_of::<T>()).unwrap_or(0)
}

/// Makes a system call. None: the kernel refused, and the reason is in `errno`.
pub(in super::super) fn call(number: c_long, arguments: [i64; 5]) -> Option<i64> {
    let [first, second, third, fourth, fifth] = arguments;
    // SAFETY: each caller passes the arguments that this call takes, with pointers to what outlives it.
    match unsafe { libc::syscall(number, first, second, third, fourth, fifth) } {
        -1 => None,
        answer => Some(answer),
    }
}
