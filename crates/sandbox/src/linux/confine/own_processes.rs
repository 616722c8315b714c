//! Calls about processes that a room's command may not make: it may signal and trace all of the room but those that serve it.

use super::bpf::{Rule, Test, When};
use super::filter::{F_SETDELEG, TERMINAL_INPUT, TERMINAL_PASTE, equal, equal_to, rule, unknown};

/// In a room a command can name no other processes than those of its room, and may do to them what it likes. One limit stays:
/// by its value those of a command are told apart where there are no control groups.
///
/// And the two that serve the room are nobody's to signal or to change. The first is protected from signals by the kernel.
pub(super) const OWN_PROCESSES: &[Rule] = &[
    rule(
        libc::SYS_prlimit64,
        When::AnyOrUnless(
            &[equal(0, FIRST), equal(0, SECOND)],
            &[&[Test::NotEqual { argument: 1, value: TAG }], &[Test::Null { argument: 2 }]],
        ),
    ),
    #[cfg(target_arch = "x86_64")]
    rule(libc::SYS_setrlimit, When::Any(&[equal_to(0, TAG)])),
    rule(libc::SYS_sched_setaffinity, SERVANTS),
    rule(libc::SYS_sched_setparam, SERVANTS),
    rule(libc::SYS_sched_setscheduler, SERVANTS),
    rule(libc::SYS_sched_setattr, SERVANTS),
    // Of all processes of the user, they are among them.
    rule(
        libc::SYS_setpriority,
        When::Any(&[equal(0, libc::PRIO_USER.cast_signed()), equal(1, FIRST), equal(1, SECOND)]),
    ),
    rule(libc::SYS_ioprio_set, When::Any(&[equal(0, 3), equal(1, FIRST), equal(1, SECOND)])),
    // All of them at once.
    rule(libc::SYS_kill, When::Any(&[equal(0, SECOND), equal(0, -1)])),
    rule(libc::SYS_tkill, When::Any(&[equal(0, SECOND)])),
    rule(libc::SYS_tgkill, When::Any(&[equal(0, SECOND), equal(1, SECOND)])),
    rule(libc::SYS_rt_sigqueueinfo, When::Any(&[equal(0, SECOND), equal(0, -1)])),
    rule(libc::SYS_rt_tgsigqueueinfo, When::Any(&[equal(0, SECOND), equal(1, SECOND)])),
    rule(libc::SYS_pidfd_open, SERVANTS),
    // A directory of the process table is as good as such a descriptor, and a filter cannot tell whose it is.
    unknown(libc::SYS_pidfd_send_signal),
];

/// The same; and the kernel signals whomever a file is said to belong to.
pub(super) const OWNERS: When = When::AnyOrUnless(
    &[equal(1, libc::F_SETLEASE), equal(1, F_SETDELEG), equal(1, F_SETOWN_EX)],
    &[
        &[Test::NotEqual { argument: 1, value: F_SETOWN }],
        &[
            Test::NotEqual { argument: 2, value: SECOND.cast_unsigned() },
            Test::NotEqual { argument: 2, value: u32::MAX },
        ],
    ],
);
const F_SETOWN: u32 = 8;

const SERVANTS: When = When::Any(&[equal(0, FIRST), equal(0, SECOND)]);
const FIRST: i32 = 1;
const SECOND: i32 = 2;

/// `RLIMIT_LOCKS`
const TAG: u32 = 10;

const F_SETOWN_EX: i32 = 15;

/// Typing into another's terminal, and saying whom the kernel signals about a socket.
pub(super) const TERMINALS_AND_OWNERS: When =
    When::Any(&[TERMINAL_INPUT, TERMINAL_PASTE, SET_OWNER, SET_GROUP]);

/// `FIOSETOWN` and `SIOCSPGRP`: whom the kernel signals about a socket.
const SET_OWNER: Test = Test::Equal { argument: 1, mask: u32::MAX, value: 0x8901 };
const SET_GROUP: Test = Test::Equal { argument: 1, mask: u32::MAX, value: 0x8902 };
