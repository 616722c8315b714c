//! A kernel that refuses, as the one of a container does.

use std::collections::BTreeMap;
use std::thread;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

/// Whether a missing privilege or component must fail the test rather than skip it.
#[must_use]
pub fn in_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| !value.is_empty())
}

/// Runs `body` in a thread for which `clone3` fails with `errno`, as container filters make it.
pub fn in_a_thread_without_clone3<T: Send>(errno: i32, body: impl FnOnce() -> T + Send) -> T {
    in_a_thread_without(&[libc::SYS_clone3], errno, body)
}

/// Runs `body` in a thread that finds no Landlock, like everything that it starts.
pub fn in_a_thread_without_landlock<T: Send>(body: impl FnOnce() -> T + Send) -> T {
    let calls =
        [libc::SYS_landlock_create_ruleset, libc::SYS_landlock_add_rule, libc::SYS_landlock_restrict_self];
    in_a_thread_without(&calls, libc::ENOSYS, body)
}

/// Runs `body` in a thread that can have no namespaces, like everything that it starts, as in most containers.
pub fn in_a_thread_without_namespaces<T: Send>(body: impl FnOnce() -> T + Send) -> T {
    const KINDS: [i32; 7] = [
        libc::CLONE_NEWNS,
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWCGROUP,
    ];
    let of_kind = |kind: i32| {
        let flag = u64::from(kind.unsigned_abs());
        let has_flag = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(flag), flag);
        SeccompRule::new(vec![has_flag.expect("a valid condition")]).expect("a valid rule")
    };
    let clone = KINDS.map(of_kind).into();
    let rules = [(libc::SYS_unshare, vec![]), (libc::SYS_setns, vec![]), (libc::SYS_clone, clone)];
    // What cannot look into its argument refuses `clone3` as if there were none, so that `clone` is called instead.
    in_a_thread_without_clone3(libc::ENOSYS, || in_a_thread_with(rules.into(), libc::EPERM, body))
}

fn in_a_thread_without<T: Send>(calls: &[i64], errno: i32, body: impl FnOnce() -> T + Send) -> T {
    in_a_thread_with(calls.iter().map(|call| (*call, vec![])).collect(), errno, body)
}

fn in_a_thread_with<T: Send>(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    errno: i32,
    body: impl FnOnce() -> T + Send,
) -> T {
    let refuse = SeccompAction::Errno(errno.unsigned_abs());
    let architecture = std::env::consts::ARCH.try_into().expect("seccompiler knows it");
    let filter =
        SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture).expect("a valid filter");
    let program: BpfProgram = filter.try_into().expect("a filter that compiles");
    thread::scope(|scope| {
        let thread = scope.spawn(move || {
            seccompiler::apply_filter(&program).expect("a thread may confine itself");
            body()
        });
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
