//! The system calls that a confined command may not make, each with its reason.
//!
//! Landlock holds paths, TCP and signals. What stands here it cannot see, or sees only on newer kernels.

use libc::{EACCES, ENOSYS, EPERM};

use super::bpf::{Answer, Rule, Test, When, compile};
use super::names::{NAMES, removals};
use super::own_processes::{OWN_PROCESSES, OWNERS, TERMINALS_AND_OWNERS};
use crate::{Mode, Network};

/// What decides which tables apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Needs {
    pub(super) mode: Mode,
    pub(super) network: Network,
    /// Whether it has a network of its own, so that sockets lead nowhere outside.
    pub(super) own_network: bool,
    /// Whether Landlock is too old to know truncation.
    pub(super) no_truncation: bool,
    /// Whether System V objects and message queues are its own.
    pub(super) own_ipc: bool,
    /// Whether somebody answers for connections, so that it can have unix sockets.
    pub(super) asks: bool,
    /// True if it can name no other processes than those of its room.
    pub(super) own_processes: bool,
    /// True if whoever answers for connections also makes sockets for datagrams.
    pub(super) datagrams: bool,
    /// True if somebody answers for names in repositories, which are read-only otherwise.
    pub(super) names: bool,
    /// True if they are also asked about each file that is removed.
    pub(super) removals: bool,
}

impl Needs {
    /// Those of a room's commands, if nobody answers for them.
    pub(super) fn of_room(network: Network) -> Self {
        Self {
            mode: Mode::Workspace,
            network,
            own_network: network == Network::Off,
            no_truncation: false,
            own_ipc: true,
            asks: false,
            own_processes: true,
            datagrams: false,
            names: false,
            removals: false,
        }
    }
}

/// The filter for a command.
pub(super) fn filter(needs: Needs) -> Vec<libc::sock_filter> {
    compile(rules(needs))
}

pub(super) fn rules(needs: Needs) -> Vec<Rule> {
    let mut rules = [KERNEL, NEW_PRIVILEGES, PAIRS].concat();
    rules.extend(if needs.own_processes { OWN_PROCESSES } else { OTHER_PROCESSES });
    rules.push(rule(libc::SYS_fcntl, if needs.own_processes { OWNERS } else { LEASES }));
    let internet = needs.network == Network::On || needs.own_network;
    let sockets: &[&[Test]] = match (internet, needs.asks) {
        (false, false) => &[],
        (false, true) => LOCAL,
        (true, false) => INTERNET,
        (true, true) if needs.own_network => OWN_NETWORK,
        (true, true) => INTERNET_AND_LOCAL,
    };
    let answer = if needs.datagrams { Answer::Ask } else { Answer::Errno(EACCES) };
    rules.push(Rule { call: libc::SYS_socket, when: When::Unless(sockets), answer });
    if needs.datagrams {
        rules.push(Rule { call: libc::SYS_sendto, when: ADDRESSED, answer: Answer::Ask });
    }
    if needs.asks {
        rules.push(Rule { call: libc::SYS_connect, when: When::Always, answer: Answer::Ask });
    }
    if needs.names {
        rules.extend(NAMES);
        rules.push(removals(needs.removals));
    }
    if needs.no_truncation {
        rules.extend(TRUNCATION);
    }
    if !needs.own_ipc {
        rules.extend(SHARED_OBJECTS);
    }
    if needs.mode == Mode::ReadOnly {
        rules.extend(METADATA);
        rules.extend(OLD_METADATA);
        rules.push(rule(
            libc::SYS_ioctl,
            When::AnyOrUnless(&[TERMINAL_INPUT, TERMINAL_PASTE], HARMLESS_CONTROLS),
        ));
    } else {
        let ioctl = if needs.own_processes { TERMINALS_AND_OWNERS } else { TERMINALS };
        rules.push(rule(libc::SYS_ioctl, ioctl));
    }
    rules
}

pub(super) const fn rule(call: libc::c_long, when: When) -> Rule {
    Rule { call, when, answer: Answer::Errno(EPERM) }
}

