//! The calls that make, move or remove a name, or open a file for writing, about which the host is asked.

use super::bpf::{Answer, Rule, Test, When};
use super::filter::unknown;

/// Names that are made, moved and removed, and files that are opened for writing: Landlock refuses these in a workspace, and
/// whoever answers does what is harmless.
pub(super) const NAMES: &[Rule] = &[
    #[cfg(target_arch = "x86_64")]
    asked_if(libc::SYS_open, When::Any(&[changes(1), reads_and_writes(1)])),
    asked_if(libc::SYS_openat, When::Any(&[changes(2), reads_and_writes(2)])),
    // Its flags are in memory, where no filter sees them.
    unknown(libc::SYS_openat2),
    #[cfg(target_arch = "x86_64")]
    asked_if(libc::SYS_creat, When::Always),
    #[cfg(target_arch = "x86_64")]
    asked_if(libc::SYS_mkdir, When::Always),
    asked_if(libc::SYS_mkdirat, When::Always),
    #[cfg(target_arch = "x86_64")]
    asked_if(libc::SYS_rename, When::Always),
    #[cfg(target_arch = "x86_64")]
    asked_if(libc::SYS_renameat, When::Always),
    asked_if(libc::SYS_renameat2, When::Always),
    // Git removes its locks by this one; those who remove whole trees use `unlinkat`.
    #[cfg(target_arch = "x86_64")]
    asked_if(libc::SYS_unlink, When::Always),
    #[cfg(target_arch = "x86_64")]
    asked_if(libc::SYS_rmdir, When::Always),
    #[cfg(target_arch = "x86_64")]
    asked_if(libc::SYS_chmod, When::Always),
    asked_if(libc::SYS_fchmodat, When::Always),
    #[cfg(target_arch = "x86_64")]
    asked_if(libc::SYS_link, When::Always),
    asked_if(libc::SYS_linkat, When::Always),
    #[cfg(target_arch = "x86_64")]
    asked_if(libc::SYS_symlink, When::Always),
    asked_if(libc::SYS_symlinkat, When::Always),
    #[cfg(target_arch = "x86_64")]
    asked_if(libc::SYS_mknod, When::Always),
    asked_if(libc::SYS_mknodat, When::Always),
    asked_if(libc::SYS_truncate, When::Always),
    // Noted, so that the host makes files as the caller would.
    asked_if(libc::SYS_umask, When::Always),
];

const fn changes(argument: u32) -> Test {
    Test::Has { argument, mask: (libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC).cast_unsigned() }
}

/// Bash looks for a terminal with `O_NONBLOCK` whenever it begins. Whoever opens a file so is not asked about, and refused.
const fn reads_and_writes(argument: u32) -> Test {
    let mask = (libc::O_ACCMODE | libc::O_NONBLOCK).cast_unsigned();
    Test::Equal { argument, mask, value: libc::O_RDWR.cast_unsigned() }
}

#[cfg(target_arch = "x86_64")]
const DIRECTORIES: When = When::Any(&[Test::Has { argument: 2, mask: libc::AT_REMOVEDIR.cast_unsigned() }]);
/// There is no other call here.
#[cfg(target_arch = "aarch64")]
const DIRECTORIES: When = When::Always;

const fn asked_if(call: libc::c_long, when: When) -> Rule {
    Rule { call, when, answer: Answer::Ask }
}

/// Files that are removed from a directory that is open, which whoever removes a tree does: all, or directories only.
pub(super) fn removals(all: bool) -> Rule {
    asked_if(libc::SYS_unlinkat, if all { When::Always } else { DIRECTORIES })
}
