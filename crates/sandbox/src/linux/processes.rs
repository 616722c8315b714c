//! Facts about other processes.
#![expect(
    unsafe_code,
    reason = "asking the kernel for the id or a limit of another process has no safe interface"
)]

use std::fs;
use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::sync::LazyLock;

use rustix::process::{Pid, test_kill_process};

use super::exhaustion::unless_exhausted;
use super::tag::RESOURCE;

/// What `/proc/PID/stat` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    /// Clock ticks since boot.
    pub(super) born: u64,
    pub(super) alive: bool,
}

impl Stat {
    /// Of a process that was alive a moment ago, and may be gone by now with a child that lives.
    pub(super) const SEEN_ALIVE: Self = Self { parent: 0, group: 0, session: 0, born: 0, alive: true };
}

/// The id of the process that a descriptor is of, where the kernel tells it at one stroke (Linux 6.13); see `ioctl_pidfd(2)`.
pub(super) fn of_descriptor(process: &OwnedFd) -> Option<Pid> {
    /// The kernel's `struct pidfd_info`, as it was at first.
    #[repr(C)]
    #[derive(Default)]
    struct Info {
        mask: u64,
        group: u64,
        pid: u32,
        others: [u32; 11],
    }
    const GET_INFO: libc::Ioctl = 0xc040_ff0b;
    const PID: u64 = 1;
    let mut info = Info { mask: PID, ..Info::default() };
    // SAFETY: the request names the size of what it writes to, which is live.
    let asked = unsafe { libc::ioctl(process.as_raw_fd(), GET_INFO, &raw mut info) };
    let pid = Some(info.pid).filter(|_| asked == 0 && info.mask & PID != 0)?;
    Pid::from_raw(i32::try_from(pid).ok()?)
}

/// Whether `/proc` shows the processes that our ids mean, and not those of another namespace.
fn is_ours() -> bool {
    static OURS: LazyLock<bool> = LazyLock::new(|| {
        let own = fs::read_link("/proc/self").ok();
        own.is_some_and(|own| own.as_os_str() == std::process::id().to_string().as_str())
    });
    *OURS
}

/// Every process there is, lowest id first; none if that cannot be told.
pub(super) fn pids() -> io::Result<Vec<i32>> {
    if !is_ours() {
        return Ok(vec![]);
    }
    let entries = fs::read_dir("/proc")?.flatten();
    Ok(entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}

/// None if there is none. An error only if something has run out.
pub(super) fn stat(pid: i32) -> io::Result<Option<Stat>> {
    if !is_ours() {
        let alive = Pid::from_raw(pid).is_some_and(|pid| test_kill_process(pid).is_ok());
        return Ok(alive.then_some(Stat { parent: 0, group: 0, session: 0, born: 0, alive }));
    }
    let text = unless_exhausted(read(format!("/proc/{pid}/stat")))?;
    Ok(text.and_then(|text| parse_stat(&text)))
}

/// The bits that a process, by its id or `self`, never gives a new file.
pub(super) fn umask_of(process: &str) -> u32 {
    let status = read(format!("/proc/{process}/status")).unwrap_or_default();
    let umask = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    umask.and_then(|umask| u32::from_str_radix(umask.trim(), 8).ok()).unwrap_or(0o022)
}

/// Reads a file whose size the kernel does not tell, in as few calls as possible.
pub(super) fn read(path: impl AsRef<Path>) -> io::Result<String> {
    const USUAL: usize = 4096;
    let mut text = Vec::with_capacity(USUAL);
    fs::File::open(path)?.read_to_end(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn parse_stat(text: &str) -> Option<Stat> {
    // The name is in parentheses and may itself contain any character, so the rest begins after the last one.
    let fields: Vec<_> = text[text.rfind(')')? + 1..].split_ascii_whitespace().collect();
    let number = |index: usize| fields.get(index)?.parse::<i64>().ok();
    let id = |index| i32::try_from(number(index)?).ok();
    let threads = number(17)?;
    let ended = matches!(*fields.first()?, "Z" | "X" | "x");
    Some(Stat {
        parent: id(1)?,
        group: id(2)?,
        session: id(3)?,
        born: number(19)?.unsigned_abs(),
        // A first thread that has ended while others run on makes a living process look like a zombie.
        alive: !ended || threads > 1,
    })
}

/// The command line, or the name in brackets where there is none.
pub(super) fn command(pid: i32) -> String {
    const LONGEST: usize = 200;
    if !is_ours() {
        return "[unknown]".to_owned();
    }
    let arguments = read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let arguments = arguments.strip_suffix('\0').unwrap_or(&arguments);
    let line = arguments.replace('\0', " ");
    // Of a shell that has waited blanks are left behind its command.
    let line: String = line.trim_end().chars().take(LONGEST).collect();
    if line.is_empty() {
        let name = read(format!("/proc/{pid}/comm")).unwrap_or_default();
        let name = name.trim_end();
        return format!("[{}]", if name.is_empty() { "gone" } else { name });
    }
    line
}

/// The hard limit that tags are made of.
pub(super) fn tag_limit(pid: i32) -> Option<u64> {
    let mut limit = MaybeUninit::<libc::rlimit>::uninit();
    // SAFETY: no new limit is given, and the old one is written to memory of that type.
    let result = unsafe { libc::syscall(libc::SYS_prlimit64, pid, RESOURCE, 0_usize, limit.as_mut_ptr()) };
    if result == 0 {
        // SAFETY: the call succeeded, so the kernel has written it.
        return Some(unsafe { limit.assume_init() }.rlim_max);
    }
    // Another user's process, such as one behind sudo: the file can be read by everyone.
    let limits = read(format!("/proc/{pid}/limits")).ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max file locks"))?;
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// The id that was given last to a new process or thread.
pub(super) fn last_pid() -> Option<i32> {
    read("/proc/loadavg").ok()?.split_ascii_whitespace().last()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_full_of_traps_is_parsed() {
        let text = "7 (a) R 1 (x) S 3 5 6 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 9999 1 2";
        let expected = Stat { parent: 3, group: 5, session: 6, born: 9999, alive: true };
        assert_eq!(parse_stat(text), Some(expected));
        assert!(!parse_stat(&text.replace(") S", ") Z")).unwrap().alive);
        assert!(parse_stat(&text.replace(") S", ") Z").replace("20 0 1 0", "20 0 2 0")).unwrap().alive);
        assert_eq!(parse_stat("7 (a"), None);
        assert_eq!(parse_stat(""), None);
    }

    #[test]
    fn our_own_facts() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(pids().unwrap().contains(&own));
        assert!(stat(own).unwrap().unwrap().alive);
        assert!(command(own).contains("sandbox"));
        assert!(last_pid().unwrap() > 0);
    }
}