const fn never(call: libc::c_long) -> Rule {
    rule(call, When::Always)
}

/// As if the kernel were older: programs have another way then.
pub(super) const fn unknown(call: libc::c_long) -> Rule {
    Rule { call, when: When::Always, answer: Answer::Errno(ENOSYS) }
}

pub(super) const fn equal_to(argument: u32, value: u32) -> Test {
    Test::Equal { argument, mask: u32::MAX, value }
}

pub(super) const fn equal(argument: u32, value: i32) -> Test {
    Test::Equal { argument, mask: u32::MAX, value: value.cast_unsigned() }
}

// Newer than the libc crate.
const SETXATTRAT: libc::c_long = 463;
const REMOVEXATTRAT: libc::c_long = 466;
const OPEN_TREE_ATTR: libc::c_long = 467;
const FILE_SETATTR: libc::c_long = 469;
const MOUNT_SETATTR: libc::c_long = 442;
const FCHMODAT2: libc::c_long = 452;
pub(super) const F_SETDELEG: i32 = 1024 + 16;

/// The kernel's own affairs. Most need a capability as well, which is gone; a kernel bug may not ask for one.
pub(super) const KERNEL: &[Rule] = &[
    // Requests that no filter sees. Told to be missing, so that programs use ordinary calls.
    unknown(libc::SYS_io_uring_setup),
    unknown(libc::SYS_io_uring_enter),
    unknown(libc::SYS_io_uring_register),
    // Programs inside the kernel, and its counters.
    never(libc::SYS_bpf),
    never(libc::SYS_perf_event_open),
    // A fault handler in user space makes kernel races easy to win.
    never(libc::SYS_userfaultfd),
    // Keys of the user's session are shared with every other program of the user.
    never(libc::SYS_keyctl),
    never(libc::SYS_add_key),
    never(libc::SYS_request_key),
    // The kernel itself: its image, modules, log, clock, swap, accounting and quotas.
    never(libc::SYS_kexec_load),
    never(libc::SYS_kexec_file_load),
    never(libc::SYS_init_module),
    never(libc::SYS_finit_module),
    never(libc::SYS_delete_module),
    never(libc::SYS_syslog),
    never(libc::SYS_reboot),
    never(libc::SYS_swapon),
    never(libc::SYS_swapoff),
    never(libc::SYS_acct),
    never(libc::SYS_quotactl),
    never(libc::SYS_settimeofday),
    never(libc::SYS_clock_settime),
    never(libc::SYS_clock_adjtime),
    never(libc::SYS_adjtimex),
    never(libc::SYS_sethostname),
    never(libc::SYS_setdomainname),
    // Watching a whole file system, and opening files past every path check.
    never(libc::SYS_fanotify_init),
    never(libc::SYS_open_by_handle_at),
    // The mount table is what hides secrets.
    never(libc::SYS_mount),
    never(libc::SYS_umount2),
    never(libc::SYS_pivot_root),
    never(libc::SYS_chroot),
    never(libc::SYS_open_tree),
    never(libc::SYS_move_mount),
    never(libc::SYS_fsopen),
    never(libc::SYS_fsconfig),
    never(libc::SYS_fsmount),
    never(libc::SYS_fspick),
    never(MOUNT_SETATTR),
    never(OPEN_TREE_ATTR),
    // Input and output ports, and a terminal for somebody else.
    #[cfg(target_arch = "x86_64")]
    never(libc::SYS_iopl),
    #[cfg(target_arch = "x86_64")]
    never(libc::SYS_ioperm),
    #[cfg(target_arch = "x86_64")]
    never(libc::SYS_modify_ldt),
    never(libc::SYS_vhangup),
];

const NOT_SELF: When = When::Any(&[Test::NotZero { argument: 0 }]);

