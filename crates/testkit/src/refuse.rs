//! A kernel that refuses, as the one of a container does.

use std::collections::BTreeMap;
use std::thread;

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

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

fn in_a_thread_without<T: Send>(calls: &[i64], errno: i32, body: impl FnOnce() -> T + Send) -> T {
    let refuse = SeccompAction::Errno(errno.unsigned_abs());
    let architecture = std::env::consts::ARCH.try_into().expect("seccompiler knows it");
    let rules: BTreeMap<_, _> = calls.iter().map(|call| (*call, vec![])).collect();
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
