//! What a child finds when it starts.

use std::io::Read;

use bashtion_sandbox::Exit;
use rustix::process::{Resource, getrlimit};

use crate::{leaky_file, output_of, start};

#[test]
fn no_descriptor_above_two_reaches_the_child() {
    let _leak = leaky_file();
    assert_eq!(output_of("cd /proc/self/fd && echo *"), "0 1 2 3\n", "3 is the listing's own");
    assert_eq!(output_of("readlink /proc/self/fd/0"), "/dev/null\n");
}

#[test]
fn session_group_and_process_are_one() {
    let (mut child, mut read) = start("ps -o pid=,pgid=,sid= -p $$");
    let mut text = String::new();
    read.read_to_string(&mut text).unwrap();
    let ids: Vec<i32> = text.split_whitespace().map(|id| id.parse().unwrap()).collect();
    assert_eq!(ids, [child.pid(); 3]);
    assert_eq!(child.wait().unwrap().0, Exit::Code(0));
}

#[test]
fn there_is_no_terminal() {
    assert_eq!(
        output_of("(: < /dev/tty) 2>/dev/null && echo opens || echo none; ps -o tty= -p $$"),
        "none\n?\n"
    );
}

#[test]
fn signal_mask_and_dispositions_are_reset() {
    // The test harness ignores SIGPIPE, as every Rust program does; bash would pass that on.
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:\t")).unwrap();
    assert_ne!(u64::from_str_radix(ignored, 16).unwrap() & 0x1000, 0, "the host ignores SIGPIPE");
    let text = output_of("exec grep -E '^Sig(Blk|Ign):' /proc/self/status");
    for line in text.lines() {
        assert!(line.ends_with("\t0000000000000000"), "{text}");
    }
}

#[test]
fn the_umask_is_the_callers() {
    let own = std::fs::read_to_string("/proc/self/status").unwrap();
    let own = own.lines().find(|line| line.starts_with("Umask:")).unwrap();
    assert_eq!(output_of("exec grep ^Umask: /proc/self/status").trim_end(), own);
}

#[test]
fn the_limits_are_the_callers() {
    let (mut child, mut read) = start("exec cat /proc/self/limits");
    let mut theirs = String::new();
    read.read_to_string(&mut theirs).unwrap();
    let method = child.tree().method();
    child.wait().unwrap();
    let mut ours = std::fs::read_to_string("/proc/self/limits").unwrap();
    if method == "limit tag" {
        // The one limit that limits nothing says whose the process is.
        let without =
            |text: &str| text.lines().filter(|l| !l.starts_with("Max file locks")).collect::<String>();
        (ours, theirs) = (without(&ours), without(&theirs));
    }
    assert_eq!(theirs, ours);
    assert!(getrlimit(Resource::Nofile).current.is_some());
}

#[test]
fn usage_is_that_of_the_command() {
    let (mut child, _read) = start("for ((i = 0; i < 200000; i++)); do :; done");
    let (_, usage) = child.wait().unwrap();
    assert!(usage.cpu.as_millis() > 20, "{usage:?}");
    assert!(usage.max_rss_kib > 1000, "{usage:?}");
}

#[test]
fn how_it_ended_is_exact() {
    for (command, expected) in
        [("exit 0", "Code(0)"), ("exit 255", "Code(255)"), ("kill -SEGV $$", "Signal(Signal(11))")]
    {
        let (mut child, _read) = start(command);
        assert_eq!(format!("{:?}", child.wait().unwrap().0), expected);
        assert!(child.has_ended().unwrap() && child.is_reaped());
        assert_eq!(format!("{:?}", child.wait().unwrap().0), expected, "asking again is harmless");
    }
}