/// Processes outside. Those that belong to the same user are not protected from one another by the kernel.
const OTHER_PROCESSES: &[Rule] = &[
    // Landlock stops tracing of outsiders; within, a debugger could still pass as another of our processes.
    never(libc::SYS_ptrace),
    never(libc::SYS_process_vm_readv),
    never(libc::SYS_process_vm_writev),
    never(libc::SYS_kcmp),
    never(libc::SYS_pidfd_getfd),
    never(libc::SYS_process_madvise),
    never(libc::SYS_migrate_pages),
    never(libc::SYS_move_pages),
    // Limits, priorities and processors of others; one's own are named 0.
    rule(libc::SYS_prlimit64, NOT_SELF),
    rule(libc::SYS_sched_setaffinity, NOT_SELF),
    rule(libc::SYS_sched_setparam, NOT_SELF),
    rule(libc::SYS_sched_setscheduler, NOT_SELF),
    rule(libc::SYS_sched_setattr, NOT_SELF),
    rule(libc::SYS_setpriority, When::Any(&[Test::NotZero { argument: 0 }, Test::NotZero { argument: 1 }])),
    rule(
        libc::SYS_ioprio_set,
        When::Any(&[
            Test::Equal { argument: 0, mask: u32::MAX, value: 2 },
            Test::Equal { argument: 0, mask: u32::MAX, value: 3 },
            Test::NotZero { argument: 1 },
        ]),
    ),
];

/// A lease lets its holder keep others from opening a file.
const LEASES: When = When::Any(&[equal(1, libc::F_SETLEASE), equal(1, F_SETDELEG)]);

/// A user namespace gives new capabilities, and with them the rest of the kernel.
const NAMESPACES: u32 = (libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP
    | 0x80/* CLONE_NEWTIME */)
    .cast_unsigned();

/// The same without the time namespace, whose bit is part of the exit signal for `clone`.
const CLONE_NAMESPACES: u32 = NAMESPACES & !0x80;

pub(super) const NEW_PRIVILEGES: &[Rule] = &[
    rule(libc::SYS_unshare, When::Any(&[Test::Has { argument: 0, mask: NAMESPACES }])),
    rule(libc::SYS_clone, When::Any(&[Test::Has { argument: 0, mask: CLONE_NAMESPACES }])),
    // Its flags are in memory, where a filter cannot look. The C library uses `clone` then.
    unknown(libc::SYS_clone3),
    never(libc::SYS_setns),
];

const TYPE: u32 = 0xf;
const STREAM: Test = Test::Equal { argument: 1, mask: TYPE, value: libc::SOCK_STREAM.cast_unsigned() };
const SEQPACKET: Test = Test::Equal { argument: 1, mask: TYPE, value: libc::SOCK_SEQPACKET.cast_unsigned() };
const DATAGRAM: Test = Test::Equal { argument: 1, mask: TYPE, value: libc::SOCK_DGRAM.cast_unsigned() };
const UNIX: Test = equal(0, libc::AF_UNIX);
const INET: Test = equal(0, libc::AF_INET);
const INET6: Test = equal(0, libc::AF_INET6);

/// A pair is between the command's own processes. Not of datagrams: such a socket can be pointed elsewhere later.
const PAIRS: &[Rule] = &[rule(libc::SYS_socketpair, When::Unless(LOCAL))];

/// Sockets of the host's daemons (docker, D-Bus, ssh-agent) are paths, and neither Landlock nor the network namespace
/// keeps a command from them: it gets none unless somebody looks at each connection. And never one for datagrams, which
/// needs no connection to send, but from whoever answers in a room: one that cannot send by itself.
const LOCAL: &[&[Test]] = &[&[UNIX, STREAM], &[UNIX, SEQPACKET]];

/// The socket that is handed out for datagrams cannot send, so only what names an address matters: the host sends it.
const ADDRESSED: When = When::Unless(&[&[Test::Null { argument: 4 }]]);

/// TCP, UDP and ping, and the list of interfaces that name resolution asks for.
const INTERNET: &[&[Test]] =
    &[&[INET, STREAM], &[INET, DATAGRAM], &[INET6, STREAM], &[INET6, DATAGRAM], INTERFACES];
