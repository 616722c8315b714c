//! The calls that make, move or remove a name, about which the host is asked.

use super::bpf::{Answer, Rule, Test, When};
use super::filter::unknown;

/// Names that are made, moved and removed: a git directory is read-only, and whoever answers does what is harmless in it.
pub(super) const NAMES: &[Rule] = &[
    #[cfg(target_arch = "x86_64")]
    asked_if(libc::SYS_open, When::Any(&[Test::Has { argument: 1, mask: CREATE }])),
    asked_if(libc::SYS_openat, When::Any(&[Test::Has { argument: 2, mask: CREATE }])),
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
];

const CREATE: u32 = libc::O_CREAT.cast_unsigned();
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