const INTERNET_AND_LOCAL: &[&[Test]] = &[
    &[INET, STREAM],
    &[INET, DATAGRAM],
    &[INET6, STREAM],
    &[INET6, DATAGRAM],
    INTERFACES,
    &[UNIX, STREAM],
    &[UNIX, SEQPACKET],
];
const INTERFACES: &[Test] = &[equal(0, libc::AF_NETLINK), equal(2, libc::NETLINK_ROUTE)];

/// In a network of its own also the list of sockets, for `ss`.
const OWN_NETWORK: &[&[Test]] = &[
    &[INET, STREAM],
    &[INET, DATAGRAM],
    &[INET6, STREAM],
    &[INET6, DATAGRAM],
    INTERFACES,
    &[equal(0, libc::AF_NETLINK), equal(2, NETLINK_SOCK_DIAG)],
    &[UNIX, STREAM],
    &[UNIX, SEQPACKET],
];
const NETLINK_SOCK_DIAG: i32 = 4;

/// What needs no file that is open for writing. The others Landlock has refused by then.
const TRUNCATION: &[Rule] = &[
    never(libc::SYS_truncate),
    #[cfg(target_arch = "x86_64")]
    rule(libc::SYS_open, When::Any(&[truncates_read_only(1)])),
    rule(libc::SYS_openat, When::Any(&[truncates_read_only(2)])),
    // Its flags are in memory. Programs have `openat` then.
    unknown(libc::SYS_openat2),
];

const fn truncates_read_only(argument: u32) -> Test {
    let mask = (libc::O_ACCMODE | libc::O_TRUNC).cast_unsigned();
    Test::Equal { argument, mask, value: libc::O_TRUNC.cast_unsigned() }
}

/// Named by number, visible to every process of the user.
const SHARED_OBJECTS: &[Rule] = &[
    never(libc::SYS_shmget),
    never(libc::SYS_shmat),
    never(libc::SYS_shmctl),
    never(libc::SYS_semget),
    never(libc::SYS_semctl),
    never(libc::SYS_msgget),
    never(libc::SYS_msgctl),
    never(libc::SYS_msgsnd),
    never(libc::SYS_msgrcv),
    never(libc::SYS_semtimedop),
    never(libc::SYS_semop),
    never(libc::SYS_mq_open),
    never(libc::SYS_mq_unlink),
];

/// Types into another's terminal.
pub(super) const TERMINAL_INPUT: Test = Test::Equal { argument: 1, mask: u32::MAX, value: 0x5412 };
pub(super) const TERMINAL_PASTE: Test = Test::Equal { argument: 1, mask: u32::MAX, value: 0x541c };

const TERMINALS: When = When::Any(&[TERMINAL_INPUT, TERMINAL_PASTE]);

/// What may be asked of a file in read-only mode. File systems have many calls that change one that is open for reading.
const HARMLESS_CONTROLS: &[&[Test]] = &[
    // Terminals, and what is left to read.
    &[Test::Equal { argument: 1, mask: 0xffff_ff00, value: 0x5400 }],
    // Flags, version and extents of a file, to read.
    &[equal_to(1, 0x8008_6601)],
    &[equal_to(1, 0x801c_581f)],
    &[equal_to(1, 0x8008_7601)],
    &[equal_to(1, 0xc020_660b)],
    // Copies that share blocks: the target must be open for writing.
    &[equal_to(1, 0x4004_9409)],
    &[equal_to(1, 0x4020_940d)],
];

/// Modes, owners, times and attributes of files, which Landlock does not know.
const METADATA: &[Rule] = &[
    never(libc::SYS_fchmod),
    never(libc::SYS_fchmodat),
    never(FCHMODAT2),
    never(libc::SYS_fchown),
    never(libc::SYS_fchownat),
    never(libc::SYS_utimensat),
    never(libc::SYS_setxattr),
    never(libc::SYS_lsetxattr),
    never(libc::SYS_fsetxattr),
    never(libc::SYS_removexattr),
    never(libc::SYS_lremovexattr),
    never(libc::SYS_fremovexattr),
    never(SETXATTRAT),
    never(REMOVEXATTRAT),
    never(FILE_SETATTR),
];

/// The same under the names that newer architectures left out.
#[cfg(target_arch = "x86_64")]
const OLD_METADATA: &[Rule] = &[
    never(libc::SYS_chmod),
    never(libc::SYS_chown),
    never(libc::SYS_lchown),
    never(libc::SYS_utime),
    never(libc::SYS_utimes),
    never(libc::SYS_futimesat),
];
#[cfg(not(target_arch = "x86_64"))]
const OLD_METADATA: &[Rule] = &[];

#[cfg(test)]
mod tests {
    use super::super::bpf::simulation::answer;
    use super::*;

    fn every_need() -> Vec<Needs> {
        let mut all = vec![];
        for mode in [Mode::Workspace, Mode::ReadOnly] {
            for network in [Network::On, Network::Off] {
                for (own_network, own_ipc) in [(false, false), (true, true), (false, true)] {
                    for (no_truncation, asks) in [(false, false), (false, true), (true, false), (true, true)]
                    {
                        for own_processes in [false, true] {
                            let needs = Needs {
                                mode,
                                network,
                                own_network,
                                no_truncation,
                                own_ipc,
                                asks,
                                own_processes,
                                datagrams: false,
                                names: false,
                                removals: false,
                            };
                            all.push(needs);
                            if asks && own_processes {
                                all.push(Needs { datagrams: true, ..needs });
                            }
                        }
                    }
                }
            }
        }
        all
    }

    /// Whether everything about the first is at least as strict.
    fn is_narrower(one: Needs, other: Needs) -> bool {
        // Neither of these is the wider one.
        if one.own_network != other.own_network || one.own_processes != other.own_processes {
            return false;
        }
        let internet = |needs: Needs| needs.network == Network::On || needs.own_network;
        one.mode >= other.mode
            && internet(one) <= internet(other)
            && one.no_truncation >= other.no_truncation
            && one.own_ipc <= other.own_ipc
            && one.asks == other.asks
            && one.datagrams == other.datagrams
    }

    #[test]
    fn a_narrower_need_never_allows_what_a_wider_one_refuses() {
        let arguments: Vec<[u32; 6]> =
            [0_u32, 1, 2, 3, 5, 10, 16, 38, 40, 0x200, 0x400, 0x5412, 0x1000_0000, 0x4008_6602, u32::MAX]
                .iter()
                .flat_map(|&a| {
                    [0_u32, 1, 2, 5, 0x0008_0001, 0x5401, 0x5412, 0x8008_6601, 1024]
                        .map(|b| [a, b, 0, 0, 0, 0])
                })
                .collect();
        let filters: Vec<_> = every_need().into_iter().map(|needs| (needs, filter(needs))).collect();
        for (narrow, tight) in &filters {
            for (wide, loose) in filters.iter().filter(|(wide, _)| is_narrower(*narrow, *wide)) {
                for call in 0..480 {
                    for arguments in &arguments {
                        let allows = |program| answer(program, call, *arguments) == libc::SECCOMP_RET_ALLOW;
                        assert!(
                            allows(loose) || !allows(tight),
                            "call {call} {arguments:?}: {narrow:?} allows, {wide:?} does not"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn what_every_program_needs_is_allowed() {
        let needed = [
            libc::SYS_read,
            libc::SYS_write,
            libc::SYS_openat,
            libc::SYS_close,
            libc::SYS_mmap,
            libc::SYS_execve,
            libc::SYS_exit_group,
            libc::SYS_wait4,
            libc::SYS_pipe2,
            libc::SYS_dup3,
            libc::SYS_kill,
            libc::SYS_futex,
            libc::SYS_rt_sigaction,
            libc::SYS_memfd_create,
            libc::SYS_close_range,
            libc::SYS_getrandom,
            libc::SYS_fcntl,
        ];
        for needs in every_need() {
            let program = filter(needs);
            for call in needed {
                let call = u32::try_from(call).unwrap();
                assert_eq!(answer(&program, call, [0; 6]), libc::SECCOMP_RET_ALLOW, "call {call} {needs:?}");
            }
        }
    }
}
